import { expect } from 'vitest';
import type { SheetLink } from '../../src/sheet/link.ts';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { type LeadsStage, openLeadsStage } from './leads-stage.ts';
import type { SheetEngine } from './sheet-engine.ts';

/** A colleague adds a task to a lead. */
export async function makeTask({ addresses }: LeadsStage, leadId: string): Promise<void> {
  const order = { method: 'POST', path: '/tasks', body: { title: 'Call back', lead_id: Number(leadId) } };
  const made = await fetch(`${addresses.crmUrl}__sandbox/by-hand`, {
    method: 'POST',
    body: JSON.stringify(order),
  });
  expect(made.ok).toBe(true);
}

/** A colleague adds a task to a lead, and the daemon learns of it. */
export async function addTask(stage: LeadsStage, leadId: string): Promise<void> {
  await makeTask(stage, leadId);
  await stage.engine.pullAll(() => {});
}

/** The ID of a lead that is not this one. */
export const otherThan = ({ mirror }: SheetLink, id: string): string =>
  mirror.readRecords('lead').find((lead) => lead.key.id !== id)?.key.id ?? '';

/** Somebody moves the task of a lead to another lead in the sheet, and deletes the row of its own. */
export async function openMovedTask(rule: VanishedRowPolicy) {
  const stage = await openLeadsStage('crm', {}, rule);
  const { engine, link } = stage;
  const id = await stage.firstLead();
  const other = otherThan(link, id);
  await addTask(stage, id);
  await stage.settle();
  const [task] = link.mirror.readRecords('task');
  if (!task) throw new Error('The task is not known.');
  await stage.editSheet(
    { kind: 'edit', sheet: 'Tasks', row: 1, column: 'Lead', text: `#${other}` },
    { kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 },
  );
  for (const _turn of [1, 2, 3]) await engine.cycle();
  return { ...stage, id, key: { entity: 'lead', id } as const, other, task: task.key };
}

/** Somebody deletes the row of a lead that has a task. */
export async function deleteWithTask(rule: VanishedRowPolicy) {
  const stage = await openLeadsStage('crm', {}, rule);
  const id = await stage.firstLead();
  await addTask(stage, id);
  await stage.settle();
  const [task] = stage.link.mirror.readRecords('task');
  if (!task) throw new Error('The task is not known.');
  const agreement = stage.link.mirror.findAgreement(task.key);
  await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: 1 });
  return { ...stage, agreement, id, key: { entity: 'lead', id } as const, task: task.key };
}

/** Lets a few cycles pass; answers what the last one asks about the lead. */
export async function asked(engine: SheetEngine, id: string): Promise<string[]> {
  for (const _turn of [1, 2, 3]) await engine.cycle();
  return (engine.lastPlan?.holds ?? []).filter((hold) => hold.id === id).map(({ reason }) => reason);
}

/** Whether the CRM has the lead. */
export const hasLead = async (stage: LeadsStage, id: string) => (await stage.titles()).crm.has(id);
