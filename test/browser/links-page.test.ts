import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { openLinksStage } from '../support/links-stage.ts';
import { openStatusPage } from '../support/status-page.ts';

/* The page of a daemon that runs several links. */

// A browser, a daemon and four servers share what may be a busy machine.
vi.setConfig({ testTimeout: 180_000 });

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
    await north.getByText('Both sides are in step').waitFor({ timeout: 45_000 });
    expect(await page.locator('#links li').count()).toBe(3);
    await expectAccessible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible();
  }
  const { enterToken, page } = await openStatusPage(browser, daemon.url);
  await page.getByRole('link', { name: 'north' }).click();
  await page.getByText('20 leads').first().waitFor({ timeout: 45_000 });
  expect(new URL(page.url()).pathname).toBe('/links/north/');
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await enterToken('process-test-token');
  await page.getByText('Everything is read again.').first().waitFor({ timeout: 45_000 });
});
