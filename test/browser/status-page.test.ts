import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { openStatusPage } from '../support/status-page.ts';
import { findPosition, readCrm, readSheet } from '../support/two-sides.ts';

/* The page of the daemon, with a daemon of its own between a CRM and a sheet behind it. */

// A browser, a daemon and two servers share what may be a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const counts = { leads: 12, opportunities: 3, tasks: 4 };
const token = 'process-test-token';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 45_000 });
const shown = (page: Page, text: string | RegExp) =>
  page.getByText(text).first().waitFor({ timeout: 45_000 });
const card = (page: Page, text: string) => page.locator('#waiting li', { hasText: text });

const titleInCrm = async ({ addresses }: ProcessStage, id: string) =>
  (await readCrm(addresses.crmUrl)).leads.find((lead) => String(lead.id) === id)?.title;

/** The ID and the title in a row of the leads, counted from the header. */
async function leadAt({ addresses }: ProcessStage, row: number): Promise<{ id: string; title: string }> {
  const { ID, Title } = (await readSheet(addresses))['Leads']?.[row - 1] ?? {};
  return { id: String(ID), title: String(Title) };
}

/** The row of a lead, counted from the header. */
const position = ({ addresses }: ProcessStage, id: string) => findPosition(addresses, 'lead', id);

/** A daemon that has filled the sheet. */
async function openFilled(options: Parameters<typeof openStage>[0] = {}) {
  const stage = await openStage({ counts, ...options });
  const daemon = await stage.startDaemon();
  await stage.agreed();
  return { stage, daemon };
}

