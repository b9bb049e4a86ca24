import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import type { Table } from '../../src/core/ports.ts';
import { numberSteps, type RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import {
  appendStep,
  deleteStep,
  keeping,
  openSandboxSheet,
  type SandboxSheet,
  setStep,
  sheetLayout,
  textIn,
  titled,
} from '../support/sandbox-sheet.ts';
import { hearSheet } from '../support/sheet-line.ts';

let sheet: SandboxSheet;

/** What Google may do with a copy of a row that a filter hides; nobody has said which. */
const answers = ['skipAndTile', 'nothing', 'copied', 'refused'] as const;

describe.each(answers)(
  'rows that a filter hides, where the answer to their copies is %s,',
  (hiddenRowCopy) => {
    beforeEach(async () => {
      sheet = await openSandboxSheet({ choices: { '*': { hiddenRowCopy } } });
    });

    afterEach(() => sheet.close());

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
      expect(await sheet.titlesById()).toEqual(
        Object.fromEntries(ids.slice(0, -1).map((id) => [id, 'Same'])),
      );
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
  },
);

/** Beside what the emulator does itself: a Google that refuses every copy in a filtered tab, with the number of the request or without. */
const allAnswers = [...answers, 'every copy refused', 'every copy refused, and which not said'] as const;

/** Three rows with an ID, and one that a person has added. */
async function openFilled(answer: (typeof allAnswers)[number]): Promise<{ table: Table }> {
  const hiddenRowCopy = answers.find((each) => each === answer);
  sheet = await openSandboxSheet(hiddenRowCopy ? { choices: { '*': { hiddenRowCopy } } } : {});
  await sheet.fill('1', '2', '3');
  await sheet.person(
    { kind: 'edit', sheet: 'Leads', row: 4, column: 'Title', text: 'Fresh' },
    ...['w1', 'w2', 'w3', 'w4'].map(
      (text, index): PersonActionInput => ({
        kind: 'edit',
        sheet: 'Leads',
        row: index + 1,
        column: 'Website',
        text,
      }),
    ),
  );
  const heard = await hearSheet(sheet);
  onTestFinished(async () => {
    await heard[Symbol.asyncDispose]();
    await sheet.close();
  });
  if (!hiddenRowCopy)
    heard.intercept(async ({ body, url }, passOn) => {
      if (!url.includes(':batchUpdate')) return passOn();
      const { requests } = JSON.parse(body) as { requests: object[] };
      const at = requests.findIndex((request) => 'copyPaste' in request);
      const which = answer.includes('not said') ? '' : `Invalid requests[${at}].copyPaste: `;
      const error = { code: 400, message: `${which}It can not be done.`, status: 'INVALID_ARGUMENT' };
      const headers = { 'content-type': 'application/json' };
      return at < 0 ? passOn() : { status: 400, headers, text: JSON.stringify({ error }) };
    });
  return heard;
}

const writes = {
  set: {
    row: 2,
    step: setStep(2, textCell('2'), titled('Written')),
    after: [
      ['1', 'Title 1'],
      ['2', 'Written'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
    ],
    before: ['2', 'Title 2'],
  },
  delete: {
    row: 2,
    step: deleteStep(2, '2'),
    after: [
      ['1', 'Title 1'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
    ],
    before: ['2', 'Title 2'],
  },
  append: {
    row: 2,
    step: appendStep('5', titled('Written')),
    after: [
      ['1', 'Title 1'],
      ['2', 'Title 2'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
      ['5', 'Written'],
    ],
    before: undefined,
  },
  claim: {
    row: 4,
    step: { ...setStep(4, emptyCell, {}), id: textCell('new-4') },
    after: [
      ['1', 'Title 1'],
      ['2', 'Title 2'],
      ['3', 'Title 3'],
      ['new-4', 'Fresh'],
    ],
    before: ['', 'Fresh'],
  },
} as const;

const filters = [
  'no filter',
  'a filter that hides another row',
  'a filter that hides it',
  'a filter that hides it since then',
] as const;

const cases = allAnswers.flatMap((answer) =>
  filters.flatMap((filter) =>
    Object.keys(writes).map((kind) => [kind as keyof typeof writes, filter, answer] as const),
  ),
);

test.each(cases)(
  'S2: the %s of a row is done in one cycle, with %s, where the answer to copies is %s',
  async (kind, filter, answer) => {
    const { table } = await openFilled(answer);
    const { after, before, row, step } = writes[kind];
    const hidden = filter.includes('another') ? 3 : row;
    const shown = ['w1', 'w2', 'w3', 'w4'].filter((_, index) => index + 1 !== hidden);
    const action: PersonActionInput = { kind: 'filter', sheet: 'Leads', column: 'Website', shown };
    if (filter.includes('since')) await sheet.setFaults({ beforeNextWrite: [action] });
    else if (filter !== 'no filter') await sheet.person(action);
    await table.read(sheetLayout);
    const reply = await table.write([step, appendStep('6', titled('Also'))], keeping);
    expect(reply).not.toHaveProperty('refusal');
    const { rows } = await sheet.readTab();
    expect(rows.map(({ id, cells }) => [textIn(id), textIn(cells['title'])])).toEqual([
      ...after,
      ['6', 'Also'],
    ]);
    // Of a row of which no copy is made a delete leaves nothing to be seen; what a set met tells the row that it left.
    const told = reply.rows.get(0);
    const seen = told && [textIn(told.id), textIn(told.cells['title'])];
    const isOfRead = filter === 'a filter that hides it' || answer.includes('every');
    if (kind === 'append') expect(seen).toBeUndefined();
    else if (kind !== 'delete' && isOfRead) expect(seen).toEqual(before);
    else if (filter === 'a filter that hides it since then' || isOfRead)
      expect([before, ['', '']]).toContainEqual(seen);
    else expect(seen).toEqual(before);
  },
);

test('S13: a row that is given back where Google refuses every copy has its values, and cells of people stay', async () => {
  const { table } = await openFilled('every copy refused');
  await sheet.person({ kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: '=1+1' });
  await table.read(sheetLayout);
  const { rows } = await table.write([setStep(2, textCell('2'), titled('Wrong'))], keeping);
  const [kept] = rows.values();
  if (!kept) throw new Error('Nothing was written over.');
  await table.read(sheetLayout);
  await table.write([{ ...setStep(2, textCell('2'), titled('')), place: kept.place }], {
    run: 'w2',
    from: 20,
  });
  expect((await sheet.titlesById())['2']).toBe('Title 2');
  const { values } = (await sheet.readValues('Leads!I3', 'FORMULA')) as { values: string[][] };
  expect(values).toEqual([['=1+1']]);
});

test('a refusal that no copy caused is one, and nothing is sent again for it', async () => {
  sheet = await openSandboxSheet();
  onTestFinished(() => sheet.close());
  await sheet.fill('1', '2');
  const { sheetId } = (await sheet.readEverything()).sheets?.[0]?.properties ?? {};
  await sheet.asOwner({
    addProtectedRange: { protectedRange: { range: { sheetId, startRowIndex: 1, endRowIndex: 2 } } },
  });
  await sheet.readTab();
  const { writes: before } = await sheet.countRequests();
  const reply = await sheet.table.write([setStep(1, textCell('1'), titled('No'))], keeping);
  expect(reply.refusal?.error.message).toContain('protected');
  expect((await sheet.countRequests()).writes).toBe(before + 1);
});
