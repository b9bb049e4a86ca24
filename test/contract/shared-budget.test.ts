import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { explainError } from '../../src/core/errors.ts';
import { createRequestBudget, type Permit } from '../../src/crm/budget.ts';
import { type ApiKey, createApiKey } from '../../src/crm/key-pool.ts';
import { openSharedBudget } from '../../src/sqlite/shared-budget.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const windowMs = 60_000;
const holdMs = 30_000;
/** A little more than a window: slots are kept for the drift between two clocks too. */
const slotMs = 60_060;

function openDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'shared-budget-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A budget of a link in a process of its own, with what was let through. */
function openBudget(directory: string, clock: ManualClock, of: string | ApiKey, host = 'crm.example') {
  const shared = openSharedBudget(directory);
  onTestFinished(() => shared.close());
  const key = typeof of === 'string' ? { name: of, secret: `svc_live_${'a'.repeat(64)}` } : of;
  const budget = createRequestBudget({
    keys: [key],
    requests: 6,
    ipRequests: 10,
    windowMs,
    holdMs,
    clock,
    log: shared.logOf(host),
  });
  const permits: Permit[] = [];
  const ask = async (count: number) => {
    for (let asked = 0; asked < count; asked += 1)
      budget.take('edit').then(
        (permit) => permits.push(permit),
        () => {},
      );
    await clock.advance(0);
  };
  return { ask, budget, permits };
}

test('S11: budgets with keys of their own never send more together than the address may, and all of it', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const budgets = ['east', 'north', 'south'].map((name) => openBudget(directory, clock, name));
  for (const { ask } of budgets) await ask(6);
  const granted = () => budgets.reduce((sum, { permits }) => sum + permits.length, 0);
  expect(granted()).toBe(10);
  for (const { permits } of budgets) for (const permit of permits) permit.answered();
  await clock.advance(slotMs - 1);
  expect(granted()).toBe(10);
  await clock.advance(1_001);
  expect(granted()).toBe(18);
});

test('budgets with the same key never send more together than the key may', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const [first, second] = [openBudget(directory, clock, 'same'), openBudget(directory, clock, 'same')];
  await first.ask(4);
  await second.ask(4);
  expect([first.permits.length, second.permits.length]).toEqual([4, 2]);
});

test('S11: a process whose key was exchanged while it ran, and one that was started later, count the same key as one', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const [renewed, found] = ['old', 'new'].map((secret) =>
    createApiKey(
      (named) => `name of ${named}`,
      secret,
      () => 'new',
    ),
  );
  const first = openBudget(directory, clock, renewed!);
  renewed?.renew?.('old');
  await first.ask(4);
  const second = openBudget(directory, clock, found!);
  await second.ask(4);
  await first.ask(1);
  expect([first.permits.length, second.permits.length]).toEqual([4, 2]);
});

test('a request that is answered frees its slot for the others too, within a second', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const [first, second] = [openBudget(directory, clock, 'same'), openBudget(directory, clock, 'same')];
  await first.ask(6);
  await second.ask(1);
  first.permits[0]?.answered();
  await clock.advance(slotMs + 1_000);
  expect(second.permits).toHaveLength(1);
});

test('what a process that was killed had sent still counts for the others', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const first = openBudget(directory, clock, 'east');
  await first.ask(6);
  first.budget.close();
  const [same, other] = [openBudget(directory, clock, 'east'), openBudget(directory, clock, 'north')];
  await same.ask(1);
  await other.ask(6);
  expect([same.permits.length, other.permits.length]).toEqual([0, 4]);
});

test('two CRMs do not count against each other', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const [first, second] = [
    openBudget(directory, clock, 'east', 'one.example'),
    openBudget(directory, clock, 'north', 'two.example'),
  ];
  await first.ask(6);
  await second.ask(6);
  expect([first.permits.length, second.permits.length]).toEqual([6, 6]);
});

test('nobody is let through while the slots can not be noted, and everybody is told why', async () => {
  const [directory, clock] = [openDirectory(), createManualClock()];
  const shared = openSharedBudget(directory);
  const key = { name: 'east', secret: `svc_live_${'a'.repeat(64)}` };
  const log = shared.logOf('crm.example');
  const options = { keys: [key], requests: 6, ipRequests: 10, windowMs, holdMs, clock, log };
  const budget = createRequestBudget(options);
  shared.close();
  const ends = await Promise.allSettled([budget.take('edit'), budget.take('sweep')]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('whoever has a damaged file is told to move that away, and not to give up the mirrors beside it', () => {
  const directory = openDirectory();
  writeFileSync(join(directory, 'budget.db'), 'nothing that SQLite would have written '.repeat(200));
  const told = (() => {
    try {
      openSharedBudget(directory).close();
      return undefined;
    } catch (error) {
      return explainError(error);
    }
  })();
  expect(told).toMatch(/budget\.db is not an SQLite database .* move it away/);
  expect(told).not.toMatch(/empty STATE_DIR|backup/);
});
