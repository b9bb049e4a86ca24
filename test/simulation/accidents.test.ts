import { describe, expect, it } from 'vitest';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import { hit } from '../support/damages.ts';
import { People } from './people.ts';
import { Races } from './races.ts';

const run = '000000000001';
const asked: Suspect = { id: `${run}.0`, at: 0, damage: hit, state: 'escalated', clearReads: 0 };

/** Two acts of a user, with a read of the daemon between them, and then a write that ends in a question. */
function judgeAfter(read: 'table' | 'other') {
  const people = new People();
  const { sheetWatcher } = new Races(people);
  sheetWatcher.read('table');
  sheetWatcher.acted();
  sheetWatcher.read(read);
  sheetWatcher.sent(run);
  sheetWatcher.acted();
  return { violation: people.accidents.judge(asked), counts: people.accidents.counts };
}

describe('the accidents of a write', () => {
  it('are those since the look that it was planned from, also where an earlier write was asked about meanwhile', () => {
    expect(judgeAfter('other')).toMatchObject({ violation: undefined, counts: { moreAsked: 1 } });
  });

  it('are none from before that look', () => {
    const { counts, violation } = judgeAfter('table');
    expect([counts.oneAsked, violation?.promise]).toEqual([1, 'S2']);
  });
});
