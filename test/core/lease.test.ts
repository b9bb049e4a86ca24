import { expect, test } from 'vitest';
import { isSyncError } from '../../src/core/errors.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { entities } from '../../src/core/record.ts';
import { beginRebase, readRebases } from '../../src/sheet/rebase.ts';
import { enterMirror, readToken } from '../../src/sync/lease.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';

const chance = { now: 1_790_000_000_000, newWord: 'word' };

const enter = (mirror: Mirror, token: number, openedUnder?: number) =>
  enterMirror(mirror, { link: 'north', token, openedUnder, isLost: false, sureMs: () => 1 }, (reason) =>
    beginRebase(mirror, reason, chance),
  );

const isRebased = (mirror: Mirror) => {
  const held = { state: 'held', reason: '' } as const;
  const tabs = Object.fromEntries(entities.map((entity) => [entity, held]));
  return readRebases(mirror, [], { tabs } as unknown as Parameters<typeof readRebases>[2]).size > 0;
};

test('a mirror is opened under rising tokens, and remembers the greatest', () => {
  const { mirror } = openMirrorInMemory();
  expect([enter(mirror, 5), enter(mirror, 9, 5)]).toEqual([false, false]);
  expect(readToken(mirror)).toBe(9);
  expect(isRebased(mirror)).toBe(false);
});

test.each([8, 9])('a mirror that was opened under token 9 is not opened under %i', (token) => {
  const { mirror } = openMirrorInMemory();
  enter(mirror, 9);
  expect(() => enter(mirror, token)).toThrow(expect.toSatisfy((error) => isSyncError(error, 'LEASE_ENDED')));
  expect(readToken(mirror)).toBe(9);
});

test('a mirror that another one of the link has outrun waits for a person', () => {
  const { mirror } = openMirrorInMemory();
  enter(mirror, 5);
  expect(enter(mirror, 9, 7)).toBe(true);
  expect(isRebased(mirror)).toBe(true);
});

test('a mirror that was opened without anybody having learned of it is the newest all the same', () => {
  const { mirror } = openMirrorInMemory();
  enter(mirror, 7);
  expect(enter(mirror, 9, 5)).toBe(false);
  expect(isRebased(mirror)).toBe(false);
});
