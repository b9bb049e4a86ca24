import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedTable } from '../../src/sheet/port/table.ts';
import type { LineRequest } from '../support/crm-line.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;
let heard: HeardSheet;

/** More rows than Google has an answer for at once. */
const ids = Array.from({ length: 1_300 }, (_, index) => String(index + 1));
const rowsMax = 700;

beforeEach(async () => {
  sheet = await openSandboxSheet({ quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 } });
  await sheet.fill(...ids);
  heard = await hearSheet(sheet);
});

afterEach(async () => {
  await heard[Symbol.asyncDispose]();
  await sheet.close();
});

interface Filter {
  readonly gridRange?: { readonly startRowIndex?: number; readonly endRowIndex?: number };
}

const rangesIn = ({ body }: LineRequest): NonNullable<Filter['gridRange']>[] =>
  ((JSON.parse(body || '{}') as { dataFilters?: Filter[] }).dataFilters ?? []).flatMap(
    ({ gridRange }) => gridRange ?? [],
  );

/** The height of a range, as of `'Leads'!2:9`; of a whole tab where no rows are named. */
function heightOf(range: string): number {
  const [, from = 1, end = Infinity] = /!(\d+):(\d+)$/.exec(range) ?? [];
  return range.endsWith('!A1') ? 1 : Number(end) - Number(from) + 1;
}

/** Whether a read asks for all columns of more rows than that. */
function isTooMuch(asked: LineRequest): boolean {
  const ranges = new URL(asked.url, 'http://sheet').searchParams.getAll('ranges');
  const heights = rangesIn(asked).map(
    ({ startRowIndex = 0, endRowIndex = Infinity }) => endRowIndex - startRowIndex,
  );
  return (
    asked.url.includes('rowMetadata') &&
    [...heights, ...ranges.map(heightOf)].some((height) => height > rowsMax)
  );
}

const unavailable = {
  status: 503,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({
    error: { code: 503, message: 'The service is currently unavailable.', status: 'UNAVAILABLE' },
  }),
};

/** The tabs without the room that is left, which depends on what is known of other tabs. */
const withoutRoom = ({ tabs }: ObservedTable) =>
  Object.values(tabs).map((tab) => (tab.state === 'read' ? { ...tab, room: 0 } : tab));

/** Reads as a daemon does, again and again after each failure. */
async function readAtLast() {
  const failures: unknown[] = [];
  for (const _attempt of Array.from({ length: 6 })) {
    const read = await heard.table.read(sheetLayout).catch((error: unknown) => void failures.push(error));
    if (read) return { read, failures };
  }
  throw failures.at(-1);
}

test('a tab that is too much for one request is read in smaller ones, and says the same', async () => {
  heard.intercept((asked, passOn) => (isTooMuch(asked) ? Promise.resolve(unavailable) : passOn()));
  const { failures, read } = await readAtLast();
  expect(failures.length).toBeGreaterThan(0);
  expect(withoutRoom(read)).toEqual(withoutRoom(await sheet.table.read(sheetLayout)));
  expect(await heard.table.read(sheetLayout)).toBe(read);
  expect(await heard.table.layOut(sheetLayout, 'refresh')).toEqual({ held: [], offered: [] });
});

test('a tab that was short when the daemon began and has grown since is read in smaller parts as well', async () => {
  for (const { properties } of (await sheet.readEverything()).sheets ?? []) {
    const [id, rows] = [properties?.sheetId ?? 0, properties?.gridProperties?.rowCount ?? 0];
    if (rows > 100) await sheet.person({ kind: 'deleteRows', sheet: id, row: 100, count: rows - 100 });
  }
  await heard.table.layOut(sheetLayout, 'refresh');
  await heard.table.read(sheetLayout);
  await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 50, count: 1_400 });
  heard.intercept((asked, passOn) => (isTooMuch(asked) ? Promise.resolve(unavailable) : passOn()));
  const { read } = await readAtLast();
  expect(withoutRoom(read)).toEqual(withoutRoom(await sheet.table.read(sheetLayout)));
});

