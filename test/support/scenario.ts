import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { type Settings, settingsSchema } from '../../src/app/settings.ts';
import { readRules } from '../../src/app/sheet-side.ts';
import { valueAt, workInCrm } from '../../src/cli/check/crm-person.ts';
import { sitAtSheet } from '../../src/cli/check/sheet-person.ts';
import type { BudgetLog } from '../../src/core/ports.ts';
import type { ListedEntity } from '../../src/core/record.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import { createRequestBudget, type RequestBudget } from '../../src/crm/budget.ts';
import { createCrmClient } from '../../src/crm/client.ts';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import { createInProcessQueue } from '../../src/inprocess/queue.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { resync } from '../../src/sync/resync.ts';
import { listWaiting } from '../../src/sync/status.ts';
import { openCrmLine } from './crm-line.ts';
import { createFastClock } from './fast-clock.ts';
import { markTimes, namedInstance } from './instances.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';
import { SheetEngine } from './sheet-engine.ts';
import { dropSpareRows } from './spare-rows.ts';
import {
  describeDifference,
  findPosition,
  findRow,
  readSides,
  type ShownKind,
  type ShownRow,
  type SideAddresses,
} from './two-sides.ts';
import { until } from './until.ts';

/** Everything runs so many times as fast: a window of the CRM then lasts some two seconds. */
const speed = 25;

export interface ScenarioOptions {
  readonly choices?: Partial<CrmChoices>;
  readonly counts?: SeedCounts;
  /** Settings that differ from {@link scenarioTimes}, in the time of the scenario. */
  readonly crm?: Partial<Settings['crm']>;
  readonly sheet?: Partial<z.input<typeof settingsSchema>['sheet']>;
  /** How far the CRM's clock is ahead of the daemon's. */
  readonly crmAheadMs?: number;
}

/** Timeouts that a busy machine keeps even at this speed, and people who never wait long. */
const scenarioTimes = {
  crm: { timeoutMs: 50_000, sweepMs: 10_000, settleMs: 10_000 },
  sheet: { pollMs: 4_000, typingPauseMs: 4_000, readsPerMinute: 6_000, writesPerMinute: 6_000 },
};

/** A row: by the ID of its record, or by what it shows. */
type Which = number | ShownRow;

/** The real engine between a sandbox CRM and a sandbox sheet, in this process and fast; all of it ends with the test. */
export type Scenario = Awaited<ReturnType<typeof openScenario>>;

/** Sets the scene and resolves when the sheet is filled. */
export async function openScenario(options: ScenarioOptions = {}) {
  const { counts = { leads: 8, opportunities: 4, tasks: 6 }, choices = {}, crmAheadMs = 0 } = options;
  const clock = createFastClock(speed);
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-scenario-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const crmNow = () => clock.now() + crmAheadMs;
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, choices, clock: crmNow });
  onTestFinished(() => crm.close());
  const quotas = { readsPerMinute: 100_000, writesPerMinute: 100_000 };
  const sheets = await startSandboxSheets({ quotas });
  onTestFinished(() => sheets.close());
  const line = await openCrmLine({ target: crm.baseUrl, now: crmNow });
  const sheetLine = await openCrmLine({ target: `${sheets.rootUrl}/`, now: clock.now });
  const settings = settingsSchema.parse({
    crm: { ...scenarioTimes.crm, ...options.crm, baseUrl: line.baseUrl, apiKey: crm.apiKey },
    sheet: {
      ...scenarioTimes.sheet,
      ...options.sheet,
      spreadsheetId: sheets.spreadsheetId,
      apiRootUrl: sheetLine.baseUrl,
    },
  });
  const log = createRecordingLog();
  const { mirror, budgetLog } = openMirror({ directory });
  const budget = openBudget(settings, clock, budgetLog);
  const link = joinLink(settings, { mirror, budget, clock, log });
  const engine = new SheetEngine(link);
  onTestFinished(async () => {
    const stopped = engine.stop(10 * settings.crm.timeoutMs);
    budget.close();
    await line[Symbol.asyncDispose]();
    await sheetLine[Symbol.asyncDispose]();
    await stopped;
    mirror.close();
  });
  await pullCatalog(link, 'newest');
  await link.table.layOut(currentLayout(link), 'create');
  const act = (...actions: PersonActionInput[]) => post(`${sheets.rootUrl}/__sandbox/person`, actions);
  await act(...dropSpareRows(currentLayout(link)));
  await engine.start();
  const addresses = {
    crmUrl: crm.pageUrl,
    sheetsUrl: sheets.rootUrl,
    spreadsheetId: sheets.spreadsheetId,
    users: settings.crm.users,
  };
  const scenario = {
    ...observe(engine, log, addresses),
    engine,
    log,
    budget,
    model: crm.model,
    line,
    /** Between the daemon and Google; what people do takes another way. */
    sheetLine,
    /** Of the daemon's key, and the address around the line. */
    access: { baseUrl: crm.baseUrl, apiKey: crm.apiKey },
    /** Somebody who works in the CRM, and somebody at the sheet. */
    crm: workInCrm(new URL(crm.pageUrl).origin),
    sheet: sitAtSheet(sheets.rootUrl, sheets.spreadsheetId),
    /** The page of the sheet. */
    gridUrl: sheets.gridUrl,
    /** What people do in the grid, one after the other. */
    act,
    /** The zero-based grid row of a record; fails when it has none. */
    position: (entity: ShownKind, id: number | string) => findPosition(addresses, entity, id),
    setSheetFaults: (faults: FaultsInput) => post(`${sheets.rootUrl}/__sandbox/faults`, faults),
    setFaults: (order: z.input<typeof faultOrder>) => crm.model.faults.order(faultOrder.parse(order)),
    /** The requests that the CRM took note of, by method and path. */
    requests: (method: string, path: RegExp) =>
      crm.model.requests().filter((request) => request.method === method && path.test(request.path)),
  };
  await scenario.settled();
  return scenario;
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect({ url, status: answer.status }).toEqual({ url, status: 200 });
}

