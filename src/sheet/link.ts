import type { Link } from '../sync/link.ts';
import type { Policy } from './policy.ts';
import type { OwnInstance } from './port/instance.ts';
import type { Table } from './port/port.ts';

/** A link with the spreadsheet that is kept the same. */
export interface SheetLink extends Link {
  readonly policy: Policy;
  readonly table: Table;
  /** What it signs the table with, so that no other instance writes there. */
  readonly own: OwnInstance;
  /** Where people open the spreadsheet. */
  readonly url?: string;
}
