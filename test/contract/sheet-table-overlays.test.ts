import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  answersOfGoogle,
  openSandboxSheet,
  type SandboxSheet,
  writeAfter,
} from '../support/sandbox-sheet.ts';
import { appendStep, deleteStep, relabelled, setStep, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

describe.each(answersOfGoogle)('where Google $name,', ({ choices }) => {
  beforeEach(async () => {
    sheet = await openSandboxSheet({ choices });
  });

  afterEach(() => sheet.close());

  describe('a table with typed columns that people made of a tab', () => {
    /** As Convert to table does it: the types follow from what stands in the columns. */
    async function convertToTable(endRowIndex: number) {
      const typed = [
        ['ID', 'TEXT'],
        ['Title', 'TEXT'],
        ['Sync', 'TEXT'],
        ['Status', 'DROPDOWN'],
        ['Website'],
        ['VIP', 'BOOLEAN'],
        ['Met', 'DATE'],
        ['Created', 'DATE_TIME'],
      ];
      const dataValidationRule = {
        condition: { type: 'ONE_OF_LIST', values: [{ userEnteredValue: 'New' }] },
      };
      const columnProperties = typed.map(([columnName, columnType], columnIndex) => ({
        columnIndex,
        columnName,
        ...(columnType && { columnType }),
        ...(columnType === 'DROPDOWN' && { dataValidationRule }),
      }));
      const whole = (await sheet.readEverything()).sheets?.find(
        ({ properties }) => properties?.title === 'Leads',
      );
      const range = { sheetId: whole?.properties?.sheetId, startRowIndex: 0, endRowIndex };
      const table = { tableId: '7', range: { ...range, startColumnIndex: 0, endColumnIndex: typed.length } };
      await sheet.batch(
        { addTable: { table } },
        { updateTable: { table: { tableId: '7', columnProperties }, fields: 'columnProperties' } },
      );
    }

    const met = { 'custom.met': numberCell(46_292) };
    test.each([
      ['its last row', 3],
      ['blank rows', 4],
    ])('takes days, times and new rows, with %s at its end', async (_, endRowIndex) => {
      await sheet.fill('1', '2');
      await convertToTable(endRowIndex);
      await sheet.readTab();
      const steps = [
        setStep(1, textCell('1'), { ...met, created_at: numberCell(46_292.5) }),
        appendStep('3', met),
        appendStep('4', met),
      ];
      expect(await writeSteps(sheet.table, steps)).not.toHaveProperty('refusal');
      const { rows } = await sheet.readTab();
      expect(rows.map(({ cells }) => cells['custom.met'])).toEqual([
        numberCell(46_292),
        emptyCell,
        numberCell(46_292),
        numberCell(46_292),
      ]);
    });

    const tableEnd = async () =>
      (await sheet.readEverything()).sheets
        ?.flatMap(({ tables }) => tables ?? [])
        .map(({ range }) => range?.endRowIndex);

    test.each([
      ['its last row', 3],
      ['blank rows', 4],
      ['the last row of the tab', 3],
    ])('takes new rows into it, with %s at its end', async (name, endRowIndex) => {
      await sheet.fill('1', '2');
      if (name.includes('tab'))
        await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 3, count: 999 });
      await convertToTable(endRowIndex);
      await sheet.readTab();
      await writeSteps(sheet.table, [appendStep('3', met), appendStep('4', met)]);
      expect(await tableEnd()).toEqual([endRowIndex + 2]);
      expect((await sheet.readTab()).rows.map(({ id }) => id)).toEqual(['1', '2', '3', '4'].map(textCell));
      await writeSteps(sheet.table, [deleteStep(4, '4'), appendStep('5', met)], 'w2');
      expect(await tableEnd()).toEqual([endRowIndex + 2]);
    });

    test.each(['always', 'never'] as const)(
      'takes days and new rows where a row below its end makes it larger %s',
      async (tableGrowth) => {
        await sheet.choose({ '*': { tableGrowth } });
        await sheet.fill('1', '2');
        await convertToTable(3);
        await sheet.readTab();
        const reply = await writeSteps(sheet.table, [appendStep('3', met), appendStep('4', met)]);
        expect(reply).not.toHaveProperty('refusal');
        const { rows } = await sheet.readTab();
        expect(rows.map(({ cells }) => cells['custom.met']).slice(2)).toEqual(
          [met, met].flatMap(Object.values),
        );
      },
    );

    test('of people beside the columns of the CRM grows by none of its rows', async () => {
      await sheet.fill('1', '2');
      const sheetId = (await sheet.readEverything()).sheets?.find(
        ({ properties }) => properties?.title === 'Leads',
      )?.properties?.sheetId;
      const range = { sheetId, startRowIndex: 0, endRowIndex: 3, startColumnIndex: 10, endColumnIndex: 12 };
      await sheet.batch({ addTable: { table: { tableId: '8', range } } });
      await sheet.readTab();
      await writeSteps(sheet.table, [appendStep('3', met)]);
      expect(await tableEnd()).toEqual([3]);
    });

    test('gets cells back that a misdirected write had written over', async () => {
      await sheet.fill('1', '2');
      await convertToTable(3);
      const sort: PersonActionInput = { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true };
      const { escalated, undone } = await writeAfter(sheet, [sort], [setStep(1, textCell('1'), met)]);
      expect([undone.length, escalated.length]).toEqual([1, 0]);
      expect((await sheet.readTab()).rows.map(({ cells }) => cells['custom.met'])).toEqual([
        emptyCell,
        emptyCell,
      ]);
    });

    test('tells which columns have a type, whose look no write can change, and which have boxes', async () => {
      await sheet.fill('1');
      expect(await sheet.readTab()).not.toHaveProperty('typed');
      await convertToTable(2);
      const { boxed, typed } = await sheet.readTab();
      expect(boxed).toEqual(new Set(['custom.vip']));
      expect(typed).toEqual(new Set(['title', 'status_name', 'custom.vip', 'custom.met', 'created_at']));
    });

    test('keeps its own dropdowns when labels change', async () => {
      await sheet.fill('1');
      await convertToTable(2);
      const { writes } = await sheet.countRequests();
      await sheet.openTable().layOut(relabelled, 'refresh');
      expect((await sheet.countRequests()).writes).toBe(writes);
    });
  });
});
