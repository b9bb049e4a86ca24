import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startFront } from '../../src/http/front.ts';
import { launchBrowser } from '../support/browser.ts';
import { openLinksStage } from '../support/links-stage.ts';
import { realClock } from '../support/real-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { openStatusPage } from '../support/status-page.ts';

/* The page of a daemon that runs several links. */

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('lists the links in both themes and on a phone, and leads to the page of each, where commands work', async () => {
  const stage = await openLinksStage();
  const daemon = await stage.startDaemon();
  await stage.agreed('north');
  for (const colorScheme of ['light', 'dark'] as const) {
    const { expectAccessible, page } = await openStatusPage(browser, daemon.url, { colorScheme });
    const north = page.locator('#links li', { hasText: 'north' });
    await north.getByText(/^In step, since/).waitFor({ timeout: 45_000 });
    expect(await page.locator('#links li').count()).toBe(3);
    await expectAccessible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible();
  }
  const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url);
  await page.getByRole('link', { name: 'north' }).click();
  await page.getByText('20 leads').first().waitFor({ timeout: 45_000 });
  expect(new URL(page.url()).pathname).toBe('/links/north/');
  await page.getByRole('heading', { name: 'CRM and sheet: north' }).waitFor();
  expect(await page.title()).toMatch(/ · north$/);
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await enterToken('process-test-token');
  await page.getByText('Everything is read again.').first().waitFor({ timeout: 45_000 });
  await expectAccessible();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await page.getByRole('link', { name: 'All links' }).click();
  await page.getByRole('link', { name: 'south' }).waitFor();
});

test('says that it is not connected where the daemon fell silent or something else answers in its place, and goes on by itself', async () => {
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    clock: realClock,
    log: createRecordingLog(),
    readConditions: () => [],
    readLinks: () => [{ name: 'north', conditions: [] }],
  });
  onTestFinished(() => front.close());
  const { page } = await openStatusPage(browser, front.url, { tolerated: /status of 502/ });
  await page.getByText('No process runs it yet').waitFor();
  const [live, lost] = [
    page.getByText('Live', { exact: true }),
    page.getByText('Not connected: what you see is from before. Trying again…'),
  ];
  // As where the machine sleeps, or a firewall forgot the connection.
  await page.route('**/api/links', () => {});
  await lost.waitFor();
  await page.unroute('**/api/links');
  await live.waitFor();
  // As a proxy says that the daemon is not there.
  await page.route('**/api/links', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }));
  await lost.waitFor({ timeout: 20_000 });
  await page.unroute('**/api/links');
  await live.waitFor();
});
