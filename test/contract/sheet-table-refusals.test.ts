import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import type { RowStep } from '../../src/sheet/port/table.ts';
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
    sheet = await openSandboxSheet({ choices });
  });

  afterEach(() => sheet.close());

  describe('a request that Google refuses', () => {
    test('an unknown spreadsheet is SHEET_NOT_FOUND', async () => {
      await expect(sheet.openTable('nowhere').read(sheetLayout)).rejects.toMatchObject({
        code: 'SHEET_NOT_FOUND',
      });
    });

    test('fault 53: 503 and a cut connection are SHEET_UNREACHABLE, and a write is not sent twice', async () => {
      await sheet.fill('1');
      await sheet.table.read(sheetLayout);
      for (const kind of ['unavailable', 'cut'] as const) {
        await sheet.setFaults({ failures: [{ kind, when: 'after', on: 'write' }] });
        const before = await sheet.countRequests();
        await expect(writeSteps(sheet.table, [appendStep(kind)])).rejects.toMatchObject({
          code: 'SHEET_UNREACHABLE',
        });
        expect((await sheet.countRequests()).writes).toBe(before.writes + 1);
        await sheet.table.read(sheetLayout);
      }
      expect(Object.keys(await sheet.titlesById())).toEqual(['1', 'unavailable', 'cut']);
    });

    test('a protected cell is SHEET_REFUSED with its tab and the cell where the refused write begins', async () => {
      await sheet.fill('1', '2');
      await protect({ startRowIndex: 2, startColumnIndex: 1, endColumnIndex: 2 });
      await sheet.table.read(sheetLayout);
      const { refusal } = await writeSteps(sheet.table, [setStep(2, textCell('2'), titled('Two'))]);
      expect(refusal?.error).toMatchObject({
        code: 'SHEET_REFUSED',
        message: expect.stringMatching(/protected range.* It is about “Leads”, from B3 on\.$/),
      });
    });

    const protect = (range: object) =>
      sheet.asOwner({
        addProtectedRange: { protectedRange: { range: { sheetId: 0, ...range }, editors: { users: [] } } },
      });
    test('a hidden tab that somebody protects is named, because nobody else would look there', async () => {
      await sheet.fill('1');
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('One'))]);
      const { sheets = [] } = await sheet.readEverything();
      const sheetId = sheets.find(({ properties }) => properties?.hidden)?.properties?.sheetId;
      await sheet.asOwner({
        addProtectedRange: { protectedRange: { range: { sheetId }, editors: { users: [] } } },
      });
      await sheet.table.read(sheetLayout);
      const { refusal } = await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('Two'))]);
      expect(refusal?.error.message).toMatch(
        /protected range.* It is about the hidden tab “crm-sheet-sync, please leave”\.$/,
      );
    });

    test.each<[string, RowStep, number]>([
      ['new rows', appendStep('new'), 3],
      ['a value', setStep(2, textCell('2'), titled('Two')), 2],
      ['a row that is to go', deleteStep(2, '2'), 2],
    ])(
      '%s for which a tab was shortened meanwhile is no refusal, which people would have to look into',
      async (_, step, row) => {
        await sheet.fill('1', '2');
        await sheet.table.read(sheetLayout);
        await sheet.setFaults({
          beforeNextWrite: [{ kind: 'deleteRows', sheet: 'Leads', row, count: 1002 - row }],
        });
        await expect(writeSteps(sheet.table, [step])).rejects.toMatchObject({
          code: 'SHEET_UNREACHABLE',
          message: expect.stringContaining('shortened meanwhile'),
        });
      },
    );

    const appendTask = (title: string): RowStep => ({ ...appendStep(title, titled(title)), entity: 'task' });
    const tasksShown = async () =>
      (await sheet.readTab('task')).rows.map(({ cells }) => textIn(cells['title']));

    test('a tab with a protected header row keeps no new column of another tab from its mark, without which what is wiped there says nothing', async () => {
      await sheet.fill('1');
      await protect({ endRowIndex: 1 });
      await sheet.person(
        { kind: 'deleteColumns', sheet: 'Tasks', column: 'Title', count: 1 },
        { kind: 'edit', sheet: 'Tasks', row: 0, column: 5, text: 'Title' },
      );
      const noted = sheetLayout.map((tab) => ({
        ...tab,
        columns: tab.columns.map((column) => ({ ...column, note: 'What it takes' })),
      }));
      expect((await sheet.readTab('task')).fresh?.size).toBe(1);
      const refused = {
        code: 'SHEET_REFUSED',
        message: expect.stringMatching(/protected range.* It is about “Leads”\.$/),
      };
      await expect(sheet.table.layOut(noted, 'refresh')).rejects.toMatchObject(refused);
      expect((await sheet.readTab('task')).fresh?.size).toBe(0);
    });

    test('of a write that takes several requests nothing more is sent to a tab that was refused in one of them', async () => {
      await sheet.fill('1', '2');
      await protect({ startRowIndex: 1, endRowIndex: 2 });
      await sheet.table.read(sheetLayout);
      // The set and some of the new rows make the first request; the delete, which alone would be taken, comes in a later one.
      const long = 'x'.repeat(40_000);
      const tasks = Array.from({ length: 60 }, (_, index) => appendTask(`${index} ${long}`));
      const steps = [setStep(1, textCell('1'), titled('One')), ...tasks, deleteStep(2, '2')];
      const { refusal } = await writeSteps(sheet.table, steps);
      expect([...(refusal?.steps ?? [])]).toEqual([0, steps.length - 1]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2' });
      expect(await tasksShown()).toHaveLength(tasks.length);
    });

    test('a spreadsheet without room for new rows takes what changed in the others, as far as it can be kept', async () => {
      const ids = Array.from({ length: 150 }, (_, index) => `${index + 1}`);
      await sheet.fill(...ids);
      // All rows of the grid below the last one: a new row needs a new one, and the hidden tab has room for less than all.
      await sheet.asOwner({ deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 151 } } });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('Written before'))]);
      await sheet.table.read(sheetLayout);
      await fillUp();
      const steps = [
        ...ids.map((id, index) => setStep(index + 1, textCell(id), titled('New'))),
        appendStep('9'),
      ];
      const { done, refusal } = await writeSteps(sheet.table, steps);
      expect(refusal?.error).toMatchObject({
        code: 'SHEET_REFUSED',
        message: expect.stringContaining('is full'),
      });
      expect(refusal?.steps.has(steps.length - 1)).toBe(true);
      expect(done.size).toBeGreaterThan(0);
      const shown = Object.values(await sheet.titlesById());
      expect(shown.filter((title) => title === 'New')).toHaveLength(done.size);
      expect(done.size + (refusal?.steps.size ?? 0)).toBe(steps.length);
    });

    test('a spreadsheet without room for new rows loses the rows that are to go, which makes room for new ones', async () => {
      await sheet.fill('1', '2');
      await sheet.asOwner({ deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 3 } } });
      await sheet.table.read(sheetLayout);
      await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('Written before'))]);
      await sheet.table.read(sheetLayout);
      await fillUp();
      const steps = [appendStep('9', titled('New')), deleteStep(2, '2')];
      expect((await writeSteps(sheet.table, steps)).refusal).toBeUndefined();
      expect(await sheet.titlesById()).toEqual({ '1': 'Written before', '9': 'New' });
    });

    /** Somebody adds a tab that takes all the cells that are left. */
    async function fillUp(): Promise<void> {
      const { sheets = [] } = await sheet.readEverything();
      const sizes = sheets.map(({ properties }) => properties?.gridProperties);
      const used = sizes.reduce((sum, size) => sum + (size?.rowCount ?? 0) * (size?.columnCount ?? 0), 0);
      const gridProperties = { rowCount: Math.floor((10_000_000 - used) / 100), columnCount: 100 };
      await sheet.asOwner({ addSheet: { properties: { title: 'Big', gridProperties } } });
    }

    test('limited requests wait longer and longer, then fail as SHEET_LIMITED', async () => {
      await sheet.close();
      // Laying out takes a look at the tabs there are, and one at the cells of those it is about.
      sheet = await openSandboxSheet({ choices, quotas: { readsPerMinute: 2 } });
      await sheet.table.layOut(sheetLayout, 'create');
      await expect(sheet.table.read(sheetLayout)).rejects.toMatchObject({ code: 'SHEET_LIMITED' });
      expect(sheet.clock.slept).toEqual([1500, 3000, 6000, 12_000, 24_000]);
    });

    test('a limited write fails at once, because rows may move while it waits', async () => {
      await sheet.close();
      sheet = await openSandboxSheet({ choices, quotas: { writesPerMinute: 1 } });
      await sheet.table.layOut(sheetLayout, 'create');
      await sheet.table.read(sheetLayout);
      const write = writeSteps(sheet.table, [
        { kind: 'append', entity: 'lead', cells: { title: textCell('late') } },
      ]);
      await expect(write).rejects.toMatchObject({ code: 'SHEET_LIMITED' });
      expect(sheet.clock.slept).toEqual([]);
    });

    test('its own quota keeps requests below the limit of a minute', async () => {
      await sheet.close();
      sheet = await openSandboxSheet({ choices, quotas: { readsPerMinute: 1000 } });
      await sheet.table.layOut(sheetLayout, 'create');
      for (let count = 0; count < 57; count += 1) await sheet.table.read(sheetLayout);
      expect(sheet.clock.slept).toEqual([]);
      await sheet.table.read(sheetLayout);
      expect(sheet.clock.slept).toEqual([60_000]);
    });
  });
});
