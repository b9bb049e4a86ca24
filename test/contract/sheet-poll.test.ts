import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import type { ReadTab } from '../../src/sheet/port/table.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { deleteStep, setStep, sheetLayout, textIn, titled, writeSteps } from '../support/table-steps.ts';

const fullReadMs = 300_000;
const depth = { wholeCellsMax: 0, fullReadMs };
const ids = Array.from({ length: 300 }, (_, index) => String(index + 1));

let sheet: SandboxSheet;
let line: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet({}, depth);
  await sheet.fill(...ids);
  line = await hearSheet(sheet);
  await read();
  await read();
});

afterEach(async () => {
  await line[Symbol.asyncDispose]();
  await sheet.close();
});

async function read(isWhole = false): Promise<ReadTab> {
  const { lead } = (await line.table.read(sheetLayout, isWhole)).tabs;
  if (lead.state === 'held') throw new Error(lead.reason);
  return lead;
}

/** The cells of one row by its place below the header. */
const rowOf = ({ rows }: ReadTab, place: number) => rows[place - 1];

/** The rows that a read asked for in full, as ranges of row numbers, and how many polls came with it. */
async function listen(work: () => Promise<unknown>) {
  const asked: string[] = [];
  let polls = 0;
  line.intercept(({ url }, passOn) => {
    if (url.includes('values:batchGetByDataFilter')) polls += 1;
    const { searchParams } = new URL(url, 'http://sheet');
    asked.push(...searchParams.getAll('ranges').filter((range) => range.startsWith("'Leads'")));
    return passOn();
  });
  await work();
  line.intercept((_, passOn) => passOn());
  return {
    polls,
    rows: asked.map((range) => range.slice("'Leads'!".length)).filter((rows) => rows !== '1:1'),
  };
}

/** The cell of the date in row 300. */
const met300 = { startRow: 299, endRow: 300, startColumn: 6, endColumn: 7 };

const edit = (row: number, column: string, text: string) =>
  sheet.person({ kind: 'edit', sheet: 'Leads', row, column, text });

/** Fills the tab until it has so many rows, and reads them. */
async function fillTo(count: number): Promise<ReadTab> {
  await sheet.fill(
    ...Array.from({ length: count - ids.length }, (_, index) => String(ids.length + index + 1)),
  );
  return read(true);
}

/** The rows that are read in full after some time. */
async function rowsAfter(ms: number): Promise<readonly string[]> {
  await sheet.clock.sleep(ms);
  return (await listen(() => read())).rows;
}

/** Pastes new titles into so many rows from `row` on. */
const pasteTitles = (row: number, count: number) =>
  sheet.person({
    kind: 'paste',
    sheet: 'Leads',
    row,
    column: 'Title',
    rows: Array.from({ length: count }, (_, place) => [`Pasted ${place}`]),
  });

