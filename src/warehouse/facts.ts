import { entityFact, fact, isNumber, isObject, isText, listOf, pairOf } from '../core/facts.ts';
import type { ColumnType } from './port/layout.ts';

/** The column of a custom field, which it keeps for ever. */
export interface CustomColumn {
  readonly key: string;
  readonly name: string;
  readonly type: ColumnType;
  /** Since when the CRM has no such field, ISO 8601; absent while it has. */
  readonly retiredAt?: string;
}

const isCustomColumn = (content: unknown): content is CustomColumn =>
  isObject(content) && ['key', 'name', 'type'].every((name) => isText(content[name]));

/** The facts of a mirror that are the warehouse's own: what each is, and who writes it. */
export const warehouseFacts = {
  /** What the tables of this mirror are signed with; app/warehouse-side. */
  word: fact('warehouse.word', isText),
  /** The columns of custom fields; warehouse/columns. */
  columns: fact('warehouse.columns', listOf(isCustomColumn)),
  /** The reference data that was written last, as JSON; warehouse/side. */
  references: fact('warehouse.references', isText),
  /** How many rows a table has, by the last comparison and what was written since; warehouse/side. */
  rows: entityFact('warehouse.rows', isNumber),
  /** Since when rows of a table were counted that were deleted (epoch ms), and how many; warehouse/brakes. */
  deleted: entityFact('warehouse.deleted', pairOf(isNumber, isNumber)),
  /** Since when a table is known to have more than the mirror knows, epoch ms; absent once they were compared; warehouse/recover. */
  behind: entityFact('warehouse.behind', isNumber),
  /** Since when it is known that edits of a table were not noted for a time, epoch ms; absent once it was compared; warehouse/laid-out. */
  gap: entityFact('warehouse.gap', isNumber),
  /** When all edits that are over for long were last deleted from the database, epoch ms; warehouse/edits/old-edits. */
  forgotEditsAt: fact('warehouse.forgotEdits', isNumber),
  /** When all rows were last compared, epoch ms; warehouse/audit. */
  auditedAt: fact('warehouse.audited', isNumber),
};
