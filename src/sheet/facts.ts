import { entityFact, fact, isNumber, isObject, isText, listOf, namedOf, pairOf } from '../core/facts.ts';
import type { Direction } from '../core/merge.ts';
import type { FieldName } from '../core/value.ts';
import type { Rule } from './only/rule.ts';

/** Under which header a field stands, its own where absent, and which way it goes. */
export interface ColumnPlace {
  readonly header?: string;
  readonly direction: Direction;
}

/** Where the configuration puts the fields of a tab; one that is absent stands under its own header and goes both ways. */
export type ColumnMap = Readonly<Record<FieldName, ColumnPlace>>;

const isColumnPlace = (content: unknown): content is ColumnPlace =>
  isObject(content) && isText(content['direction']) && isText(content['header'] ?? '');

const isRule = (content: unknown): content is Rule =>
  isObject(content) && Array.isArray(content['conditions']) && isObject(content['named']);

/** The facts of a mirror that are the sheet's own: what each is, and who writes it. */
export const sheetFacts = {
  /** The spreadsheet that the mirror belongs to; app/link. */
  spreadsheet: fact('sheet.spreadsheetId', isText),
  /** What was found out about how the spreadsheet's service behaves, of which only its adapter knows the shape; app/probing. */
  found: fact('sheet.found', isObject),
  /** Where the columns of a tab were when it was last decided; sheet/column-map. */
  columns: entityFact('columns', namedOf(isColumnPlace)),
  /** Why nothing that the mirror remembers of an entity may be trusted until a person agrees; empty once one did; sheet/rebase. */
  rebase: entityFact('rebase', isText),
  /** The word in all claim tokens of this mirror; sheet/rebase. */
  word: fact('word', isText),
  /** The last writes to the table, oldest first; sheet/rebase. */
  writes: fact('table.writes', listOf(isText)),
  /** The tab whose rows the mirror speaks of; sheet/rebase. */
  tab: entityFact('table.tab', isText),
  /** Fields that were found to have a column; sheet/tab-columns. */
  metFields: entityFact('table.fields', listOf(isText)),
  /** Tells the names apart that the dropdowns of leads offer; sheet/lead-offer. */
  offeredLeads: fact('table.leads', isText),
  /** The columns that have had a dropdown of leads; sheet/lead-offer. */
  leadColumns: fact('table.leadColumns', listOf(isText)),
  /** Fields whose columns were found with checkboxes; sheet/tab-columns. */
  boxedFields: entityFact('table.boxes', listOf(isText)),
  /** When each record without a row was last seen with one, and since when each tab is held (epoch ms); sheet/rest. */
  lostRows: fact('table.lost', listOf(pairOf(isText, isNumber))),
  /** The rule by which a tab has its records; absent where it never had one; sheet/only-rules. */
  only: entityFact('only', isRule),
  /** Claim tokens of which no write was confirmed, each with the time when that was known (epoch ms); sheet/damages. */
  voidClaims: fact('claims.void', listOf(pairOf(isText, isNumber))),
};
