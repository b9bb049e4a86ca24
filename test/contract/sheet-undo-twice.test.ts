import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Receipt } from '../../src/core/open-write.ts';
import { shadowTitle } from '../../src/google/write/shadow.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Damage } from '../../src/sheet/port/damage.ts';
import type { RowStep, WriteResult } from '../../src/sheet/port/table.ts';
import { typeInLeads } from '../support/person-acts.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';
import { appendStep, deleteStep, setStep, sheetLayout, textIn, titled } from '../support/table-steps.ts';

let sheet: SandboxSheet;
let heard: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.fill('1', '2', '3', '4');
  heard = await hearSheet(sheet);
});

afterEach(async () => {
  await heard[Symbol.asyncDispose]();
  await sheet.close();
});

const sort: PersonActionInput = { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true };
const rename = setStep(1, textCell('1'), titled('Written'));

/** What a process leaves behind. */
interface Kept {
  receipt: Receipt;
  damage: readonly Damage[];
}

/** What happens before and after each batch reaches the sheet, by its number; `lost` and `never` say what becomes of the request. */
type Course = readonly {
  readonly acts?: PersonActionInput[];
  readonly after?: PersonActionInput[];
  readonly fate?: 'lost' | 'never';
}[];

/** Writes, with what happens on the way. Returns the result, or `undefined` where no reply came, and what was kept. */
async function write(
  steps: readonly RowStep[],
  course: Course,
): Promise<{ result: WriteResult | undefined; kept: Kept }> {
  await heard.table.read(sheetLayout);
  const kept: Kept = { receipt: heard.table.prepare(steps, 'w1', []), damage: [] };
  let batches = 0;
  heard.intercept(async ({ url }, passOn) => {
    if (!url.includes(':batchUpdate')) return passOn();
    const { acts = [], after = [], fate } = course[batches] ?? {};
    batches += 1;
    if (acts.length > 0) await sheet.person(...acts);
    if (fate === 'never') return undefined;
    const answer = await passOn();
    if (after.length > 0) await sheet.person(...after);
    return fate === 'lost' ? undefined : answer;
  });
  const keep = (receipt: Receipt, damage: readonly Damage[]) => Object.assign(kept, { receipt, damage });
  const result = await heard.table.write(kept.receipt, keep).catch(() => undefined);
  heard.intercept((_, passOn) => passOn());
  return { result, kept };
}

/** What another process makes of what was kept. */
async function recover(kept: Kept, mayLand: boolean): Promise<WriteResult | undefined> {
  const table = sheet.openTable();
  await table.read(sheetLayout);
  const keep = (receipt: Receipt, damage: readonly Damage[]) => Object.assign(kept, { receipt, damage });
  return table.recover(kept.receipt, keep, mayLand);
}

const wholeTitles = { '1': 'Title 1', '2': 'Title 2', '3': 'Title 3', '4': 'Title 4' };

/** The rows below the last record. */
const blankRows = { sheetId: 0, dimension: 'ROWS', startIndex: 5 };

const overTitle4 = {
  kind: 'overwritten',
  id: textCell('4'),
  cells: { title: { written: textCell('Written'), before: textCell('Title 4') } },
};

describe('a row that the inverse of a write cannot put right', () => {
  const pending = { sync: textCell('Pending') };
  const steps = [
    { ...setStep(2, textCell('2'), {}), ...pending },
    { ...setStep(3, textCell('3'), {}), ...pending },
  ];
  /** The Sync texts come into the ID column, and one row is not what it was by the second look. */
  const moved = {
    acts: [{ kind: 'moveColumns', sheet: 'Leads', column: 'ID', to: 3 }],
    after: [typeInLeads(2, 'Title', '')],
  } satisfies Course[number];
  const over = (id: string) => ({ kind: 'overwritten', id: textCell(id) });

  test('is asked about as soon as the inverse of the others has arrived', async () => {
    const { result } = await write(steps, [moved]);
    expect(result).toMatchObject({ undone: [over('3')], escalated: [over('2')], isOver: true });
  });

  test('S4: is known to be damaged while the inverse of the others has no reply, and asked about after it', async () => {
    const { kept, result } = await write(steps, [moved, { fate: 'never' }]);
    expect(kept.damage).toMatchObject([over('3'), over('2')]);
    expect(result).toMatchObject({ pending: [over('3'), over('2')], escalated: [], isOver: false });
    expect(await recover(kept, true)).toMatchObject({ pending: [over('3'), over('2')], isOver: false });
    expect(await recover(kept, false)).toMatchObject({ undone: [over('3')], escalated: [over('2')] });
  });

  test('is asked about once where the inverse of the others has landed without a reply', async () => {
    const { kept } = await write(steps, [moved, { fate: 'lost' }]);
    const result = await recover(kept, true);
    expect(result).toMatchObject({ undone: [over('3')], escalated: [over('2')], isOver: true });
  });
});

