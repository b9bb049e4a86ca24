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
  problem: string | null;
}

const shape: TableShape<SweepRow, Sweep> = {
  table: 'sweep',
  columns: ['entity', 'startedAt', 'finishedAt', 'isComplete', 'pages', 'records', 'problem'],
  toRow: ({ finishedAt, isComplete, problem, ...rest }) => ({
    ...rest,
    finishedAt: finishedAt ?? null,
    isComplete: Number(isComplete),
    problem: problem ?? null,
  }),
  fromRow: ({ finishedAt, isComplete, problem, ...rest }) => ({
    ...rest,
    isComplete: isComplete === 1,
    ...(finishedAt !== null ? { finishedAt } : {}),
    ...(problem !== null ? { problem } : {}),
  }),
};

type Sweeps = Pick<Mirror, 'readSweeps' | 'saveSweep'>;

/** The last sweep of each entity. */
export function openSweeps(connection: Connection): Sweeps {
  const table = openKeyedTable(connection, shape);
  return { readSweeps: table.readAll, saveSweep: table.save };
}
