import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { BudgetLog } from '../../src/core/ports.ts';
import type { Scope } from '../../src/crm/contract.ts';
import { createApiKey } from '../../src/crm/key-pool.ts';
import { type OpenMirror, openMirror } from '../../src/sqlite/open.ts';
import { holdMs, key, setUp, windowMs } from '../support/budget-bench.ts';
import { createMemoryBudgetLog } from '../support/memory-budget-log.ts';

/** A little more than a window: slots are kept for the drift between two clocks too. */
const slotMs = 60_060;

interface SlotStore {
  readonly log: BudgetLog;
  /** What the next process finds. */
  reopen(): BudgetLog;
}

const openedMirrors: OpenMirror[] = [];
const directories: string[] = [];
afterEach(() => {
  for (const { mirror } of openedMirrors.splice(0)) mirror.close();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function openFileStore(): SlotStore {
  const directory = mkdtempSync(join(tmpdir(), 'request-budget-'));
  directories.push(directory);
  const open = () => {
    for (const { mirror } of openedMirrors.splice(0)) mirror.close();
    const opened = openMirror({ directory });
    openedMirrors.push(opened);
    return opened.budgetLog;
  };
  return { log: open(), reopen: open };
}

function openMemoryStore(): SlotStore {
  const log = createMemoryBudgetLog();
  return { log, reopen: () => log };
}

const stores: readonly [string, () => SlotStore][] = [
  ['memory', openMemoryStore],
  ['the mirror file', openFileStore],
];

const nameOf = (secret: string) => `name of ${secret}`;
const secondKey = { name: 'second', secret: `svc_live_${'b'.repeat(64)}` };

describe('slots', () => {
  it('frees one window after the answer', async () => {
    const bench = setUp({ requests: 1 });
    await bench.ask('edit', 2);
    await bench.clock.advance(500);
    bench.permits[0]!.answered();
    await bench.clock.advance(slotMs - 1);
    expect(bench.granted).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.granted).toHaveLength(2);
  });

  it('frees one window after the hold where no answer came', async () => {
    const bench = setUp({ requests: 1 });
    await bench.ask('edit', 2);
    await bench.clock.advance(holdMs + slotMs - 1);
    expect(bench.granted).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.granted).toHaveLength(2);
  });

  it('is kept in the log before the request may leave', async () => {
    const bench = setUp({ requests: 2 });
    const keptWhenGranted = bench.budget.take('edit').then(() => bench.log.readSlots().length);
    expect(bench.log.readSlots()).toHaveLength(1);
    expect(await keptWhenGranted).toBe(1);
  });

  it('is not given out when the log can not be written', async () => {
    const full = new Error('disk full');
    const log = {
      ...createMemoryBudgetLog(),
      addSlot: () => {
        throw full;
      },
    };
    const { budget } = setUp({ requests: 2, log });
    await expect(budget.take('edit')).rejects.toBe(full);
  });

  it('is freed by the answer although the log can not be written any more', async () => {
    const log = {
      ...createMemoryBudgetLog(),
      moveSlot: () => {
        throw new Error('disk full');
      },
    };
    const bench = setUp({ requests: 1, log });
    await bench.ask('edit');
    bench.permits[0]!.answered();
    await bench.clock.advance(slotMs);
    expect(bench.budget.usage().taken).toBe(0);
  });

  it('does not hang on the wall clock', async () => {
    const bench = setUp({ requests: 1 });
    await bench.ask('edit', 2);
    bench.permits[0]!.answered();
    bench.clock.setWallClock(bench.clock.now() + 3_600_000);
    await bench.clock.advance(slotMs - 1);
    expect(bench.granted).toHaveLength(1);
    bench.clock.setWallClock(bench.clock.now() - 7_200_000);
    await bench.clock.advance(1);
    expect(bench.granted).toHaveLength(2);
  });

  it('are forgotten in the log once they are free', async () => {
    const bench = setUp({ requests: 5 });
    await bench.ask('edit', 5);
    for (const permit of bench.permits) permit.answered();
    await bench.clock.advance(slotMs + 1);
    await bench.ask('edit');
    expect(bench.log.readSlots()).toHaveLength(1);
  });

  it('needs no clock ticks while nobody waits', async () => {
    const bench = setUp({ requests: 5 });
    await bench.ask('edit', 3);
    expect(bench.clock.sleeperCount()).toBe(0);
  });
});

