import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { findFreePort } from './free-port.ts';
import { readSheet } from './two-sides.ts';

export const configFile = 'config/crm-sheet-sync.yaml';

/** A new installation in an empty directory, beside a CRM and an empty spreadsheet. */
export async function moveIn() {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts: { leads: 7, opportunities: 2, tasks: 3 } });
  onTestFinished(() => crm.close());
  const sheets = await startSandboxSheets({ quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 } });
  onTestFinished(() => sheets.close());
  const { rootUrl: sheetsUrl, spreadsheetId } = sheets;
  const port: Environment = { HTTP_PORT: String(await findFreePort()) };
  const read = (name: string) => readFile(join(directory, name), 'utf8');
  return {
    crm,
    spreadsheetId,
    sheetsUrl,
    directory,
    port,
    /** Of a machine that takes the emulator for Google. */
    environment: { ...port, GOOGLE_API_ROOT_URL: sheetsUrl },
    read,
    configure: async (text: string) => {
      await mkdir(join(directory, 'config'), { recursive: true });
      await writeFile(join(directory, configFile), text);
    },
    rowsOf: async (tab: string) => (await readSheet({ crmUrl: crm.pageUrl, sheetsUrl, spreadsheetId }))[tab],
  };
}

/** Writes the key of the CRM into a file; answers the flags that name it and both sides. */
export async function writeKey(home: Awaited<ReturnType<typeof moveIn>>): Promise<string[]> {
  await writeFile(join(home.directory, 'key'), home.crm.apiKey);
  return ['--crm-url', home.crm.baseUrl, '--crm-key-file', 'key', '--spreadsheet', home.spreadsheetId];
}
