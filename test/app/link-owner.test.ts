import { expect, onTestFinished, test } from 'vitest';
import { checkOwner } from '../../src/app/owner.ts';
import { settingsSchema } from '../../src/app/settings.ts';
import { facts } from '../../src/core/facts.ts';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { noteColumns } from '../../src/sheet/tab-columns.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';

const address = 'https://crm.example/api/v1/external';

const settingsFor = (baseUrl: string, spreadsheetId = 'abc') =>
  settingsSchema.parse({ crm: { baseUrl, apiKey: `svc_live_${'a'.repeat(64)}` }, sheet: { spreadsheetId } });

function openMirrorOf(baseUrl: string) {
  const { mirror } = openMirrorInMemory();
  onTestFinished(() => mirror.close());
  mirror.saveFact(facts.crmAddress, baseUrl);
  mirror.saveFact(sheetFacts.spreadsheet, 'abc');
  return mirror;
}

test.each([
  [address, `${address}/`],
  [`${address}/`, address],
])('a mirror of the CRM at %s belongs to the one at %s: a slash makes no other address', (before, now) => {
  const mirror = openMirrorOf(before);
  mirror.saveCatalog(emptyCatalog);
  expect(() => checkOwner(mirror, settingsFor(now))).not.toThrow();
  expect(() => checkOwner(mirror, settingsFor('https://other.example/api'))).toThrow('Use another STATE_DIR');
});

test('an address and an id that were mistyped at the first start are mended in the settings alone', () => {
  const mirror = openMirrorOf('https://crm.exmaple/api');
  expect(() => checkOwner(mirror, settingsFor(address, 'another'))).not.toThrow();
});

test('a mirror that has read the CRM but never the spreadsheet is bound to the CRM alone', () => {
  const mirror = openMirrorOf(address);
  mirror.saveCatalog(emptyCatalog);
  mirror.saveSweep({ entity: 'lead', startedAt: 1, finishedAt: 2, isComplete: true, pages: 1, records: 3 });
  expect(() => checkOwner(mirror, settingsFor(address, 'another'))).not.toThrow();
  expect(() => checkOwner(mirror, settingsFor('https://other.example/api'))).toThrow('crm.baseUrl');
});

test('a mirror that has read the spreadsheet is bound to it', () => {
  const mirror = openMirrorOf(address);
  const tab = { state: 'held', reason: 'Not of interest.' } as const;
  const lead = { state: 'read', fields: new Set(['title']), hasSync: true, rows: [] } as const;
  noteColumns(mirror, { tabs: { lead, opportunity: tab, task: tab, contact: tab }, timeZone: 'UTC' });
  expect(() => checkOwner(mirror, settingsFor(address, 'another'))).toThrow('sheet.spreadsheetId');
});
