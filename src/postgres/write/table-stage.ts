import type { TableLayout } from '../../warehouse/port/layout.ts';
import type { Session } from '../connection.ts';
import type { Names } from '../names.ts';

/** What all statements of a write to one table share. */
export interface TableStage {
  readonly session: Session;
  readonly names: Names;
  readonly table: TableLayout;
  /** Whether versions that are over are kept. */
  readonly hasHistory: boolean;
}
