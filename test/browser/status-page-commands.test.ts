import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import type { ProcessStage } from '../support/process-stage.ts';
import { card, eventually, leadAt, openFilled, openStatusPage, shown } from '../support/status-page.ts';
import { findPosition, readCrm } from '../support/two-sides.ts';

/* What people do on the page of the daemon, and what comes of it on both sides. */

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const titleInCrm = async ({ addresses }: ProcessStage, id: string) =>
  (await readCrm(addresses.crmUrl)).leads.find((lead) => String(lead.id) === id)?.title;

/** A daemon that starts after somebody has typed on each side, into the title of one lead. */
async function openDisagreeing() {
  // Else what was read before the edit might still be young enough to be written over.
  const { daemon, stage } = await openFilled({ tabs: { leads: { conflict: 'ask' } }, rereadAfterMs: 1 });
  const { id, title } = await leadAt(stage, 2);
  await daemon.terminate();
  await stage.editCrm(`/leads/${id}`, { title: 'Typed in the CRM' });
  const text = 'Typed in the sheet';
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text });
  return { daemon: await stage.startDaemon(), id, stage, title };
}

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
    expect(await brake.locator('details li').first().textContent()).toMatch(
      /^.+ \(#\d+\) · Title: .+ → Typed \d+$/,
    );
    await expectAccessible();
    expect(stage.crmRequests().filter(({ method }) => method === 'PUT')).toEqual([]);
    await brake.getByRole('button', { name: 'Approve' }).click();
    await enterToken();
    await brake.waitFor({ state: 'detached', timeout: 45_000 });
    await stage.agreed();
    const { leads } = await readCrm(stage.addresses.crmUrl);
    expect(leads.filter(({ title }) => title.startsWith('Typed ')).length).toBe(30);
    await shown(page, /^In step$/);
  });

  test('sends once more what the CRM refused', async () => {
    const { daemon, stage } = await openFilled();
    const { id } = await leadAt(stage, 1);
    stage.setCrmFaults({ faults: [{ kind: 'status', status: 400, method: 'PUT', path: `/leads/${id}` }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const refused = card(page, `#${id}`);
    await refused.getByRole('button', { name: 'Retry' }).click({ timeout: 45_000 });
    await enterToken();
    await refused.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Typed');
    await stage.agreed();
    expect((await leadAt(stage, 1)).title).toBe('Typed');
    await shown(page, /^In step$/);
  });

  test('sees what was answered, by whomever, and can answer anew where that was outrun, though the words are the same', async () => {
    const { daemon } = await openFilled();
    const status: object = JSON.parse(await (await fetch(`${daemon.url}/api/status`)).text());
    const asked = () => ({
      scope: 'conflict:lead-1:title',
      what: 'Title was changed in the CRM and in the sheet.',
      answers: ['crm', 'sheet'],
      about: {
        tab: 'Leads',
        record: '1',
        field: 'Title',
        crm: 'Typed in the CRM',
        table: 'Typed in the sheet',
      },
      since: 1_790_000_000_000,
      answered,
    });
    let answered: string | undefined;
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    await page.route('**/api/events', (route) => {
      const told = JSON.stringify({ ...status, waiting: [asked()] });
      return route.fulfill({ contentType: 'text/event-stream', body: `event: status\ndata: ${told}\n\n` });
    });
    await page.route('**/api/answer', (route) => {
      answered = route.request().postDataJSON().answer;
      return route.fulfill({ json: {} });
    });
    await page.reload();
    const conflict = card(page, 'Title was changed in the CRM and in the sheet.');
    const take = conflict.getByRole('button', { name: 'Take the CRM’s' });
    await take.click();
    await enterToken();
    await conflict.getByText('Answered: Take the CRM’s.').waitFor();
    expect(await take.count()).toBe(0);
    answered = undefined;
    await take.waitFor();
    answered = 'value';
    await conflict.getByText('Answered: Another value.').waitFor();
  });

  test('settles a conflict with the keyboard alone, on both sides', async () => {
    const { daemon, id, stage, title } = await openDisagreeing();
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url);
    const conflict = card(page, 'Title was changed in the CRM and in the sheet.');
    expect(await conflict.locator('dl').textContent()).toBe(
      `CRM hasTyped in the CRMSheet hasTyped in the sheetAgreed before${title}`,
    );
    await expectAccessible();
    await conflict.getByRole('button', { name: 'Take the sheet’s' }).focus();
    await page.keyboard.press('Enter');
    await enterToken();
    await conflict.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Typed in the sheet');
    await shown(page, /^In step$/);
  });

  test('settles a conflict with a value that neither side has, once the field takes it', async () => {
    const { daemon, id, stage } = await openDisagreeing();
    const tolerated = /status of 422/;
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url, { tolerated });
    const conflict = card(page, 'Title was changed in the CRM and in the sheet.');
    const put = async (text: string) => {
      await conflict.getByRole('button', { name: 'Another value…' }).click({ timeout: 45_000 });
      await page.getByRole('textbox', { name: 'Title' }).fill(text);
      await expectAccessible();
      await page.getByRole('button', { name: 'Put it on both sides' }).click();
    };
    await put('');
    await enterToken();
    await shown(page, 'Title can not be empty.');
    const long = 'Agreed by both'.repeat(20);
    await put(long);
    await shown(page, /the CRM takes at most 200\.$/);
    await conflict.getByRole('button', { name: 'Another value…' }).click();
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe(long);
    await page.keyboard.press('Escape');
    await put('Agreed by both');
    await conflict.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBe('Agreed by both');
    await eventually(async () => (await leadAt(stage, 2)).title).toBe('Agreed by both');
    await shown(page, /^In step$/);
  });

  test('is asked again before a record goes to the trash, brings its row back instead, and lets it go the next time', async () => {
    const { daemon, stage } = await openFilled();
    const { id, title } = await leadAt(stage, 1);
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1 });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const question = card(page, `#${id}`);
    await question.getByRole('button', { name: 'Move to trash' }).click();
    await shown(page, `“${title} (#${id})” goes to the trash of the CRM.`);
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Restore' }).click();
    await enterToken();
    await question.waitFor({ state: 'detached', timeout: 45_000 });
    await stage.agreed();
    expect(await titleInCrm(stage, id)).toBe(title);
    await shown(page, /^In step$/);
    await stage.editSheet({
      kind: 'deleteRows',
      sheet: 'Leads',
      row: await findPosition(stage.addresses, 'lead', id),
    });
    await question.getByRole('button', { name: 'Move to trash' }).click({ timeout: 45_000 });
    await page.getByRole('dialog').getByRole('button', { name: 'Move to trash' }).click();
    await question.waitFor({ state: 'detached', timeout: 45_000 });
    await eventually(() => titleInCrm(stage, id)).toBeUndefined();
    await stage.agreed();
  });

  test('is asked about all records of a stopped tab before they go to the trash', async () => {
    const { daemon, stage } = await openFilled();
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 8 });
    const { page } = await openStatusPage(browser, daemon.url);
    const brake = card(page, 'Leads').filter({ has: page.getByRole('button', { name: 'Approve' }) });
    await brake.getByRole('button', { name: 'Move to trash' }).click({ timeout: 45_000 });
    await shown(page, 'Every record whose row is gone from “Leads” goes to the trash of the CRM.');
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
    await enterToken();
    const dialog = page.getByRole('dialog', { name: 'Take back' });
    expect(await dialog.locator('li').textContent()).toBe(`${typed} (#${id}) · Title: ${typed} → ${title}`);
    await expectAccessible();
    await dialog.getByRole('button', { name: 'Take back' }).click();
    await eventually(() => titleInCrm(stage, id)).toBe(title);
    await stage.agreed();
    expect(await leadAt(stage, 1)).toEqual({ id, title });
    await page.locator('#changes li', { hasText: 'taken back' }).waitFor();
  });

  test('is told of everything that a run did before it is taken back, also beside a part of it', async () => {
    const { daemon } = await openFilled({ counts: { leads: 8, opportunities: 0, tasks: 3 } });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const put = (entity: string, id: number) => ({
      key: { entity, id: String(id) },
      kind: 'update',
      name: `Typed (#${id})`,
      changes: [{ header: 'Title', before: 'Typed', after: 'Before' }],
    });
    const steps = [...[1, 2, 3, 4, 5, 6, 7, 8].map((id) => put('lead', id)), put('task', 9)];
    const refused = { key: { entity: 'task', id: '8' }, name: 'Call (#8)', header: 'Title' };
    const refusals = [{ ...refused, reason: 'It was edited since.' }];
    await page.route('**/api/undo', (route) => route.fulfill({ json: { steps, refusals } }));
    await page.getByRole('button', { name: /^Take back: 8 leads/ }).click({ timeout: 45_000 });
    await enterToken();
    const dialog = page.getByRole('dialog', { name: 'Take back' });
    await dialog.getByText('Everything that its run did: 8 leads, 1 task.').waitFor({ timeout: 15_000 });
    const lines = await dialog.locator('li').allTextContents();
    expect([lines.length, lines[1], ...lines.slice(-2)]).toEqual([
      10,
      'Typed (#2) · Title: Typed → Before',
      'Typed (#9) · Title: Typed → Before',
      'Call (#8) · Title: It was edited since.',
    ]);
  });

  test('is told that nothing is taken back where everything was edited after it was shown', async () => {
    const { daemon } = await openFilled({ counts: { leads: 8, opportunities: 0, tasks: 0 } });
    const { enterToken, page } = await openStatusPage(browser, daemon.url);
    const key = { entity: 'lead', id: '1' };
    const changes = [{ header: 'Title', before: 'Typed', after: 'Before' }];
    const steps = [{ key, kind: 'update', name: 'Typed (#1)', changes }];
    const refusals = [{ key, name: 'Typed (#1)', header: 'Title', reason: 'It was edited since.' }];
    await page.route('**/api/undo', (route) => {
      const { isDryRun } = route.request().postDataJSON();
      return route.fulfill({ json: isDryRun ? { steps, refusals: [] } : { steps: [], refusals } });
    });
    await page.getByRole('button', { name: /^Take back: 8 leads/ }).click({ timeout: 45_000 });
    await enterToken();
    const dialog = page.getByRole('dialog', { name: 'Take back' });
    await dialog.getByRole('button', { name: 'Take back' }).click();
    await shown(page, 'Nothing is taken back any more. It was edited since.');
  });
});

