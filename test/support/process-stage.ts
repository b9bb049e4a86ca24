import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Environment, loadSettings } from '../../src/app/config.ts';
import { openLink } from '../../src/app/link.ts';
import { createLog } from '../../src/app/logger.ts';
import { type DaemonView, viewDaemon } from '../../src/cli/check/daemon-view.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import type { CrmModel } from '../../src/sandbox/crm/model.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { tableLayout } from '../../src/sheet/tab-columns.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { spawnCommand, spawnDaemon } from './daemon-process.ts';
import { findFreePort } from './free-port.ts';
import { dropSpareRows } from './spare-rows.ts';
import {
  describeDifference,
  readSides,
  readTab,
  type SideAddresses,
  type Sides,
  titles,
} from './two-sides.ts';
import { until } from './until.ts';

/** What an operator shows to a daemon on the stage. */
export const controlToken = 'process-test-token';

/** A tenth of the real window with the real number of requests in it: a crash test then takes seconds. */
const scaledWindow = { requests: 100, windowMs: 6_000 };

/** Times for tests that run through many cycles. Settling takes longer than the sandbox delays anything. */
const quickTimes = {
  crm: { timeoutMs: 3_000, sweepMs: 1_000, rereadAfterMs: 10_000, settleMs: 1_500, lagMs: 500 },
  sheet: { pollMs: 500, typingPauseMs: 200, readsPerMinute: 600, writesPerMinute: 600 },
};

export interface StageOptions {
  readonly counts?: SeedCounts;
  readonly window?: { readonly requests: number; readonly windowMs: number };
  readonly redisUrl?: string;
  /** What the CRM does where its specification is silent. */
  readonly choices?: Partial<CrmChoices>;
  /** Keeps contacts the same too, with this pause between two leads. */
  readonly contactsPauseMs?: number;
  /** How old what was read of a record may be when it is changed. */
  readonly rereadAfterMs?: number;
  /** New rows written in one cycle at most. */
  readonly appendsMax?: number;
  /** Whether plans are done by themselves; they are where absent. */
  readonly writes?: 'manual';
  /** Where the daemon keeps its state; a directory of its own where absent. */
  readonly stateDirectory?: string;
  /** Rules of single tabs, by their names in the configuration. */
  readonly tabs?: Readonly<Record<string, object>>;
  /** Longest time a clean stop may take; 10 s where absent. */
  readonly stopGraceMs?: number;
  /** What the configuration says of the warehouse; its address comes from the environment. */
  readonly warehouse?: object;
  /** What daemons and commands have in their environment besides. */
  readonly environment?: Environment;
}

/** Both sides in this process, and daemons between them as processes of their own. All of it ends with the test. */
export type ProcessStage = ReturnType<typeof joinStage>;

/** Sets the stage, lays out the tabs, and starts no daemon yet. */
export async function openStage(options: StageOptions = {}): Promise<ProcessStage> {
  const { counts = { leads: 120, opportunities: 20, tasks: 30 }, window = scaledWindow } = options;
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const limits = { requestsPerWindow: window.requests, windowMs: window.windowMs };
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, limits, choices: options.choices ?? {} });
  onTestFinished(() => crm.close());
  const sheets = await startSandboxSheets({ quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 } });
  onTestFinished(() => sheets.close());
  const { appendsMax, contactsPauseMs, rereadAfterMs } = options;
  const contacts = contactsPauseMs === undefined ? {} : { contacts: { enabled: true } };
  const settings = {
    crm: {
      ...quickTimes.crm,
      budget: window,
      ...(contactsPauseMs === undefined ? {} : { contactsPauseMs }),
      ...(rereadAfterMs === undefined ? {} : { rereadAfterMs }),
    },
    sheet: {
      ...quickTimes.sheet,
      tabs: { ...contacts, ...options.tabs },
      ...(appendsMax === undefined ? {} : { appendsMax }),
    },
    ...(options.writes ? { writes: options.writes } : {}),
    ...(options.warehouse ? { warehouse: options.warehouse } : {}),
    stopGraceMs: options.stopGraceMs ?? 10_000,
  };
  await writeFile(join(directory, 'settings.yaml'), stringify(settings));
  const environment: Environment = {
    CRM_SYNC_CONFIG: join(directory, 'settings.yaml'),
    CRM_BASE_URL: crm.baseUrl,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
    GOOGLE_API_ROOT_URL: sheets.rootUrl,
    ...(options.redisUrl ? { REDIS_URL: options.redisUrl } : {}),
    STATE_DIR: options.stateDirectory ?? join(directory, 'state'),
    HTTP_PORT: String(await findFreePort()),
    CONTROL_TOKEN: controlToken,
    LOG_LEVEL: 'info',
    ...options.environment,
  };
  const { spreadsheetId, rootUrl: sheetsUrl } = sheets;
  const tabTitles = contactsPauseMs === undefined ? titles : [...titles, 'Contacts'];
  const addresses = { crmUrl: crm.pageUrl, sheetsUrl, spreadsheetId };
  const tabs = await layOut(environment);
  await post(`${sheetsUrl}/__sandbox/person`, dropSpareRows(tabs));
  return joinStage(environment, addresses, { model: crm.model, tabTitles });
}

