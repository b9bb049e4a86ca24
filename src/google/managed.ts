import { idHeader, pauseName, syncHeader } from '../core/fields/headers.ts';
import type { Column, TabLayout } from '../sheet/port/layout.ts';

/** A column that the layout wants in a tab. */
export interface Managed {
  /** What its tag says: a field's name, or the header of a column that carries no field. */
  readonly name: string;
  readonly header: string;
  /** What the note at the header says. */
  readonly note: string | undefined;
  /** Absent for the ID and the Sync column. */
  readonly column?: Column;
  /** What its field is called, whatever the configuration says; absent for a column that carries none. */
  readonly fieldHeader?: string;
  /** Its field never had a column. */
  readonly isNew?: boolean;
  /** It names the row: it stays in view, with all that stands before it. */
  readonly isNaming?: boolean;
  readonly isHidden?: boolean;
}

const idNote =
  'The id of the record in the CRM. It binds the row to the record: please leave it as it is. ' +
  'Leave it empty in a new row.';

const syncNote =
  'What happened to the row: Synced, Changed by the CRM, Pending, New row, Error, Conflict or Held, and what to do. ' +
  'It is written for you; what is typed here goes nowhere.';

/** The rows of the tab of the questions carry no record. */
const questionIdNote = 'Names the question. It binds the row to what is asked: please leave it as it is.';

const questionSyncNote =
  'What became of your choice: Waiting, or Error and what can be chosen. It is written for you; what is typed here goes nowhere.';

const pauseColumn = (header: string): Managed => ({
  name: pauseName,
  header,
  note: 'Tick a row to leave it alone: nothing is taken from it and nothing is written to it until you untick it.',
  column: { field: pauseName, kind: 'boolean', header, direction: 'both', conflict: 'ask' },
});

/** The columns that a tab is to have. One that is held is left where it is, and never added. */
export const wantedColumns = (layout: TabLayout): Managed[] =>
  managedColumns(layout).filter(({ column }) => column?.held === undefined);

/** All managed columns of a tab from left to right. The ID of a question is of use to the daemon alone. */
export function managedColumns({
  columns,
  entity,
  naming = columns[0]?.field,
  pauseHeader,
  syncAfter = naming,
}: TabLayout): Managed[] {
  const isAsked = entity === 'question';
  const fields = columns.map((column) => ({
    ...fieldColumn(column),
    ...(column.field === naming ? { isNaming: true } : {}),
  }));
  const place = fields.findIndex(({ name }) => name === syncAfter) + 1;
  const id = { name: idHeader, header: idHeader };
  return [
    ...(isAsked ? [] : [{ ...id, note: idNote }]),
    ...fields.slice(0, place),
    { name: syncHeader, header: syncHeader, note: isAsked ? questionSyncNote : syncNote },
    ...(pauseHeader === undefined ? [] : [pauseColumn(pauseHeader)]),
    ...fields.slice(place),
    ...(isAsked ? [{ ...id, note: questionIdNote, isHidden: true }] : []),
  ];
}

const fieldColumn = (column: Column): Managed => ({
  name: column.field,
  header: column.header,
  note: column.note,
  column,
  fieldHeader: column.fieldHeader ?? column.header,
  ...(column.isNew ? { isNew: true } : {}),
});
