import type { OwnInstance } from '../core/instance.ts';
import type { Table } from '../core/ports.ts';
import type { Link } from '../sync/link.ts';

/** A link with the spreadsheet that is kept the same. */
export interface SheetLink extends Link {
  readonly table: Table;
  /** What it signs the table with, so that no other instance writes there. */
  readonly own: OwnInstance;
}
