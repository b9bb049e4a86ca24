import { describe, expect, onTestFinished, test } from 'vitest';
import { type Found, keepAnswers, readKept, unknowns } from '../../src/google/probes/answers.ts';
import { type ProbeOutcome, probeGoogle } from '../../src/google/probes/prober.ts';
import { scratchId, scratchSize, scratchTitle } from '../../src/google/probes/scratch.ts';
import { cellsMax } from '../../src/google/room.ts';
import type { Choices, ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { Mark } from '../../src/sheet/port/instance.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { hearSheet } from '../support/sheet-line.ts';
import { sheetLayout } from '../support/table-steps.ts';

const isOver = () => false;

async function openFilled(choices: ChoicesInput = {}): Promise<SandboxSheet> {
  const sheet = await openSandboxSheet({ choices });
  onTestFinished(() => sheet.close());
  await sheet.fill('1', '2');
  return sheet;
}

const probe = (sheet: SandboxSheet): Promise<ProbeOutcome> => probeGoogle({ ...sheet.options, isOver });

async function foundIn(sheet: SandboxSheet): Promise<Found> {
  const outcome = await probe(sheet);
  if (outcome.state === 'notAsked') throw new Error(outcome.reason);
  return outcome.found;
}

const titlesIn = async (sheet: SandboxSheet) =>
  (await sheet.readEverything()).sheets?.map(({ properties }) => properties?.title);

const byFilter = ['skipAndTile', 'nothing', 'copied', 'refused'] as const;

/** What is found out where the emulator does this. */
const seenAs = { skipAndTile: 'shifted', nothing: 'gap', copied: 'copied', refused: 'refused' } as const;

describe('what no document says is found out:', () => {
  test.each(byFilter)('copies of rows that a filter hides, which are %s', async (hiddenRowCopy) => {
    const found = await foundIn(await openFilled({ '*': { hiddenRowCopy } }));
    expect(found).toMatchObject({ filteredCopies: seenAs[hiddenRowCopy], handHiddenCopies: 'copied' });
  });

  test.each(byFilter)('copies of rows that are hidden by hand, which are %s', async (hiddenRowCopy) => {
    const sheet = await openFilled({ '*': { hiddenRowCopy, handHiddenRowCopy: 'asFiltered' } });
    expect(await foundIn(sheet)).toMatchObject({ handHiddenCopies: seenAs[hiddenRowCopy] });
  });

  test.each<Choices['tableGrowth']>(['inheriting', 'always', 'never'])(
    'which rows below a Table join it: %s',
    async (tableGrowth) => {
      expect(await foundIn(await openFilled({ '*': { tableGrowth } }))).toMatchObject({ tableGrowth });
    },
  );

  test('how long a cell takes to read, without what every request takes', async () => {
    const sheet = await openFilled();
    await using heard = await hearSheet(sheet);
    const [requestMs, cellMs] = [700, 0.05];
    heard.intercept(async ({ url }, passOn) => {
      const answer = await passOn();
      const cells = answer?.text.match(/as much as/g)?.length ?? 0;
      // Each of these cells has its text as it was entered and as it is shown.
      if (url.includes('getByDataFilter')) await sheet.clock.sleep(requestMs + (cells / 2) * cellMs);
      return answer;
    });
    const outcome = await probeGoogle({ ...heard.options, isOver });
    expect(outcome.state === 'asked' && outcome.found.cellMicros).toBeCloseTo(cellMs * 1_000);
  });
});

test('a run of the probes leaves everything as it was, and spends nine requests', async () => {
  const sheet = await openFilled();
  const [before, spent] = [await sheet.readEverything(), await sheet.countRequests()];
  const outcome = await probe(sheet);
  expect(outcome).toMatchObject({ state: 'asked', isTabLeft: false });
  expect(Object.keys(outcome.state === 'asked' ? outcome.found : {}).toSorted()).toEqual(
    [...Object.keys(unknowns), 'cellMicros'].toSorted(),
  );
  const { reads, writes } = await sheet.countRequests();
  expect(reads - spent.reads + writes - spent.writes).toBe(9);
  expect(await sheet.readEverything()).toEqual(before);
});

test('the scratch tab is hidden, and no request names another tab', async () => {
  const sheet = await openFilled();
  await using heard = await hearSheet(sheet);
  await probeGoogle({ ...heard.options, isOver });
  const bodies = heard.takeRequests().map(({ body }) => body);
  expect(bodies.join()).toContain('"hidden":true');
  const ids = bodies.flatMap((body) => [...body.matchAll(/"sheetId":(\d+)/g)].map(([, id]) => Number(id)));
  expect(new Set(ids)).toEqual(new Set([scratchId]));
});

test('a scratch tab that a killed run has left is gone after the next one', async () => {
  const sheet = await openFilled();
  await sheet.batch({ addSheet: { properties: { sheetId: scratchId, title: scratchTitle } } });
  const titles = await titlesIn(sheet);
  await foundIn(sheet);
  expect(await titlesIn(sheet)).toEqual(titles?.filter((title) => title !== scratchTitle));
});

/** The line to Google breaks before, or after, the writes of these numbers. */
async function probeBroken(sheet: SandboxSheet, before: readonly number[], after: readonly number[] = []) {
  await using heard = await hearSheet(sheet);
  let writes = 0;
  heard.intercept(async ({ url }, passOn) => {
    if (!url.includes(':batchUpdate')) return passOn();
    writes += 1;
    if (before.includes(writes)) return undefined;
    const answer = await passOn();
    return after.includes(writes) ? undefined : answer;
  });
  return await probeGoogle({ ...heard.options, isOver });
}

test('the scratch tab is removed where the reply to its making was lost', async () => {
  const sheet = await openFilled();
  await expect(probeBroken(sheet, [], [1])).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  expect(await titlesIn(sheet)).not.toContain(scratchTitle);
});

test('nothing is found out where a user deletes the scratch tab meanwhile', async () => {
  const sheet = await openFilled();
  await using heard = await hearSheet(sheet);
  heard.intercept(async ({ url }, passOn) => {
    const answer = await passOn();
    if (url.includes(':batchUpdate') && (await titlesIn(sheet))?.includes(scratchTitle))
      await sheet.batch({ deleteSheet: { sheetId: scratchId } });
    return answer;
  });
  await expect(probeGoogle({ ...heard.options, isOver })).rejects.toMatchObject({
    code: 'SHEET_UNREACHABLE',
  });
});

test('a scratch tab that cannot be removed is named, and what was found out is there', async () => {
  const sheet = await openFilled();
  expect(await probeBroken(sheet, [5])).toMatchObject({
    state: 'asked',
    isTabLeft: true,
    found: { tableGrowth: 'inheriting' },
  });
  expect(await titlesIn(sheet)).toContain(scratchTitle);
});

const keeper: Mark = { count: 1, instance: { id: 'k', host: 'office-pc', pid: 7, since: 1_790_000_000_000 } };

describe('nothing is tried and nothing written', () => {
  const obstacles: Record<string, (sheet: SandboxSheet) => Promise<RegExp>> = {
    'where the tab of the probes was renamed': async (sheet) => {
      await sheet.batch({ addSheet: { properties: { sheetId: scratchId, title: 'My notes' } } });
      return /“My notes” is in the way/;
    },
    'where another tab has the title of the probes': async (sheet) => {
      await sheet.batch({ addSheet: { properties: { title: scratchTitle } } });
      return /is in the way/;
    },
    'where a daemon keeps the spreadsheet': async (sheet) => {
      await sheet.table.read(sheetLayout);
      await sheet.table.sign({ keeper });
      return /A daemon \(host office-pc.*keeps the spreadsheet/;
    },
    'where the spreadsheet is nearly full': async (sheet) => {
      // Beside three tabs of 1,000 rows and the hidden one of 100.
      const rowCount = Math.floor((cellsMax - 5_000) / 26) - 3_100;
      await sheet.batch({ addSheet: { properties: { gridProperties: { rowCount, columnCount: 26 } } } });
      return new RegExp(`needs ${scratchSize.rowCount * scratchSize.columnCount} more`);
    },
  };

  test.each(Object.entries(obstacles))('%s', async (_, make) => {
    const sheet = await openFilled();
    const reason = await make(sheet);
    const { writes } = await sheet.countRequests();
    expect(await probe(sheet)).toEqual({ state: 'notAsked', reason: expect.stringMatching(reason) });
    expect((await sheet.countRequests()).writes).toBe(writes);
  });

  test('in a copy of a spreadsheet, in one of another CRM, and in one that was not laid out', async () => {
    const sheet = await openFilled();
    const copy = await sheet.copySpreadsheet();
    const ask = (more: object) => probeGoogle({ ...sheet.options, isOver, ...more });
    const fresh = await openSandboxSheet();
    onTestFinished(() => fresh.close());
    expect([
      await ask({ spreadsheetId: copy }),
      await ask({ account: 'account-2' }),
      await probe(fresh),
    ]).toEqual(
      [/is a copy/, /another CRM/, /run init first/].map((words) => ({
        state: 'notAsked',
        reason: expect.stringMatching(words),
      })),
    );
  });

  test('unless the daemon that has left its mark is known to have ended', async () => {
    const sheet = await openFilled();
    await sheet.table.read(sheetLayout);
    await sheet.table.sign({ keeper });
    const outcome = await probeGoogle({ ...sheet.options, isOver: ({ host }) => host === 'office-pc' });
    expect(outcome.state).toBe('asked');
  });
});

test('what was found out is kept for its spreadsheet alone, and words of another version are none', () => {
  const found: Found = { filteredCopies: 'copied', cellMicros: 12 };
  const kept = keepAnswers('agency', { at: 5, found });
  const reread: unknown = JSON.parse(JSON.stringify(kept));
  expect(readKept(reread, 'agency')).toEqual({ at: 5, found });
  expect(readKept(reread, 'another')).toBeUndefined();
  expect(readKept({ ...kept, version: 0 }, 'agency')).toBeUndefined();
  expect(
    readKept({ ...kept, found: { filteredCopies: 'toString', tableGrowth: 'never' } }, 'agency'),
  ).toEqual({
    at: 5,
    found: { tableGrowth: 'never' },
  });
});
