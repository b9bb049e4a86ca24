import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { loadSettings } from '../../src/app/config.ts';
import { accountOf, openLink, sheetOptions } from '../../src/app/link.ts';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import type { CrmModel } from '../../src/sandbox/crm/model.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { createRecordingLog, type RecordingLog } from './recording-log.ts';
import { SheetEngine } from './sheet-engine.ts';
import { readCrm, readSheet, type SideAddresses, type Snapshot, type Tabs } from './two-sides.ts';

/** Times for tests in which loops run; the sheet is laid out already and settling takes no minute. */
const quickTimes = {
  pollMs: 100,
  typingPauseMs: 1,
  sweepMs: 500,
  readPauseMs: 1,
  rereadAfterMs: 60_000,
  settleMs: 100,
  lagMs: 1,
  refillMs: 100,
};

/** Two sandboxes and a link between them in this process, with real adapters; no loop runs unless the engine is started. */
export interface LinkStage {
  readonly link: SheetLink;
  readonly model: CrmModel;
  readonly log: RecordingLog;
  readonly addresses: SideAddresses;
  /** An engine on the link, or on a link that differs; it stops with the test. */
  createEngine(changes?: Partial<SheetLink>): SheetEngine;
  /** The link as a daemon has it that begins anew on the same mirror; the one from before is closed. */
  reopen(): SheetLink;
  /** A table on the same spreadsheet, as another daemon has it. */
  openTable(): Table;
  /** Reads the catalog and lays out the tabs, as `init` does. */
  layOut(link?: SheetLink): Promise<void>;
  /** The same, and then an engine that has read the CRM once and filled the sheet. */
  fill(changes?: Partial<SheetLink>): Promise<SheetEngine>;
  setCrmFaults(order: z.input<typeof faultOrder>): void;
  setSheetFaults(faults: FaultsInput): Promise<void>;
  /** Writes that the sheet was asked for. */
  sheetWrites(): Promise<number>;
  /** What a person does in the sheet. */
  editSheet(...actions: PersonActionInput[]): Promise<void>;
  /** Applies requests as the owner of the spreadsheet, who may protect it from the daemon. */
  asOwner(...requests: object[]): Promise<void>;
  /** What a person changes in the CRM's own interface. */
  editCrm(path: string, body: Readonly<Record<string, unknown>>): Promise<void>;
  removeInCrm(path: string): Promise<void>;
  readCrm(): Promise<Snapshot>;
  readSheet(): Promise<Tabs>;
}

export async function openLinkStage(counts: SeedCounts): Promise<LinkStage> {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const limits = { requestsPerWindow: 100, windowMs: 1_000 };
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, limits });
  onTestFinished(() => crm.close());
  const sheets = await startSandboxSheets({ quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 } });
  onTestFinished(() => sheets.close());
  const settings = loadSettings({
    CRM_BASE_URL: crm.baseUrl,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
    GOOGLE_API_ROOT_URL: sheets.rootUrl,
    STATE_DIR: directory,
  });
  const budget = { requests: limits.requestsPerWindow, windowMs: limits.windowMs };
  const sheet = { ...settings.sheet, readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const log = createRecordingLog();
  let opened: ReturnType<typeof openLink>;
  const open = (): SheetLink => {
    opened = openLink({ ...settings, sheet, crm: { ...settings.crm, budget } }, log);
    return { ...opened.link, times: { ...opened.link.times, ...quickTimes } };
  };
  const link = open();
  onTestFinished(() => opened.close());
  const layOut = async (of = link) => {
    await pullCatalog(of, 'newest');
    await of.table.layOut(currentLayout(of), 'create');
  };
  const createEngine: LinkStage['createEngine'] = (changes = {}) => {
    const engine = new SheetEngine({ ...link, ...changes });
    onTestFinished(() => engine.stop(5_000));
    return engine;
  };
  const addresses = { crmUrl: crm.pageUrl, sheetsUrl: sheets.rootUrl, spreadsheetId: sheets.spreadsheetId };
  return {
    link,
    model: crm.model,
    log,
    addresses,
    createEngine,
    layOut,
    async fill(changes = {}) {
      await layOut({ ...link, ...changes });
      const engine = createEngine(changes);
      await engine.pullAll(() => {});
      await engine.cycle();
      return engine;
    },
    setCrmFaults: (order) => crm.model.faults.order(faultOrder.parse(order)),
    reopen() {
      opened.close();
      return open();
    },
    openTable: () =>
      createGoogleSheetTable({
        ...sheetOptions({ ...settings, sheet }, log),
        account: accountOf(settings),
      }),
    async sheetWrites() {
      const usage = await (await fetch(`${sheets.rootUrl}/__sandbox/usage`)).json();
      return (usage as { write: { total: number } }).write.total;
    },
    setSheetFaults: (faults) => post(`${sheets.rootUrl}/__sandbox/faults`, faults),
    editSheet: (...actions) => post(`${sheets.rootUrl}/__sandbox/person`, actions),
    asOwner: (...requests) => post(`${sheets.rootUrl}/__sandbox/owner`, { requests }),
    editCrm: (path, body) => post(`${crm.pageUrl}__sandbox/by-hand`, { method: 'PUT', path, body }),
    removeInCrm: (path) => post(`${crm.pageUrl}__sandbox/by-hand`, { method: 'DELETE', path }),
    readCrm: () => readCrm(addresses.crmUrl),
    readSheet: () => readSheet(addresses),
  };
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}
