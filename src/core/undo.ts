import { countByKind } from './cascade.ts';
import type { Catalog } from './fields/catalog.ts';
import { describeEntity, type FieldDefinition } from './fields/field.ts';
import { findFault } from './fields/validate.ts';
import type { HistoryEntry } from './history.ts';
import { type RecordKey, recordKeyText } from './record.ts';
import type { Agreement, JournalEntry, KnownRecord, OutboxItem, StoredRecord } from './state.ts';
import { quoteText } from './text/cut-text.ts';
import { labelKey } from './text/label-key.ts';
import { equalValues, type FieldName, type Fields, type Value } from './value.ts';

/** Takes back what was done to one record: its fields get the values they had before, or the record goes again. */
export interface UndoStep {
  readonly key: RecordKey;
  readonly kind: 'update' | 'delete';
  /** Values that are put back; none for a record that goes. */
  readonly fields: Readonly<Record<FieldName, Value>>;
  /** What the CRM must still have: anything else was edited since. */
  readonly base: Readonly<Record<FieldName, Value>>;
}

/** What can not be taken back, and why. */
export interface UndoRefusal {
  readonly key: RecordKey;
  readonly field?: FieldName;
  readonly reason: string;
}

export interface UndoPlan {
  readonly steps: readonly UndoStep[];
  readonly refusals: readonly UndoRefusal[];
}

/** What is known of a record when something of it is to be taken back. */
export interface UndoSubject {
  readonly record: StoredRecord | undefined;
  readonly agreement: Agreement | undefined;
  readonly item: OutboxItem | undefined;
  /** What the CRM would trash with it. */
  readonly goingWith: readonly KnownRecord[];
  /** Its kind is not kept the same now, so that nothing of it is sent. */
  readonly isOff?: boolean;
}

/** What the journal says of a row that came back although somebody had deleted it. */
export const restoredCause = 'row restored';

const notTakenBack = 'not taken back';

/** What the journal says of something that could not be taken back after all. */
export const notTakenBackCause = (reason: string): string => `${notTakenBack}: ${reason}`;

/** Whether a line of the journal tells that something was not taken back: it changed nothing. */
export const isNotTakenBack = ({ cause }: Pick<JournalEntry, 'cause'>): boolean =>
  cause.startsWith(notTakenBack);

/**
 * Plans how the given lines of the journal are taken back. Nothing that was edited since is touched: a value goes back only where both
 * sides still have what the last of the lines left there, and a record goes again only where it is as it was created and nothing goes
 * with it that stays otherwise. `field` limits it to one field.
 */
export function planUndo(
  entries: readonly HistoryEntry[],
  find: (key: RecordKey) => UndoSubject,
  catalog: Catalog,
  field?: FieldName,
): UndoPlan {
  const done = entries.filter((entry) => !isNotTakenBack(entry));
  const oldestFirst = done.toSorted((left, right) => left.id - right.id);
  const plans = [...Map.groupBy(oldestFirst, ({ key }) => recordKeyText(key)).values()].map((own) =>
    planRecord(own, { find, catalog, field }),
  );
  const planned = plans.flatMap((plan) => plan.steps);
  const steps = Object.groupBy(planned, ({ kind }) => kind);
  const parted = partRemovals(steps.delete ?? [], find);
  const refusals = [...plans.flatMap((plan) => plan.refusals), ...parted.refusals];
  return { steps: [...(steps.update ?? []), ...parted.steps], refusals };
}

/**
 * Refuses to remove what the CRM would trash together with something that is not removed itself: a colleague may have added that since.
 * What belongs to another record comes before it: so the CRM is asked about each before the other one takes it along.
 */
