import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Environment } from '../../src/app/config.ts';
import type { Check } from '../../src/app/doctor/check.ts';
import type { DoctorWishes } from '../../src/app/doctor/context.ts';
import { diagnose } from '../../src/app/doctor/doctor.ts';
import { codeOf } from '../../src/cli/doctor.ts';
import { run as runCommandLine } from '../../src/cli/program.ts';
import { type SandboxCrm, type SandboxCrmOptions, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import type { ChoicesInput } from '../../src/sandbox/sheets/control/choices.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { spawnCommand } from './daemon-process.ts';
import { findFreePort } from './free-port.ts';

/** Both sides and the environment of a command between them; all of it ends with the test. */
export interface DoctorStage {
  readonly environment: Environment;
  readonly crm: SandboxCrm;
  run(words: readonly string[], changes?: Environment): Promise<{ code: number | null; output: string }>;
  /** What doctor finds, in this process: its exit code and its checks by name. */
  diagnose(
    changes?: Environment,
    wishes?: DoctorWishes,
  ): Promise<{ code: number; checks: ReadonlyMap<string, Check> }>;
  /** Runs `init` in this process. */
  init(changes?: Environment): Promise<number>;
  /** Writes a configuration file. Returns its name. */
  configure(settings: object): Promise<string>;
  editSheet(...actions: PersonActionInput[]): Promise<void>;
  /** Has the spreadsheet do what no document says. */
  choose(choices: ChoicesInput[string]): Promise<void>;
  sheetWrites(): Promise<number>;
}

export const counts = { leads: 130, opportunities: 12, tasks: 0 };

export async function openDoctorStage(crmOptions: Partial<SandboxCrmOptions> = {}): Promise<DoctorStage> {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts, ...crmOptions });
  onTestFinished(() => crm.close());
  const sheets = await startSandboxSheets({ title: 'Our customers', timeZone: 'Europe/Berlin' });
  onTestFinished(() => sheets.close());
  const environment: Environment = {
    CRM_BASE_URL: crm.baseUrl,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
    GOOGLE_API_ROOT_URL: sheets.rootUrl,
    STATE_DIR: join(directory, 'state'),
    HTTP_PORT: String(await findFreePort()),
    CONTROL_TOKEN: 'doctor-test-token',
    LOG_LEVEL: 'warn',
  };
  const run = async (words: readonly string[], changes: Environment = {}) => {
    const { code, stdout, stderr } = await spawnCommand(words, { ...environment, ...changes }).ended;
    return { code, output: stdout + stderr };
  };
  return {
    environment,
    crm,
    run,
    async diagnose(changes = {}, wishes = {}) {
      const { checks, outcome } = await diagnose({ ...environment, ...changes }, undefined, wishes);
      return { code: codeOf[outcome], checks: new Map(checks.map((check) => [check.name, check])) };
    },
    async init(changes = {}) {
      const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      const code = await runCommandLine(['init'], { ...environment, ...changes });
      said.mockRestore();
      return code;
    },
    async configure(settings) {
      const file = join(directory, 'settings.yaml');
      await writeFile(file, stringify(settings));
      return file;
    },
    async editSheet(...actions) {
      const body = JSON.stringify(actions);
      expect((await fetch(`${sheets.rootUrl}/__sandbox/person`, { method: 'POST', body })).status).toBe(200);
    },
    async choose(choices) {
      const body = JSON.stringify({ '*': choices });
      expect((await fetch(`${sheets.rootUrl}/__sandbox/choices`, { method: 'POST', body })).status).toBe(200);
    },
    async sheetWrites() {
      const usage = await fetch(`${sheets.rootUrl}/__sandbox/usage`);
      return z.object({ write: z.object({ total: z.number() }) }).parse(await usage.json()).write.total;
    },
  };
}

export async function openLaidOutStage(crmOptions: Partial<SandboxCrmOptions> = {}): Promise<DoctorStage> {
  const stage = await openDoctorStage(crmOptions);
  expect(await stage.init()).toBe(0);
  return stage;
}

/** Leaves the mark of a daemon on another machine. */
export async function sign(
  { environment }: DoctorStage,
  role: 'keeper' | 'waiting',
  host: string,
): Promise<void> {
  const instance = { id: host, host, pid: 7, since: Date.UTC(2026, 10, 25, 3) };
  const developerMetadata = {
    metadataKey: `crm-sheet-sync.${role}`,
    metadataValue: JSON.stringify({ count: 1, instance }),
    visibility: 'DOCUMENT',
    location: { spreadsheet: true },
  };
  const { GOOGLE_API_ROOT_URL, GOOGLE_SPREADSHEET_ID } = environment;
  const answer = await fetch(`${GOOGLE_API_ROOT_URL}/v4/spreadsheets/${GOOGLE_SPREADSHEET_ID}:batchUpdate`, {
    method: 'POST',
    body: JSON.stringify({ requests: [{ createDeveloperMetadata: { developerMetadata } }] }),
  });
  expect(answer.status).toBe(200);
}