test.each<[string, PersonActionInput]>([
  ['is moved down', { kind: 'moveRows', sheet: 'Leads', row: 5, to: 1_200 }],
  ['is moved up', { kind: 'moveRows', sheet: 'Leads', row: 1_200, to: 5 }],
  ['is deleted', { kind: 'deleteRows', sheet: 'Leads', row: 5, count: 1 }],
  ['is inserted', { kind: 'insertRows', sheet: 'Leads', row: 5, count: 1 }],
  ['and all others are sorted', { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }],
])('S4: a row that %s while the tab is read in parts is neither missed nor read twice', async (_, action) => {
  let isMoved = false;
  heard.intercept(async (asked, passOn) => {
    if (isTooMuch(asked)) return unavailable;
    const [range] = rangesIn(asked);
    if (!isMoved && asked.url.includes('rowMetadata') && (range?.startRowIndex ?? 0) > 0) {
      isMoved = true;
      await sheet.person(action);
    }
    return passOn();
  });
  const { read } = await readAtLast();
  expect(isMoved).toBe(true);
  expect(withoutRoom(read)).toEqual(withoutRoom(await sheet.openTable().read(sheetLayout)));
});

test('a tab of which rows are moved in every moment is not read as it never was', async () => {
  heard.intercept(async (asked, passOn) => {
    if (isTooMuch(asked)) return unavailable;
    if (asked.url.includes('rowMetadata'))
      await sheet.person({ kind: 'moveRows', sheet: 'Leads', row: 5, to: 1_200 });
    return passOn();
  });
  await expect(readAtLast()).rejects.toMatchObject({
    code: 'SHEET_UNREACHABLE',
    message: expect.stringContaining('moved while'),
  });
});

test('a misdirected write is undone in a tab that is too much for one request', async () => {
  let isMoved = false;
  heard.intercept(async (asked, passOn) => {
    if (isTooMuch(asked)) return unavailable;
    if (!isMoved && asked.url.includes(':batchUpdate')) {
      isMoved = true;
      await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 5, count: 1 });
    }
    return passOn();
  });
  await readAtLast();
  const titles = await sheet.titlesById();
  const { isOver, undone } = await writeSteps(heard.table, [setStep(20, textCell('20'), titled('Ours'))]);
  expect(undone).toMatchObject([{ kind: 'overwritten', id: textCell('19') }]);
  expect(isOver).toBe(true);
  expect(await sheet.titlesById()).toEqual(titles);
});

test('polls between two reads in parts do not make the parts larger again', async () => {
  let refused = 0;
  heard.intercept((asked, passOn) => {
    if (!isTooMuch(asked)) return passOn();
    refused += 1;
    return Promise.resolve(unavailable);
  });
  await readAtLast();
  for (let poll = 1; poll <= 40; poll += 1) await heard.table.read(sheetLayout);
  refused = 0;
  await sheet.person({ kind: 'insertColumns', sheet: 'Leads', column: 0, count: 1 });
  await heard.table.read(sheetLayout);
  expect(refused).toBe(0);
});

test('a long tab in which a row is inserted or deleted now and then is read in parts once, and not begun anew', async () => {
  await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 1_200, count: 7_000 });
  const table = createGoogleSheetTable(heard.options);
  let parts = 0;
  heard.intercept(async (asked, passOn) => {
    if (asked.url.includes('getByDataFilter')) {
      parts += 1;
      if (parts % 2 === 0)
        await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 3 * parts, count: 1 });
      if (parts % 4 === 3) await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 900, count: 2 });
    }
    return passOn();
  });
  const read = await table.read(sheetLayout);
  expect(parts).toBeGreaterThan(3);
  expect(parts).toBeLessThan(8);
  expect(withoutRoom(read)).toEqual(withoutRoom(await sheet.openTable().read(sheetLayout)));
});

test('where rows move in every look at a long tab, what was read of it in parts is not read again', async () => {
  await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 1_200, count: 5_000 });
  const table = createGoogleSheetTable(heard.options);
  let [parts, isBusy] = [0, true];
  heard.intercept(async (asked, passOn) => {
    if (asked.url.includes('getByDataFilter')) parts += 1;
    if (asked.url.includes('values') && isBusy)
      await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 3, count: 1 });
    return passOn();
  });
  await expect(table.read(sheetLayout)).rejects.toMatchObject({
    code: 'SHEET_UNREACHABLE',
    message: expect.stringContaining('moved while'),
  });
  isBusy = false;
  const before = parts;
  const read = await table.read(sheetLayout);
  expect(parts).toBe(before);
  expect(withoutRoom(read)).toEqual(withoutRoom(await sheet.openTable().read(sheetLayout)));
});
