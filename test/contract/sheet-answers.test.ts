import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { setStep, sheetLayout, titled } from '../support/table-steps.ts';

let sheet: SandboxSheet;
let heard: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.fill('1', '2');
  heard = await hearSheet(sheet);
});

afterEach(async () => {
  await heard[Symbol.asyncDispose]();
  await sheet.close();
});

test('every request to Google asks for an answer without indentation', async () => {
  const { probe, table } = heard;
  await table.layOut(sheetLayout, 'create');
  await table.read(sheetLayout);
  const steps = [setStep(1, textCell('1'), titled('Changed'))];
  const receipt = table.prepare(steps, 'w1', []);
  await table.write(receipt, () => undefined);
  await table.read(sheetLayout);
  await table.recover(receipt, () => undefined, true);
  await probe.look();
  for (const tab of sheetLayout) await probe.lookAtTab(tab);
  const requests = heard.takeRequests();
  const asked = requests.map(({ url }) => new URL(url, 'http://sheet').searchParams.get('prettyPrint'));
  expect(new Set(asked)).toEqual(new Set(['false']));
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET', 'POST']));
});

describe('a large tab of people beside those of the layout', () => {
  const secret = 'a cell of a list that is no business of the CRM';

  beforeEach(() =>
    sheet.person(
      { kind: 'addTab', title: 'Warehouse' },
      {
        kind: 'paste',
        sheet: 'Warehouse',
        row: 0,
        column: 0,
        rows: Array.from({ length: 900 }, (_, row) => [secret, `${row}`]),
      },
    ),
  );

  /** What a table and a look at the spreadsheet do from their start on. */
  async function start({ probe, table }: HeardSheet): Promise<void> {
    await table.read(sheetLayout);
    await table.layOut(sheetLayout, 'refresh');
    await table.read(sheetLayout);
    await table.layOut(sheetLayout, 'create', { adopt: true, addColumns: true });
    await probe.look();
    for (const tab of sheetLayout) await probe.lookAtTab(tab);
  }

  const foreignCells = () => heard.takeRequests().filter(({ answer }) => answer.includes(secret));

  test('is not read at a start, by init or by doctor', async () => {
    await start(heard);
    expect(foreignCells()).toEqual([]);
  });

  test('is not read where a tab of the layout was renamed while nobody looked', async () => {
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Our leads' });
    await start(heard);
    expect(foreignCells()).toEqual([]);
    const { tabs } = await heard.table.read(sheetLayout);
    expect(tabs.lead).toMatchObject({ state: 'read', rows: [{ id: textCell('1') }, { id: textCell('2') }] });
  });

  test('is not read where a tab of the layout is gone', async () => {
    await sheet.person({ kind: 'deleteTab', sheet: 'Leads' });
    await start(heard);
    expect(foreignCells()).toEqual([]);
  });

  test('counts with the cells of the spreadsheet', async () => {
    const before = (await sheet.openProbe().look()).cells;
    await sheet.person({ kind: 'addTab', title: 'Another one' });
    expect((await heard.probe.look()).cells - before).toBe(26_000);
  });
});

test('a large tab that is the only one is not read, and none of its cells changes', async () => {
  await using large = await openLone();
  await large.table.layOut(sheetLayout, 'create');
  const [first] = (await large.sheet.readEverything()).sheets ?? [];
  expect(first?.properties?.title).toBe('Sheet1');
  expect(first?.data?.[0]?.rowData?.[1999]?.values?.[0]?.userEnteredValue).toEqual({ stringValue: 'last' });
  expect(large.takeRequests().filter(({ answer }) => answer.includes('last'))).toEqual([]);
});

/** A spreadsheet with one tab of people alone. */
async function openLone() {
  const lone = await openSandboxSheet();
  await lone.batch({ appendDimension: { sheetId: 0, dimension: 'ROWS', length: 1000 } });
  await lone.person({ kind: 'edit', sheet: 'Sheet1', row: 1999, column: 0, text: 'last' });
  const line = await hearSheet(lone);
  const dispose = async () => {
    await line[Symbol.asyncDispose]();
    await lone.close();
  };
  return { ...line, sheet: lone, [Symbol.asyncDispose]: dispose };
}