describe.each(stores)('S11: a restart with its slots in %s', (_, openStore) => {
  it('goes on with the slots that were taken', async () => {
    const store = openStore();
    const before = setUp({ requests: 10, log: store.log });
    await before.ask('edit', 10);
    for (const permit of before.permits) permit.answered();
    await before.clock.advance(20_000);
    before.budget.close();
    const after = setUp({ requests: 10, clock: before.clock, log: store.reopen() });
    await after.ask('edit', 10);
    expect(after.granted).toHaveLength(0);
    await after.clock.advance(slotMs - 20_001);
    expect(after.granted).toHaveLength(0);
    await after.clock.advance(1);
    expect(after.granted).toHaveLength(10);
  });

  it('takes over requests that were never answered for the rest of their hold', async () => {
    const store = openStore();
    const before = setUp({ requests: 10, log: store.log });
    await before.ask('edit', 10);
    before.budget.close();
    const after = setUp({ requests: 10, clock: before.clock, log: store.reopen() });
    await after.ask('edit');
    await after.clock.advance(holdMs + slotMs - 1);
    expect(after.granted).toHaveLength(0);
    await after.clock.advance(1);
    expect(after.granted).toHaveLength(1);
  });

  it('waits no longer than a hold and a window when the wall clock was set back', async () => {
    const store = openStore();
    const before = setUp({ requests: 10, log: store.log });
    await before.ask('edit', 10);
    before.budget.close();
    before.clock.setWallClock(before.clock.now() - 86_400_000);
    const after = setUp({ requests: 10, clock: before.clock, log: store.reopen() });
    await after.ask('edit', 10);
    expect(after.granted).toHaveLength(0);
    await after.clock.advance(holdMs + slotMs);
    expect(after.granted).toHaveLength(10);
  });

  it('waits for that only once, however often it happens', async () => {
    const store = openStore();
    const before = setUp({ requests: 10, log: store.log });
    await before.ask('edit', 10);
    before.budget.close();
    before.clock.setWallClock(before.clock.now() - 86_400_000);
    setUp({ requests: 10, clock: before.clock, log: store.reopen() }).budget.close();
    await before.clock.advance(holdMs + slotMs);
    expect(setUp({ requests: 10, clock: before.clock, log: store.reopen() }).budget.usage().taken).toBe(0);
  });

  it('leaves the slots of another key alone', async () => {
    const store = openStore();
    const before = setUp({ requests: 1, keys: [secondKey], log: store.log });
    await before.ask('edit');
    const after = setUp({ requests: 1, clock: before.clock, log: store.reopen() });
    await after.ask('edit');
    expect(after.granted).toEqual(['edit']);
  });

  it('counts what was sent with a secret that a key got while the daemon ran', async () => {
    const store = openStore();
    const exchanged = createApiKey(nameOf, 'old', () => 'new');
    const before = setUp({ requests: 10, keys: [exchanged], log: store.log });
    await before.ask('edit', 3);
    exchanged.renew?.('old');
    await before.ask('edit', 7);
    before.budget.close();
    const found = createApiKey(nameOf, 'new', () => undefined);
    const after = setUp({ requests: 10, keys: [found], clock: before.clock, log: store.reopen() });
    await after.ask('edit', 4);
    expect([after.granted.length, after.budget.usage().keys]).toMatchObject([3, [{ taken: 10 }]]);
  });

  it('counts for the address what was sent with keys that are no more', async () => {
    const store = openStore();
    const before = setUp({ requests: 10, ipRequests: 12, keys: [secondKey], log: store.log });
    await before.ask('edit', 10);
    before.budget.close();
    const after = setUp({ requests: 10, ipRequests: 12, clock: before.clock, log: store.reopen() });
    await after.ask('edit', 10);
    expect(after.granted).toHaveLength(2);
  });
});

describe('lanes', () => {
  it('are served by their rank when a slot frees', async () => {
    const bench = setUp({ requests: 1 });
    await bench.ask('edit');
    bench.permits[0]!.answered();
    await bench.clock.advance(slotMs - 1000);
    for (const lane of ['sweep', 'newest', 'edit', 'settle'] as const) await bench.ask(lane);
    await bench.clock.advance(1000);
    expect(bench.granted).toEqual(['edit', 'settle']);
  });

  it('lets an edit through while the sweep waits', async () => {
    const bench = setUp({ requests: 100 });
    await bench.ask('edit');
    await bench.ask('sweep', 200);
    expect(bench.budget.usage()).toMatchObject({ taken: 50, waiting: { sweep: 151 } });
    await bench.clock.advance(slotMs);
    expect(bench.budget.usage().taken).toBeGreaterThan(70);
    expect(bench.budget.usage().taken).toBeLessThanOrEqual(98);
    await bench.ask('edit');
    expect(bench.granted.at(-1)).toBe('edit');
  });
});