describe('what a user typed in the moment of a write', () => {
  const edited = { acts: [typeInLeads(1, 'Title', 'Typed')] };
  const over = { kind: 'overwritten', id: textCell('1'), cells: { title: { written: textCell('Written') } } };

  test('S1: is known to be written over while the inverse has no reply, and comes back after it', async () => {
    const { kept, result } = await write([rename], [edited, { fate: 'never' }]);
    expect(kept.damage).toMatchObject([over]);
    expect(result).toMatchObject({ pending: [over], isOver: false });
    expect(await recover(kept, true)).toMatchObject({ pending: [over], isOver: false });
    expect(await recover(kept, false)).toMatchObject({
      pending: [],
      undone: [],
      escalated: [],
      isOver: true,
    });
    expect(await sheet.titlesById()).toEqual({ ...wholeTitles, '1': 'Typed' });
  });
});

describe('a write of which the reply is lost', () => {
  test('is undone by another process where rows had moved', async () => {
    const { kept } = await write([rename], [{ acts: [sort], fate: 'lost' }]);
    const result = await recover(kept, true);
    expect(result).toMatchObject({ undone: [overTitle4], escalated: [], isOver: true });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('says nothing where a user deleted the hidden tab that kept what it did', async () => {
    const { kept } = await write([rename], [{ fate: 'lost' }]);
    await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
    expect(await recover(kept, true)).toBeUndefined();
  });
});

describe('a write that landed in part before its reply was lost', () => {
  /** Google refuses the whole and is sent the tabs one by one; nothing comes of the second. */
  async function writeInParts(acts: PersonActionInput[] = []): Promise<Kept> {
    const task = { ...setStep(1, textCell('7'), titled('Of the task')), entity: 'task' } as const;
    await sheet.asOwner({
      addProtectedRange: { protectedRange: { range: { sheetId: 2 }, editors: { users: [] } } },
    });
    const { kept, result } = await write([rename, task], [{}, { acts }, { fate: 'never' }]);
    expect(result).toBeUndefined();
    return kept;
  }

  test('has its landed steps confirmed although the process ended before it had noted them', async () => {
    const kept = await writeInParts();
    const found = { done: new Map([[0, { edited: [] }]]), isOver: false };
    expect(await recover(kept, true)).toMatchObject(found);
    expect(await recover(kept, true)).toMatchObject(found);
  });

  test('S2: is undone once where rows had moved, and its other steps are waited for', async () => {
    const kept = await writeInParts([sort]);
    const first = await recover(kept, true);
    expect(first).toMatchObject({ undone: [overTitle4], isOver: false });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
    const rest = { ...kept, receipt: first?.rest ?? kept.receipt };
    expect(await recover(rest, true)).toMatchObject({ undone: [], done: new Map(), isOver: false });
    expect(await recover(rest, false)).toMatchObject({ undone: [], done: new Map(), isOver: true });
  });
});

describe('an inverse', () => {
  test('that writes over what a user types at that moment asks about it', async () => {
    const { result } = await write([rename], [{ acts: [sort] }, { acts: [typeInLeads(1, 'Title', 'Mine')] }]);
    // The user typed after the look: a question names what was typed, and nothing else is left.
    expect(result?.escalated).toMatchObject([{ cells: { title: { before: textCell('Mine') } } }]);
    expect(result?.undone).toEqual([]);
  });

  test('that reaches moved rows itself is escalated, with both rows', async () => {
    const { result } = await write(
      [rename],
      [{ acts: [sort] }, { acts: [sort, { ...sort, descending: false }] }],
    );
    expect(result?.escalated.map(({ id }) => id)).toEqual([textCell('4'), textCell('1')]);
    expect(result).toMatchObject({ undone: [], isOver: true, done: new Map() });
  });

  test('that gives a formula of a user to another row names both formulas', async () => {
    const own = 9;
    const formulas = [1, 2, 3, 4].map((row) => typeInLeads(row, own, `=1+${row}`));
    await sheet.person(typeInLeads(0, own, 'Sum'), ...formulas);
    const step = { ...setStep(4, textCell('4'), {}), sync: textCell('Pending') };
    const copyOver: PersonActionInput = { kind: 'copyRow', sheet: 'Leads', row: 2, to: 4 };
    const { result } = await write(
      [step],
      [{ acts: [{ kind: 'moveColumns', sheet: 'Leads', column: own, to: 2 }] }, { acts: [copyOver] }],
    );
    const formula = (text: string) => expect.objectContaining({ kind: 'formula', formula: text });
    expect(result?.escalated).toMatchObject([
      { id: textCell('4'), own: { Sum: { written: textCell('Pending'), before: formula('=1+4') } } },
      { id: textCell('2'), own: { Sum: { written: formula('=1+4'), before: formula('=1+2') } } },
    ]);
  });

  test('that has no reply is known to be pending, and found to have landed by another process', async () => {
    const { kept, result } = await write([rename], [{ acts: [sort] }, { fate: 'lost' }]);
    expect(result).toMatchObject({ pending: [overTitle4], isOver: false });
    expect(kept.damage).toMatchObject([overTitle4]);
    expect(await recover(kept, true)).toMatchObject({ undone: [overTitle4], escalated: [], isOver: true });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('that never left is waited for, and then sent anew', async () => {
    const { kept } = await write([rename], [{ acts: [sort] }, { fate: 'never' }]);
    expect(await sheet.titlesById()).toEqual({ ...wholeTitles, '4': 'Written' });
    expect(await recover(kept, true)).toMatchObject({ pending: [overTitle4], isOver: false });
    expect(await recover(kept, false)).toMatchObject({ undone: [overTitle4], isOver: true });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('is known by the values alone where a user deleted the hidden tab meanwhile', async () => {
    const { kept } = await write([rename], [{ acts: [sort] }, { fate: 'never' }]);
    await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
    expect(await recover(kept, false)).toMatchObject({ undone: [overTitle4], escalated: [] });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('is not sent where the damaged row has no copy of its formula any more', async () => {
    await sheet.person(typeInLeads(4, 'Met', '=DATE(2026,1,1)'));
    const met = setStep(1, textCell('1'), { 'custom.met': numberCell(46_000) });
    const { kept } = await write([met], [{ acts: [sort] }, { fate: 'never' }]);
    await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
    const result = await recover(kept, false);
    expect(result).toMatchObject({ undone: [], escalated: [{ id: textCell('4'), kind: 'overwritten' }] });
  });
});

describe('a damaged row', () => {
  test('is found in its place although a user copied it meanwhile', async () => {
    const copy: PersonActionInput = { kind: 'copyRow', sheet: 'Leads', row: 3, to: 1, inserts: true };
    const { result } = await write([setStep(2, textCell('2'), titled('Written'))], [{ acts: [copy] }]);
    expect(result).toMatchObject({ undone: [{ id: textCell('1') }], escalated: [] });
    const { rows } = await sheet.readTab();
    expect(rows.map(({ cells }) => textIn(cells['title']))).toEqual([
      'Title 3',
      'Title 1',
      'Title 2',
      'Title 3',
      'Title 4',
    ]);
  });

  test('that was deleted by mistake comes back also where a delete was to take its copy', async () => {
    const { result } = await write([deleteStep(1, '1')], [{ acts: [sort] }]);
    expect(result).toMatchObject({ undone: [{ kind: 'deleted', id: textCell('4') }], escalated: [] });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('is none where a delete took a blank row that a user inserted at that moment', async () => {
    const { result } = await write(
      [deleteStep(2, '2')],
      [{ acts: [{ kind: 'insertRows', sheet: 'Leads', row: 2 }] }],
    );
    expect(result).toMatchObject({ done: new Map(), undone: [], escalated: [], isOver: true });
    expect(await sheet.titlesById()).toEqual(wholeTitles);
  });

  test('is none where a new row comes to a full tab to which a user adds one at that moment', async () => {
    const last = blankRows.startIndex;
    await sheet.batch({ deleteDimension: { range: blankRows } });
    const { result } = await write(
      [appendStep('9', titled('Ninth'))],
      [{ acts: [{ kind: 'insertRows', sheet: 'Leads', row: last }, typeInLeads(last, 'Title', 'Mine')] }],
    );
    expect(result).toMatchObject({ done: new Map([[0, { edited: [] }]]), undone: [], escalated: [] });
    expect(await sheet.titlesById()).toEqual({ ...wholeTitles, '9': 'Ninth', '': 'Mine' });
  });

  test('loses an ID that was written beside it, and its own Sync text is back', async () => {
    await sheet.person(typeInLeads(5, 'Title', 'New'));
    const claim = { ...setStep(5, emptyCell, {}), id: textCell('new-a'), sync: textCell('Pending') };
    const { result } = await write([claim], [{ acts: [{ kind: 'insertRows', sheet: 'Leads', row: 1 }] }]);
    expect(result).toMatchObject({ undone: [{ id: textCell('4') }], escalated: [], done: new Map() });
    const { rows } = await sheet.readTab();
    expect(rows.map(({ id }) => id)).toEqual([...['1', '2', '3', '4'].map(textCell), emptyCell]);
    expect(rows.slice(0, 4).map(({ sync }) => textIn(sync))).toEqual(
      Array.from({ length: 4 }, () => 'Synced'),
    );
  });
});

describe('a new row that came under wrong columns', () => {
  const toFront: PersonActionInput = { kind: 'moveColumns', sheet: 'Leads', column: 'Website', to: 2 };
  const rowsNow = async () =>
    (await sheet.readTab()).rows.map(({ cells, id }) => [textIn(id), textIn(cells['title'])]);
  const before = Object.entries(wholeTitles);
  const ninth = { kind: 'added', cells: { ID: { written: textCell('9') } } };

  test('S3: stays with its ID and is asked about where a user typed there since', async () => {
    const { result } = await write(
      [appendStep('9', titled('Ninth'))],
      [{ acts: [toFront], after: [typeInLeads(5, 'Title', 'Mine')] }],
    );
    expect(result).toMatchObject({ done: new Map(), undone: [], escalated: [ninth], isOver: true });
    expect(await rowsNow()).toEqual([...before, ['9', 'Mine']]);
  });

  test('goes where a user put something of their own beside it', async () => {
    const { result } = await write(
      [appendStep('9', titled('Ninth'))],
      [{ acts: [toFront], after: [typeInLeads(5, 9, 'a note')] }],
    );
    expect(result).toMatchObject({ undone: [ninth], escalated: [], isOver: true });
    expect(await rowsNow()).toEqual(before);
  });

  test('is not asked about where the inverse deletes it in place of another one', async () => {
    const { result } = await write(
      [appendStep('9', titled('Ninth')), appendStep('10', titled('Tenth'))],
      [{ acts: [toFront] }, { acts: [{ kind: 'insertRows', sheet: 'Leads', row: 5 }] }],
    );
    const tenth = { kind: 'added', cells: { ID: { written: textCell('10') } } };
    expect(result).toMatchObject({ undone: [ninth], escalated: [tenth], isOver: true });
    expect((await rowsNow()).map(([id]) => id)).toEqual(['1', '2', '3', '4', '10']);
  });
});
