import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../../src/app/config.ts';
import { openLink } from '../../src/app/link.ts';
import { accountOf } from '../../src/app/owner.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { lateLandingMs } from '../../src/core/open-write.ts';
import { type Answer, decisionOf } from '../../src/core/waiting/answer.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { readVoidClaims } from '../../src/sheet/damages.ts';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { connect } from '../../src/sqlite/connection.ts';
import { mirrorFile } from '../../src/sqlite/open.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { SheetEngine } from '../support/sheet-engine.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';

/** A request that changes the spreadsheet. */
type SheetRequest = Readonly<Record<string, unknown>>;

/** What the two sides and the mirror are made of. */
interface Content {
  /** Changes of users in the CRM. */
  readonly crm: readonly object[];
  /** Statements that make the mirror, in SQL. */
  readonly mirror: readonly string[];
  /** Requests that make the spreadsheet. */
  readonly requests: readonly SheetRequest[];
}

/**
 * Mirrors and spreadsheets of the last version that kept a write to the sheet in another form and mended later what it had done. Each holds
 * one write that is not over. The leads 1001 to 1003 are Acme, Bolt and Corp. By then Acme has got the title Acme AG in the CRM, or is gone
 * from there, or a user has added Dune in the sheet.
 */
const fixtures: {
  readonly spreadsheetId: string;
  readonly common: Content;
  readonly states: Readonly<Record<string, Content>>;
} = JSON.parse(readFileSync(new URL('fixtures/earlier-writes.json', import.meta.url), 'utf8'));

type Row = readonly [id: unknown, title: unknown];

interface Options {
  readonly vanishedRows?: VanishedRowPolicy;
  /** Changes the requests that make the spreadsheet. */
  readonly pick?: (requests: readonly SheetRequest[]) => readonly SheetRequest[];
  /** Another statement for the mirror. */
  readonly statement?: string;
}

