import { describe, expect, onTestFinished, test } from 'vitest';
import { type Answers, answersBy } from '../../src/google/probes/answers.ts';
import { probeGoogle } from '../../src/google/probes/prober.ts';
import { paceFor } from '../../src/google/read-pace.ts';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import type { ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { typeInLeads } from '../support/person-acts.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { hearSheet } from '../support/sheet-line.ts';
import { appendStep, deleteStep, setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

async function openFilled(choices: ChoicesInput[string], ...ids: string[]): Promise<SandboxSheet> {
  const quotas = { readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const sheet = await openSandboxSheet({ choices: { '*': choices ?? {} }, quotas });
  onTestFinished(() => sheet.close());
  await sheet.fill(...ids);
  return sheet;
}

/** A table that goes by what the probes find out, or by nothing. */
async function openKnowing(sheet: SandboxSheet, isProbed: boolean) {
  const outcome = isProbed ? await probeGoogle({ ...sheet.options, isOver: () => false }) : undefined;
  const found = outcome?.state === 'asked' ? outcome.found : {};
  return createGoogleSheetTable({ ...sheet.options, answers: answersBy(found) });
}

const hides: Record<string, PersonActionInput> = {
  'by a filter': { kind: 'filter', sheet: 'Leads', column: 'ID', shown: ['3'] },
  'by hand': { kind: 'hideRows', sheet: 'Leads', row: 1, count: 2 },
};

const copied = { hiddenRowCopy: 'copied' } as const;

describe('a hidden row with a formula of a user, which a delete took in the place of another one,', () => {
  /** Deletes the hidden row of record 1 where a user moves the hidden one of record 2 there in the same moment. */
  async function deleteOther(isProbed: boolean, hide: PersonActionInput) {
    const sheet = await openFilled(copied, '1', '2', '3');
    const table = await openKnowing(sheet, isProbed);
    await sheet.person(typeInLeads(0, 8, 'Own'), typeInLeads(2, 8, '=1+1'), hide);
    await table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'moveRows', sheet: 'Leads', row: 2, to: 1 }] });
    const { escalated, undone } = await writeSteps(table, [deleteStep(1, '1')]);
    const { values } = (await sheet.readValues('Leads!A2:I5', 'FORMULA')) as { values: unknown[][] };
    const formulas = Object.fromEntries(values.map((row) => [row[0], row[8]]));
    return { formulas, ends: [undone.length, escalated.length] };
  }

  test.each(Object.entries(hides))(
    'comes back with it where hidden rows were found to be copied, hidden %s',
    async (_, hide) => {
      expect(await deleteOther(true, hide)).toMatchObject({ ends: [1, 0], formulas: { 2: '=1+1' } });
    },
  );

  test.each(Object.entries(hides))(
    'is asked about where nothing was found out, hidden %s',
    async (_, hide) => {
      expect(await deleteOther(false, hide)).toMatchObject({ ends: [0, 1] });
    },
  );
});

test.each([true, false])(
  'a hidden row whose formula was written over keeps nothing of what no copy was made of (probed: %s)',
  async (isProbed) => {
    const sheet = await openFilled(copied, '1', '2', '3');
    const table = await openKnowing(sheet, isProbed);
    await sheet.person(typeInLeads(2, 'Met', '=DATE(2026,1,2)'), hides['by a filter']!);
    await table.read(sheetLayout);
    const beforeNextWrite: PersonActionInput[] = [
      { kind: 'moveRows', sheet: 'Leads', row: 2, to: 1 },
      { kind: 'showAll', sheet: 'Leads' },
    ];
    await sheet.setFaults({ beforeNextWrite });
    const step = setStep(1, textCell('1'), { 'custom.met': numberCell(46_292) });
    const { escalated, undone } = await writeSteps(table, [step]);
    const { values } = (await sheet.readValues('Leads!G2:G2', 'FORMULA')) as { values: unknown[][] };
    expect([undone.length, escalated.length, values[0]?.[0]]).toEqual(
      isProbed ? [1, 0, '=DATE(2026,1,2)'] : [0, 1, 46_292],
    );
  },
);

const byFilter = ['skipAndTile', 'nothing', 'refused'] as const;

describe.each(byFilter)(
  'where rows that are hidden by hand are copied as little as filtered ones: %s,',
  (hiddenRowCopy) => {
    const choices = { hiddenRowCopy, handHiddenRowCopy: 'asFiltered' } as const;
    const ids = Array.from({ length: 210 }, (_, index) => String(index + 1));

    test.each([true, false])('all of a large block are written at once (probed: %s)', async (isProbed) => {
      const sheet = await openFilled(choices, ...ids);
      const table = await openKnowing(sheet, isProbed);
      await sheet.person({ kind: 'hideRows', sheet: 'Leads', row: 100, count: 3 });
      await table.read(sheetLayout);
      const { writes } = await sheet.countRequests();
      const steps = ids.map((id, index) => setStep(index + 1, textCell(id), titled(`New ${id}`)));
      const { done, escalated, undone } = await writeSteps(table, steps);
      expect([done.size, undone.length, escalated.length]).toEqual([210, 0, 0]);
      expect((await sheet.countRequests()).writes).toBe(writes + 1);
      expect(await sheet.titlesById()).toMatchObject({ 99: 'New 99', 101: 'New 101', 210: 'New 210' });
    });

    test('a row that is hidden by hand is deleted', async () => {
      const sheet = await openFilled(choices, '1', '2', '3');
      const table = await openKnowing(sheet, true);
      await sheet.person({ kind: 'hideRows', sheet: 'Leads', row: 2, count: 1 });
      await table.read(sheetLayout);
      expect([...(await writeSteps(table, [deleteStep(2, '2')])).done.keys()]).toEqual([0]);
      expect(await sheet.titlesById()).toEqual({ 1: 'Title 1', 3: 'Title 3' });
    });
  },
);