test('what is in step, waits and was changed is shown in both themes and on a phone, to everybody', async () => {
  const { daemon, stage } = await openFilled();
  const lead = await leadAt(stage, 1);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
  for (const colorScheme of ['light', 'dark'] as const) {
    const { expectAccessible, page } = await openStatusPage(browser, daemon.url, { colorScheme });
    await card(page, `#${lead.id}`).getByRole('button', { name: 'Restore' }).waitFor();
    await shown(page, 'In step, but for what waits for a person');
    const numbers = page.getByRole('row', { name: /^Leads/ });
    expect(await numbers.getByRole('cell').allTextContents()).toEqual([
      'waits for a person',
      ...['12', '12', '0', '0', '0', '1'],
      expect.stringMatching(/ago|now/),
      expect.stringMatching(/ s$/),
    ]);
    await shown(page, '12 leads');
    await expectAccessible();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await expectAccessible();
  }
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

test('a resync is started by its button and shows how far it is, and what it came to', async () => {
  const { daemon, stage } = await openFilled({ counts: { leads: 250, opportunities: 30, tasks: 30 } });
  const { enterToken, page } = await openStatusPage(browser, daemon.url);
  stage.setCrmFaults({ latencyMs: 1_500 });
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await enterToken(token);
  const bar = page.getByRole('progressbar', { name: 'Reading everything again' });
  await bar.waitFor();
  await shown(page, / of 310$/);
  await eventually(async () => Number(await bar.getAttribute('value')) >= 100).toBe(true);
  await shown(page, /left, until \d\d:\d\d/);
  await shown(page, /^Everything was read again by .*: 0 written to the sheet, 0 to the CRM\.$/);
});

test('the first fill shows what is read and what is filled, with an end once it can be told', async () => {
  const stage = await openStage({ counts: { leads: 2_000, opportunities: 3, tasks: 4 } });
  stage.setCrmFaults({ latencyMs: 300 });
  const daemon = await stage.startDaemon();
  const { expectAccessible, page } = await openStatusPage(browser, daemon.url);
  await shown(page, 'Reading everything for the first time');
  const reading = page.getByRole('progressbar', { name: 'Reading Leads from the CRM' });
  await reading.waitFor();
  expect(await reading.getAttribute('value')).toBeNull();
  // Filling takes long enough to be looked at, on the slowest machine.
  await stage.setSheetFaults({ latencyMs: 10_000 });
  await shown(page, 'The CRM does not say how many there are, so the end can not be told.');
  await expectAccessible();
  const filling = page.getByRole('progressbar', { name: 'Filling the tab Leads' });
  await eventually(async () => Number(await filling.getAttribute('value'))).toBeGreaterThan(0);
  expect(await filling.getAttribute('max')).toBe('2000');
  await shown(page, /left, until \d\d:\d\d/);
  await stage.setSheetFaults({});
  await shown(page, 'Both sides are in step');
  expect(await page.getByRole('progressbar').count()).toBe(0);
});

describe('a person who has the token', () => {
  test('lets a stopped tab go on, and then all of it is sent', async () => {
    const { daemon, stage } = await openFilled({ counts: { leads: 40, opportunities: 0, tasks: 0 } });
    const typed = Array.from({ length: 30 }, (_, index) => [`Typed ${index}`]);
    await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows: typed });
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url);
    const brake = card(page, 'Leads').filter({ has: page.getByRole('button', { name: 'Approve' }) });
    await brake.waitFor({ timeout: 45_000 });
    await page.getByRole('cell', { name: 'stopped' }).waitFor();
    await brake.getByText('What waits behind it: 30 changes').click();
    expect(await brake.locator('details li').first().textContent()).toMatch(/^#\d+ title: .+ → Typed \d+$/);
    await expectAccessible();
    expect(stage.crmRequests().filter(({ method }) => method === 'PUT')).toEqual([]);
    await brake.getByRole('button', { name: 'Approve' }).click();
    await enterToken(token);
    await brake.waitFor({ state: 'detached', timeout: 45_000 });
    await stage.agreed();
    const { leads } = await readCrm(stage.addresses.crmUrl);
    expect(leads.filter(({ title }) => title.startsWith('Typed ')).length).toBe(30);
    await shown(page, 'Both sides are in step');
  });

  test('sends once more what the CRM refused', async () => {
    const { daemon, stage } = await openFilled();
    const { id } = await leadAt(stage, 1);
    stage.setCrmFaults({ faults: [{ kind: 'status', status: 400, method: 'PUT', path: `/leads/${id}` }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const refused = card(page, `#${id}`);
    await refused.getByRole('button', { name: 'Retry' }).click({ timeout: 45_000 });
    await enterToken(token);
    await refused.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Typed');
    await stage.agreed();
    expect((await leadAt(stage, 1)).title).toBe('Typed');
    await shown(page, 'Both sides are in step');
  });

  test('settles a conflict with the keyboard alone, on both sides', async () => {
    const { daemon, stage } = await openFilled({ tabs: { leads: { conflict: 'ask' } } });
    const { id, title } = await leadAt(stage, 2);
    await daemon.terminate();
    await stage.editCrm(`/leads/${id}`, { title: 'Typed in the CRM' });
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 2,
      column: 'Title',
      text: 'Typed in the sheet',
    });
    const again = await stage.startDaemon();
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, again.url);
    const conflict = card(page, 'Title was changed in the CRM and in the sheet.');
    expect(await conflict.locator('dl').textContent()).toBe(
      `CRM hasTyped in the CRMSheet hasTyped in the sheetAgreed before${title}`,
    );
    await expectAccessible();
    await conflict.getByRole('button', { name: 'Take the sheet’s' }).focus();
    await page.keyboard.press('Enter');
    await enterToken(token);
    await conflict.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Typed in the sheet');
    await shown(page, 'Both sides are in step');
  });

  test('settles a conflict with a value that neither side has, once the field takes it', async () => {
    const { daemon, stage } = await openFilled({ tabs: { leads: { conflict: 'ask' } } });
    const { id } = await leadAt(stage, 2);
    await daemon.terminate();
    await stage.editCrm(`/leads/${id}`, { title: 'Typed in the CRM' });
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 2,
      column: 'Title',
      text: 'Typed in the sheet',
    });
    const again = await stage.startDaemon();
    const tolerated = /status of 400/;
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, again.url, { tolerated });
    const conflict = card(page, 'Title was changed in the CRM and in the sheet.');
    const put = async (text: string) => {
      await conflict.getByRole('button', { name: 'Another value…' }).click({ timeout: 45_000 });
      await page.getByRole('textbox', { name: 'Title' }).fill(text);
      await expectAccessible();
      await page.getByRole('button', { name: 'Put it on both sides' }).click();
    };
    await put('');
    await enterToken(token);
    await shown(page, 'Title can not be empty.');
    await put('Agreed by both');
    await conflict.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Agreed by both');
    await eventually(async () => (await leadAt(stage, 2)).title).toBe('Agreed by both');
    await shown(page, 'Both sides are in step');
  });

  test('is asked again before a record goes to the trash, brings its row back instead, and lets it go the next time', async () => {
    const { daemon, stage } = await openFilled();
    const { id, title } = await leadAt(stage, 1);
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const question = card(page, `#${id}`);
    await question.getByRole('button', { name: 'Move to trash' }).click();
    await shown(page, `“${title}” goes to the trash of the CRM.`);
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Restore' }).click();
    await enterToken(token);
    await question.waitFor({ state: 'detached', timeout: 45_000 });
    await stage.agreed();
    expect(await titleInCrm(stage, id)).toBe(title);
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: await position(stage, id) });
    await question.getByRole('button', { name: 'Move to trash' }).click({ timeout: 45_000 });
    await page.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).click();
    await question.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBeUndefined();
    await stage.agreed();
  });

  test('takes a change back on both sides, after seeing what that comes to', async () => {
    const { daemon, stage } = await openFilled();
    const { id, title } = await leadAt(stage, 1);
    const typed = '<img src=x onerror=alert(1)>';
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: typed });
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url);
    const change = page.locator('#changes li', { hasText: 'edited in the sheet' });
    expect(await change.locator('ins').textContent()).toBe(typed);
    await change.getByRole('button', { name: /^Take back/ }).click();
    await enterToken(token);
    const dialog = page.getByRole('dialog', { name: 'Take back' });
    expect(await dialog.locator('li').textContent()).toBe(`title: ${typed} → ${title}`);
    await expectAccessible();
    await dialog.getByRole('button', { name: 'Take back' }).click();
    await eventually(() => titleInCrm(stage, id)).toBe(title);
    await stage.agreed();
    expect(await leadAt(stage, 1)).toEqual({ id, title });
    await page.locator('#changes li', { hasText: 'taken back' }).waitFor();
  });
});

