import type { Entity, RecordKey } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { brakeScope, shownOf } from '../../src/core/waiting/brakes.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import type { OnlyRule } from '../../src/sheet/only/rule.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import type { Policy } from '../../src/sheet/policy.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
import { addRecord, cellFor, createWorld, type World, type WorldOptions } from './world.ts';
import { cycle, pull, settle } from './world-daemon.ts';

/** The settings give the tab of these records another rule, or none, and the daemon begins anew. */
export function setRule(world: World, only: OnlyRule | undefined, entity: Entity = 'lead'): void {
  Object.assign(world, { policy: withRule(world.policy, only, entity) });
}

function withRule(policy: Policy, only: OnlyRule | undefined, entity: Entity): Policy {
  return { ...policy, tabs: { ...policy.tabs, [entity]: { ...policy.tabs[entity], only } } };
}

/** A world at rest whose tab of leads has those with the status new alone. The ids of the leads count from 1. */
export async function worldOfNewLeads(
  leads: readonly Fields[],
  options: WorldOptions & { readonly only?: OnlyRule } = {},
): Promise<World> {
  const world = createWorld(options);
  setRule(world, options.only ?? { status: 'new' });
  for (const fields of leads) addRecord(world, 'lead', fields);
  await settle(world);
  return world;
}

export const newLead = (title: string): Fields => ({ title, status_name: 'new' });
export const lostLead = (title: string): Fields => ({ title, status_name: 'lost' });

/** So many leads of a status, with titles that count from 1. */
export const many = (count: number, make: (title: string) => ReturnType<typeof newLead>) =>
  Array.from({ length: count }, (_, number) => make(`${make === newLead ? 'New' : 'Lost'} ${number + 1}`));

export const ruleScope = brakeScope('lead', 'only');

/** A user at the daemon approves what a plan asks about the rule of the leads. */
export function approve(world: World, plan: Plan): void {
  const brake = plan.brakes.find((each) => each.scope === ruleScope);
  if (!brake) throw new Error('Nothing is asked about the rule.');
  world.mirror.saveDecision(decisionOf(ruleScope, 'approve', world.clock.now, shownOf(brake)));
}

/** Lets the time pass for which a row says that it leaves, and looks on. */
export async function waitToLeave(world: World, waitMs = leaveAfterMs): Promise<void> {
  world.clock.now += waitMs;
  await settle(world);
}

/** The titles in a tab, from top to bottom. */
export const titlesIn = (world: World, entity: Entity = 'lead'): string[] =>
  world.sheet[entity].map(({ cells }) => describeCell(cells['title'] ?? { kind: 'empty' }));

/** Two looks at the sheet, after each of which the CRM is read. */
export async function lookTwice(world: World): Promise<void> {
  await pull(world);
  await cycle(world);
  await pull(world);
  await cycle(world);
}

/** What is known of the leave of a record. */
export const leaveOf = ({ mirror }: World, key: RecordKey) => mirror.findAgreement(key)?.leave;

/** The cell of a status of leads. */
export const statusCell = (world: World, name: string) => cellFor(world, 'lead', 'status_name', name);
