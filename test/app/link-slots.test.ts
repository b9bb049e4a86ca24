import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyBudget, openSlots } from '../../src/app/link.ts';
import { settingsSchema } from '../../src/app/settings.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';

function openDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'link-slots-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

test('what a link sent while it was alone counts on when it becomes one of several, once', async () => {
  const directory = openDirectory();
  const alone = settingsSchema.parse({
    crm: { baseUrl: 'https://crm.example/api', apiKey: `svc_live_${'a'.repeat(64)}` },
    sheet: { spreadsheetId: 'abc' },
  });
  const own = openMirrorInMemory();
  onTestFinished(() => own.mirror.close());
  const before = createKeyBudget(alone, openSlots(alone, own).log);
  await before.take('edit');
  await before.take('edit');
  before.close();
  const named = { ...alone, link: { name: 'north', commonDirectory: directory } };
  for (const _start of ['first', 'second']) {
    const slots = openSlots(named, own);
    const budget = createKeyBudget(named, slots.log);
    expect(budget.usage().taken).toBe(2);
    budget.close();
    slots.close();
  }
});
