import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Environment } from '../../src/app/config.ts';
import { scopes } from '../../src/crm/contract.ts';
import { keyFromSeed } from '../../src/sandbox/crm/random.ts';
import type { CrmRecords } from '../../src/sandbox/crm/records.ts';
import { seedRecords } from '../../src/sandbox/crm/seed.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { type SandboxSheets, startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { type DaemonProcess, spawnCommand, spawnDaemon } from './daemon-process.ts';
import { findFreePort } from './free-port.ts';
import { readSheet } from './two-sides.ts';
import { until } from './until.ts';

export const linkNames = ['east', 'north', 'south'] as const;
export type LinkName = (typeof linkNames)[number];

/** A tenth of the real window. All links together want more than the address may have. */
const limits = { requestsPerWindow: 30, ipRequestsPerWindow: 40, windowMs: 6_000 };
const counts = { leads: 20, opportunities: 4, tasks: 6 };

/** Three agencies of one CRM, each with a key, and a spreadsheet for each; daemons between them as processes. All of it ends with the test. */
export async function openLinksStage(redisUrl?: string) {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const records = new Map(linkNames.map((name, index) => [name, seedRecords(index + 1, counts, Date.now())]));
  const keyOf = (name: LinkName) => keyFromSeed(linkNames.indexOf(name) + 100);
  const keys = linkNames.map((name) => ({
    key: keyOf(name),
    scopes,
    records: records.get(name) as CrmRecords,
  }));
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, limits, keys });
  onTestFinished(() => crm.close());
  const sheets = new Map<LinkName, SandboxSheets>();
  for (const [index, name] of linkNames.entries()) {
    const quotas = { readsPerMinute: 10_000, writesPerMinute: 10_000 };
    const sheet = await startSandboxSheets({ quotas, seed: index + 1 });
    onTestFinished(() => sheet.close());
    sheets.set(name, sheet);
  }
  const sheetOf = (name: LinkName) => sheets.get(name) as SandboxSheets;
  await writeFile(join(directory, 'settings.yaml'), stringify(settingsOf(sheetOf)));
  const environment: Environment = {
    CRM_SYNC_CONFIG: join(directory, 'settings.yaml'),
    CRM_BASE_URL: crm.baseUrl,
    ...Object.fromEntries(linkNames.map((name) => [`CRM_API_KEY_${name.toUpperCase()}`, keyOf(name)])),
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    STATE_DIR: join(directory, 'state'),
    HTTP_PORT: String(await findFreePort()),
    CONTROL_TOKEN: 'process-test-token',
    LOG_LEVEL: 'info',
  };
  const runCommand = (...words: string[]) => spawnCommand(words, environment).ended;
  for (const name of linkNames)
    expect(await runCommand('init', '--link', name)).toMatchObject({ code: 0, stderr: '' });
  let daemons = 0;
  const titlesInCrm = (name: LinkName) =>
    (records.get(name)?.leads.live() ?? []).map(({ title }) => title).toSorted();
  const titlesInSheet = async (name: LinkName) => {
    const { rootUrl: sheetsUrl, spreadsheetId } = sheetOf(name);
    const tabs = await readSheet({ crmUrl: crm.pageUrl, sheetsUrl, spreadsheetId });
    return (tabs['Leads'] ?? []).map(({ Title }) => String(Title)).toSorted();
  };
  return {
    model: crm.model,
    environment,
    runCommand,
    /** Starts a daemon: the first one on the port that commands ask, each further one on a port of its own. */
    async startDaemon(more: Environment = {}) {
      const ownPort = daemons > 0 ? { HTTP_PORT: String(await findFreePort()) } : {};
      daemons += 1;
      const daemon = spawnDaemon({ ...environment, ...ownPort, ...more });
      onTestFinished(async () => void (await daemon.kill()));
      await daemon.answers('/healthz');
      return daemon;
    },
    /** What a person does in the sheet of a link. */
    async editSheet(name: LinkName, ...actions: PersonActionInput[]) {
      const url = `${sheetOf(name).rootUrl}/__sandbox/person`;
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(actions) });
      expect(answer.status).toBe(200);
    },
    /** Resolves once the leads of a link have the same titles on both sides, these among them. */
    async agreed(name: LinkName, ...titles: string[]) {
      const look = async () => {
        const [inCrm, inSheet] = [titlesInCrm(name), await titlesInSheet(name)];
        return isDeepStrictEqual(inCrm, inSheet) && titles.every((title) => inCrm.includes(title));
      };
      const describe = async () =>
        JSON.stringify({ crm: titlesInCrm(name), sheet: await titlesInSheet(name) });
      await until(`the leads of ${name} are the same`, look, { limitMs: 90_000, describe });
    },
    /** Titles of the leads that an agency has, each as often as it is there. */
    titlesInCrm,
    /** Writes that the CRM and the sheets were asked for. */
    async countWrites() {
      const usages = linkNames.map(async (name) => {
        const answer = await fetch(`${sheetOf(name).rootUrl}/__sandbox/usage`);
        return usageShape.parse(await answer.json()).write.total;
      });
      const ofSheets = await Promise.all(usages);
      return {
        crm: crm.model.requests().filter(({ method }) => method !== 'GET').length,
        sheets: ofSheets.reduce((sum, count) => sum + count, 0),
      };
    },
    /** Fails when any window of a key or of the address ever held more requests than the CRM allows. */
    expectBudgetsKept() {
      const { ipRequestsPerWindow, ips, keys: byKey, requestsPerWindow } = crm.model.usage();
      const used = Object.values(byKey);
      expect(used).toHaveLength(linkNames.length);
      for (const { largestWindow, refused } of used)
        expect({ refused, isKept: largestWindow <= requestsPerWindow }).toEqual({ refused: 0, isKept: true });
      for (const { largestWindow, refused } of Object.values(ips))
        expect({ refused, isKept: largestWindow <= ipRequestsPerWindow }).toEqual({
          refused: 0,
          isKept: true,
        });
    },
  };
}

const usageShape = z.object({ write: z.object({ total: z.number() }) });

/** Times for tests that run through many cycles. */
function settingsOf(sheetOf: (name: LinkName) => SandboxSheets) {
  const links = linkNames.map((name) => {
    const { rootUrl: apiRootUrl, spreadsheetId } = sheetOf(name);
    return [name, { sheet: { apiRootUrl, spreadsheetId } }];
  });
  return {
    crm: {
      timeoutMs: 3_000,
      sweepMs: 500,
      rereadAfterMs: 10_000,
      settleMs: 1_500,
      lagMs: 500,
      budget: { requests: limits.requestsPerWindow, windowMs: limits.windowMs },
      ipBudget: { requests: limits.ipRequestsPerWindow },
    },
    sheet: { pollMs: 500, typingPauseMs: 200, readsPerMinute: 600, writesPerMinute: 600 },
    stopGraceMs: 10_000,
    links: Object.fromEntries(links),
  };
}

const linksShape = z.object({
  links: z.array(
    z.object({
      name: z.enum(linkNames),
      isHere: z.boolean(),
      url: z.string().optional(),
      conditions: z.array(z.object({ name: z.string(), words: z.string() })),
    }),
  ),
});

/** What a daemon says of all links. */
export async function readLinks({ url }: DaemonProcess) {
  const answer = await fetch(`${url}/api/links`);
  return linksShape.parse(await answer.json()).links;
}

/** The links that a daemon runs now. */
export const linksRunBy = async (daemon: DaemonProcess): Promise<LinkName[]> =>
  (await readLinks(daemon)).flatMap(({ isHere, name }) => (isHere ? [name] : []));
