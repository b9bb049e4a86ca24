import { expect, onTestFinished, test } from 'vitest';
import { checkOwner } from '../../src/app/link.ts';
import { settingsSchema } from '../../src/app/settings.ts';
import { openMirrorInMemory } from '../../src/sqlite/open.ts';

const address = 'https://crm.example/api/v1/external';

test.each([
  [address, `${address}/`],
  [`${address}/`, address],
])('a mirror of the CRM at %s belongs to the one at %s: a slash makes no other address', (before, now) => {
  const { mirror } = openMirrorInMemory();
  onTestFinished(() => mirror.close());
  mirror.saveFact('crm.baseUrl', before);
  const settingsFor = (baseUrl: string) =>
    settingsSchema.parse({
      crm: { baseUrl, apiKey: `svc_live_${'a'.repeat(64)}` },
      sheet: { spreadsheetId: 'abc' },
    });
  expect(() => checkOwner(mirror, settingsFor(now))).not.toThrow();
  expect(() => checkOwner(mirror, settingsFor('https://other.example/api'))).toThrow('Use another STATE_DIR');
});
