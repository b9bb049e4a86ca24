import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadLinks, loadSettings } from '../../src/app/config.ts';
import { nameSources } from '../../src/app/settings/sources.ts';

const key = `svc_live_${'0'.repeat(64)}`;

/** A configuration with these lines, and a file with a key. */
function openFiles(...lines: string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'setting-sources-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = { config: join(directory, 'settings.yaml'), key: join(directory, 'crm-api-key') };
  writeFileSync(files.key, key);
  writeFileSync(files.config, lines.join('\n').replaceAll('KEY_FILE', files.key));
  return { files, environment: { CRM_SYNC_CONFIG: files.config } };
}

test('advice names where a value really comes from: the variable, the file of a secret, or the configuration', () => {
  const { environment, files } = openFiles(
    'sheet:',
    '  spreadsheetId: abcdefghijklmnopqrstuvwxyz',
    '  credentialsFile: key.json',
  );
  const given = { ...environment, CRM_BASE_URL: 'https://crm.example/api', CRM_API_KEY_FILE: files.key };
  const { sources = {} } = loadSettings(given);
  expect(nameSources('The CRM refuses the key. Check CRM_API_KEY.', sources)).toBe(
    `The CRM refuses the key. Check the file ${files.key} (CRM_API_KEY_FILE).`,
  );
  expect(nameSources('Check GOOGLE_SPREADSHEET_ID or CRM_BASE_URL; REDIS_URL is not given.', sources)).toBe(
    `Check sheet.spreadsheetId in ${files.config} or CRM_BASE_URL; REDIS_URL is not given.`,
  );
});

test('a secret that the configuration names by its file is in that file', () => {
  const { environment, files } = openFiles(
    'crm:',
    '  baseUrl: https://crm.example/api',
    '  apiKeyFile: KEY_FILE',
    'sheet:',
    '  spreadsheetId: abcdefghijklmnopqrstuvwxyz',
    '  credentialsFile: key.json',
  );
  expect(nameSources('CRM_API_KEY', loadSettings(environment).sources ?? {})).toBe(
    `the file ${files.key} (crm.apiKeyFile in ${files.config})`,
  );
});

test('what a link has for itself comes before what is common to all', () => {
  const { environment, files } = openFiles(
    'crm:',
    '  baseUrl: https://crm.example/api',
    'sheet:',
    '  credentialsFile: key.json',
    'links:',
    '  north:',
    '    sheet: { spreadsheetId: abcdefghijklmnopqrstuvwxyz }',
    '  south:',
    '    crm: { apiKeyFile: KEY_FILE }',
    '    sheet: { spreadsheetId: zyxwvutsrqponmlkjihgfedcba }',
  );
  const links = loadLinks({ ...environment, CRM_API_KEY_NORTH: key.replace(/0$/, '1') });
  const [north = '', south = ''] = links.map(({ sources = {} }) =>
    nameSources('CRM_API_KEY, GOOGLE_SPREADSHEET_ID, CRM_BASE_URL', sources),
  );
  expect(north).toBe(
    `CRM_API_KEY_NORTH, links.north.sheet.spreadsheetId in ${files.config}, crm.baseUrl in ${files.config}`,
  );
  expect(south).toMatch(/^the file \S+crm-api-key \(links\.south\.crm\.apiKeyFile in /);
});
