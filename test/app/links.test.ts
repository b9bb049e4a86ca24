import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { linkVariable, loadLinks, loadSettings } from '../../src/app/config.ts';
import { createRereadKeys } from '../../src/app/link.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const keyOf = (digit: string) => `svc_live_${digit.repeat(64)}`;
const common = { CRM_BASE_URL: 'https://crm.example/api/v1/external' };
const twoLinks = {
  links: {
    north: { sheet: { spreadsheetId: 'n', pollMs: 7_000 }, writes: 'manual' },
    'far-south': { sheet: { spreadsheetId: 's' }, crm: { baseUrl: 'https://south.example/api' } },
  },
};
const twoKeys = { CRM_API_KEY_NORTH: keyOf('1'), CRM_API_KEY_FAR_SOUTH: keyOf('2') };

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'links-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function writeConfig(tree: object): { CRM_SYNC_CONFIG: string } {
  const file = join(directory, 'config.yaml');
  writeFileSync(file, stringify(tree));
  return { CRM_SYNC_CONFIG: file };
}

/** What is said of settings that are not valid. */
function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return '';
}

test('a configuration without links is one link without a name, in the state directory itself', () => {
  const [link, ...others] = loadLinks({ ...common, CRM_API_KEY: keyOf('1'), GOOGLE_SPREADSHEET_ID: 'abc' });
  expect(others).toEqual([]);
  expect(link).toMatchObject({ sheet: { spreadsheetId: 'abc' }, state: { directory: 'state' } });
  expect(link).not.toHaveProperty('link');
});

test('a link has what all have, but for what it has for itself in the file or in variables that end in its name', () => {
  const tree = { ...twoLinks, sheet: { pollMs: 3_000, typingPauseMs: 900 } };
  const [north, south] = loadLinks({ ...common, ...twoKeys, ...writeConfig(tree) });
  expect(north).toMatchObject({
    link: { name: 'north', commonDirectory: 'state' },
    crm: { baseUrl: common.CRM_BASE_URL, apiKey: keyOf('1') },
    sheet: { spreadsheetId: 'n', pollMs: 7_000, typingPauseMs: 900 },
    writes: 'manual',
    state: { directory: join('state', 'links', 'north') },
  });
  expect(south).toMatchObject({
    link: { name: 'far-south' },
    crm: { baseUrl: 'https://south.example/api', apiKey: keyOf('2') },
    sheet: { spreadsheetId: 's', pollMs: 3_000 },
    writes: 'automatic',
  });
});

test('the key of a link comes from a file as well', () => {
  const file = join(directory, 'key');
  writeFileSync(file, `${keyOf('3')}\n`);
  const { CRM_API_KEY_NORTH: _key, ...rest } = twoKeys;
  const [north] = loadLinks({ ...common, ...rest, CRM_API_KEY_NORTH_FILE: file, ...writeConfig(twoLinks) });
  expect(north?.crm.apiKey).toBe(keyOf('3'));
});

test('every mistake is told where it stands: of a link with its name and variable, of all links once', () => {
  const tree = { ...twoLinks, http: { port: 'high' } };
  const said = refusalOf(() => loadLinks({ ...common, CRM_API_KEY_NORTH: keyOf('1'), ...writeConfig(tree) }));
  expect(said.match(/links\.far-south\.crm\.apiKey \(CRM_API_KEY_FAR_SOUTH\): is missing/g)).toHaveLength(1);
  expect(said.match(/http\.port/g)).toHaveLength(1);
  expect(said).not.toContain('links.north');
});

test('two links with one spreadsheet are refused', () => {
  const links = { a: { sheet: { spreadsheetId: 'x' } }, b: { sheet: { spreadsheetId: 'x' } } };
  const said = refusalOf(() => loadLinks({ ...common, CRM_API_KEY: keyOf('1'), ...writeConfig({ links }) }));
  expect(said).toContain('a and b have the same sheet.spreadsheetId');
});

test.each(['North', 'a b', '2nd', 'file', 'secret-file', 'a--b', '../up', ''])(
  'a link can not be called “%s”, because files and variables are called like it',
  (name) => {
    const links = { [name]: { sheet: { spreadsheetId: 'x' } } };
    const said = refusalOf(() =>
      loadLinks({ ...common, CRM_API_KEY: keyOf('1'), ...writeConfig({ links }) }),
    );
    expect(said).toContain(
      `links.${name}: must be lower-case letters, digits and single hyphens, begin with a letter and not end with file`,
    );
  },
);

test('nothing that stands where a link should be is repeated, because it may be a key', () => {
  const said = refusalOf(() => loadLinks({ ...common, ...writeConfig({ links: { north: keyOf('9') } }) }));
  expect(said).toContain('links.north');
  expect(said).not.toContain('9999');
});

test('a command about one link is told which there are, unless there is only one', () => {
  const environment = { ...common, ...twoKeys, ...writeConfig(twoLinks) };
  expect(refusalOf(() => loadSettings(environment))).toContain('There are north, far-south');
  expect(refusalOf(() => loadSettings({ ...environment, CRM_SYNC_LINK: 'west' }))).toContain('no link west');
  expect(loadSettings({ ...environment, CRM_SYNC_LINK: 'far-south' }).sheet?.spreadsheetId).toBe('s');
  const one = writeConfig({ links: { north: twoLinks.links.north } });
  expect(loadSettings({ ...common, ...twoKeys, ...one }).link?.name).toBe('north');
});

test('what is wrong with another link keeps nobody from working on one, nor its key from being exchanged', () => {
  const file = join(directory, 'key');
  writeFileSync(file, keyOf('3'));
  const environment = { ...common, CRM_API_KEY_NORTH_FILE: file, ...writeConfig(twoLinks) };
  const settingsOf = (name: string) => loadSettings({ ...environment, [linkVariable]: name });
  expect(settingsOf('north').crm.apiKey).toBe(keyOf('3'));
  expect(createRereadKeys(environment, createRecordingLog(), 'north')()).toEqual([keyOf('3')]);
  expect(refusalOf(() => settingsOf('far-south'))).toContain('links.far-south.crm.apiKey');
  expect(refusalOf(() => settingsOf('west'))).toContain('There are north, far-south.');
  expect(refusalOf(() => loadLinks(environment))).toContain('links.far-south.crm.apiKey');
});

test('a link whose spreadsheet another one has as well is refused by itself too', () => {
  const links = { a: { sheet: { spreadsheetId: 'x' } }, b: { sheet: { spreadsheetId: 'x' } } };
  const environment = { ...common, CRM_API_KEY: keyOf('1'), ...writeConfig({ links }) };
  const said = refusalOf(() => loadSettings({ ...environment, [linkVariable]: 'a' }));
  expect(said).toContain('a and b have the same sheet.spreadsheetId');
});
