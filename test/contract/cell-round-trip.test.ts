import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import { equalValues, type Value } from '../../src/core/value.ts';
import { decode, encode } from '../../src/sheet/cells/codec.ts';
import { type Cell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { sampleField, sampleNames } from '../support/fields.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { appendStep, writeSteps } from '../support/table-steps.ts';

/*
 * Values on their way through the real adapter and the emulated spreadsheet, in spreadsheets of many countries: written, read and
 * decoded they are the same, also after a person opened the cell and pressed Enter.
 */

const lead = (name: string) => sampleField('lead', name);
const deal = (name: string) => sampleField('opportunity', name);
const task = (name: string) => sampleField('task', name);

const oddTexts = [
  '007',
  '12345678901234567890',
  '+49 30 1234567',
  '=1+1',
  '-5',
  '@home',
  "it's",
  '1e5',
  'TRUE',
  '50%',
  '2026-01-01',
  '3/4/2026',
  '31.12.2026',
  '1-2',
  '1.234,56 €',
  '$5',
  'Zoe\u0308',
  '👩‍👩‍👧‍👦',
  'a\nb',
  'a\r\nb',
  '\ttab',
  '  spaces  ',
  '#REF!',
  '#N/A',
  'Loading...',
  '\u00a0x',
  '\u200b',
  'half \ud83d',
  'שלום \u200fworld',
  'https://example.org/?q=1',
  'x'.repeat(500),
  'x'.repeat(50_000),
  'x'.repeat(50_001),
  '(5)',
  'WAHR',
];
const text = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({ minLength: 1, unit: 'grapheme', maxLength: 30 }),
);
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const instant = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const options = (field: FieldDefinition) => fc.constantFrom(...(field.options ?? []));

/** A field of every kind, with values that the CRM may hold. */
const columns: readonly (readonly [FieldDefinition, fc.Arbitrary<Value>])[] = [
  [lead('about.description'), text],
  [
    deal('value'),
    fc.oneof(
      fc.integer({ min: -1e9, max: 1e9 }).map((cents) => cents / 100),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    ),
  ],
  [deal('confidence'), fc.integer({ min: 0, max: 100 })],
  [lead('custom.is_vip'), fc.boolean()],
  [deal('expected_close_date'), day],
  [lead('created_at'), instant],
  [lead('custom.tier'), options(lead('custom.tier'))],
  [lead('custom.topics'), fc.uniqueArray(options(lead('custom.topics')), { minLength: 1 })],
  [lead('custom.owner'), fc.stringMatching(/^[a-z0-9]{1,20}$/)],
  [lead('custom.team'), fc.uniqueArray(fc.stringMatching(/^[a-z0-9]{1,9}$/), { minLength: 1 })],
  [deal('lead_id'), fc.constantFrom(1, 2, 3, 7, 42)],
  [deal('stage_id'), fc.constantFrom(11, 12, 21, 22, 31, 32)],
  [lead('status_name'), fc.constantFrom('new', 'in_talks', 'lost')],
  [task('status'), fc.constantFrom(1, 2, 3, 4)],
  [task('priority'), fc.constantFrom(1, 2, 3)],
];

const layout: Layout = [
  {
    entity: 'lead',
    title: 'Leads',
    columns: columns.map(([{ name, kind }]) => ({
      field: name,
      header: kind,
      kind,
      direction: 'both',
      conflict: 'crm',
    })),
  },
  { entity: 'opportunity', title: 'Opportunities', columns: [] },
  { entity: 'task', title: 'Tasks', columns: [] },
];

const row = fc.tuple(
  ...columns.map(([, values]) =>
    fc.oneof({ weight: 9, arbitrary: values }, { weight: 1, arbitrary: fc.constant(null) }),
  ),
);
const table = fc.array(row, { minLength: 4, maxLength: 8 });

