import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';

/** A user types into a cell of the leads. Rows are zero-based, the header row included; a column is its header, or zero-based. */
export const typeInLeads = (row: number, column: number | string, text: string): PersonActionInput => ({
  kind: 'edit',
  sheet: 'Leads',
  row,
  column,
  text,
});
