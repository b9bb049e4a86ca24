import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { expectAccessible } from './accessible.ts';
import { controlToken, openStage, type ProcessStage, type StageOptions } from './process-stage.ts';
import { readSheet } from './two-sides.ts';

export interface StatusPageOptions extends BrowserContextOptions {
  /** Errors of the browser that the test brings about. */
  readonly tolerated?: RegExp;
}

export interface StatusPage {
  readonly page: Page;
  /** Enters the token through the page, which has to ask for it by then; the right one where none is given. */
  enterToken(token?: string): Promise<void>;
  /** Fails when a tool finds something serious that keeps people from using the page. */
  expectAccessible(): Promise<void>;
}

/**
 * Opens a daemon's page. The test fails when the page logs an error or asks another host for anything.
 */
export async function openStatusPage(
  browser: Browser,
  url: string,
  { tolerated, ...options }: StatusPageOptions = {},
): Promise<StatusPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  // A browser, a daemon and two servers share what may be a busy machine.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const errors: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    const isTolerated = tolerated?.test(message.text()) ?? false;
    if (message.type() === 'error' && !isTolerated) errors.push(message.text());
  });
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(url) || request.url().startsWith('data:');
    if (!isOwn) foreign.push(request.url());
  });
  onTestFinished(() => expect({ errors, foreign }).toEqual({ errors: [], foreign: [] }));
  await page.goto(url);
  return {
    page,
    async enterToken(token = controlToken) {
      await page.getByLabel('Token', { exact: true }).fill(token);
      await page.getByRole('button', { name: 'Use it' }).click();
    },
    expectAccessible: () => expectAccessible(page),
  };
}

export const eventually = <Value>(read: () => Value) => expect.poll(read, { timeout: 45_000 });

/** Resolves when the page shows the text; rejects with what it shows instead. */
export async function shown(page: Page, text: string | RegExp): Promise<void> {
  try {
    await page.getByText(text).first().waitFor({ timeout: 45_000 });
  } catch (cause) {
    const instead = await page.locator('body').textContent();
    throw new Error(`The page does not show ${text}. It shows: ${instead}`, { cause });
  }
}

/** What the page says of something that waits for a person. */
export const card = (page: Page, text: string): Locator => page.locator('#waiting li', { hasText: text });

/** The ID and the title in a row of the leads, counted from the header. */
export async function leadAt(
  { addresses }: ProcessStage,
  row: number,
): Promise<{ readonly id: string; readonly title: string }> {
  const { ID, Title } = (await readSheet(addresses))['Leads']?.[row - 1] ?? {};
  return { id: String(ID), title: String(Title) };
}

/** A daemon that has filled the sheet. */
export async function openFilled(options: StageOptions = {}) {
  const stage = await openStage({ counts: { leads: 12, opportunities: 3, tasks: 4 }, ...options });
  const daemon = await stage.startDaemon();
  await stage.agreed();
  return { stage, daemon };
}