const openBudget = ({ crm }: Settings, clock: SheetLink['clock'], log: BudgetLog) =>
  createRequestBudget({
    keys: [{ name: 'key', secret: crm.apiKey }],
    ...crm.budget,
    ipRequests: crm.ipBudget.requests,
    holdMs: crm.timeoutMs + 5_000,
    clock,
    log,
  });

type Parts = Pick<SheetLink, 'mirror' | 'clock' | 'log'> & { readonly budget: RequestBudget };

/** The link as the daemon joins it, but with a clock of its own. */
function joinLink(settings: Settings, { mirror, budget, clock, log }: Parts): SheetLink {
  const { crm, queue } = settings;
  const sheet = settings.sheet!;
  const { apiRootUrl: rootUrl = '', readsPerMinute, spreadsheetId, timeoutMs, writesPerMinute } = sheet;
  const random = () => 0.5;
  let words = 0;
  const reach = { spreadsheetId, rootUrl, readsPerMinute, writesPerMinute, timeoutMs, clock, random, log };
  return {
    name: sheet.spreadsheetId,
    mirror,
    crm: createCrmClient({ ...crm, budget, clock, random, log }),
    table: createGoogleSheetTable({ ...reach, account: 'account-1' }),
    queue: createInProcessQueue({ concurrency: queue.concurrency, clock, log }),
    clock,
    log,
    ...readRules(sheet, crm.recordUrl),
    recordUrl: crm.recordUrl,
    own: namedInstance('scenario'),
    times: {
      ...crm,
      ...sheet,
      readPauseMs: 1_200,
      historyMs: 365 * 24 * 60 * 60 * 1_000,
      refillMs: 2_000,
      ...markTimes,
    },
    backoff: { firstMs: 1_000, maxMs: 60_000 },
    random,
    newWord: () => {
      words += 1;
      return `word${words}`;
    },
  };
}

const limit = { limitMs: 15_000 };