describe('several keys', () => {
  it('uses the slots of the next key when those of the first are taken', async () => {
    const bench = setUp({ requests: 3, keys: [key, secondKey] });
    await bench.ask('edit', 7);
    expect(bench.permits.map((permit) => permit.key.name)).toEqual([
      ...Array(3).fill('agency'),
      ...Array(3).fill('second'),
    ]);
    expect(bench.budget.usage()).toMatchObject({ requests: 6, taken: 6, waiting: { edit: 1 } });
  });

  it('keeps to the budget of the address with all of them together', async () => {
    const bench = setUp({ requests: 10, ipRequests: 15, keys: [key, secondKey] });
    await bench.ask('edit', 20);
    expect(bench.granted).toHaveLength(15);
    for (const permit of bench.permits) permit.answered();
    await bench.clock.advance(slotMs - 1);
    expect(bench.granted).toHaveLength(15);
    await bench.clock.advance(1);
    expect(bench.granted).toHaveLength(20);
  });

  it('goes on with the slots of the address after a restart', async () => {
    const store = openFileStore();
    const limits = { requests: 10, ipRequests: 15, keys: [key, secondKey] };
    const before = setUp({ ...limits, log: store.log });
    await before.ask('edit', 15);
    before.budget.close();
    const after = setUp({ ...limits, clock: before.clock, log: store.reopen() });
    await after.ask('edit');
    expect(after.granted).toEqual([]);
    expect(after.budget.usage()).toMatchObject({ requests: 15, taken: 15 });
  });

  it('goes on with the other key while one waits for its refusal to pass', async () => {
    const bench = setUp({ keys: [key, secondKey] });
    bench.budget.park(key, 7000);
    await bench.ask('sweep', 2);
    expect(bench.permits.map((permit) => permit.key.name)).toEqual(['second', 'second']);
    expect(bench.budget.usage()).toMatchObject({ parkedMs: 0, keys: [{ parkedMs: 7000 }, { parkedMs: 0 }] });
  });

  it('hands what waits for a refused key to another', async () => {
    const bench = setUp({ requests: 1, keys: [key, secondKey] });
    bench.budget.park(secondKey, 1000);
    await bench.ask('edit', 2);
    expect(bench.budget.refuse(key)).toBe(true);
    await bench.clock.advance(1000);
    expect(bench.permits.map((permit) => permit.key.name)).toEqual(['agency', 'second']);
    expect(bench.budget.usage().keys.map(({ isRefused }) => isRefused)).toEqual([true, false]);
  });

  it('tries every key again when none is left', async () => {
    const bench = setUp({ keys: [key, secondKey] });
    expect(bench.budget.refuse(key)).toBe(true);
    expect(bench.budget.refuse(secondKey)).toBe(false);
    await bench.ask('edit');
    expect(bench.permits[0]?.key.name).toBe('agency');
  });

  it('keeps a key that lacks a scope for everything else', async () => {
    const { budget } = setUp({ keys: [key, secondKey] });
    budget.refuse(key, ['read:tasks']);
    const nameFor = async (...needs: Scope[]) => (await budget.take('edit', needs)).key.name;
    expect(await nameFor('read:tasks')).toBe('second');
    expect(await nameFor('read:leads')).toBe('agency');
    expect(budget.refuse(secondKey, ['read:tasks'])).toBe(false);
    expect(await nameFor('read:tasks')).toBe('agency');
  });
});

describe('leaving the line', () => {
  it('rejects with the reason of the signal and takes no slot', async () => {
    const bench = setUp({ requests: 1 });
    await bench.ask('edit');
    const gaveUp = new AbortController();
    const waiting = bench.budget.take('edit', [], gaveUp.signal);
    gaveUp.abort(new Error('too late'));
    await expect(waiting).rejects.toThrow('too late');
    await expect(bench.budget.take('edit', [], gaveUp.signal)).rejects.toThrow('too late');
    expect(bench.budget.usage()).toMatchObject({ taken: 1, waiting: { edit: 0 } });
    expect(bench.clock.sleeperCount()).toBe(0);
  });

  it('turns everybody away when the budget closes', async () => {
    const { budget, clock, ask } = setUp({ requests: 1 });
    await ask('edit');
    const waiting = budget.take('sweep');
    budget.close();
    await expect(waiting).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
    await expect(budget.take('edit')).rejects.toMatchObject({ code: 'CRM_UNREACHABLE' });
    expect(clock.sleeperCount()).toBe(0);
  });
});

describe('a refusal for the rate', () => {
  it('parks all lanes for the time the CRM named', async () => {
    const bench = setUp({ requests: 10 });
    bench.budget.park(key, 7000);
    await bench.ask('settle');
    await bench.ask('sweep');
    expect(bench.budget.usage().parkedMs).toBe(7000);
    await bench.clock.advance(6999);
    expect(bench.granted).toEqual([]);
    await bench.clock.advance(1);
    expect(bench.granted).toEqual(['settle', 'sweep']);
  });

  it('parks for a time that grows with each refusal where the CRM named none', async () => {
    const { budget, clock } = setUp({ requests: 10 });
    const pauses: number[] = [];
    for (let refusals = 0; refusals < 6; refusals += 1) {
      budget.park(key);
      pauses.push(budget.usage().parkedMs);
      await clock.advance(budget.usage().parkedMs);
    }
    expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    await clock.advance(windowMs);
    budget.park(key);
    expect(budget.usage().parkedMs).toBe(5000);
  });

  it('lowers the allowance once for all requests that were under way, and gives it back slowly', async () => {
    const { budget, clock } = setUp({ requests: 100 });
    for (let refusals = 0; refusals < 5; refusals += 1) budget.park(key, 1000);
    expect(budget.usage().requests).toBe(50);
    await clock.advance(1000 + windowMs);
    expect(budget.usage().requests).toBe(55);
    await clock.advance(9 * windowMs);
    expect(budget.usage().requests).toBe(100);
  });
});
