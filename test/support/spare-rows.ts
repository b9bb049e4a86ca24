import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';

/** A new tab has a thousand rows. */
const [rowsLeft, rowsSpare] = [100, 900];

/** A tidy person deletes the rows that new tabs have to spare: every read carries all rows, and takes the longer the more there are. */
export const dropSpareRows = (tabs: Layout): PersonActionInput[] =>
  tabs.map(({ title }) => ({ kind: 'deleteRows', sheet: title, row: rowsLeft, count: rowsSpare }));
