import { expect, it } from 'vitest';
import type { RecordKey } from '../../src/core/record.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import type { ObservedTab, ObservedTable } from '../../src/sheet/port/table.ts';
import { lastSeen, noteLostRows } from '../../src/sheet/rest.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';

const key: RecordKey = { entity: 'lead', id: '1' };
const held = 'held';

const heldTab: ObservedTab = { state: 'held', reason: 'It is not of this test.' };
const tableWith = (lead: ObservedTab): ObservedTable => ({
  tabs: { lead, opportunity: heldTab, task: heldTab, contact: heldTab },
  timeZone: 'UTC',
});
const heldTable = tableWith(heldTab);
const readTable = tableWith({ state: 'read', rows: [], fields: new Set(), hasSync: true });

/** Reads the tab of a lead at the given times, each after a start; answers when its row was seen last, as each read tells. */
function seenAfter(...reads: readonly (readonly [lookedAt: number, ids: readonly string[] | typeof held])[]) {
  const { mirror } = openMirrorInMemory();
  return reads.map(([lookedAt, ids]) => {
    const seenAt = lastSeen(mirror, lookedAt);
    const isThere = ids === held || ids.includes(key.id);
    noteLostRows(mirror, ids === held ? heldTable : readTable, isThere ? [] : [key], seenAt);
    return seenAt(key);
  });
}

it.each([
  [
    'before it was gone for the first time',
    [
      [10, ['1']],
      [20, []],
      [30, []],
    ],
    20,
  ],
  [
    'before it was gone again, where it was there meanwhile',
    [
      [10, []],
      [20, ['1']],
      [30, []],
    ],
    30,
  ],
  [
    'before its tab was held, where it was gone when that could be read again',
    [
      [10, held],
      [20, held],
      [30, []],
    ],
    10,
  ],
  [
    'before it was gone, where its tab was held afterwards',
    [
      [10, []],
      [20, held],
      [30, []],
    ],
    10,
  ],
  [
    'by the clock as it is, where that was set back since',
    [
      [30, []],
      [20, []],
    ],
    20,
  ],
] as const)('the row of a record was seen last %s', (_when, reads, seenAt) => {
  expect(seenAfter(...reads).at(-1)).toBe(seenAt);
});

it('of a tab that stays held no more is noted with each read', () => {
  const { mirror } = openMirrorInMemory();
  const noted = [1, 2, 3].map((lookedAt) => {
    noteLostRows(mirror, heldTable, [key], lastSeen(mirror, lookedAt));
    return mirror.readFact(sheetFacts.lostRows)?.length;
  });
  expect(new Set(noted).size).toBe(1);
});
