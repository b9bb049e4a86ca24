import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { card, eventually, leadAt, openFilled, openStatusPage, shown } from '../support/status-page.ts';

/* The page of the daemon, with a daemon of its own between a CRM and a sheet behind it. */

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('what is in step, waits and was changed is shown in both themes and on a phone, to everybody', async () => {
  const { daemon, stage } = await openFilled();
  const lead = await leadAt(stage, 1);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  for (const colorScheme of ['light', 'dark'] as const) {
    const { expectAccessible, page } = await openStatusPage(browser, daemon.url, { colorScheme });
    await card(page, `#${lead.id}`).getByRole('button', { name: 'Restore' }).waitFor();
    await shown(page, /^In step; 1 thing waits for you$/);
    const numbers = page.getByRole('row', { name: /^Leads/ });
    expect(await numbers.getByRole('cell').allTextContents()).toEqual([
      'waits for a person',
      ...['12', '12', '0', '0', '0', '1'],
      expect.stringMatching(/ago|now/),
      expect.stringMatching(/ s$/),
    ]);
    await shown(page, '12 leads');
    await shown(page, 'Edit in the sheet → CRM has it, at most');
    await shown(page, /^crm-sheet-sync \d+\.\d+\.\d+$/);
    const link = page.getByRole('link', { name: 'Open it' });
    expect(await link.getAttribute('href')).toBe(stage.environment['GOOGLE_API_ROOT_URL']);
    await expectAccessible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible();
  }
});