function partRemovals(removals: readonly UndoStep[], find: (key: RecordKey) => UndoSubject): UndoPlan {
  const leaving = new Set(removals.map(({ key }) => recordKeyText(key)));
  const steps: UndoStep[] = [];
  const refusals: UndoRefusal[] = [];
  const ownersLast = removals
    .map((step) => ({ step, goingWith: find(step.key).goingWith }))
    .toSorted((left, right) => left.goingWith.length - right.goingWith.length);
  for (const { step, goingWith } of ownersLast) {
    const { key } = step;
    const staying = goingWith.filter((record) => !leaving.has(recordKeyText(record.key)));
    if (staying.length === 0) {
      steps.push(step);
      continue;
    }
    // What stays keeps its owner from going as well.
    leaving.delete(recordKeyText(key));
    const reason = `${countByKind(staying)} would go with it. Take back what belongs to it first, or delete it in the CRM.`;
    refusals.push({ key, reason });
  }
  return { steps, refusals };
}

/** What is known when something is taken back, and the field that is meant where it is one alone. */
interface Occasion {
  readonly find: (key: RecordKey) => UndoSubject;
  readonly catalog: Catalog;
  readonly field: FieldName | undefined;
}

function planRecord(entries: readonly HistoryEntry[], occasion: Occasion): UndoPlan {
  const [{ key }] = entries as [HistoryEntry];
  const subject = occasion.find(key);
  const { record, item } = subject;
  const refuse = (reason: string): UndoPlan => ({ steps: [], refusals: [{ key, reason }] });
  const hasLine = (kind: HistoryEntry['kind'], side: HistoryEntry['side']) =>
    entries.some((entry) => entry.kind === kind && entry.side === side);
  // Contacts are the only kind that can be.
  if (subject.isOff)
    return refuse('Contacts are switched off in the settings, so that nothing of them is sent.');
  if (!record || record.presence === 'gone') {
    const removed =
      key.entity === 'contact'
        ? 'It was deleted for good: the CRM has no trash for contacts.'
        : 'It is in the trash of the CRM: restore it there.';
    return refuse(hasLine('delete', 'crm') ? removed : 'The CRM does not have it any more.');
  }
  if (item?.state === 'refused')
    return refuse('The CRM refused something of it: retry or revert that first, or mend its row.');
  if (item) return refuse('Something of it waits to be sent to the CRM: try again when that is done.');
  if (hasLine('create', 'crm') && occasion.field === undefined)
    return planRemoval(entries, record, occasion.catalog);
  // The first line of nearly every record tells of its row: what was changed since goes back without it.
  const isOnlyShown = entries.every(({ kind }) => kind !== 'update') && hasLine('create', 'table');
  const hasComeBack = entries.some(({ cause }) => cause === restoredCause);
  if (entries.every(({ kind, side }) => kind === 'delete' && side === 'table'))
    return refuse(
      'Only its row left the sheet: the record was not changed, and gets a row once it fits again.',
    );
  if (isOnlyShown)
    return refuse(
      hasComeBack
        ? 'Its row came back to the sheet: delete it there again.'
        : 'It was created in the CRM: delete it there.',
    );
  return planFields(entries, subject, occasion);
}

/**
 * A record goes again only where it still is what the create made: with the values that were sent, and those that the CRM set of itself.
 * A field that neither tells of was filled by somebody since.
 */
function planRemoval(entries: readonly HistoryEntry[], record: StoredRecord, catalog: Catalog): UndoPlan {
  const { key, fields: now } = record;
  const told = (kind: HistoryEntry['kind']): Fields =>
    Object.assign({}, ...entries.filter((entry) => entry.kind === kind && entry.side === 'crm').map(afterOf));
  const made: Fields = { ...told('adopt'), ...told('create') };
  const writable = describeEntity(key.entity, catalog).filter(({ isReadOnly }) => !isReadOnly);
  const names = new Set([...Object.keys(made), ...writable.map(({ name }) => name)]);
  const edited = [...names].find((name) => isOther(now[name], made[name] ?? null));
  if (edited === undefined) return { steps: [{ key, kind: 'delete', fields: {}, base: now }], refusals: [] };
  const reason =
    made[edited] === undefined
      ? 'It was not created with this value.'
      : 'It was edited since it was created.';
  return { steps: [], refusals: [{ key, field: edited, reason }] };
}

