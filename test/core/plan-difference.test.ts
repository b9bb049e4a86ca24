import { describe, expect, it } from 'vitest';
import { textCell } from '../../src/core/cell.ts';
import { followUp, writtenKeys } from '../../src/core/decide/follow-up.ts';
import { comparePlans } from '../../src/core/decide/plan-difference.ts';
import { remember } from '../../src/sync/rest.ts';
import { addRow, changeRecord, decideWorld, leadKey, readSheet, rowOf } from '../support/world.ts';
import { cycle, pull, worldWithLeads } from '../support/world-daemon.ts';

const [acme, beta] = [leadKey(1), leadKey(2)];

/** A world at rest in which the CRM renamed one lead and the sheet another, seen by the daemon. */
function worldThatMoved() {
  const world = worldWithLeads(['Acme', 'Beta', 'Gamma'], { conflict: 'ask' });
  changeRecord(world, acme, { title: 'Acme Ltd' });
  rowOf(world, beta).cells['title'] = textCell('Beta Ltd');
  pull(world);
  return world;
}

describe('two plans', () => {
  it('are the same when only time passed and rows were sorted', () => {
    const world = worldThatMoved();
    const planned = decideWorld(world);
    world.now += 60_000;
    world.sheet.lead.reverse();
    expect(comparePlans(planned, decideWorld(world))).toEqual([]);
  });

  it('differ by record and field, each with what is there now', () => {
    const world = worldThatMoved();
    const planned = decideWorld(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    pull(world);
    expect(comparePlans(planned, decideWorld(world))).toMatchObject([
      {
        place: 'lead-1 title in the sheet',
        planned: '"Acme" → "Acme Ltd"',
        now: '"Acme" → "Acme GmbH"',
      },
    ]);
  });

  it('differ by what one of them lacks', () => {
    const world = worldThatMoved();
    const planned = decideWorld(world);
    changeRecord(world, acme, { title: 'Acme' });
    pull(world);
    expect(comparePlans(planned, decideWorld(world))).toEqual([
      { place: 'lead-1 title in the sheet', planned: '"Acme" → "Acme Ltd"' },
    ]);
  });
});

describe('what follows an applied plan', () => {
  it('is nothing that a person has not seen', () => {
    const plan = decideWorld(worldThatMoved());
    const { agreements, outbox, table } = followUp(plan, new Set());
    expect([agreements.save, outbox.save, table]).toEqual([[], [], []]);
  });

  it('is a claimed row that becomes a record, and not another edit beside it', () => {
    const world = worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('New') });
    cycle(world);
    const claim = cycle(world);
    expect(claim.table).toMatchObject([{ creates: { title: 'New' } }]);
    rowOf(world, acme).cells['title'] = textCell('Typed meanwhile');
    world.memory = remember(world.memory, readSheet(world), world.now);
    world.now += 1;
    const plan = decideWorld(world);
    expect(plan.outbox.save.map(({ kind }) => kind).toSorted()).toEqual(['create', 'update']);
    const { outbox } = followUp(plan, new Set(writtenKeys(claim)));
    expect(outbox.save.map(({ kind }) => kind)).toEqual(['create']);
  });
});
