import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { RowStep } from '../../src/sheet/port/table.ts';
import { typeInLeads } from '../support/person-acts.ts';
import {
  answersOfGoogle,
  openSandboxSheet,
  type SandboxSheet,
  writeAfter,
} from '../support/sandbox-sheet.ts';
import { appendStep, deleteStep, setStep, titled, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

const note = 8;
const formula = 9;

/** Four records and a new row of a user, each with a note and a formula of its own beside it. */
async function fillWithNotes(of: SandboxSheet = sheet): Promise<void> {
  await of.fill('1', '2', '3', '4');
  await of.person(
    typeInLeads(5, 'Title', 'New'),
    typeInLeads(0, note, 'Note'),
    typeInLeads(0, formula, 'Length'),
    ...[1, 2, 3, 4, 5].flatMap((row) => [
      typeInLeads(row, note, `Note ${row}`),
      typeInLeads(row, formula, `=LEN(C${row + 1})+${row}`),
    ]),
  );
}

/** What a user sees, row by row; formulas with the number of their own row left out, because rows move. */
async function seenRows(of: SandboxSheet = sheet): Promise<string[]> {
  const { values } = (await of.readValues('Leads!A1:K20', 'FORMULA')) as { values: unknown[][] };
  const text = (cell: unknown) => String(cell).replace(/([A-Z])\d+\)/g, '$1)');
  return values
    .map((row) => row.map(text).join('|'))
    .filter((row) => row !== '')
    .toSorted();
}

/** One act of a user between the read and the write. */
const acts: Record<string, PersonActionInput[]> = {
  'sorts the tab': [{ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }],
  'inserts a row above': [{ kind: 'insertRows', sheet: 'Leads', row: 1 }],
  'deletes a row above': [{ kind: 'deleteRows', sheet: 'Leads', row: 1 }],
  'inserts a column before the ID': [{ kind: 'insertColumns', sheet: 'Leads', column: 0 }],
  'moves the title': [{ kind: 'moveColumns', sheet: 'Leads', column: 'Title', to: 5 }],
  'moves a note before the ID': [{ kind: 'moveColumns', sheet: 'Leads', column: 'Note', to: 0 }],
  'deletes the ID column': [{ kind: 'deleteColumns', sheet: 'Leads', column: 'ID' }],
  'deletes the title column': [{ kind: 'deleteColumns', sheet: 'Leads', column: 'Title' }],
  'hides rows by a filter': [{ kind: 'filter', sheet: 'Leads', column: 'ID', shown: ['1', '4'] }],
  'renames a header': [{ kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name' }],
};

const sync = { sync: textCell('Pending') };

/** Writes, each to rows in the middle. */
const writes: Record<string, RowStep[]> = {
  'an update': [{ ...setStep(2, textCell('2'), titled('Written')), ...sync }],
  'a Sync text': [{ ...setStep(3, textCell('3'), {}), ...sync }],
  'a claim': [{ ...setStep(5, emptyCell, {}), id: textCell('new-a'), ...sync }],
  'a delete': [deleteStep(2, '2')],
  'a new row': [appendStep('9', titled('Ninth'))],
  'several steps': [
    setStep(1, textCell('1'), titled('Written 1')),
    { ...setStep(4, textCell('4'), titled('Written 4')), ...sync },
    appendStep('9', titled('Ninth')),
    deleteStep(3, '3'),
  ],
};

const kinds = Object.keys(writes);
const everyCase = Object.keys(acts).flatMap((act) => kinds.map((write) => [write, act] as const));
/** What Google makes of copies of hidden rows matters where a filter hides some. */
const filterCases = everyCase.filter(([, act]) => act.includes('filter'));

describe.each(
  answersOfGoogle.map((answer, index) => ({ ...answer, cases: index === 0 ? everyCase : filterCases })),
)('where Google $name,', ({ cases, choices }) => {
  beforeEach(async () => {
    sheet = await openSandboxSheet({ choices });
    await fillWithNotes();
  });

  afterEach(() => sheet.close());

  test.each(cases)(
    'S1 S2 S13: faults 31 and 38: %s leaves every row right, own columns and formulas included, where a user %s at that moment',
    async (write, act) => {
      const steps = writes[write] ?? [];
      const actions = acts[act] ?? [];
      const result = await writeAfter(sheet, actions, steps);
      expect(result.escalated).toEqual([]);
      expect(result.isOver).toBe(true);
      const shown = await seenRows();
      const other = await openSandboxSheet({ choices });
      try {
        await copyInto(
          other,
          actions,
          steps.filter((_, number) => result.done.has(number)),
        );
        expect(shown).toEqual(await seenRows(other));
      } finally {
        await other.close();
      }
    },
  );
});

/** Does in another spreadsheet what the user did, and then the steps, each in the row with its ID. */
async function copyInto(other: SandboxSheet, actions: PersonActionInput[], steps: readonly RowStep[]) {
  await fillWithNotes(other);
  await other.person(...actions);
  const { table } = other;
  const { rows } = await other.readTab().catch(() => ({ rows: [] }));
  const placed = steps.map((step): RowStep => {
    if (step.kind === 'append') return step;
    const row = rows.find(({ id }) => JSON.stringify(id) === JSON.stringify(step.idSeen));
    // A row of which no managed cell is filled is not read as one.
    return { ...step, position: row?.position ?? step.position };
  });
  await writeSteps(table, placed);
}
