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

/**
 * Measures what the daemon costs between both sandboxes, which run in a process of their own: filling the sheet, standing by, and one
 * edit in the sheet until all is at rest again. Processor time, because other work on the machine does not change it much. Settings are
 * those of an installation, so that the lists of the CRM are read on meanwhile. What follows `--` is given to the daemon's Node.
 */

const { values: flags, positionals: nodeFlags } = parseArgs({
  allowPositionals: true,
  options: {
    leads: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '2' },
    edits: { type: 'string', default: '4' },
  },
});
const leads = Number(flags.leads);
const idleMs = Number(flags.minutes) * 60_000;
const edits = Number(flags.edits);

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const mainFile = fileOf('../../src/main.ts');
/** As in the image. */
const daemonFlags = [
  '--max-semi-space-size=8',
  ...nodeFlags,
  '--import',
  fileOf('gauge.ts'),
  mainFile,
  'start',
];
/** From an edit until the daemon is at rest again, with room to spare. */
const editMs = 30_000;

interface Sandboxes {
  readonly crmBaseUrl: string;
  readonly crmApiKey: string;
  readonly sheetsRootUrl: string;
  readonly spreadsheetId: string;
}

async function startSandboxes(): Promise<{ child: ChildProcess; sandboxes: Sandboxes }> {
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

const rowsShape = z.object({ values: z.array(z.unknown()).default([]) });
const usageShape = z.object({ read: z.object({ total: z.number() }) });

const answerOf = async <Answer>(url: string, shape: z.ZodType<Answer>): Promise<Answer> =>
  shape.parse(await (await fetch(url)).json());

async function run(
  directory: string,
  { sandboxes, children }: { sandboxes: Sandboxes; children: ChildProcess[] },
) {
  const { crmBaseUrl, crmApiKey, sheetsRootUrl, spreadsheetId } = sandboxes;
  const port = await findFreePort();
  const env = {
    PATH: process.env['PATH'],
    CRM_BASE_URL: crmBaseUrl,
    CRM_API_KEY: crmApiKey,
    GOOGLE_SPREADSHEET_ID: spreadsheetId,
    GOOGLE_API_ROOT_URL: sheetsRootUrl,
    STATE_DIR: join(directory, 'state'),
    HTTP_PORT: String(port),
    CONTROL_TOKEN: 'token-of-the-bench',
    LOG_LEVEL: 'warn',
  };
  await once(
    spawn(process.execPath, [mainFile, 'init'], { env, stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );
  const daemon = spawn(process.execPath, daemonFlags, {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(daemon);
  const report = (what: string, { cpuMs, residentMb, blockedMs }: Gauge) =>
    console.log(
      `${what.padEnd(44)} ${(cpuMs / 1_000).toFixed(2).padStart(8)} ${residentMb.toFixed(0).padStart(8)} ${blockedMs.toFixed(0).padStart(8)}`,
    );
  const countReads = async () => (await answerOf(`${sheetsRootUrl}/__sandbox/usage`, usageShape)).read.total;
  const isFull = async () => {
    const range = `${sheetsRootUrl}/v4/spreadsheets/${spreadsheetId}/values/Leads!A2:A${leads + 1}`;
    return (await answerOf(range, rowsShape)).values.length === leads;
  };

  console.log(`${leads} leads, ${cpus()[0]?.model}, Node ${process.version}`);
  console.log(`${''.padEnd(44)} ${'CPU s'.padStart(8)} ${'MB'.padStart(8)} ${'block ms'.padStart(8)}`);
  await until('the sheet shows all leads', isFull, { limitMs: 1_200_000, everyMs: 2_000 });
  await sleep(editMs);
  const full = await measure(daemon);
  report('filled', full);

  const readsBefore = await countReads();
  await sleep(idleMs);
  const rested = await measure(daemon);
  const cycles = (await countReads()) - readsBefore;
  const idleCpuMs = rested.cpuMs - full.cpuMs;
  report(`one of ${cycles} idle cycles`, { ...rested, cpuMs: idleCpuMs / cycles });

  for (let edit = 1; edit <= edits; edit += 1) {
    const action = { sheet: 'Leads', kind: 'edit', row: edit * 7, column: 'Title', text: `Edited ${edit}` };
    await fetch(`${sheetsRootUrl}/__sandbox/person`, { method: 'POST', body: JSON.stringify([action]) });
    await sleep(editMs);
  }
  const edited = await measure(daemon);
  const idleShareMs = (idleCpuMs / idleMs) * editMs * edits;
  report(`one of ${edits} edits, above standing by`, {
    ...edited,
    cpuMs: (edited.cpuMs - rested.cpuMs - idleShareMs) / edits,
  });
}

const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-bench-'));
const { child, sandboxes } = await startSandboxes();
const children = [child];
try {
  await run(directory, { sandboxes, children });
} finally {
  for (const each of children) {
    each.kill('SIGINT');
    await once(each, 'exit');
  }
  await rm(directory, { recursive: true, force: true });
}