const places = [
  ['en_US', 'America/New_York'],
  ['de_DE', 'Europe/Berlin'],
  ['en_GB', 'Europe/London'],
  ['fr_FR', 'Pacific/Apia'],
  ['sv_SE', 'Asia/Kathmandu'],
  ['pt_BR', 'America/Sao_Paulo'],
  ['ja_JP', 'Asia/Tokyo'],
] as const;

const now = Date.UTC(2026, 10, 22);

async function openSheet(locale: string, timeZone: string): Promise<SandboxSheet> {
  const sheet = await openSandboxSheet({ locale, timeZone, clock: () => now });
  onTestFinished(() => sheet.close());
  await sheet.table.layOut(layout, 'create');
  await sheet.table.read(layout);
  return sheet;
}

/** What the cells of a read row hold for every field: the value, or the words it is refused with. */
function meaningOf(
  cells: Readonly<Record<string, Cell>>,
  timeZone: string,
  values: readonly Value[],
): unknown[] {
  const names = { ...sampleNames, timeZone };
  return columns.map(([field], index) => {
    const cell = cells[field.name] ?? { kind: 'empty' };
    const value = values[index] ?? null;
    const usual = encode(field, value, names);
    // As in the merge, a cell that shows a known value in its usual form holds it: so an instant, which nobody types, and a cut text.
    if (JSON.stringify(cell) === JSON.stringify(usual)) return value;
    const read = decode(field, cell, names);
    return read.kind === 'value' ? (equalValues(read.value, value) ? value : read.value) : read.reason;
  });
}

/** The rows from a grid row on, each as what its cells mean. */
async function readMeanings(
  sheet: SandboxSheet,
  from: number,
  rows: readonly (readonly Value[])[],
  timeZone: string,
) {
  const { lead: tab } = (await sheet.table.read(layout)).tabs;
  if (tab.state !== 'read') throw new Error(tab.reason);
  const byPosition = new Map(tab.rows.map((observed) => [observed.position, observed.cells]));
  return rows.map((values, index) => meaningOf(byPosition.get(from + index) ?? {}, timeZone, values));
}

/** Opening a cell and pressing Enter types what it shows. Where it shows less than it holds, nobody would expect the same. */
function isShownInFull(field: FieldDefinition, value: Value | undefined): boolean {
  if (field.kind === 'instant' || value === null || value === undefined) return false;
  // What a sheet makes of a year that is typed with fewer digits is not known.
  if (field.kind === 'date') return value >= '1000';
  if (typeof value === 'number') return Math.abs(value) < 1e8 && Math.round(value * 100) / 100 === value;
  return !(typeof value === 'string' && value.length > 1_000);
}

async function enterAgain(
  sheet: SandboxSheet,
  from: number,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const shown = (await sheet.readValues(`Leads!A1:Z${from + rows.length}`)) as { values: string[][] };
  const [headers = []] = shown.values;
  const edits = rows.flatMap((values, index) =>
    columns.flatMap(([field], at) => {
      if (!isShownInFull(field, values[at])) return [];
      const text = shown.values[from + index]?.[headers.indexOf(field.kind)] ?? '';
      return { kind: 'edit' as const, sheet: 'Leads', row: from + index, column: field.kind, text };
    }),
  );
  await sheet.person(...edits);
}

describe.each(places)('in a spreadsheet of %s, %s', (locale, timeZone) => {
  test('S12: faults 51 and 52: values come back as they were written, and again after a person entered what the cells show', async () => {
    const sheet = await openSheet(locale, timeZone);
    const names = { ...sampleNames, timeZone };
    let next = 1;
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const from = next;
        next += rows.length;
        const cellsOf = (values: readonly Value[]) =>
          Object.fromEntries(
            columns.map(([field], at) => [field.name, encode(field, values[at] ?? null, names)]),
          );
        await writeSteps(
          sheet.table,
          rows.map((values, index) => appendStep(String(from + index), cellsOf(values))),
        );
        expect(await readMeanings(sheet, from, rows, timeZone)).toEqual(rows.map((values) => [...values]));
        await enterAgain(sheet, from, rows);
        expect(await readMeanings(sheet, from, rows, timeZone)).toEqual(rows.map((values) => [...values]));
      }),
      { numRuns: 6, seed: 7, endOnFailure: true },
    );
  });
});

