import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadSettings } from '../../src/app/config.ts';

export const key = `svc_live_${'0a'.repeat(32)}`;

/** The settings without which there is no link. */
export const needed = {
  CRM_BASE_URL: 'https://crm.example/api/v1/external',
  CRM_API_KEY: key,
  GOOGLE_SPREADSHEET_ID: 'abc',
};

/** Writes a file that goes with the test. Returns its path. */
export function writeFile(name: string, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

/** Writes a configuration file. Returns the variable that names it. */
export const writeConfig = (text: string) => ({ CRM_SYNC_CONFIG: writeFile('config.yaml', text) });

/** The lines that name mistakes, without the words around them. */
export function mistakes(environment: Record<string, string>): string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message.split('\n').flatMap((line) => (line.startsWith('  ') ? [line.trim()] : []));
  }
  return [];
}
