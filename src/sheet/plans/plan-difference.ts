import { recordKeyText } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import type { FieldName, Fields, Value } from '../../core/value.ts';
import type { PlanDifference } from '../../sync/side.ts';
import { describeCell } from '../port/cell.ts';
import type { Plan, TableStep } from './plan.ts';

/**
 * What differs between two plans, by record and field. Left out is what a plan makes up (its run, times and claim tokens), where rows are,
 * Sync cells, the tab of the questions and the mere look of values.
 */
export function comparePlans(planned: Plan, now: Plan): PlanDifference[] {
  const [before, after] = [describePlaces(planned), describePlaces(now)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((place) => {
    const [one, other] = [before.get(place), after.get(place)];
    return one === other ? [] : { place, planned: one, now: other };
  });
}

/** Everything a plan does or says, by its place. */
function describePlaces({ brakes, conflicts, holds, outbox, refusals, table }: Plan): Map<string, string> {
  const places = new Map<string, string>();
  const add = (place: string, what: string) => {
    const known = places.get(place);
    places.set(place, known === undefined ? what : `${known}; ${what}`);
  };
  for (const item of outbox.save) describeItem(item, add);
  for (const key of outbox.drop) add(`${recordKeyText(key)} in the CRM`, 'what waited is not sent');
  for (const step of table) describeStep(step, add);
  for (const { key, field, crm, table: cell } of conflicts)
    add(
      `${recordKeyText(key)} ${field}`,
      `a conflict of ${show(crm)} in the CRM and ${show(cell)} in the sheet`,
    );
  for (const { entity, id, reason } of holds) add(id ? `${entity}-${id}` : entity, `held: ${reason}`);
  for (const { entity, id, position, reason } of refusals)
    add(id ? `${entity}-${id}` : rowName(entity, position), `refused: ${reason}`);
  for (const { scope, reason } of brakes) add(scope, `stopped: ${reason}`);
  return places;
}

type Add = (place: string, what: string) => void;

function describeItem({ base, fields, key, kind }: OutboxItem, add: Add): void {
  const name = recordKeyText(key);
  const removed = key.entity === 'contact' ? 'deleted for good' : 'moved to the trash';
  if (kind !== 'update') add(`${name} in the CRM`, kind === 'delete' ? removed : 'created');
  for (const [field, change] of describeChanges(base, fields)) add(`${name} ${field} in the CRM`, change);
}

function describeStep({ creates, journal, key, offers, write }: TableStep, add: Add): void {
  const { entity } = write;
  if (entity === 'question') return;
  // A claimed row has no name yet but its place.
  const isClaim = creates !== undefined && write.kind === 'set';
  const name = isClaim ? rowName(entity, write.position) : key ? recordKeyText(key) : entity;
  if (write.kind !== 'set') add(`${name} row in the sheet`, write.kind === 'append' ? 'added' : 'deleted');
  else if (isClaim) add(`${name} in the CRM`, 'created');
  else if (write.id) add(`${name} ID in the sheet`, describeCell(write.id));
  if (write.kind === 'delete') return;
  const side = isClaim ? 'in the CRM' : 'in the sheet';
  const after = { ...journal?.after, ...offers, ...creates };
  for (const [field, change] of describeChanges({ ...journal?.lost, ...journal?.before }, after))
    add(`${name} ${field} ${side}`, change);
}

const describeChanges = (before: Fields, after: Fields): [field: FieldName, change: string][] =>
  Object.entries(after).map(([field, value]) => {
    const old = before[field];
    return [field, old === undefined ? show(value) : `${show(old)} → ${show(value)}`];
  });

const rowName = (entity: string, position: number | undefined): string =>
  position === undefined ? entity : `${entity} in row ${position + 1}`;

const show = (value: Value): string => (value === null ? '(empty)' : JSON.stringify(value));