/** Opens a mirror of the earlier version beside both sides as that version left them. */
async function upgrade(name: string, { pick, statement, vanishedRows = 'trash' }: Options = {}) {
  const { common, spreadsheetId, states } = fixtures;
  const own = states[name];
  if (!own) throw new Error(`There is no fixture ${name}.`);
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const limits = { requestsPerWindow: 100, windowMs: 1_000 };
  const counts = { leads: 3, opportunities: 0, tasks: 0 };
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, limits, seededAt: Date.UTC(2026, 0, 1) });
  onTestFinished(() => crm.close());
  for (const change of [...common.crm, ...own.crm]) await post(`${crm.pageUrl}__sandbox/by-hand`, change);
  const quotas = { readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const sheets = await startSandboxSheets({ spreadsheetId, quotas });
  onTestFinished(() => sheets.close());
  const settings = loadSettings({
    CRM_BASE_URL: crm.baseUrl,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: spreadsheetId,
    GOOGLE_API_ROOT_URL: sheets.rootUrl,
    STATE_DIR: directory,
  });
  /** The address of the CRM is another one in each test. */
  const addressed = <Item>(items: readonly Item[]): Item[] =>
    JSON.parse(
      JSON.stringify(items).replaceAll('{crm}', crm.baseUrl).replaceAll('{account}', accountOf(settings)),
    );
  const change = (requests: readonly SheetRequest[]) =>
    post(`${sheets.rootUrl}/v4/spreadsheets/${spreadsheetId}:batchUpdate`, { requests: addressed(requests) });
  const requests = [...common.requests, ...own.requests];
  await change(pick ? pick(requests) : requests);
  const connection = connect(mirrorFile(directory));
  const statements = addressed([...common.mirror, ...own.mirror]);
  for (const each of [...statements, ...(statement ? [statement] : [])]) connection.execute(each);
  connection.close();

  const log = createRecordingLog();
  const opened = openLink({ ...settings, sheet: { ...settings.sheet!, ...quotas, vanishedRows } }, log);
  onTestFinished(() => opened.close());
  const sheetLink = opened.sheet!;
  const times = { ...sheetLink.times, typingPauseMs: 1, lagMs: 1, settleMs: 100 };
  const link = { ...sheetLink, times };
  const { clock, mirror } = link;
  const engine = new SheetEngine(link);
  onTestFinished(() => engine.stop(5_000));
  await engine.pullAll(() => {});
  const addresses = { crmUrl: crm.pageUrl, sheetsUrl: sheets.rootUrl, spreadsheetId };
  return {
    mirror,
    directory,
    requests,
    change,
    async goOn(cycles = 5) {
      for (const _cycle of Array.from({ length: cycles })) {
        await engine.cycle();
        for (const { key } of mirror.readOutbox()) await pushRecord(link, key);
      }
    },
    questions: () => engine.lastPlan?.questions ?? [],
    answer: (scope: string, answer: Answer) => mirror.saveDecision(decisionOf(scope, answer, clock.now())),
    readRows: async (): Promise<Row[]> =>
      ((await readSheet(addresses))['Leads'] ?? []).map(({ ID, Title }) => [ID, Title]),
    readRecords: async (): Promise<Row[]> =>
      (await readCrm(crm.pageUrl)).leads.map(({ id, title }) => [id, title]),
    writesToCrm: () =>
      crm.model
        .requests()
        .filter(({ method }) => method !== 'GET')
        .map(({ method, path }) => `${method} ${path}`),
  };
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

type Upgraded = Awaited<ReturnType<typeof upgrade>>;

const byId = (rows: readonly Row[]) => rows.toSorted(([one], [other]) => Number(one) - Number(other));

/** Whether a write was taken for one that had reached other rows. */
const isRepaired = (mirror: Mirror) =>
  mirror.searchJournal({ limit: 20 }).some(({ kind }) => kind === 'repair');

/** Nothing is open or asked any more, and both sides hold these leads. */
async function expectAtRest({ mirror, questions, readRecords, readRows }: Upgraded, leads: readonly Row[]) {
  expect([mirror.readOpenWrites(), mirror.readSuspects(), questions()]).toEqual([[], [], []]);
  expect(byId(await readRows())).toEqual(leads);
  expect(byId(await readRecords())).toEqual(leads);
}

const [acme, bolt, corp, dune] = [
  [1001, 'Acme'],
  [1002, 'Bolt'],
  [1003, 'Corp'],
  [1004, 'Dune'],
] as const;
const renamed: Row = [1001, 'Acme AG'];

describe('an open write to the sheet that an earlier version left', () => {
  test.each([
    ['is over without a question where its reply was lost and it reached its own row', 'unknown-own-row'],
    ['is over without a question where a filter hid its own row', 'unknown-hidden-row'],
  ])('%s', async (_title, state) => {
    const upgraded = await upgrade(state);
    await upgraded.goOn();
    await expectAtRest(upgraded, [renamed, bolt, corp]);
    expect([isRepaired(upgraded.mirror), upgraded.writesToCrm()]).toEqual([false, []]);
  });

  test('is over without a question where it deleted its own row, which a filter hid', async () => {
    const upgraded = await upgrade('landed-own-row');
    await upgraded.goOn();
    await expectAtRest(upgraded, [bolt, corp]);
    expect([isRepaired(upgraded.mirror), upgraded.writesToCrm()]).toEqual([false, []]);
  });

  const overCorp = 'Title: “Acme AG” over “Corp”';
  const overTyped = 'Title: “Acme AG” over “Typed”';
  const overWebsite = 'Website: “Acme AG” over “https://www.example.com/681a4”';
  const deleted = /deleted by mistake, with .*Title: “Corp”; Status: “In negotiation”/;

  test.each([
    ['its reply was lost and it reached a row that had moved', 'unknown-moved-row', corp, overCorp],
    ['its reply said that it reached a row that had moved', 'answered-hit', corp, overCorp],
    ['its reply was lost and it deleted a row that had moved', 'unknown-deleted', corp, deleted],
    ['its reply said that it deleted a row that had moved', 'answered-deleted', corp, deleted],
    ['it wrote over what a user typed at that moment', 'unknown-typed-over', acme, overTyped],
    ['it reached a column that had moved', 'unknown-moved-columns', acme, overWebsite],
  ])('leads to a question where %s, and Restore puts the row right', async (_where, state, row, words) => {
    const upgraded = await upgrade(state);
    const { answer, goOn, mirror, questions, writesToCrm } = upgraded;
    await goOn();
    const [{ id } = { id: '' }] = mirror.readSuspects();
    const scope = `damage:lead-${row[0]}:${id}`;
    const what = textCell(expect.stringMatching(words));
    expect(mirror.readSuspects()).toMatchObject([{ state: 'escalated', damage: { id: numberCell(row[0]) } }]);
    expect(questions()).toMatchObject([{ scope, cells: { record: numberCell(row[0]), what } }]);
    expect(mirror.readOpenWrites()).toEqual([]);
    answer(scope, 'restore');
    await goOn();
    await expectAtRest(upgraded, state.endsWith('deleted') ? [bolt, corp] : [renamed, bolt, corp]);
    expect(writesToCrm()).toEqual([]);
  });

  test('leads to a question where what it deleted was hidden by a filter and is not known, as for each row that is gone', async () => {
    const upgraded = await upgrade('landed-moved-row', { vanishedRows: 'ask' });
    const { answer, goOn, questions, writesToCrm } = upgraded;
    await goOn();
    expect(questions()).toMatchObject([{ scope: 'vanished:lead-1002', cells: { title: textCell('Bolt') } }]);
    answer('vanished:lead-1002', 'restore');
    await goOn();
    await expectAtRest(upgraded, [bolt, corp]);
    expect(writesToCrm()).toEqual([]);
  });

  test('that lands after the upgrade is found then', async () => {
    const title = (text: string): SheetRequest => ({
      updateCells: {
        start: { sheetId: 0, rowIndex: 1, columnIndex: 2 },
        rows: [{ values: [{ userEnteredValue: { stringValue: text } }] }],
        fields: 'userEnteredValue',
      },
    });
    const isOfWrite = (request: SheetRequest) => JSON.stringify(request).includes('"sheetId":4,"rowIndex"');
    const settlesAt = Date.now() + lateLandingMs;
    const { change, goOn, mirror, questions, requests, writesToCrm } = await upgrade('unknown-moved-row', {
      pick: (all) => [...all.filter((request) => !isOfWrite(request)), title('Corp')],
      statement: `UPDATE openWrite SET content = json_set(content, '$.settlesAt', ${settlesAt})`,
    });
    await goOn();
    expect(mirror.readOpenWrites()).toMatchObject([{ settlesAt }]);
    await change([...requests.filter(isOfWrite), title('Acme AG')]);
    await goOn();
    expect(questions()).toMatchObject([{ cells: { what: textCell(expect.stringContaining(overCorp)) } }]);
    expect([mirror.readOpenWrites(), writesToCrm()]).toEqual([[], []]);
  });
});

describe('a claim whose reply an earlier version never got', () => {
  test('leads to one record where it reached its own row', async () => {
    const upgraded = await upgrade('claim-own-row');
    await upgraded.goOn();
    await expectAtRest(upgraded, [acme, bolt, corp, dune]);
    expect(upgraded.writesToCrm()).toEqual(['POST /leads']);
  });

  test.each(['restore', 'keep'] as const)(
    'leads to no record of the row that it reached by mistake, also after the answer %s',
    async (choice) => {
      const upgraded = await upgrade('claim-moved-row');
      const { answer, goOn, mirror, questions, readRecords, writesToCrm } = upgraded;
      await goOn();
      const scope = 'damage:lead-1003:c0ffee000005.0';
      const what = textCell(expect.stringContaining('ID: “new-c0ffee000002-c0ffee000006” over “1003”'));
      expect(questions()).toMatchObject([{ scope, cells: { title: textCell('Corp'), what } }]);
      answer(scope, choice);
      await goOn();
      expect([...readVoidClaims(mirror)]).toEqual(['new-c0ffee000002-c0ffee000006']);
      expect(byId(await readRecords())).toEqual([acme, bolt, corp, dune]);
      expect(writesToCrm()).toEqual(['POST /leads']);
      if (choice === 'restore') await expectAtRest(upgraded, [acme, bolt, corp, dune]);
    },
  );
});

test('the mirror of an earlier version is copied before it is changed, with the write that is not over', async () => {
  const { directory } = await upgrade('answered-hit');
  const backups = join(directory, 'backups');
  const [name = '', ...others] = readdirSync(backups);
  expect([name, others]).toEqual([expect.stringMatching(/^before-leaving-schema-11-.+\.db$/), []]);
  const copy = connect(join(backups, name));
  onTestFinished(() => copy.close());
  expect(copy.readSetting('user_version')).toBe(11);
  const [{ content } = { content: '' }] = copy
    .prepare<{ content: string }>('SELECT content FROM openWrite')
    .all();
  expect(JSON.parse(content)).toMatchObject({
    outcome: 'answered',
    sets: [{ kept: { id: numberCell(1003) } }],
  });
});
