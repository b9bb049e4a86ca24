import { describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../support/sandbox-sheets-client.ts';

/** What a cell shows that holds a value in a format. */
async function shown({ batch, read }: Emulator, value: number | string, type: string, pattern: string) {
  const userEnteredValue = typeof value === 'number' ? { numberValue: value } : { stringValue: value };
  const cell = { userEnteredValue, userEnteredFormat: { numberFormat: { type, pattern } } };
  await batch([{ updateCells: { start: { sheetId: 0 }, rows: [{ values: [cell] }], fields: '*' } }]);
  return (await read('A1'))?.[0]?.[0];
}

const accounting = '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)';

describe('a number is shown by its pattern', () => {
  const cases: [type: string, pattern: string, value: number, text: string][] = [
    ['CURRENCY', '[$€]#,##0.00', 87, '€87.00'],
    ['CURRENCY', '[$€]#,##0.00', -1234.5, '-€1,234.50'],
    ['CURRENCY', '#,##0.00\\ [$€-407]', 87, '87.00 €'],
    ['CURRENCY', '[$CHF]\\ #,##0.00', 87, 'CHF 87.00'],
    ['CURRENCY', '"$"#,##0.00', 1234.5, '$1,234.50'],
    ['CURRENCY', '[$$]#,##0;[Red]-[$$]#,##0', -87, '-$87'],
    ['CURRENCY', '"$"#,##0.00;("$"#,##0.00)', -87, '($87.00)'],
    ['NUMBER', accounting, 1234.5, ' $1,234.50 '],
    ['NUMBER', accounting, -1234.5, ' $(1,234.50)'],
    ['NUMBER', accounting, 0, ' $-   '],
    ['NUMBER', '[Blue]0;[Red]-0;"zero"', 0, 'zero'],
    ['NUMBER', '[Color12]0.0', 2, '2.0'],
    ['NUMBER', '0;;0', -5, ''],
    ['NUMBER', '[>=100]"big "0;"small "0', 150, 'big 150'],
    ['NUMBER', '[>=100]"big "0;"small "0', 50, 'small 50'],
    ['NUMBER', '0.???', 5.25, '5.25 '],
    ['NUMBER', '??0', 12, ' 12'],
    ['NUMBER', '0.##', 5, '5.'],
    ['NUMBER', '#.##', 0.5, '.5'],
    ['NUMBER', '00000', 42, '00042'],
    ['NUMBER', '(000) 000-0000', 5551234567, '(555) 123-4567'],
    ['NUMBER', '#,##0,', 1234567, '1,235'],
    ['NUMBER', '0.0,,"M"', 1234567, '1.2M'],
    ['NUMBER', '0.00', 1.005, '1.01'],
    ['NUMBER', 'General', 1234.5, '1234.5'],
    ['PERCENT', '0.0%', 0.125, '12.5%'],
    ['SCIENTIFIC', '0.00E+00', 9.995, '1.00E+01'],
    ['SCIENTIFIC', '##0.0E+0', 12345, '12.3E+3'],
    ['TIME', '[h]:mm:ss', 1.5, '36:00:00'],
    ['DATE', '[$-409]d mmm yyyy;@', 46_152, '10 May 2026'],
  ];
  test.each(cases)('%s %s of %d is “%s”', async (type, pattern, value, text) => {
    expect(await shown(await startEmulator(), value, type, pattern)).toBe(text === '' ? undefined : text);
  });

  test('with the signs of the spreadsheet’s country', async () => {
    const emulator = await startEmulator({ locale: 'de_DE' });
    expect(await shown(emulator, 1234.5, 'CURRENCY', '#,##0.00\\ [$€]')).toBe('1.234,50 €');
  });
});

describe('a text is shown', () => {
  const cases = [
    [accounting, ' abc '],
    ['0;-0;0;"name: "@', 'name: abc'],
    ['0;-0', 'abc'],
    ['0.00', 'abc'],
    ['@', 'abc'],
  ] as const;
  test.each(cases)('by the section for texts of %s: “%s”', async (pattern, text) => {
    expect(await shown(await startEmulator(), 'abc', 'NUMBER', pattern)).toBe(text);
  });
});

test('the page shows amounts of money as the API does', async () => {
  const emulator = await startEmulator();
  await shown(emulator, 87, 'CURRENCY', '[$€]#,##0.00');
  const grid = await (await fetch(`${emulator.rootUrl}/__sandbox/grid`)).json();
  expect(grid).toHaveProperty('sheets.0.rows.0.0.text', '€87.00');
});