/** As `init` does; to start a process for it takes a second of every test. */
async function layOut(environment: Environment): Promise<Layout> {
  const { sheet, close } = openLink(loadSettings(environment), createLog('silent'));
  const link = sheet!;
  try {
    await pullCatalog(link, 'newest');
    const layout = tableLayout(link);
    const { held } = await link.table.layOut(layout, 'create');
    expect(held).toEqual([]);
    return layout;
  } finally {
    close();
  }
}

type Body = Readonly<Record<string, unknown>>;

function joinStage(
  environment: Environment,
  addresses: SideAddresses,
  { model, tabTitles }: { readonly model: CrmModel; readonly tabTitles: readonly string[] },
) {
  const { sheetsUrl } = addresses;
  const actByHand = (order: unknown) => post(`${addresses.crmUrl}__sandbox/by-hand`, order);
  const view = viewDaemon(environment);
  return {
    /** Of the daemon and of every command. */
    environment,
    addresses,
    runCommand: (...words: string[]) => spawnCommand(words, environment).ended,
    /** Starts a daemon and resolves when it listens. */
    async startDaemon() {
      const daemon = spawnDaemon(environment);
      onTestFinished(async () => void (await daemon.kill()));
      await daemon.answers('/healthz');
      return daemon;
    },
    setCrmFaults: (order: z.input<typeof faultOrder>) => model.faults.order(faultOrder.parse(order)),
    /** Resolves when every fault of the CRM has met its requests, but for as many of the last ones as are to be left. */
    async crmFaultsMet(left = 0) {
      await until('the faults are met', async () => model.faults.pending().faults.length <= left);
    },
    setSheetFaults: (faults: FaultsInput) => post(`${sheetsUrl}/__sandbox/faults`, faults),
    /** What a person does in the sheet. */
    editSheet: (...actions: PersonActionInput[]) => post(`${sheetsUrl}/__sandbox/person`, actions),
    /** What a person changes in the CRM's own interface, adds to it or deletes there. */
    editCrm: (path: string, body: Body) => actByHand({ method: 'PUT', path, body }),
    addToCrm: (path: string, body: Body) => actByHand({ method: 'POST', path, body }),
    deleteFromCrm: (path: string) => actByHand({ method: 'DELETE', path }),
    /** Requests that were answered or cut off, oldest first. */
    crmRequests: () => model.requests(),
    /** Requests that arrived, answered or not. */
    crmArrivals: () => keyUsage(model).requests,
    /** Writes that the sheet was asked for. */
    sheetWrites: () => countSheetWrites(sheetsUrl),
    /** Resolves with both sides once they are the same. */
    agreed: () => untilAgreed(addresses),
    /** Fails when any window ever held more requests than the CRM allows, or any was refused for that. */
    expectBudgetKept() {
      const { requests, refused, largestWindow } = keyUsage(model);
      expect(requests).toBeGreaterThan(0);
      expect({ refused, isKept: largestWindow <= model.usage().requestsPerWindow }).toEqual({
        refused: 0,
        isKept: true,
      });
    },
    /** Fails unless the running daemon comes to rest, and reading everything again finds nothing to write. */
    async expectAtRest() {
      // A daemon that has just started has not looked at anything yet, although both sides may be the same.
      let [writesSeen, cyclesThen] = [-1, 0];
      const isQuiet = async () => {
        const [writes, { cycles }] = [await countSheetWrites(sheetsUrl), await view.status()];
        if (writes !== writesSeen) [writesSeen, cyclesThen] = [writes, cycles];
        return cycles > cyclesThen && !(await isAnyPending(view, addresses, tabTitles));
      };
      await until('nothing is pending, and a cycle wrote nothing', isQuiet, { everyMs: 100 });
      expect(await view.resync()).toMatchObject({ state: 'done', tableSteps: 0, crmWrites: 0, waiting: 0 });
    },
  };
}

function keyUsage(model: CrmModel) {
  const [usage = { requests: 0, refused: 0, largestWindow: 0 }] = Object.values(model.usage().keys);
  return usage;
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect({ url, isDone: answer.ok }).toEqual({ url, isDone: true });
}

const usageShape = z.object({ write: z.object({ total: z.number() }) });

async function countSheetWrites(sheetsUrl: string): Promise<number> {
  const answer = await fetch(`${sheetsUrl}/__sandbox/usage`);
  return usageShape.parse(await answer.json()).write.total;
}

/** Of a record that is deleted the daemon alone can tell: it has no row any more. A row may say it after the record was written. */
async function isAnyPending(
  view: DaemonView,
  addresses: SideAddresses,
  tabTitles: readonly string[],
): Promise<boolean> {
  const { tabs } = await view.status();
  if (tabs.some(({ pending }) => pending > 0)) return true;
  const rows = await Promise.all(tabTitles.map((title) => readTab(addresses, title)));
  return rows.flat().some(({ Sync }) => String(Sync).startsWith('Pending'));
}

function untilAgreed(addresses: SideAddresses): Promise<Sides> {
  const look = async () => {
    const sides = await readSides(addresses);
    return isDeepStrictEqual(sides.shown, sides.expected) && sides;
  };
  return until('both sides are the same', look, {
    everyMs: 200,
    describe: async () => describeDifference(await readSides(addresses)),
  });
}
