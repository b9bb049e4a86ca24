import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spilledCell } from '../../src/sheet/port/cell.ts';
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
    ['=0.1+0.2', '0.3'],
    ['=HYPERLINK("https://example.org","a link")', 'a link'],
    ['=HYPERLINK("https://example.org/"&A1)', 'https://example.org/1'],
    ['=JOIN(", ",A1:A3)', '1, 2, 3'],
    ['=JOIN("-",B1:B3)', '-two-'],
    ['=LEN(JOIN(",","JOIN(1",A1))', '8'],
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

  test.each([
    ['=SPLIT("a,1,,b",",")', ['a', '1', 'b']],
    ['=SPLIT("a b-c"," -")', ['a', 'b', 'c']],
    ['=SPLIT("a--b-c","--",FALSE)', ['a', 'b-c']],
    ['=SPLIT("a,,b",",",TRUE,FALSE)', ['a', '', 'b']],
  ])('%s fills the cells beside it', async (formula, parts) => {
    await type(0, 0, formula);
    expect(await shown('Sheet1!A1:D1')).toEqual([parts]);
  });

  test('knows ranges by their names, as far as they reach', async () => {
    await sheet.person({ kind: 'paste', sheet: 'Sheet1', row: 0, column: 0, rows: [['1'], ['2'], ['3']] });
    await sheet.person({ kind: 'addTab', title: 'Other tab' });
    const column = { sheetId: 0, startColumnIndex: 0, endColumnIndex: 1 };
    await sheet.batch(
      { addNamedRange: { namedRange: { name: 'All_of_it', range: column } } },
      {
        addNamedRange: {
          namedRange: { name: 'One', range: { ...column, startRowIndex: 1, endRowIndex: 2 } },
        },
      },
    );
    await type(0, 0, '=SUM(All_of_it)+One', 'Other tab');
    expect(await shown("'Other tab'!A1")).toEqual([['8']]);
    await sheet.batch({
      deleteDimension: { range: { sheetId: 0, dimension: 'ROWS', startIndex: 0, endIndex: 1 } },
    });
    expect(await shown("'Other tab'!A1")).toEqual([['7']]);
  });

  test.each([
    ['=0.1+0.2', 0.1 + 0.2],
    ['=1/3', 1 / 3],
    ['=A9*3', 3.3000000000000003],
    ['=1E21*3', 3e21],
    ['=1E-7/3', 1e-7 / 3],
  ])('%s keeps all digits of its result', async (formula, numberValue) => {
    await type(8, 0, '1.1');
    await type(0, 0, formula);
    const { sheets = [] } = await sheet.readEverything();
    expect(sheets[0]?.data?.[0]?.rowData?.[0]?.values?.[0]?.effectiveValue).toEqual({ numberValue });
  });

  test.each([
    ['=DATE(2026,5,10)', 'DATE', '5/10/2026'],
    ['=EDATE(DATE(2026,5,10),1)', 'DATE', '6/10/2026'],
    ['=TIME(13,30,0)', 'TIME', '1:30:00 PM'],
    ['=A1+1', 'DATE', '5/11/2026'],
    ['=A1', 'DATE', '5/10/2026'],
    ['=MAX(A1:A2)', 'DATE', '5/12/2026'],
    ['=A2-A1', undefined, '2'],
    ['=SUM(B1:B2)', 'CURRENCY', '$30.00'],
    ['=-B1*2', 'CURRENCY', '-$20.00'],
    ['=B2/B1', undefined, '2'],
    ['=(B1+B2)/2', 'CURRENCY', '$15.00'],
    ['=IF(A1<A2,B1,0)', 'CURRENCY', '$10.00'],
    ['=C1', 'PERCENT', '50%'],
    ['=Price+1', 'CURRENCY', '$11.00'],
    ['=D1', 'DATE', '5/11/2026'],
    ['=YEAR(A1)', undefined, '2026'],
    ['=A1&""', undefined, '46152'],
  ])('%s shows its result in the format %s: %s', async (formula, format, text) => {
    const rows = [
      ['2026-05-10', '$10.00', '50%', '=A1+1'],
      ['2026-05-12', '$20.00'],
    ];
    await sheet.person({ kind: 'paste', sheet: 'Sheet1', row: 0, column: 0, rows });
    const range = { startRow: 0, endRow: 2, startColumn: 0, endColumn: 1 };
    await sheet.batch(
      {
        addNamedRange: {
          namedRange: {
            name: 'Price',
            range: { sheetId: 0, startRowIndex: 0, endRowIndex: 1, startColumnIndex: 1, endColumnIndex: 2 },
          },
        },
      },
      {
        repeatCell: {
          range: { sheetId: 0, endRowIndex: range.endRow, endColumnIndex: 1 },
          cell: { userEnteredFormat: { numberFormat: { type: 'DATE' } } },
          fields: 'userEnteredFormat.numberFormat',
        },
      },
    );
    await type(4, 0, formula);
    expect(await shown('Sheet1!A5')).toEqual([[text]]);
    const { sheets = [] } = await sheet.readEverything();
    const cell = sheets[0]?.data?.[0]?.rowData?.[4]?.values?.[0];
    expect(cell?.effectiveFormat?.numberFormat?.type ?? undefined).toBe(format);
    expect(cell?.userEnteredFormat).toBeUndefined();
  });

  test('that is today or now shows a day, and a time with it', async () => {
    await type(0, 0, '=TODAY()');
    await type(0, 1, '=NOW()');
    const [[today, now] = []] = (await shown('Sheet1!A1:B1')) ?? [];
    expect(today).toMatch(/^\d{1,2}\/\d{1,2}\/\d{4}$/);
    expect(now).toMatch(/^\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d{2}:\d{2}$/);
  });

  test('keeps the format that a person chose', async () => {
    await type(0, 0, '=DATE(2026,5,10)');
    const range = { startRow: 0, endRow: 1, startColumn: 0, endColumn: 1 };
    await sheet.person({ kind: 'formatNumbers', sheet: 'Sheet1', range, pattern: '0.0' });
    expect(await shown('Sheet1!A1')).toEqual([['46152.0']]);
  });

  test('that links is read with its address', async () => {
    await type(0, 0, '=HYPERLINK("https://example.org","a link")');
    const { sheets = [] } = await sheet.readEverything();
    const cell = sheets[0]?.data?.[0]?.rowData?.[0]?.values?.[0];
    expect(cell).toMatchObject({ hyperlink: 'https://example.org', formattedValue: 'a link' });
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
