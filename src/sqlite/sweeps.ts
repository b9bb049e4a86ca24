import type { Mirror } from '../core/mirror.ts';
import type { Entity } from '../core/record.ts';
import type { Sweep } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';

interface SweepRow {
  entity: Entity;
  startedAt: number;
  finishedAt: number | null;
  isComplete: number;
  pages: number;
  records: number;
}

const shape: TableShape<SweepRow, Sweep> = {
  table: 'sweep',
  columns: ['entity', 'startedAt', 'finishedAt', 'isComplete', 'pages', 'records'],
  toRow: ({ finishedAt, isComplete, ...rest }) => ({
    ...rest,
    finishedAt: finishedAt ?? null,
    isComplete: Number(isComplete),
  }),
  fromRow: ({ finishedAt, isComplete, ...rest }) => ({
    ...rest,
    isComplete: isComplete === 1,
    ...(finishedAt !== null ? { finishedAt } : {}),
  }),
};

type Sweeps = Pick<Mirror, 'readSweeps' | 'saveSweep'>;

/** The last sweep of each entity. */
export function openSweeps(connection: Connection): Sweeps {
  const table = openKeyedTable(connection, shape);
  return { readSweeps: table.readAll, saveSweep: table.save };
}
