import type { LabelledChange, Labels } from '../core/fields/labels.ts';
import type { Value } from '../core/value.ts';
import { answersTo } from '../core/waiting/answer.ts';
import type { Brake, Hold, Refusal } from '../core/waiting/waiting.ts';

/* What a plan says to people: lines of text, with records, fields and values as they know them. */

/** One line where one field is changed, as nearly always; else a line for each below the record. */
export function tellStep(head: string, changes: readonly LabelledChange[]): string[] {
  const lines = changes.map(({ after, before, header }) => `${header}: ${before} → ${after}`);
  const [only, ...others] = lines;
  if (only === undefined) return [head];
  return others.length > 0 ? [head, ...lines.map((line) => `    ${line}`)] : [`${head} · ${only}`];
}

/** What is stopped, a line for each record and field that is shown, and how many there are besides. */
export function tellBrake(labels: Labels, brake: Brake): string[] {
  const { changes, entity, reason, scope } = brake;
  const toGoOn = answersTo(scope).length > 0 ? ` To go on: answer ${scope} approve` : '';
  const lines = changes.shown.map(({ after, before, field, id, what }) => {
    const name = labels.nameOf({ entity, id });
    if (field === undefined) return `    ${name}: ${what}`;
    const show = (value: Value) => labels.show(entity, field, value);
    // What a side shows that can not be read is no value.
    const known = before === undefined ? what : after === undefined ? `${what} from ${show(before)}` : '';
    const said =
      known || `${before === undefined ? '' : show(before)} → ${after === undefined ? '' : show(after)}`;
    return `    ${name} · ${labels.headerOf(entity, field)}: ${said}`;
  });
  const left = changes.count - changes.shown.length;
  return [`Stopped  ${reason}${toGoOn}`, ...lines, ...(left > 0 ? [`    and ${left} more`] : [])];
}

export const tellHold = (labels: Labels, hold: Hold): string =>
  `${hold.isOffer ? 'Offered' : 'Held'}  ${placeOf(labels, hold)}: ${hold.reason}`;

export const tellRefusal = (labels: Labels, refusal: Refusal): string =>
  `Error  ${placeOf(labels, refusal)}: ${refusal.reason}`;

/** Where a hold or a refusal is: all of a kind, a record, or a row that has none yet, by the number that people see beside it. */
function placeOf({ nameOf, titles }: Labels, { entity, id, position }: Hold): string {
  if (entity === 'question') return 'The questions';
  if (id) return `${nameOf({ entity, id })}, ${titles[entity]}`;
  return position === undefined ? titles[entity] : `${titles[entity]}, row ${position + 1}`;
}
