import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { numberSteps, type RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import {
  appendStep,
  deleteStep,
  keeping,
  openSandboxSheet,
  relabelled,
  type SandboxSheet,
  setStep,
  titled,
} from '../support/sandbox-sheet.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

describe('a table with typed columns that people made of a tab', () => {
  /** As Convert to table does it: the types follow from what stands in the columns. */
  async function convertToTable(endRowIndex: number) {
    const typed = [
      ['ID', 'TEXT'],
      ['Sync', 'TEXT'],
      ['Title', 'TEXT'],
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
    expect(await sheet.table.write(steps, keeping)).not.toHaveProperty('refusal');
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
    if (name.includes('tab')) await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 3, count: 999 });
    await convertToTable(endRowIndex);
    await sheet.readTab();
    await sheet.table.write([appendStep('3', met), appendStep('4', met)], keeping);
    expect(await tableEnd()).toEqual([endRowIndex + 2]);
    expect((await sheet.readTab()).rows.map(({ id }) => id)).toEqual(['1', '2', '3', '4'].map(textCell));
    await sheet.table.write([deleteStep(4, '4'), appendStep('5', met)], { run: 'w2', from: 20 });
    expect(await tableEnd()).toEqual([endRowIndex + 2]);
  });

  test.each(['always', 'never'] as const)(
    'takes days and new rows where a row below its end makes it larger %s',
    async (tableGrowth) => {
      await sheet.choose({ '*': { tableGrowth } });
      await sheet.fill('1', '2');
      await convertToTable(3);
      await sheet.readTab();
      const reply = await sheet.table.write([appendStep('3', met), appendStep('4', met)], keeping);
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
    await sheet.table.write([appendStep('3', met)], keeping);
    expect(await tableEnd()).toEqual([3]);
  });

  test('gets cells back that were written over', async () => {
    await sheet.fill('1', '2');
    await convertToTable(3);
    await sheet.readTab();
    const [kept] = (await sheet.table.write([setStep(1, textCell('1'), met)], keeping)).rows.values();
    if (!kept) throw new Error('Nothing was written over.');
    await sheet.readTab();
    const back = { ...setStep(1, textCell('1'), { 'custom.met': emptyCell }), place: kept.place };
    const reply = await sheet.table.write([back], { run: 'w2', from: 20 });
    expect(reply).not.toHaveProperty('refusal');
    expect((await sheet.readTab()).rows[0]?.cells['custom.met']).toEqual(emptyCell);
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

describe('rows that a filter hides', () => {
  const showOnly = (...shown: string[]) =>
    sheet.person({ kind: 'filter', sheet: 'Leads', column: 'ID', shown });
  const write = async (steps: readonly RowStep[], run = 'w1', from = 0) => {
    await sheet.readTab();
    const { hits, rows } = await sheet.table.write(steps, { run, from });
    expect(hits.size).toBe(0);
    return rows;
  };

  test.each([4, 240])('S2: among %i written ones are kept each in its own place', async (count) => {
    const ids = Array.from({ length: count }, (_, index) => String(index + 1));
    await sheet.fill(...ids);
    await showOnly(...ids.filter((id) => id !== '2' && id !== '3'));
    const sets = ids.slice(0, -1).map((id) => setStep(Number(id), textCell(id), titled('Same')));
    const rows = await write([...sets, deleteStep(count, String(count))]);
    expect([...rows.values()].map(({ id, cells }) => [id, cells['title']])).toEqual(
      ids.map((id) => [textCell(id), textCell(`Title ${id}`)]),
    );
    expect(await sheet.titlesById()).toEqual(Object.fromEntries(ids.slice(0, -1).map((id) => [id, 'Same'])));
  });

  test('S2: that moved under a write are known by how they stand after it', async () => {
    await sheet.fill('1', '2', '3', '4');
    await showOnly('1', '4');
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'insertRows', sheet: 'Leads', row: 2, count: 1 }] });
    const rows = await write([
      setStep(2, textCell('2'), titled('Two')),
      { ...setStep(3, textCell('3'), {}), id: textCell('new-3') },
    ]);
    expect([...rows.values()].map(({ id, cells }) => [id, cells['title']])).toEqual([
      [emptyCell, emptyCell],
      [textCell('2'), textCell('Title 2')],
    ]);
  });

  test('S2: that were not copied are taken for those that were read, and others are still known to have moved', async () => {
    await sheet.fill('1', '2', '3');
    await showOnly('1', '3');
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'edit', sheet: 'Leads', row: 1, column: 'ID', text: '9' }],
    });
    const rows = await write([
      setStep(1, textCell('1'), titled('One')),
      setStep(2, textCell('2'), titled('Two')),
    ]);
    expect([...rows.values()].map(({ id }) => id)).toEqual([numberCell(9), textCell('2')]);
  });

  test('S2: are no news after a lost reply, and the others are', async () => {
    await sheet.fill('1', '2', '3');
    await showOnly('1', '3');
    await sheet.readTab();
    const steps = [setStep(2, textCell('2'), titled('Two')), setStep(3, textCell('3'), titled('Three'))];
    const places = structuredClone(sheet.table.places());
    await sheet.table.write(steps, keeping);
    await sheet.readTab();
    const reply = await sheet.table.recall({ keeping, places, steps: numberSteps(steps) });
    expect([...(reply?.rows ?? [])].map(([slot, { id }]) => [slot, id])).toEqual([[1, textCell('3')]]);
  });

  test.each([
    ['before it is read', true],
    ['between read and write', false],
  ])(
    'S13: get back what stood there where somebody filters %s, and nothing reaches the row below',
    async (_, isRead) => {
      await sheet.fill('1', '2', '3');
      const rows = await write([setStep(2, textCell('2'), titled('Hidden'))]);
      const filter: PersonActionInput = { kind: 'filter', sheet: 'Leads', column: 'ID', shown: ['1', '3'] };
      if (isRead) await sheet.person(filter);
      else await sheet.setFaults({ beforeNextWrite: [filter] });
      const { place } = rows.get(0) ?? {};
      const back = { ...setStep(2, textCell('2'), titled('')), ...(place && { place }) };
      await write([back], 'w2', 10);
      expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2', '3': 'Title 3' });
    },
  );

  test('S13: that columns moved under are given back with their formulas', async () => {
    await sheet.fill('1', '2');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' },
      { kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: '=1+1' },
    );
    await showOnly('1');
    await sheet.readTab();
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'moveColumns', sheet: 'Leads', column: 'Mine', to: 2 }],
    });
    const { hits, rows } = await sheet.table.write([setStep(2, textCell('2'), titled('Two'))], keeping);
    const [hit, kept] = [hits.get(0), rows.get(0)];
    await sheet.readTab();
    const back = {
      ...setStep(2, textCell('2'), hit?.cells ?? {}),
      ...(hit && kept && { others: hit.others, place: kept.place }),
    };
    await sheet.table.write([back], { run: 'w2', from: 10 });
    const { values } = (await sheet.readValues('Leads!A3:I3', 'FORMULA')) as { values: string[][] };
    expect(values[0]?.[2]).toBe('=1+1');
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2' });
  });
});