describe('a poll', () => {
  test('of a spreadsheet in which nothing changed is one request, and brings the same object', async () => {
    const before = await read();
    let after: ReadTab | undefined;
    expect(await listen(async () => (after = await read()))).toEqual({ polls: 1, rows: [] });
    expect(after).toBe(before);
  });

  test('brings in full only the row in which a value changed; all others are the same objects', async () => {
    const before = await read();
    await edit(120, 'Title', 'Edited');
    let after = before;
    expect(await listen(async () => (after = await read()))).toEqual({ polls: 2, rows: ['121:121'] });
    expect(rowOf(after, 120)?.cells['title']).toEqual(textCell('Edited'));
    const same = after.rows.filter((row, place) => row === before.rows[place]);
    expect(same).toHaveLength(ids.length - 1);
  });

  test('sees an edit that is taken back before the next one', async () => {
    await edit(7, 'Title', 'Edited');
    await read();
    await edit(7, 'Title', 'Title 7');
    expect(rowOf(await read(), 7)?.cells['title']).toEqual(textCell('Title 7'));
  });

  test('brings the change again where the row could not be read in full', async () => {
    await edit(120, 'Title', 'Edited');
    line.intercept(async ({ method }, passOn) => (method === 'GET' ? undefined : passOn()));
    await expect(read()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    line.intercept((_, passOn) => passOn());
    expect(rowOf(await read(), 120)?.cells['title']).toEqual(textCell('Edited'));
  });

  test('brings in full only the rows that came below the last one', async () => {
    const before = await read();
    await sheet.person({
      kind: 'paste',
      sheet: 'Leads',
      row: 301,
      column: 'Title',
      rows: Array.from({ length: 400 }, (_, index) => [`New ${index}`]),
    });
    let after = before;
    expect(await listen(async () => (after = await read()))).toEqual({ polls: 2, rows: ['302:701'] });
    expect(after.rows).toHaveLength(700);
    expect(after.rows[0]).toBe(before.rows[0]);
  });

  test('brings a formula as a formula, and the value that takes its place', async () => {
    const met = async () => rowOf(await read(), 9)?.cells['custom.met'];
    await edit(9, 'Met', '46292');
    expect(await met()).toMatchObject({ kind: 'number' });
    // It comes to the same value, which only the turn of its row can tell apart.
    await edit(9, 'Met', '=46291+1');
    expect(await met()).toMatchObject({ kind: 'number' });
    await edit(9, 'Met', '=46292+1');
    expect(await met()).toMatchObject({ kind: 'formula' });
    await edit(9, 'Met', '46294');
    expect(await met()).toMatchObject({ kind: 'number', number: 46_294 });
  });

  test('takes a row that is inserted for one row, and finds all below it moved', async () => {
    await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 100 });
    await edit(100, 'Title', 'New');
    let after: ReadTab | undefined;
    const { rows } = await listen(async () => (after = await read()));
    expect(rows).toEqual(['101:101']);
    expect(after?.rows.map(({ position }) => position)).toEqual([...ids, '301'].map(Number));
    expect(after?.rows.slice(98, 102).map(({ id }) => textIn(id))).toEqual(['99', '', '100', '101']);
  });

  test('takes rows that are deleted for nothing else', async () => {
    await sheet.person({ kind: 'deleteRows', sheet: 'Leads', row: 10, count: 3 });
    let after: ReadTab | undefined;
    expect((await listen(async () => (after = await read()))).rows).toEqual([]);
    expect(after?.rows.slice(8, 10).map(({ id }) => textIn(id))).toEqual(['9', '13']);
    expect(after?.rows).toHaveLength(297);
  });

  test('finds the rows of a tab that was sorted where they are', async () => {
    await sheet.person({ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true });
    const { rows } = await read();
    expect(rows.map(({ id }) => textIn(id))).toEqual(ids.toSorted().toReversed());
  });

  test('finds a column that was moved, and a tab that was renamed', async () => {
    await sheet.person({ kind: 'moveColumns', sheet: 'Leads', column: 'Website', count: 1, to: 1 });
    await edit(5, 'Website', 'example.com');
    expect(rowOf(await read(), 5)?.cells).toMatchObject({
      title: textCell('Title 5'),
      'about.url': textCell('example.com'),
    });
    await sheet.person({ kind: 'renameTab', sheet: 'Leads', title: 'Clients' });
    await sheet.person({ kind: 'edit', sheet: 'Clients', row: 6, column: 'Website', text: 'example.org' });
    expect(rowOf(await read(), 6)?.cells['about.url']).toEqual(textCell('example.org'));
  });

  test('finds a header that was renamed, and the cells below are the same objects', async () => {
    const before = await read();
    await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name of it' });
    await edit(120, 'Name of it', 'Edited');
    const after = await read();
    expect(after.headers?.['title']).toBe('Name of it');
    const same = after.rows.filter(({ cells }, place) => cells === before.rows[place]?.cells);
    expect(same).toHaveLength(ids.length - 1);
  });

  test('reads as many rows one by one as a write of ours reaches', async () => {
    await fillTo(1_400);
    await pasteTitles(100, 1_000);
    expect((await listen(() => read())).rows).toEqual(['101:1100']);
  });

  test('after which all is read again brings the same objects for the rows that are as they were', async () => {
    const count = 1_700;
    const before = await fillTo(count);
    await pasteTitles(100, 1_201);
    await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 1 });
    const after = await read();
    const known = new Set(before.rows.map(({ cells }) => cells));
    expect(after.rows.filter(({ cells }) => known.has(cells))).toHaveLength(count - 1_201);
  });

  describe('of rows that are far apart', () => {
    const count = 8_000;
    const places = Array.from({ length: 80 }, (_, index) => index * 100 + 1);
    const editAll = async (column: string, text: string) => {
      for (const row of places) await edit(row, column, text);
    };

    beforeEach(() => fillTo(count));

    test('reads these alone, in several requests', async () => {
      await editAll('Title', 'Edited');
      const { rows } = await listen(() => read());
      expect(rows).toEqual(places.map((row) => `${row + 1}:${row + 1}`));
      const edited = (await read()).rows.filter(({ cells }) => textIn(cells['title']) === 'Edited');
      expect(edited).toHaveLength(places.length);
    });

    test('reads all where a column moves between two requests', async () => {
      await editAll('Title', 'Edited');
      let asked = 0;
      line.intercept(async ({ url }, passOn) => {
        if (new URL(url, 'http://sheet').searchParams.has('ranges')) asked += 1;
        if (asked === 2) {
          asked += 1;
          await sheet.person({ kind: 'insertColumns', sheet: 'Leads', column: 1 });
        }
        return passOn();
      });
      const { rows } = await read();
      line.intercept((_, passOn) => passOn());
      // The last one is the look at what was read in parts.
      expect(asked).toBe(4);
      const titles = rows.map(({ cells }) => textIn(cells['title']));
      expect(titles).toEqual(
        Array.from({ length: count }, (_, index) => (index % 100 === 0 ? 'Edited' : `Title ${index + 1}`)),
      );
    });

    test('reads those with formulas again at the end of a read in parts, and then no more', async () => {
      await editAll('Met', '=40000+6292');
      await sheet.person({ kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name of it' });
      const { rows } = await listen(() => read());
      expect(new Set(rows).size).toBeGreaterThanOrEqual(places.length);
      expect((await listen(() => read())).rows).toEqual([]);
    });
  });

  test('a format that makes another thing of the same number is seen when the turn comes to its row', async () => {
    await edit(299, 'Met', '46292');
    const met = async () => rowOf(await read(), 299)?.cells['custom.met'];
    expect(await met()).toMatchObject({ number: 46_292 });
    const before = await met();
    await sheet.person({ kind: 'formatNumbers', sheet: 'Leads', range: met300, pattern: '0.00%' });
    expect(await met()).toEqual(before);
    await sheet.clock.sleep(fullReadMs / 20);
    expect(await met()).not.toEqual(before);
  });

  test('brings up to two turns at once where looks are rare', async () => {
    await fillTo(3_999);
    expect(await rowsAfter(fullReadMs / 20)).toEqual(['1:500']);
    expect(await rowsAfter(fullReadMs / 5)).toEqual(['501:1500']);
    expect(await rowsAfter(fullReadMs)).toEqual(['1501:2500']);
  });

  test('lets a turn wait while a change is on its way, but not for ever', async () => {
    await fillTo(3_999);
    const turnMs = fullReadMs / 20;
    await edit(3_000, 'Title', 'Edited');
    expect(await rowsAfter(turnMs)).toEqual(['3001:3001']);
    expect(await rowsAfter(turnMs / 2)).toEqual([]);
    await edit(3_001, 'Title', 'Edited too');
    expect(await rowsAfter(turnMs / 2)).toEqual(['1:650', '3002:3002']);
  });

  test('goes on with the same row where rows above it came in the look that takes the turn', async () => {
    await fillTo(3_999);
    expect(await rowsAfter(fullReadMs / 20)).toEqual(['1:500']);
    for (const row of [5, 5, 5]) await sheet.person({ kind: 'insertRows', sheet: 'Leads', row });
    await edit(5, 'Title', 'New');
    const rows = await rowsAfter(fullReadMs / 10);
    expect(rows.filter((range) => range.startsWith('504:'))).toEqual(['504:1153']);
    expect(await rowsAfter(fullReadMs / 20)).toEqual(['1154:1653']);
  });

  test('asks for fewer rows at a turn once Google has had no answer again and again', async () => {
    const rows = 24_000;
    await fillTo(rows);
    const heightOf = (range: string) => {
      const [, from, to] = /!(\d+):(\d+)$/.exec(range) ?? [];
      return from === undefined ? 0 : Number(to) - Number(from) + 1;
    };
    const refuse: Parameters<HeardSheet['intercept']>[0] = async ({ url }, passOn) => {
      const ranges = new URL(url, 'http://sheet').searchParams.getAll('ranges');
      return Math.max(0, ...ranges.map(heightOf)) > 700 ? tooMuch : passOn();
    };
    line.intercept(refuse);
    for (const place of [1, 2]) {
      await sheet.clock.sleep(fullReadMs / 10);
      await expect(read()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
      // All else is seen and written meanwhile.
      await edit(place, 'Title', 'Edited');
      expect(rowOf(await read(), place)?.cells['title']).toEqual(textCell('Edited'));
      await line.table.look(sheetLayout, [setStep(50, textCell('50'), titled('Written'))]);
    }
    expect(await rowsAfter(fullReadMs / 10)).toEqual([expect.stringMatching(/^\d+:\d+$/)]);
  });
});

const tooMuch = {
  status: 503,
  headers: { 'content-type': 'application/json' },
  text: JSON.stringify({ error: { code: 503, message: 'The service is currently unavailable.' } }),
};

describe('a look before a write', () => {
  test('finds that a row has moved since, and reads again', async () => {
    await read();
    await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 1 });
    const { tabs } = await line.table.look(sheetLayout, [setStep(50, textCell('50'), titled('Written'))]);
    const { rows } = tabs.lead as ReadTab;
    expect(rows.find(({ id }) => textIn(id) === '50')?.position).toBe(51);
  });

  test('brings what was typed meanwhile into the row that is to be written', async () => {
    await read();
    await edit(50, 'Title', 'Typed');
    const { tabs } = await line.table.look(sheetLayout, [deleteStep(50, '50')]);
    expect(rowOf(tabs.lead as ReadTab, 50)?.cells['title']).toEqual(textCell('Typed'));
  });

  test('finds a row that a filter hides by now, of which no copy is made', async () => {
    await read();
    await sheet.person({ kind: 'filter', sheet: 'Leads', column: 'Title', shown: ['Title 1'] });
    const step = setStep(50, textCell('50'), titled('Written'));
    await line.table.look(sheetLayout, [step]);
    const { done, undone } = await writeSteps(line.table, [step]);
    expect([[...done.keys()], undone]).toEqual([[0], []]);
  });
});