describe('the token', () => {
  const tolerated = /status of 401/;

  test('is told to be wrong, and nothing is done until it is right', async () => {
    const { daemon, stage } = await openFilled();
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url, { tolerated });
    await page.getByRole('button', { name: 'Read everything again' }).click();
    await enterToken('not-the-right-token');
    await shown(page, 'This is not the right token.');
    await expectAccessible();
    expect(await (await fetch(`${daemon.url}/api/status`)).json()).not.toHaveProperty('resync');
    await enterToken(token);
    await page.getByRole('button', { name: 'Commands: on' }).waitFor();
    await shown(page, /^Everything was read again/);
    await page.reload();
    await page.getByRole('button', { name: 'Commands: on' }).waitFor();
    await stage.agreed();
  });

  test('is asked for by the browser before anything is read, where the settings say so', async () => {
    const { daemon } = await openFilled({ readWithToken: true });
    for (const path of ['/', '/api/status', '/api/events', '/api/history']) {
      expect({ path, status: (await fetch(daemon.url + path)).status }).toEqual({ path, status: 401 });
    }
    const httpCredentials = { username: 'anybody', password: token };
    const { page } = await openStatusPage(browser, daemon.url, { tolerated, httpCredentials });
    await page.getByRole('row', { name: /^Leads/ }).waitFor();
    await shown(page, '12 leads');
  });
});

test('a page whose daemon is gone says since when, and goes on by itself when it is back', async () => {
  const { daemon, stage } = await openFilled();
  const { page } = await openStatusPage(browser, daemon.url, { tolerated: /ERR_/ });
  const line = page.locator('#line');
  await eventually(() => line.textContent()).toBe('Live');
  expect((await daemon.terminate()).code).toBe(0);
  await eventually(() => line.textContent()).toMatch(
    /^Not connected since \d\d:\d\d: what you see is from then/,
  );
  await stage.startDaemon();
  await eventually(() => line.textContent()).toBe('Live');
});
