import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { shadowTitle } from '../../src/google/write/shadow.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { answersOfGoogle, openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import {
  appendStep,
  deleteStep,
  setStep,
  sheetLayout,
  textIn,
  titled,
  writeSteps,
} from '../support/table-steps.ts';

let sheet: SandboxSheet;

describe.each(answersOfGoogle)('where Google $name,', ({ choices }) => {
  beforeEach(async () => {
    sheet = await openSandboxSheet({ choices, timeZone: 'Europe/Berlin' });
  });

  afterEach(() => sheet.close());

  describe('reading again', () => {
    test('an unchanged spreadsheet is the same object, and every change makes it another one', async () => {
      await sheet.fill('1', '2');
      const table = sheet.openTable();
      const first = await table.read(sheetLayout);
      expect(await table.read(structuredClone(sheetLayout))).toBe(first);
      await sheet.person({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Edited' });
      const second = await table.read(sheetLayout);
      expect(second).not.toEqual(first);
      const fewerColumns = sheetLayout.map((tab) => ({ ...tab, columns: tab.columns.slice(0, 1) }));
      expect(await table.read(fewerColumns)).not.toEqual(second);
    });
  });

  describe('reading and writing', () => {
    test('a written date is shown as a date', async () => {
      await sheet.fill('1');
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [setStep(1, textCell('1'), { 'custom.met': numberCell(46292) })]);
      expect(await sheet.readValues('Leads!G2:G2')).toMatchObject({ values: [['2026-09-27']] });
    });

    test('all rows of a tab can be deleted, and the next one finds room', async () => {
      await sheet.fill('1', '2');
      await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 3, count: 999 });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [deleteStep(1, '1'), deleteStep(2, '2')]);
      expect((await sheet.readTab()).rows).toEqual([]);
      await writeSteps(sheet.table, [appendStep('3', titled('Title 3'))]);
      expect(await sheet.titlesById()).toEqual({ '3': 'Title 3' });
    });

    test('all rows that people have not frozen can be deleted from a tab without a blank row, and what follows finds its place', async () => {
      await sheet.fill('1', '2', '3');
      await sheet.asOwner({
        updateSheetProperties: {
          properties: { sheetId: 0, gridProperties: { frozenRowCount: 2 } },
          fields: 'gridProperties.frozenRowCount',
        },
      });
      await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 4, count: 999 });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [deleteStep(2, '2'), deleteStep(3, '3')]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [appendStep('4', titled('Title 4'))]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '4': 'Title 4' });
    });

    test('a tab without a blank row grows', async () => {
      await sheet.fill('1', '2');
      await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 3, count: 999 });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [appendStep('3', titled('Title 3'))]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2', '3': 'Title 3' });
    });

    test('one read is one request and one write is one request', async () => {
      await sheet.fill('1');
      const before = await sheet.countRequests();
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [
        setStep(1, textCell('1'), titled('Changed')),
        { kind: 'append', entity: 'task', id: textCell('7'), cells: titled('Call') },
      ]);
      expect(await sheet.countRequests()).toEqual({ reads: before.reads + 1, writes: before.writes + 1 });
    });

    test('nothing to write is no request', async () => {
      await sheet.fill('1');
      const before = await sheet.countRequests();
      expect((await writeSteps(sheet.table, [])).isOver).toBe(true);
      expect(await sheet.countRequests()).toEqual(before);
    });

    test('more than a batch may carry goes in several', async () => {
      await sheet.table.layOut(sheetLayout, 'create');
      await sheet.table.read(sheetLayout);
      const long = 'x'.repeat(2000);
      const steps = Array.from({ length: 1200 }, (_, index) =>
        appendStep(`${index}`, titled(`${index} ${long}`)),
      );
      const before = await sheet.countRequests();
      expect((await writeSteps(sheet.table, steps)).done.size).toBe(steps.length);
      expect((await sheet.countRequests()).writes).toBe(before.writes + 2);
      const { rows } = await sheet.readTab();
      expect(rows.map((row) => textIn(row.id))).toEqual(steps.map((_, index) => `${index}`));
    });

    test('a write in several batches is judged as one', async () => {
      const ids = Array.from({ length: 12 }, (_, index) => `${index + 1}`);
      await sheet.fill(...ids);
      await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
      await sheet.table.read(sheetLayout);
      const long = 'x'.repeat(40_000);
      const urls = Object.fromEntries(['title', 'about.url'].map((name) => [name, textCell(long)]));
      const steps = ids.map((id, index) => setStep(index + 1, textCell(id), urls));
      const many = [
        ...steps,
        ...Array.from({ length: 30 }, (_, index) => appendStep(`${index + 100}`, urls)),
      ];
      expect((await writeSteps(sheet.table, many)).done.size).toBe(many.length);
    });

    test('formulas and errors are seen as such, and not the text that looks like them', async () => {
      await sheet.fill('1', '2');
      await sheet.person(
        { kind: 'edit', sheet: 'Leads', row: 1, column: 'Met', text: '=1+1' },
        { kind: 'edit', sheet: 'Leads', row: 1, column: 'VIP', text: '=1/0' },
        { kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: '#REF!' },
      );
      const { rows } = await sheet.readTab();
      expect(rows[0]?.cells['custom.met']).toEqual({ kind: 'formula', formula: '=1+1' });
      expect(rows[0]?.cells['custom.vip']).toMatchObject({ kind: 'error' });
      expect(rows[1]?.cells['title']).toEqual(textCell('#REF!'));
    });
  });

  describe('what people do to a tab', () => {
    test('S13: moved and inserted columns are found by their headers, and own columns stay untouched', async () => {
      await sheet.fill('1', '2');
      await sheet.person(
        { kind: 'insertColumns', sheet: 'Leads', column: 0 },
        { kind: 'paste', sheet: 'Leads', row: 0, column: 0, rows: [['Mine'], ['=ROW()'], ['note']] },
        { kind: 'moveColumns', sheet: 'Leads', column: 'Title', to: 9 },
        { kind: 'renameHeader', sheet: 'Leads', column: 'ID', text: ' id ' },
      );
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [
        setStep(1, textCell('1'), titled('Changed')),
        appendStep('3', titled('Title 3')),
        deleteStep(2, '2'),
      ]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Changed', '3': 'Title 3' });
      expect(await sheet.readValues('Leads!A1:A3', 'FORMULA')).toMatchObject({
        values: [['Mine'], ['=ROW()']],
      });
    });

    test('what users wrote into columns of their own counts, and what a formula shows there does not', async () => {
      await sheet.fill('1', '2', '3');
      await sheet.person(
        { kind: 'insertColumns', sheet: 'Leads', column: 0, count: 2 },
        {
          kind: 'paste',
          sheet: 'Leads',
          row: 0,
          column: 0,
          rows: [
            ['Mine', 'Age'],
            ['', '=1+1'],
            ['note', '=1+1'],
            ['', '=1/0'],
          ],
        },
      );
      const { lead } = (await sheet.table.read(sheetLayout)).tabs;
      expect(lead.state === 'read' && lead.rows.map(({ hasOwn }) => hasOwn)).toEqual([
        undefined,
        true,
        undefined,
      ]);
    });

    test.each<[string, PersonActionInput, string]>([
      [
        'without the ID header',
        { kind: 'renameHeader', sheet: 'Leads', column: 'ID', text: '' },
        'no column “ID”',
      ],
      [
        'with a doubled header',
        { kind: 'renameHeader', sheet: 'Leads', column: 'Website', text: 'title' },
        'Columns B and E of “Leads” are both called “Title”',
      ],
      [
        'whose header row was moved',
        { kind: 'moveRows', sheet: 'Leads', row: 0, to: 3 },
        'The header row of “Leads” is in row 3',
      ],
    ])('a tab %s is held', async (_, action, reason) => {
      await sheet.fill('1', '2', '3');
      await sheet.person(action);
      const { lead, task } = (await sheet.table.read(sheetLayout)).tabs;
      expect(lead).toMatchObject({ state: 'held', reason: expect.stringContaining(reason) });
      expect(task.state).toBe('read');
    });

    test('a renamed tab is found again, and the next read is one request again', async () => {
      await sheet.fill('1');
      await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: "Anna's leads" });
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
      const before = await sheet.countRequests();
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
      expect((await sheet.countRequests()).reads).toBe(before.reads + 1);
    });

    test('a new tab under the old title is not taken for the renamed one', async () => {
      await sheet.fill('1');
      await sheet.person(
        { kind: 'renameTab', sheet: 'Leads', title: 'Old' },
        { kind: 'addTab', title: 'Leads' },
        { kind: 'edit', sheet: 'Leads', row: 0, column: 0, text: 'ID' },
      );
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
    });
  });
});