describe('new rows at the end of a Table', () => {
  const day = { 'custom.met': numberCell(46_292) };

  /** A Table of one typed column of days, without the ID, that ends with the last row. */
  async function appendBelow(tableGrowth: Answers['tableGrowth'], columns: readonly [number, number]) {
    const sheet = await openFilled({ tableGrowth }, '1', '2');
    const table = await openKnowing(sheet, true);
    // Without a format of its own a cell shows a day as a number.
    const column = { startRow: 1, endRow: 900, startColumn: 6, endColumn: 7 };
    await sheet.person({ kind: 'formatNumbers', sheet: 'Leads', range: column });
    const leads = (await sheet.readEverything()).sheets?.find(
      ({ properties }) => properties?.title === 'Leads',
    );
    const headers = leads?.data?.[0]?.rowData?.[0]?.values?.map(({ formattedValue }) => formattedValue) ?? [];
    const [startColumnIndex, endColumnIndex] = columns;
    const range = {
      sheetId: leads?.properties?.sheetId,
      startRowIndex: 0,
      endRowIndex: 3,
      startColumnIndex,
      endColumnIndex,
    };
    const columnProperties = headers.slice(...columns).map((columnName, columnIndex) => ({
      columnIndex,
      columnName,
      ...(columnName === 'Met' ? { columnType: 'DATE' } : {}),
    }));
    await sheet.batch(
      { addTable: { table: { tableId: '7', range } } },
      { updateTable: { table: { tableId: '7', columnProperties }, fields: 'columnProperties' } },
    );
    await table.read(sheetLayout);
    const { refusal } = await writeSteps(table, [appendStep('3', day), appendStep('4', day)]);
    const after = (await sheet.readEverything()).sheets?.find(
      ({ properties }) => properties?.title === 'Leads',
    );
    const met = after?.data?.[0]?.rowData?.[4]?.values?.[headers.indexOf('Met')];
    return {
      refusal: refusal?.error.message,
      end: after?.tables?.[0]?.range?.endRowIndex,
      format: met?.userEnteredFormat?.numberFormat?.type,
    };
  }

  test('show days as days also where they were found to stay outside of it', async () => {
    const outside = await appendBelow('never', [0, 8]);
    expect(outside).toEqual({ refusal: undefined, end: 3, format: 'DATE' });
  });

  test.each(['inheriting', 'always'] as const)(
    'are of the Table where they were found to join it: %s',
    async (growth) => {
      expect(await appendBelow(growth, [0, 8])).toMatchObject({ refusal: undefined, end: 5 });
    },
  );

  test('are taken where they were found to join even a Table that has no IDs', async () => {
    const beside = await appendBelow('always', [6, 7]);
    expect(beside).toMatchObject({ refusal: undefined, end: 5 });
  });
});

describe('a write of another daemon while a tab is read in parts', () => {
  const ids = Array.from({ length: 700 }, (_, index) => String(index + 1));

  /** In how many parts the tabs are read, where a title is written behind the part that was read already. */
  async function readMeanwhile(metadataByRange: 'brought' | 'leftOut') {
    const sheet = await openFilled({ metadataByRange }, ...ids);
    await using heard = await hearSheet(sheet);
    const table = createGoogleSheetTable({
      ...heard.options,
      answers: answersBy({ cellMicros: 5_000 }),
    });
    await sheet.table.read(sheetLayout);
    let parts = 0;
    heard.intercept(async ({ url }, passOn) => {
      const answer = await passOn();
      if (!url.includes(':getByDataFilter')) return answer;
      parts += 1;
      if (parts === 1) await writeSteps(sheet.table, [setStep(3, textCell('3'), titled('Written'))], 'other');
      return answer;
    });
    const { tabs } = await table.read(sheetLayout);
    const [, , third] = tabs.lead.state === 'read' ? tabs.lead.rows : [];
    return { parts, title: third?.cells['title'] };
  }

  test.each(['brought', 'leftOut'] as const)(
    'is seen, and only its rows are read again, where a read of ranges has metadata %s',
    async (metadataByRange) => {
      const { parts, title } = await readMeanwhile(metadataByRange);
      expect(parts).toBe(8);
      expect(title).toEqual(textCell('Written'));
    },
  );
});

describe('how many rows the first read asks for', () => {
  const tabs = (rowCount: number) => [
    { rowCount, columnCount: 20 },
    { rowCount: 1_000, columnCount: 26 },
  ];

  test.each([
    ['was not measured', 4_000, {}, 0],
    ['is short', 4_000, { cellMicros: 10 }, 0],
    ['makes all tabs together too long', 4_000, { cellMicros: 300 }, 1],
    ['is no trouble for parts of a long tab', 8_000, { cellMicros: 300 }, 0],
    ['makes parts of a long tab too long', 8_000, { cellMicros: 1_000 }, 1],
    ['is beyond all measure', 8_000, { cellMicros: 1e9 }, 2],
  ] as const)('follows from the time of a cell, which %s', (_, rowCount, found, halvings) => {
    expect(paceFor(tabs(rowCount), { ...found, timeoutMs: 60_000 }).halvings).toBe(halvings);
  });

  test('is all where no limit of time is known', () => {
    expect(paceFor(tabs(4_000), { cellMicros: 1e9, timeoutMs: undefined }).halvings).toBe(0);
  });
});
