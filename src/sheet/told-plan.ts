import type { Labels } from '../core/fields/labels.ts';
import type { SidePlan } from '../sync/side.ts';
import { tellBrake, tellHold, tellRefusal, tellStep } from '../sync/told-plan.ts';
import type { Plan, TableStep } from './plans/plan.ts';

/** A plan, and what it says to people. */
export type ToldPlan = Plan & SidePlan;

/** Says what a plan does to the CRM and the sheet, and what it leaves to people. */
export function tellPlan(labels: Labels, plan: Plan): string[] {
  const { brakes, conflicts, holds, outbox, refusals, restlessRows, table } = plan;
  return [
    ...outbox.save.flatMap(({ base, fields, key, kind }) =>
      tellStep(
        `CRM  ${kind} ${labels.nameOf(key, fields)}`,
        labels.listChanges(key, { before: base, after: fields }),
      ),
    ),
    ...table.flatMap((step) => tellTableStep(labels, step)),
    ...conflicts.map(({ crm, field, key, table: cell }) => {
      const show = (value: typeof crm) => labels.show(key.entity, field, value);
      const header = labels.headerOf(key.entity, field);
      return `Conflict  ${labels.nameOf(key)} · ${header}: the CRM has ${show(crm)}, the sheet ${show(cell)}`;
    }),
    ...brakes.flatMap((brake) => tellBrake(labels, brake)),
    ...holds.map((hold) => tellHold(labels, hold)),
    ...refusals.map((refusal) => tellRefusal(labels, refusal)),
    ...(restlessRows > 0 ? [`${restlessRows} rows changed just now and are taken once they rest.`] : []),
  ];
}

function tellTableStep(labels: Labels, { creates, journal, key, offers, write }: TableStep): string[] {
  const { entity } = write;
  if (entity === 'question') return [`Sheet  ${write.kind} a row of the questions`];
  const before = journal?.before ?? {};
  // What somebody typed is written as well, and offered to nobody.
  const after = { ...journal?.after, ...offers };
  if (creates) {
    const record = { entity, id: key?.id ?? '' };
    return tellStep(
      `CRM  create a new row of ${labels.titles[entity]}`,
      labels.listChanges(record, { before: {}, after: creates }),
    );
  }
  const place = key ? labels.nameOf(key, after) : `a row of ${labels.titles[entity]}`;
  const changes = key ? labels.listChanges(key, { before, after }) : [];
  const isLook = changes.length === 0 && write.kind === 'set';
  return tellStep(`Sheet  ${write.kind} ${place}${isLook ? ' (its ID, Sync text or look)' : ''}`, changes);
}