function observe(engine: SheetEngine, log: RecordingLog, addresses: SideAddresses) {
  const { clock, mirror } = engine.link;
  /** All cells, by header and as people see them, of a record's row or of the first that shows these texts. */
  const row = (entity: ShownKind, which: Which) =>
    findRow(addresses, entity, typeof which === 'number' ? { ID: String(which) } : which);
  const isAtRest = () => {
    const { lastPlan } = engine;
    const isIdle = mirror
      .readOutbox()
      .every(({ state }) => !['waiting', 'sending', 'unknown'].includes(state));
    return isIdle && lastPlan !== undefined && isQuiet(lastPlan) && lastPlan.restlessRows === 0;
  };
  const describe = async () =>
    [
      describeDifference(await readSides(addresses)),
      ...engine.problems.list().map(({ source, message }) => `${source}: ${message}`),
      ...mirror.readOutbox().map((item) => JSON.stringify(item)),
    ].join('\n');
  return {
    row,
    /** Resolves with the row once its Sync cell says such words. */
    told(entity: ShownKind, which: Which, words: RegExp) {
      const look = async () => {
        const shown = await row(entity, which);
        return words.test(shown?.['Sync'] ?? '') && shown;
      };
      const describeRow = async () => JSON.stringify(await row(entity, which));
      return until(`the ${entity} row says ${words}`, look, { ...limit, describe: describeRow });
    },
    /** Resolves with the first item of the outbox that fits, once there is one. */
    waits: (fits: (item: OutboxItem) => boolean) =>
      until('such a step waits', async () => mirror.readOutbox().find(fits), { ...limit, describe }),
    /** Resolves once something is held or stopped for a reason in such words. */
    async stopped(reason: RegExp) {
      const look = async () =>
        [...(engine.lastPlan?.holds ?? []), ...(engine.lastPlan?.brakes ?? [])].some((stop) =>
          reason.test(stop.reason),
        );
      await until(`something is stopped for ${reason}`, look, { ...limit, describe });
    },
    /** Resolves when a part of the daemon has had the problem so often in a row. */
    async suffered(source: string, failures: number) {
      const isSuffering = async () =>
        engine.problems.list().some((problem) => problem.source === source && problem.failures >= failures);
      await until(`${source} failed ${failures} times`, isSuffering, limit);
    },
    /** Resolves when the daemon has looked at the sheet so many more times at rest: a cycle that finds somebody typing decides nothing. */
    async cycled(times: number) {
      const plans = new Set([engine.lastPlan]);
      const look = async () => {
        if (engine.lastPlan?.restlessRows === 0) plans.add(engine.lastPlan);
        return plans.size > times;
      };
      await until(`${times} more cycles at rest`, look, limit);
    },
    /** Resolves when it has read the whole CRM so many more times. */
    async swept(entity: ListedEntity, times: number) {
      const count = () =>
        log.lines.filter(({ event, fields }) => event === 'sweep.finished' && fields['entity'] === entity)
          .length;
      const goal = count() + times;
      await until(`${times} more sweeps of ${entity}`, async () => count() >= goal, { ...limit, describe });
    },
    /** What a person decides about something that waits for it, once it does. */
    async decide(scope: string, choice: string) {
      const waits = async () => listWaiting(engine).some((item) => item.scope === scope);
      await until(`${scope} waits`, waits, limit);
      mirror.saveDecision({ scope, choice, at: clock.now() });
      engine.kick();
    },
    /** Resolves once both sides are the same and nothing is on its way. */
    async settled() {
      const look = async () => {
        if (!isAtRest()) return false;
        const { shown, expected } = await readSides(addresses);
        return isDeepStrictEqual(shown, expected) && isAtRest();
      };
      await until('both sides are the same and at rest', look, { ...limit, describe });
    },
    /** Reads everything again. */
    resync: () => resync(engine, () => undefined),
  };
}

/** Fails when any window held more requests than the CRM allows. */
export function expectLimitKept({ model }: Scenario): void {
  const { keys, requestsPerWindow } = model.usage();
  for (const { largestWindow } of Object.values(keys))
    expect(largestWindow).toBeLessThanOrEqual(requestsPerWindow);
}

/** Somebody edits a lead in the sheet and another in the CRM, and both arrive. */
export async function expectWorking(scene: Scenario): Promise<void> {
  const { crm, sheet } = scene;
  const [typed, written] = [await crm.take('lead'), await crm.take('lead')];
  await sheet.type('lead', typed.id, { City: 'Porto' });
  await crm.update('lead', written.id, { title: 'Renamed in the CRM' });
  await scene.settled();
  expect(valueAt(await crm.find('lead', typed.id), 'custom_fields.city')).toBe('Porto');
  expect(await scene.row('lead', written.id)).toMatchObject({ Title: 'Renamed in the CRM' });
}