test('what was changed can be read on the narrowest phone, and nothing stands over anything', async () => {
  const { daemon } = await openFilled();
  const { page } = await openStatusPage(browser, daemon.url, { viewport: { width: 320, height: 844 } });
  await shown(page, / \(#3003\)$/);
  const covered = await page.evaluate(`[...document.querySelectorAll('#changes .row')].flatMap((row) => {
    const boxes = [...row.children].map((child) => child.getBoundingClientRect());
    const covers = (one, other) =>
      one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
    return boxes.some((box, index) => boxes.slice(index + 1).some((other) => covers(box, other)))
      ? [row.textContent]
      : [];
  })`);
  expect(covered).toEqual([]);
  // The names of the columns stand in the rows here; those above them are for screen readers alone.
  const seen = await page.evaluate(`[...document.querySelectorAll('thead th')].filter((name) => {
    const words = new Range();
    words.selectNodeContents(name);
    return words.getBoundingClientRect().right > 0;
  }).map((name) => name.textContent)`);
  expect(seen).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
});

test('the switch overrules the colours of the system, and the page remembers it', async () => {
  const { daemon } = await openFilled();
  const { page } = await openStatusPage(browser, daemon.url, { colorScheme: 'light' });
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const light = await ground();
  await page.getByRole('button', { name: 'Theme: auto' }).click();
  expect(await ground()).toBe(light);
  await page.getByRole('button', { name: 'Theme: light' }).click();
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  expect(await ground()).toBe(dark);
});

test('no script runs in the page but its own, and nothing is asked of another host', async () => {
  const { daemon } = await openFilled();
  const { page } = await openStatusPage(browser, daemon.url, { tolerated: /Content Security Policy/ });
  const { headers } = await fetch(daemon.url);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  const tried: unknown = await page.evaluate(`(async () => {
    const script = Object.assign(document.createElement('script'), { textContent: 'window.hasRun = true' });
    document.body.append(script);
    const link = Object.assign(document.createElement('a'), { href: 'javascript:window.hasRun = true' });
    document.body.append(link);
    link.click();
    const isAnswered = await fetch('http://localhost:1/').then(() => true, () => false);
    return { hasRun: window.hasRun ?? false, isAnswered };
  })()`);
  expect(tried).toEqual({ hasRun: false, isAnswered: false });
});

test('a value with a sign that ends lines elsewhere is shown like any other, and the page stays live', async () => {
  const { daemon, stage } = await openFilled();
  const { page } = await openStatusPage(browser, daemon.url);
  await shown(page, /^In step$/);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Upper\u2028Lower' });
  await page.getByText('Upper\u2028Lower').first().waitFor();
  await shown(page, 'Live');
});

test('a resync is started by its button and shows how far it is, and what it came to', async () => {
  const { daemon, stage } = await openFilled({ counts: { leads: 250, opportunities: 30, tasks: 30 } });
  const { enterToken, page } = await openStatusPage(browser, daemon.url);
  stage.setCrmFaults({ latencyMs: 1_500 });
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await enterToken();
  const bar = page.getByRole('progressbar', { name: 'Reading everything again' });
  await bar.waitFor();
  await shown(page, / of 310$/);
  await eventually(async () => Number(await bar.getAttribute('value')) >= 100).toBe(true);
  await shown(page, /left, until \d\d:\d\d/);
  await shown(page, /^Everything was read again by .*: 0 written to the sheet, 0 to the CRM\.$/);
});

test('a page whose daemon is gone says since when, and goes on by itself when it is back', async () => {
  const { daemon, stage } = await openFilled();
  const { expectAccessible, page } = await openStatusPage(browser, daemon.url, {
    tolerated: /ERR_|status of 502/,
  });
  const line = page.locator('#line');
  await eventually(() => line.textContent()).toBe('Live');
  expect((await daemon.terminate()).code).toBe(0);
  const lost = /^Not connected since \d\d:\d\d: what you see is from then\. Trying again…$/;
  await eventually(() => line.textContent()).toMatch(lost);
  await expectAccessible();
  // As a proxy says it.
  await page.route('**/api/events', (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }));
  for (const _look of [1, 2]) await page.waitForResponse((answer) => answer.status() === 502);
  expect(await line.textContent()).toMatch(lost);
  await page.unroute('**/api/events');
  await stage.startDaemon();
  await eventually(() => line.textContent()).toBe('Live');
});

test('nothing is said to wait for nobody, or to be unchanged, while it is not known', async () => {
  const { daemon } = await openFilled({ counts: { leads: 1, opportunities: 0, tasks: 0 } });
  const status = JSON.parse(await (await fetch(`${daemon.url}/api/status`)).text());
  const { page } = await openStatusPage(browser, daemon.url, { tolerated: /status of 503/ });
  const [waiting, changes] = [page.locator('#waiting .empty'), page.locator('#changes .empty')];
  await waiting.getByText('Nothing waits for anybody.').waitFor();
  await page.route('**/api/history*', (route) => route.fulfill({ status: 503, json: { error: 'Not now.' } }));
  await page.route('**/api/events', (route) =>
    route.fulfill({ status: 503, json: { error: 'Too many pages are open.' } }),
  );
  await page.reload();
  await shown(page, /Too many pages are open\.$/);
  expect(await Promise.all([waiting, changes].map((words) => words.isVisible()))).toEqual([false, false]);
  await page.route('**/api/events', (route) => {
    const told = JSON.stringify({ ...status, lastCycleAt: undefined, waiting: [] });
    return route.fulfill({ contentType: 'text/event-stream', body: `event: status\ndata: ${told}\n\n` });
  });
  await waiting.getByText('It is not known yet: both sides were not compared').waitFor();
  expect(await changes.isVisible()).toBe(false);
  await page.unroute('**/api/history*');
  await page.locator('#changes li').first().waitFor();
});

test('pages that nobody looks at keep no line of the browser from the one that is looked at, and are not out of date', async () => {
  const { daemon, stage } = await openFilled();
  const { page: first } = await openStatusPage(browser, daemon.url);
  const context = first.context();
  await context.addInitScript(`
    window.isUnseen = false;
    Object.defineProperty(document, 'hidden', { get: () => window.isUnseen });
  `);
  await first.reload();
  const turn = async (page: Page, isUnseen: boolean) => {
    await page.evaluate(
      `window.isUnseen = ${isUnseen}; document.dispatchEvent(new Event('visibilitychange'))`,
    );
  };
  await shown(first, 'Live');
  await turn(first, true);
  // A browser opens six lines to a host at most.
  for (let count = 0; count < 6; count += 1) {
    const page = await context.newPage();
    await page.goto(daemon.url);
    await page.getByText(/^In step$/).waitFor();
    await turn(page, true);
  }
  const seen = await context.newPage();
  await seen.goto(daemon.url);
  await seen.getByText(/^In step$/).waitFor();
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  await seen.getByRole('button', { name: 'Restore' }).waitFor();
  await eventually(() => first.title()).toBe('… In step; 1 thing waits for you');
  expect(await first.locator('#line').textContent()).toBe('Live');
  await turn(first, false);
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed now' });
  await shown(first, 'Typed now');
});
