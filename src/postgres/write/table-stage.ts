import type { TableLayout } from '../../warehouse/port/layout.ts';
import type { Session } from '../connection.ts';
import { entitySetting } from '../ddl/capture/capture.ts';
import type { Names } from '../names.ts';

/** Tells what notes edits that the statements that follow are the daemon's own, about this table. */
export async function beginTable({ isEditable, session, table }: TableStage): Promise<void> {
  if (isEditable) await session.run(`SELECT set_config('${entitySetting}', $1, true)`, [table.entity]);
}

/** What all statements of a write to one table share. */
export interface TableStage {
  readonly session: Session;
  readonly names: Names;
  readonly table: TableLayout;
  /** Whether versions that are over are kept. */
  readonly hasHistory: boolean;
  /** Whether people edit the table by SQL. */
  readonly isEditable: boolean;
  /** The open edits that what is written was decided from, by name. */
  readonly known: readonly string[];
}
