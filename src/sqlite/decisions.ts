import type { SideStores } from '../core/mirror.ts';
import type { Decision } from '../core/state.ts';
import type { Connection } from './connection.ts';
import { openKeyedTable, type TableShape } from './keyed-table.ts';

const shape: TableShape<Decision, Decision> = {
  table: 'decision',
  columns: ['scope', 'choice', 'at'],
  toRow: (decision) => decision,
  fromRow: (row) => row,
};

type Decisions = Pick<SideStores, 'readDecisions' | 'saveDecision' | 'dropDecision'>;

/** What people answered to what waited for them. */
export function openDecisions(connection: Connection, side: string): Decisions {
  const table = openKeyedTable(connection, shape, side);
  return { readDecisions: table.readAll, saveDecision: table.save, dropDecision: table.drop };
}