describe('what a person types', () => {
  const typed = async (locale: string, header: string, text: string): Promise<unknown> => {
    const sheet = await openSheet(locale, 'Europe/Berlin');
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 1, column: header, text });
    const { lead: tab } = (await sheet.table.read(layout)).tabs;
    const [field] = columns.find(([definition]) => definition.kind === header) ?? [];
    const cell = field && tab.state === 'read' ? tab.rows[0]?.cells[field.name] : undefined;
    const read = field && cell ? decode(field, cell, sampleNames) : undefined;
    return read?.kind === 'value' ? read.value : read?.reason;
  };

  test.each([
    ['en_US', 'number', '1,234.56', 1234.56],
    ['en_US', 'number', '$1,234.56', 1234.56],
    ['en_US', 'number', '1.234,56 €', 1234.56],
    ['de_DE', 'number', '1.234,56', 1234.56],
    ['de_DE', 'number', '1.234', 1234],
    ['de_DE', 'number', '1.234,56 €', 1234.56],
    ['fr_FR', 'number', '1 234,56', 1234.56],
    ['sv_SE', 'number', '1 234,5', 1234.5],
    ['pt_BR', 'number', 'R$ 1.234,56', 1234.56],
    ['ja_JP', 'number', '1,234', 1234],
    ['en_US', 'integer', '50%', 50],
    ['en_US', 'integer', '100%', 100],
    ['en_US', 'integer', '1%', 1],
    ['en_US', 'integer', '1', 1],
    ['de_DE', 'integer', '50 %', 50],
    ['de_DE', 'integer', '0,5', 50],
    ['en_US', 'date', '3/4/2026', '2026-03-04'],
    ['en_GB', 'date', '3/4/2026', '2026-04-03'],
    ['de_DE', 'date', '3.4.2026', '2026-04-03'],
    ['en_US', 'date', '31.12.2026', '2026-12-31'],
    ['ja_JP', 'date', '2026/12/31', '2026-12-31'],
    ['en_US', 'date', '3.4.2026', '2026-04-03'],
    ['de_DE', 'boolean', 'ja', true],
    ['en_US', 'boolean', 'true', true],
    ['en_US', 'text', '12345678901234567890', '12345678901234567890'],
    ['de_DE', 'text', '3.4.2026', '3.4.2026'],
    ['en_US', 'lead', '#42', 42],
    ['en_US', 'lead-status', 'new lead', 'new'],
    ['en_US', 'multi-select', 'print; web', ['Print', 'Web']],
  ])('fault 50: in a spreadsheet of %s, as %s: %s', async (locale, header, text, value) => {
    expect(await typed(locale, header, text)).toEqual(value);
  });

  test.each([
    ['de_DE', 'number', '10.5', '10.05'],
    ['en_US', 'number', '1/2', '1/2'],
    ['en_GB', 'number', '3-4', '03-04'],
    ['fr_FR', 'number', '1/2', '01/02'],
    ['sv_SE', 'number', '3-4', '03-04'],
    ['en_US', 'integer', '1:30', '1:30'],
  ])(
    'in a spreadsheet of %s, as %s: %s, which the sheet takes for a date',
    async (locale, header, text, shown) => {
      expect(await typed(locale, header, text)).toContain(`for a date or a time: it shows “${shown}”`);
    },
  );

  test.each([
    ['1e3', '1.00E+03'],
    ['5000%', '5000%'],
  ])('as a date: %s, which is no day', async (text, shown) => {
    expect(await typed('en_US', 'date', text)).toBe(
      `“${shown}” is not a date. Expected close takes a date like 2026-12-31.`,
    );
  });

  test.each([
    ['31.12', '1900-01-30'],
    ['12.2026', '1900-01-11'],
    ['2026.12', '1905-07-18'],
  ])('as a date: %s, which is no day of 1900 although the cell shows one', async (text, shown) => {
    expect(await typed('en_US', 'date', text)).toBe(
      `Expected close shows “${shown}”, but its cell holds ${text}, which may be another date that the sheet took for a number. Type it like 2026-12-31, without a time.`,
    );
  });

  test.each([
    ['en_US', '6/2/1887', '1887-06-02'],
    ['de_DE', '2.6.1887', '1887-06-02'],
    ['sv_SE', '1887-06-02', '1887-06-02'],
    ['en_US', '12/29/1899', '1899-12-29'],
    ['en_US', '12/30/1899', '1899-12-30'],
    ['en_US', '6/2/1887 10:30', '1887-06-02'],
  ])('in a spreadsheet of %s, as a date long ago: %s', async (locale, text, day) => {
    expect(await typed(locale, 'date', text)).toBe(day);
  });

  test('a number that is written where the sheet showed a date is shown as a number again', async () => {
    const sheet = await openSheet('de_DE', 'Europe/Berlin');
    const { name } = deal('value');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'ID', text: '1' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'number', text: '10.5' },
    );
    await sheet.table.read(layout);
    await writeSteps(sheet.table, [
      { kind: 'set', entity: 'lead', position: 1, idSeen: numberCell(1), cells: { [name]: numberCell(0.5) } },
    ]);
    const { lead: tab } = (await sheet.table.read(layout)).tabs;
    expect(tab.state === 'read' && tab.rows[0]?.cells[name]).toEqual(numberCell(0.5));
    expect(JSON.stringify(await sheet.readValues('Leads!A1:Z2'))).toContain('"0,5"');
  });

  test.each([
    ['en_US', '100%', 100],
    ['en_US', '1%', 1],
    ['en_US', '1', 1],
    ['de_DE', '100 %', 100],
  ])('in a spreadsheet of %s, over a written percentage: %s', async (locale, text, value) => {
    const sheet = await openSheet(locale, 'Europe/Berlin');
    const field = deal('confidence');
    const cellNow = async () => {
      const { lead: tab } = (await sheet.table.read(layout)).tabs;
      return (tab.state === 'read' && tab.rows[0]?.cells[field.name]) || numberCell(Number.NaN);
    };
    const type = (typed: string) =>
      sheet.person({ kind: 'edit', sheet: 'Leads', row: 1, column: 'integer', text: typed });
    const write = (cell: Cell) =>
      writeSteps(sheet.table, [
        { kind: 'set', entity: 'lead', position: 1, idSeen: textCell('1'), cells: { [field.name]: cell } },
      ]);
    await writeSteps(sheet.table, [appendStep('1', { [field.name]: numberCell(50) })]);
    await type(text);
    expect(decode(field, await cellNow(), sampleNames)).toEqual({ kind: 'value', value });
    await write(numberCell(value));
    expect(await cellNow()).toEqual(numberCell(value));
    await type(text);
    expect(decode(field, await cellNow(), sampleNames)).toEqual({ kind: 'value', value });
  });

  test('a whole number of percents stays what it is in a new row and in an empty cell where people show the column as percentages', async () => {
    const sheet = await openSheet('en_US', 'Europe/Berlin');
    const { name } = deal('confidence');
    const column = [...columns.keys()].find((at) => columns[at]?.[0].name === name) ?? 0;
    const range = { startRow: 1, endRow: 9, startColumn: column + 2, endColumn: column + 3 };
    await writeSteps(sheet.table, [appendStep('1')]);
    await sheet.person({ kind: 'formatNumbers', sheet: 'Leads', range, pattern: '0%' });
    await sheet.table.read(layout);
    const one = { [name]: numberCell(1) };
    await writeSteps(sheet.table, [
      { kind: 'set', entity: 'lead', position: 1, idSeen: textCell('1'), cells: one },
      appendStep('2', one),
    ]);
    const { lead: tab } = (await sheet.table.read(layout)).tabs;
    expect(tab.state === 'read' && tab.rows.map(({ cells }) => cells[name])).toEqual([
      numberCell(1),
      numberCell(1),
    ]);
  });
});
