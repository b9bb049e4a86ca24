import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spilledCell } from '../../src/core/cell.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

const type = (row: number, column: number, text: string, tab = 'Sheet1') =>
  sheet.person({ kind: 'edit', sheet: tab, row, column, text });

const shown = async (range: string, render?: 'FORMULA') =>
  ((await sheet.readValues(range, render)) as { values?: unknown[][] }).values;

describe('a formula', () => {
  test.each([
    ['=A1+A2*2', '5'],
    ['=SUM(A1:A)', '6'],
    ['=SUM(A1;A2)', '3'],
    ['=IF(A1=1,"yes","no")', 'yes'],
    ['="a;b"&A1', 'a;b1'],
    ['=A1=1', 'TRUE'],
    ['=VLOOKUP(2,A1:B3,2,FALSE)', 'two'],
    ['=1/3', '0.3333333333'],
    ['=1/0', '#DIV/0!'],
    ['=NA()', '#N/A'],
    ['=FOO(1)', '#NAME?'],
    ['=Nowhere!A1', '#REF!'],
    ['=1+', '#ERROR!'],
    ['=IMPORTXML("https://example.org", "//a")', 'Loading...'],
    ['="IMPORTXML("&1', 'IMPORTXML(1'],
  ])('%s shows %s, and is kept', async (formula, result) => {
    await sheet.person({
      kind: 'paste',
      sheet: 'Sheet1',
      row: 0,
      column: 0,
      rows: [['1'], ['2', 'two'], ['3']],
    });
    await type(4, 3, formula);
    expect(await shown('Sheet1!D5')).toEqual([[result]]);
    expect(await shown('Sheet1!D5', 'FORMULA')).toEqual([[formula]]);
  });

  test('follows what it refers to, also on another tab, and is gone when it is cleared', async () => {
    await sheet.person({ kind: 'addTab', title: 'My tab' });
    await type(0, 0, '5', 'My tab');
    await type(0, 0, "='My tab'!A1*2");
    expect(await shown('Sheet1!A1')).toEqual([['10']]);
    await type(0, 0, '7', 'My tab');
    expect(await shown('Sheet1!A1')).toEqual([['14']]);
    await type(0, 0, '');
    expect(await shown('Sheet1!A1')).toBeUndefined();
  });

  test('that comes to an empty text shows neither a value nor a text', async () => {
    await type(0, 0, '=A2&""');
    const { sheets = [] } = await sheet.readEverything();
    const [cell] = sheets[0]?.data?.[0]?.rowData?.[0]?.values ?? [];
    expect(cell?.userEnteredValue).toEqual({ formulaValue: '=A2&""' });
    expect(cell).not.toHaveProperty('effectiveValue');
    expect(cell).not.toHaveProperty('formattedValue');
  });

  test('of an array fills the cells below, unless something stands there', async () => {
    await sheet.person({ kind: 'paste', sheet: 'Sheet1', row: 0, column: 0, rows: [['1'], ['2'], ['3']] });
    await type(0, 2, '=ARRAYFORMULA(A1:A3*10)');
    expect(await shown('Sheet1!C1:C3')).toEqual([['10'], ['20'], ['30']]);
    await type(1, 2, 'in the way');
    expect(await shown('Sheet1!C1:C3')).toEqual([['#REF!'], ['in the way']]);
    await type(1, 2, '');
    expect(await shown('Sheet1!C1:C3')).toEqual([['10'], ['20'], ['30']]);
  });

  test('of a spreadsheet in German has its separators', async () => {
    const german = await openSandboxSheet({ locale: 'de_DE' });
    await german.person({ kind: 'edit', sheet: 'Sheet1', row: 0, column: 0, text: '=SUM(1,5;2)' });
    expect(await german.readValues('Sheet1!A1')).toMatchObject({ values: [['3,5']] });
    await german.close();
  });
});

test('an array formula over a managed column is seen in all of its cells, and no new row writes into it', async () => {
  await sheet.fill('1', '2', '3');
  const before = await sheet.readTab();
  await sheet.person({
    kind: 'edit',
    sheet: 'Leads',
    row: 1,
    column: 'Met',
    text: '=ARRAYFORMULA(A2:A3&"")',
  });
  const { rows, fields } = await sheet.readTab();
  expect(rows.map(({ cells }) => cells['custom.met'])).toEqual([
    { kind: 'formula', formula: '=ARRAYFORMULA(A2:A3&"")' },
    spilledCell,
    spilledCell,
  ]);
  expect([before.fields.has('custom.met'), fields.has('custom.met')]).toEqual([true, false]);
});
