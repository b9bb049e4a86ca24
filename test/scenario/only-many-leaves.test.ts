import { expect, test } from 'vitest';
import { finishAtOnce } from '../../src/core/slices.ts';
import { decideFrom } from '../../src/sheet/decide/decide.ts';
import { settleRows } from '../../src/sheet/decide/in-step.ts';
import { limitLeaves } from '../../src/sheet/decide/rows/leaving.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import {
  approve,
  many,
  newLead,
  ruleScope,
  setRule,
  titlesIn,
  worldOfNewLeads,
} from '../support/ruled-tab.ts';
import { leadKey } from '../support/world.ts';
import { cycle, inputOf, settle } from '../support/world-daemon.ts';
import { titles } from '../support/world-view.ts';

test('of very many rows that leave at once, each write takes some, and the others are at rest until then', async () => {
  const world = await worldOfNewLeads(many(250, newLead));
  setRule(world, { status: 'lost' });
  approve(world, await settle(world));
  await settle(world);
  world.clock.now += leaveAfterMs;
  const deleted = ({ table }: Plan) => table.filter(({ write }) => write.kind === 'delete').length;
  expect(deleted(await cycle(world))).toBe(200);
  const later = world.mirror.readAgreements().filter(({ leave }) => leave?.state === 'leaving');
  expect(new Set(later.map(({ leave }) => (leave?.at ?? 0) + leaveAfterMs - world.clock.now))).toEqual(
    new Set([5_000]),
  );
  expect(deleted(await cycle(world))).toBe(0);
  world.clock.now += 5_000;
  expect(deleted(await cycle(world))).toBe(50);
  await settle(world);
  expect([titlesIn(world), titles(world).length]).toEqual([[], 250]);
});

test('while a user is asked about another rule, no row is decided that it may move', async () => {
  const world = await worldOfNewLeads(many(20, newLead));
  setRule(world, { status: 'lost' });
  await settle(world);
  const [input, standing] = [await inputOf(world), new Standing()];
  standing.update(input);
  finishAtOnce(settleRows(input, standing, 0));
  expect(standing.groundOf('lead').loose().rows).toEqual([]);
  expect(decideFrom(input, standing).brakes).toMatchObject([{ scope: ruleScope, changes: { count: 20 } }]);
});

test('however many rows leave at once, none waits for more than five minutes more at a time', () => {
  const [now, key] = [Date.UTC(2026, 0, 5, 9), leadKey(1)];
  const leaving = {
    table: [
      { write: { kind: 'delete', entity: 'lead', position: 1, idSeen: textCell('1') }, key, leaves: true },
    ],
    agreementsSaved: [
      { key, fields: {}, offered: {}, changedAt: 0, notice: '', leave: { state: 'moving', at: 0 } },
    ],
  } as const;
  const limited = limitLeaves(
    Array.from({ length: 20_000 }, () => leaving),
    now,
  );
  const times = limited.flatMap(({ agreementsSaved = [] }) => agreementsSaved.map(({ leave }) => leave?.at));
  expect(limited.filter(({ table }) => table)).toHaveLength(200);
  expect([times[200], times[400], times[19_999]]).toEqual([
    now - leaveAfterMs + 5_000,
    now - leaveAfterMs + 10_000,
    now,
  ]);
});
