import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { openStage } from '../support/process-stage.ts';
import { eventually, openStatusPage, shown } from '../support/status-page.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('the first fill shows what is read and what is filled, with an end once it can be told', async () => {
  // So many batches that filling can be looked at, also on the slowest machine.
  const counts = { leads: 2_000, opportunities: 3, tasks: 4 };
  const stage = await openStage({ counts, appendsMax: 250, choices: { listFacts: 'hasMore' } });
  stage.setCrmFaults({ latencyMs: 300 });
  const daemon = await stage.startDaemon();
  const { expectAccessible, page } = await openStatusPage(browser, daemon.url);
  await shown(page, 'Reading everything for the first time');
  const reading = page.getByRole('progressbar', { name: 'Reading Leads from the CRM' });
  await reading.waitFor();
  expect(await reading.getAttribute('value')).toBeNull();
  await stage.setSheetFaults({ latencyMs: 1_500 });
  await shown(page, 'The CRM has not said how many there are, so the end is not known.');
  const filling = page.getByRole('progressbar', { name: 'Filling in Leads' });
  await eventually(async () => Number(await filling.getAttribute('value'))).toBeGreaterThan(0);
  // The next batch takes longer than all that is looked at meanwhile.
  await stage.setSheetFaults({ latencyMs: 15_000 });
  expect(await filling.getAttribute('max')).toBe('2000');
  await shown(page, /left, until \d\d:\d\d/);
  await expectAccessible();
  await stage.setSheetFaults({});
  await shown(page, /^In step$/);
  expect(await page.getByRole('progressbar').count()).toBe(0);
});
