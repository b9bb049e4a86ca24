import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { loadSettings } from '../../src/app/config.ts';
import { openLink } from '../../src/app/link.ts';
import { accountOf } from '../../src/app/owner.ts';
import type { Settings } from '../../src/app/settings.ts';
import { sheetOptions } from '../../src/app/sheet-side.ts';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { FaultsInput } from '../../src/sandbox/sheets/faults.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { createRecordingLog } from './recording-log.ts';
import { SheetEngine } from './sheet-engine.ts';
import { readCrm, readSheet } from './two-sides.ts';

/** Times for tests in which loops run; the sheet is laid out already and settling takes no minute. */
const quickTimes = {
  pollMs: 100,
  quietPollMs: 0,
  typingPauseMs: 1,
  sweepMs: 500,
  readPauseMs: 1,
  rereadAfterMs: 60_000,
  settleMs: 100,
  lagMs: 1,
  refillMs: 100,
};

export type LinkStage = Awaited<ReturnType<typeof openLinkStage>>;

/** Two sandboxes and a link between them in this process, with real adapters; no loop runs unless the engine is started. */
export async function openLinkStage(counts: SeedCounts) {
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
  const sheet = { ...settings.sheet!, readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const log = createRecordingLog();
  let opened: ReturnType<typeof openLink>;
  const open = (crmSettings: Partial<Settings['crm']> = {}): SheetLink => {
    opened = openLink({ ...settings, sheet, crm: { ...settings.crm, budget, ...crmSettings } }, log);
    const link = opened.sheet!;
    return { ...link, times: { ...link.times, ...quickTimes } };
  };
  const link = open();
  onTestFinished(() => opened.close());
  const layOut = async (of = link) => {
    await pullCatalog(of, 'newest');
    await of.table.layOut(currentLayout(of), 'create');
  };
  const createEngine = (changes: Partial<SheetLink> = {}) => {
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
    /** An engine on the link, or on a link that differs; it stops with the test. */
    createEngine,
    /** Reads the catalog and lays out the tabs, as `init` does. */
    layOut,
    /** The same, and then an engine that has read the CRM once and filled the sheet. */
    async fill(changes: Partial<SheetLink> = {}) {
      await layOut({ ...link, ...changes });
      const engine = createEngine(changes);
      await engine.pullAll(() => {});
      await engine.cycle();
      return engine;
    },
    setCrmFaults: (order: z.input<typeof faultOrder>) => crm.model.faults.order(faultOrder.parse(order)),
    /** The link as a daemon has it that begins anew on the same mirror, with these settings; the one from before is closed. */
    reopen(crmSettings: Partial<Settings['crm']> = {}) {
      opened.close();
      return open(crmSettings);
    },
    /** A table on the same spreadsheet, as another daemon has it. */
    openTable: () =>
      createGoogleSheetTable({
        ...sheetOptions(sheet, log),
        account: accountOf(settings),
      }),
    /** Writes that the sheet was asked for. */
    async sheetWrites() {
      const usage = await (await fetch(`${sheets.rootUrl}/__sandbox/usage`)).json();
      return (usage as { write: { total: number } }).write.total;
    },
    setSheetFaults: (faults: FaultsInput) => post(`${sheets.rootUrl}/__sandbox/faults`, faults),
    /** What a person does in the sheet. */
    editSheet: (...actions: PersonActionInput[]) => post(`${sheets.rootUrl}/__sandbox/person`, actions),
    /** Applies requests as the owner of the spreadsheet, who may protect it from the daemon. */
    asOwner: (...requests: object[]) => post(`${sheets.rootUrl}/__sandbox/owner`, { requests }),
    /** What a person changes in the CRM's own interface. */
    editCrm: (path: string, body: Readonly<Record<string, unknown>>) =>
      post(`${crm.pageUrl}__sandbox/by-hand`, { method: 'PUT', path, body }),
    removeInCrm: (path: string) => post(`${crm.pageUrl}__sandbox/by-hand`, { method: 'DELETE', path }),
    readCrm: () => readCrm(addresses.crmUrl),
    readSheet: () => readSheet(addresses),
  };
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}
