import { emptyCatalog } from '../core/fields/catalog.ts';
import { createLabels, type LabelledChange, type Labels } from '../core/fields/labels.ts';
import type { HistoryEntry } from '../core/history.ts';
import { once } from '../core/once.ts';
import { entities, parseRecordKey, type RecordKey, recordKeyText } from '../core/record.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { UndoPlan } from '../core/undo.ts';
import type { FieldName } from '../core/value.ts';
import type { Link } from './link.ts';

/** What of a link names things. */
type Named = Pick<Link, 'mirror' | 'headerOf' | 'titles'>;

/** The names of everything that a link knows. `timeZone` is that of whoever reads them. */
export function labelsOf({ headerOf, mirror, titles }: Named, timeZone = 'UTC'): Labels {
  const steps = once(
    () => new Map(mirror.readAllSteps().map(({ fields, key }) => [recordKeyText(key), fields])),
  );
  return createLabels({
    catalog: mirror.readCatalog() ?? emptyCatalog,
    findFields: (key) => mirror.findRecord(key)?.fields ?? steps().get(recordKeyText(key)),
    headerOf: headerOf ?? ((_entity, { header }) => header),
    timeZone,
    titles,
  });
}

/** A line of the history with what it says to people. */
export interface LabelledEntry extends HistoryEntry {
  readonly name: string;
  /** What records of its kind are called. */
  readonly entityTitle: string;
  readonly changes: readonly LabelledChange[];
}

export const labelEntry = (labels: Labels, entry: HistoryEntry): LabelledEntry => ({
  ...entry,
  name: labels.nameOf(entry.key, { ...entry.before, ...entry.after }),
  entityTitle: labels.titles[entry.key.entity],
  changes: labels.listChanges(entry.key, entry),
});

export type LabelledUndo = ReturnType<typeof labelUndo>;

/** What is taken back, and what is not, with names. */
export const labelUndo = (labels: Labels, { refusals, steps }: UndoPlan) => ({
  steps: steps.map((step) => ({
    ...step,
    name: labels.nameOf(step.key),
    changes: labels.listChanges(step.key, { before: step.base, after: step.fields }),
  })),
  refusals: refusals.map((refusal) => ({
    ...refusal,
    name: labels.nameOf(refusal.key),
    ...(refusal.field === undefined ? {} : { header: labels.headerOf(refusal.key.entity, refusal.field) }),
  })),
});

/**
 * The records that a person means by a key (`lead-42`), an id (`42`, `#42`), a name as it is shown, or a title. Only where nothing is called
 * just so, those with the text in their title.
 */
export function findRecords(link: Named, text: string): RecordKey[] {
  const key = parseRecordKey(text);
  if (key) return [key];
  const { mirror } = link;
  const [, id] = /^#?(\d+)$/.exec(text.trim()) ?? [];
  const byId = id === undefined ? [] : entities.map((entity): RecordKey => ({ entity, id }));
  const known = byId.filter((each) => isKnown(mirror, each));
  if (known.length > 0) return known;
  const labels = labelsOf(link);
  const wanted = labelKey(text);
  const creates = mirror.readAllSteps().filter(({ kind }) => kind === 'create');
  const named = [...mirror.readRecords(), ...creates].map(({ fields, key: each }) => ({
    key: each,
    // What is called like its lead is meant only where its own id is said as well.
    title: labelKey(String(fields['title'] ?? fields['full_name'] ?? '')),
    name: labelKey(labels.nameOf(each)),
  }));
  const same = named.filter(({ name, title }) => title === wanted || name === wanted);
  const found = same.length > 0 ? same : named.filter(({ title }) => wanted !== '' && title.includes(wanted));
  return found.map((each) => each.key);
}

/** What is gone for long is only in the history. */
const isKnown = (mirror: Link['mirror'], key: RecordKey): boolean =>
  mirror.findRecord(key) !== undefined || mirror.searchJournal({ key, limit: 1 }).length > 0;

/** The fields that a person means by a name or a header, of these records or of any. */
export function findFields(link: Named, text: string, key?: RecordKey): FieldName[] {
  const wanted = labelKey(text);
  const found = labelsOf(link).findFieldNames(
    key ? [key.entity] : entities,
    (each) => labelKey(each) === wanted,
  );
  // The history may have fields that the CRM does not list any more.
  return found.includes(text) || found.length === 0 ? [text] : found;
}
