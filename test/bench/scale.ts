import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { findFreePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import type { Gauge } from './gauge.ts';
import { measurePlans } from './plans.ts';

/**
 * Measures what the daemon costs by the number of its leads, between both sandboxes, which run in a process of their own: filling the sheet,
 * standing by, one edit in the sheet until all is at rest again, and writing to every row. Processor time, because other work on the machine
 * does not change it much. Settings are those of an installation, so that the lists of the CRM are read on meanwhile. What follows `--` is
 * given to the daemon's Node.
 */

const { values: flags, positionals: nodeFlags } = parseArgs({
  allowPositionals: true,
  options: {
    leads: { type: 'string', default: '1000,10000,40000,100000' },
    cycles: { type: 'string', default: '24' },
    edits: { type: 'string', default: '8' },
    /** Microseconds that Google needs for each cell it reads in full. */
    cell: { type: 'string', default: '134' },
    plans: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const cycleCount = Number(flags.cycles);
const edits = Number(flags.edits);

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const mainFile = fileOf('../../src/main.ts');
/** As in the image. */
const daemonFlags = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=20',
  ...nodeFlags,
  '--import',
  fileOf('gauge.ts'),
  mainFile,
  'start',
];
/** From an edit until the daemon is at rest again, with room to spare. */
const editMs = 30_000;
/** An edit that takes longer on a slow machine than this has gone wrong. */
const editMaxMs = 300_000;
const pollMs = 5_000;

interface Sandboxes {
  readonly crmBaseUrl: string;
  readonly crmApiKey: string;
  readonly sheetsRootUrl: string;
  readonly spreadsheetId: string;
}

async function startSandboxes(leads: number): Promise<{ child: ChildProcess; sandboxes: Sandboxes }> {
  const counts = ['--leads', String(leads), '--opportunities', '0', '--tasks', '0'];
  const words = [mainFile, 'sandbox', '--crm-port', '0', '--sheets-port', '0', ...counts];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, sandboxes: JSON.parse(String(line)) };
}

async function measure(daemon: ChildProcess): Promise<Gauge> {
  const answer = once(daemon, 'message');
  daemon.send('?');
  const [gauge] = await answer;
  return gauge;
}

const rowsShape = z.object({ values: z.array(z.array(z.unknown())).default([]) });
const usageShape = z.object({ answeredBytes: z.number(), answeringMs: z.number() });
const sheetsShape = z.object({
  sheets: z.array(z.object({ properties: z.object({ title: z.string(), sheetId: z.number() }) })),
});
const leadShape = z.object({ data: z.object({ title: z.string() }) });

const answerOf = async <Answer>(url: string, shape: z.ZodType<Answer>): Promise<Answer> =>
  shape.parse(await (await fetch(url)).json());

const post = (url: string, body: unknown) => fetch(url, { method: 'POST', body: JSON.stringify(body) });

/** Starts a daemon that finds an empty spreadsheet. */
async function startDaemon(directory: string, sandboxes: Sandboxes) {
  const port = await findFreePort();
  const env = {
    PATH: process.env['PATH'],
    CRM_BASE_URL: sandboxes.crmBaseUrl,
    CRM_API_KEY: sandboxes.crmApiKey,
    GOOGLE_SPREADSHEET_ID: sandboxes.spreadsheetId,
    GOOGLE_API_ROOT_URL: sandboxes.sheetsRootUrl,
    STATE_DIR: join(directory, 'state'),
    HTTP_PORT: String(port),
    CONTROL_TOKEN: 'token-of-the-bench',
    LOG_LEVEL: 'warn',
    MALLOC_TRIM_THRESHOLD_: '131072',
  };
  const init = spawn(process.execPath, [mainFile, 'init'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await once(init, 'exit');
  const daemon = spawn(process.execPath, daemonFlags, {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return { daemon, healthUrl: `http://127.0.0.1:${port}/healthz` };
}

/** What was measured at one number of leads: processor seconds, and what is said with each. */
interface Figures {
  /** How often the daemon said that its timers are late, of the looks at it while the sheet was filled. */
  readonly lateLooks: number;
  readonly fillSeconds: number;
  readonly fillCpu: number;
  readonly idleCpu: number;
  readonly idleMegabytes: number;
  readonly editCpu: number;
  readonly editSeconds: number;
  /** What of it passes while Google answers. */
  readonly googleSeconds: number;
  readonly residentMb: number;
  /** Until it first answered: loading its code makes no request wait. */
  readonly startBlockedMs: number;
  readonly fillBlockedMs: number;
  /** Once the sheet was full. */
  readonly blockedMs: number;
  /** The same where a user emptied every Sync cell. */
  readonly anewSeconds: number;
  readonly anewCpu: number;
  readonly anewBlockedMs: number;
  readonly anewLateLooks: number;
}

async function run(
  leads: number,
  { daemon, healthUrl }: Awaited<ReturnType<typeof startDaemon>>,
  sandboxes: Sandboxes,
): Promise<Figures> {
  const { sheetsRootUrl, spreadsheetId } = sandboxes;
  // What the bench asks counts on an account of its own.
  const valuesAt = (range: string) =>
    answerOf(
      `${sheetsRootUrl}/v4/spreadsheets/${spreadsheetId}/values/Leads!${range}?quotaUser=bench`,
      rowsShape,
    );
  const usage = () => answerOf(`${sheetsRootUrl}/__sandbox/usage`, usageShape);
  const begunAt = performance.now();
  let lateLooks = 0;
  const look = () => fetch(healthUrl).catch(() => undefined);
  await until('it answers', async () => (await look()) !== undefined, { limitMs: 60_000, everyMs: 50 });
  const started = await measure(daemon);
  const isFull = async () => {
    if ((await (await look())?.text())?.includes('TIMERS_LATE')) lateLooks += 1;
    return (await valuesAt(`A${leads + 1}`)).values.length === 1;
  };
  await until('the sheet shows all leads', isFull, { limitMs: 3_600_000, everyMs: 1_000 });
  const fillSeconds = (performance.now() - begunAt) / 1_000;
  await sleep(editMs);
  const full = await measure(daemon);

  const { answeredBytes: bytesBefore } = await usage();
  const idleMs = cycleCount * pollMs;
  await sleep(idleMs);
  const rested = await measure(daemon);
  const idleCpuMs = rested.cpuMs - full.cpuMs;
  const idleBytes = (await usage()).answeredBytes - bytesBefore;

  const [header = []] = (await valuesAt('1:1')).values;
  const [id, title] = [header.indexOf('ID'), header.indexOf('Title')];
  let [editSeconds, googleSeconds] = [0, 0];
  const editedFrom = performance.now();
  for (let edit = 1; edit <= edits; edit += 1) {
    const row = edit * 7;
    const text = `Edited ${edit}`;
    const [cells = []] = (await valuesAt(`${row + 1}:${row + 1}`)).values;
    if (cells[title] === undefined) throw new Error(`Row ${row + 1} has no title.`);
    const key = String(cells[id]);
    const { answeringMs } = await usage();
    const editedAt = performance.now();
    await post(`${sheetsRootUrl}/__sandbox/person`, [
      { sheet: 'Leads', kind: 'edit', row, column: 'Title', text },
    ]);
    const isThere = async () => (await titleInCrm(sandboxes, key)) === text;
    await until('the CRM has the edit', isThere, { limitMs: editMaxMs, everyMs: 100 });
    editSeconds += (performance.now() - editedAt) / 1_000 / edits;
    googleSeconds += ((await usage()).answeringMs - answeringMs) / 1_000 / edits;
    await sleep(Math.max(2 * pollMs, editMs - (performance.now() - editedAt)));
  }
  const edited = await measure(daemon);
  const idleShareMs = (idleCpuMs / idleMs) * (performance.now() - editedFrom);
  const last = `${leads + 1}:${leads + 1}`;
  const sync = header.indexOf('Sync');
  const syncOfLast = async () => (await valuesAt(last)).values[0]?.[sync];
  return {
    ...(await writeAllAnew(sandboxes, { daemon, healthUrl }, sync, syncOfLast)),
    lateLooks,
    fillSeconds,
    fillCpu: full.cpuMs / 1_000,
    idleCpu: idleCpuMs / cycleCount / 1_000,
    idleMegabytes: idleBytes / cycleCount / 1e6,
    editCpu: (edited.cpuMs - rested.cpuMs - idleShareMs) / edits / 1_000,
    editSeconds,
    googleSeconds,
    residentMb: rested.residentMb,
    startBlockedMs: started.blockedMs,
    fillBlockedMs: full.blockedMs,
    blockedMs: Math.max(rested.blockedMs, edited.blockedMs),
  };
}

/** Empties every Sync cell, as a user may, and waits until all is at rest again. */
async function writeAllAnew(
  { sheetsRootUrl, spreadsheetId }: Sandboxes,
  { daemon, healthUrl }: Awaited<ReturnType<typeof startDaemon>>,
  syncColumn: number,
  syncOfLast: () => Promise<unknown>,
) {
  const { cpuMs } = await measure(daemon);
  const from = performance.now();
  const { sheets } = await answerOf(
    `${sheetsRootUrl}/v4/spreadsheets/${spreadsheetId}?fields=sheets.properties&quotaUser=bench`,
    sheetsShape,
  );
  const { sheetId } = sheets.find(({ properties }) => properties.title === 'Leads')?.properties ?? {};
  const place = { startRowIndex: 1, startColumnIndex: syncColumn, endColumnIndex: syncColumn + 1 };
  const requests = [{ updateCells: { range: { sheetId, ...place }, fields: 'userEnteredValue' } }];
  await post(`${sheetsRootUrl}/__sandbox/owner?spreadsheetId=${spreadsheetId}`, { requests });
  let anewLateLooks = 0;
  const isWritten = async () => {
    if ((await (await fetch(healthUrl)).text()).includes('TIMERS_LATE')) anewLateLooks += 1;
    return ((await syncOfLast()) ?? '') !== '';
  };
  await until('the last row says something again', isWritten, { limitMs: 3_600_000, everyMs: 1_000 });
  const anewSeconds = (performance.now() - from) / 1_000;
  await sleep(editMs);
  const after = await measure(daemon);
  return {
    anewSeconds,
    anewCpu: (after.cpuMs - cpuMs) / 1_000,
    anewBlockedMs: after.blockedMs,
    anewLateLooks,
  };
}

/** Asks by hand, which costs nothing of the request budget. */
async function titleInCrm({ crmBaseUrl }: Sandboxes, id: string): Promise<string> {
  const url = new URL('/__sandbox/by-hand', crmBaseUrl).href;
  const answer = await post(url, { method: 'GET', path: `/leads/${id}` });
  return leadShape.parse(await answer.json()).data.title;
}

const columns: readonly (readonly [name: string, unit: string, digits: number, of: keyof Figures])[] = [
  ['filling the sheet', 's', 0, 'fillSeconds'],
  ['its processor time', 's', 1, 'fillCpu'],
  ['processor per idle cycle', 's', 3, 'idleCpu'],
  ['read from Google per idle cycle', 'MB', 1, 'idleMegabytes'],
  ['one edit in the sheet, above idling', 's', 3, 'editCpu'],
  ['from the edit until the CRM has it', 's', 1, 'editSeconds'],
  ['of that while Google answers', 's', 1, 'googleSeconds'],
  ['resident memory after the idle cycles', 'MB', 0, 'residentMb'],
  ['longest standstill of the event loop', 'ms', 0, 'blockedMs'],
  ['the same while the sheet was filled', 'ms', 0, 'fillBlockedMs'],
  ['the same until it first answered', 'ms', 0, 'startBlockedMs'],
  ['looks at which it said TIMERS_LATE', '', 0, 'lateLooks'],
  ['writing to every row at once', 's', 0, 'anewSeconds'],
  ['its processor time', 's', 1, 'anewCpu'],
  ['longest standstill of the event loop', 'ms', 0, 'anewBlockedMs'],
  ['looks at which it said TIMERS_LATE', '', 0, 'anewLateLooks'],
];

console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}`);
for (const leads of flags.leads.split(',').map(Number)) {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-bench-'));
  const { child, sandboxes } = await startSandboxes(leads);
  const children = [child];
  try {
    const choices = { '*': { readMicrosPerCell: Number(flags.cell) } };
    await post(`${sandboxes.sheetsRootUrl}/__sandbox/choices`, choices);
    const started = await startDaemon(directory, sandboxes);
    children.push(started.daemon);
    const figures = await run(leads, started, sandboxes);
    console.log(`\n${leads} leads`);
    for (const [name, unit, digits, of] of columns)
      console.log(`  ${name.padEnd(44)} ${figures[of].toFixed(digits).padStart(8)} ${unit}`);
  } finally {
    for (const each of children.toReversed()) {
      each.kill('SIGINT');
      await once(each, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  }
}
if (flags.plans) measurePlans();