test('a command that gets no answer is not told to be undone, because it may be done', async () => {
  const { daemon } = await openFilled({ counts: { leads: 1, opportunities: 0, tasks: 0 } });
  const tolerated = /ERR_CONNECTION_CLOSED/;
  const { enterToken, page } = await openStatusPage(browser, daemon.url, { tolerated });
  await page.route('**/api/resync', (route) => route.abort('connectionclosed'));
  // Screen readers tell only what changes in a place that they know already: that of the line, and that of what came of commands.
  const places = page.getByRole('status');
  expect(await places.count()).toBe(2);
  expect(await places.last().textContent()).toBe('');
  await page.getByRole('button', { name: 'Read everything again' }).click();
  await enterToken();
  await shown(
    page,
    'The daemon did not answer. It may have done this all the same: look before you try again.',
  );
  expect(await places.last().textContent()).toMatch(/^The daemon did not answer\./);
  await eventually(() => places.last().textContent()).toBe('');
});

describe('the token', () => {
  const tolerated = /status of 401/;

  test('is told to be wrong, and nothing is done until it is right', async () => {
    const { daemon, stage } = await openFilled();
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url, { tolerated });
    await page.getByRole('button', { name: 'Read everything again' }).click();
    await enterToken('not-the-right-token');
    await shown(page, 'This is not the right token.');
    // As a chat writes quotation marks: no request can carry them.
    await enterToken('“process-test-token”');
    await page.getByLabel('Token', { exact: true }).and(page.locator(':invalid')).waitFor();
    await shown(page, 'This is not the right token.');
    expect(await page.getByText('The daemon does not answer.').count()).toBe(0);
    await expectAccessible();
    expect(await (await fetch(`${daemon.url}/api/status`)).json()).not.toHaveProperty('resync');
    await enterToken();
    await page.getByRole('button', { name: 'Token: in use' }).waitFor();
    await shown(page, /^Everything was read again/);
    await page.reload();
    await page.getByRole('button', { name: 'Token: in use' }).waitFor();
    await stage.agreed();
  });

  test('is asked for it before anything is shown where other machines reach the daemon, and only once', async () => {
    const { daemon, stage } = await openFilled({ environment: { HTTP_HOST: '0.0.0.0' } });
    const { enterToken, expectAccessible, page } = await openStatusPage(browser, daemon.url, { tolerated });
    await page.getByRole('dialog').waitFor();
    await expectAccessible();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await shown(page, 'It shows nothing without the token');
    expect(await page.getByText('12 leads').count()).toBe(0);
    await page.getByRole('button', { name: 'Enter the token' }).click();
    await enterToken();
    await page.getByRole('row', { name: /^Leads/ }).waitFor();
    await shown(page, '12 leads');
    await page.reload();
    await shown(page, '12 leads');
    await page.getByRole('button', { name: 'Read everything again' }).click();
    await shown(page, /^Everything was read again/);
    await stage.agreed();
  });
});