/** Why nothing goes to the field now. Sent all the same, it would keep the other fields of its record from going back. */
const findUnusable = ({ held }: FieldDefinition): string | undefined =>
  held === undefined ? undefined : `It is left alone, because ${held}.`;

/**
 * Why the CRM can not have the value any more: what it names was deleted since. Sent all the same, it would keep the other fields of its
 * record from going back, and the CRM adds a status that it does not have, which nobody who takes something back means to bring back.
 */
function findLost({ kind, options }: FieldDefinition, value: Value, occasion: Occasion): string | undefined {
  const { leadStatuses, pipelines } = occasion.catalog;
  if (value === null) return undefined;
  const lacks = (what: string) => `The CRM does not have ${what} any more.`;
  if (kind === 'lead-status' && leadStatuses.every((status) => status.name !== value))
    return lacks(`the status ${quoteText(String(value))}`);
  const stages = pipelines.flatMap((pipeline) => pipeline.stages);
  if (kind === 'stage' && stages.length > 0 && stages.every(({ id }) => id !== value))
    return lacks('the stage that it was in');
  const known = options && new Set(options.map(labelKey));
  const lost = [value].flat().find((each) => known?.has(labelKey(String(each))) === false);
  if (lost !== undefined) return lacks(`the option ${quoteText(String(lost))}`);
  const entity = kind === 'lead' || kind === 'task' ? kind : undefined;
  const owner = entity && occasion.find({ entity, id: String(value) }).record;
  return owner?.presence === 'gone' ? lacks(`${entity} ${owner.key.id}`) : undefined;
}

const afterOf = ({ after }: HistoryEntry): Fields => after;

const isOther = (value: Value | undefined, expected: Value): boolean =>
  value !== undefined && !equalValues(value, expected);

function planFields(
  entries: readonly HistoryEntry[],
  { agreement, record }: UndoSubject,
  occasion: Occasion,
): UndoPlan {
  const [{ key }] = entries as [HistoryEntry];
  // What is agreed about a row that left its table stays what it was then.
  const agreed = agreement?.leave?.state === 'left' ? undefined : agreement?.fields;
  const updates = entries.filter(({ kind }) => kind === 'update');
  const names = new Set(updates.flatMap(({ after }) => Object.keys(after)));
  const known = describeEntity(key.entity, occasion.catalog);
  const definitions = new Map(known.map((field) => [field.name, field]));
  const fields: Record<FieldName, Value> = {};
  const base: Record<FieldName, Value> = {};
  const refusals: UndoRefusal[] = [];
  for (const name of names) {
    if (name !== (occasion.field ?? name)) continue;
    const first = updates.find(({ before }) => before[name] !== undefined)?.before[name];
    const last = updates.findLast(({ after }) => after[name] !== undefined)?.after[name];
    if (first === undefined || last === undefined) continue;
    const definition = definitions.get(name);
    const fault = definition
      ? (findUnusable(definition) ?? findFault(definition, first) ?? findLost(definition, first, occasion))
      : 'The CRM does not list this field any more.';
    if (definition?.isFixed || definition?.isReadOnly)
      refusals.push({ key, field: name, reason: 'Only the CRM sets it.' });
    else if (isOther(record?.fields[name], last) || isOther(agreed?.[name], last))
      refusals.push({ key, field: name, reason: 'It was edited since.' });
    else if (equalValues(first, last)) continue;
    else if (fault !== undefined) refusals.push({ key, field: name, reason: fault });
    else {
      fields[name] = first;
      base[name] = last;
    }
  }
  const steps = Object.keys(fields).length > 0 ? [{ key, kind: 'update' as const, fields, base }] : [];
  return { steps, refusals };
}
