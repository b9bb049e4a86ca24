import type { Catalog } from '../../core/fields/catalog.ts';
import { type ChoiceIndex, lazyChoices } from '../../core/fields/choice.ts';
import { customFieldName } from '../../core/fields/field.ts';
import { once } from '../../core/once.ts';
import { isClaimToken, type RecordId } from '../../core/record.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../core/state.ts';
import { idInLabel, labelKey, labelWithId } from '../../core/text/label-key.ts';
import type { Known } from '../plans/plan.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';
import { createNames, indexTitles, type Names, type TitledChoice, titledChoice } from './codec.ts';

/** What cells show of a lead or a task. */
export const titledLabel = ({ fields, key }: KnownRecord): string =>
  labelWithId(String(fields['title'] ?? ''), key.id);

/** The leads, or the tasks, by the names under which cells show them. */
function titledChoices(
  entity: 'lead' | 'task',
  records: readonly KnownRecord[],
  agreements: readonly Agreement[] = [],
): TitledChoice[] {
  const agreed = new Map(
    agreements.flatMap((each) => (each.key.entity === entity ? [[each.key.id, each]] : [])),
  );
  return records
    .filter(({ key }) => key.entity === entity)
    .map((record) => titledChoiceOf(record, agreed.get(record.key.id)));
}

/**
 * A lead or a task by the names under which cells show it. One that is gone from the CRM keeps its name, because rows of what went to the trash
 * with it show that name and would look edited without it; but a bare title only means one that is there. A title that it had until now still
 * means it where the id follows it: rows show it so until they are written.
 */
export function titledChoiceOf(
  { fields, key, presence, written }: KnownRecord,
  agreement: Agreement | undefined,
): TitledChoice {
  const choice = titledChoice(Number(key.id), String(fields['title'] ?? ''));
  const versions = [agreement?.fields, agreement?.offered, written?.before, written?.earlier];
  const former = versions.flatMap((version) => {
    const title = version?.['title'];
    return typeof title === 'string' && title !== fields['title'] ? [labelWithId(title, key.id)] : [];
  });
  return { ...choice, aliases: presence === 'present' ? choice.aliases : [], former };
}

/**
 * The titles of rows that are to become leads, or tasks: those without an ID, those that are claimed, and those that will be new once somebody clears
 * an ID that no record has or that belongs to another row. Whoever adds a lead and what belongs to it can name it by nothing but its title,
 * and must not reach an older lead that is called the same.
 */
export function comingTitles(
  rows: readonly ObservedRow[],
  outbox: readonly OutboxItem[],
  findRecord: (id: RecordId) => KnownRecord | undefined,
): string[] {
  const made = new Set(outbox.filter(({ state }) => state === 'done').map(({ key }) => key.id));
  const sameIds = once(() => Map.groupBy(rows, ({ id }) => describeCell(id)));
  return rows.flatMap(({ id, cells: { title } }) => {
    if (title?.kind !== 'text' && title?.kind !== 'number') return [];
    const [text, named] = [describeCell(id), describeCell(title)];
    if (id.kind === 'empty') return [named];
    if (isClaimToken(text)) return made.has(text) ? [] : [named];
    const record = findRecord(text);
    if (!record) return [named];
    const known = String(record.fields['title']);
    const isOther = known !== named && labelKey(known) !== labelKey(named);
    return isOther && (sameIds().get(text)?.length ?? 0) > 1 ? [named] : [];
  });
}

/** The leads or the tasks by their names, made when one is asked for. `coming` are the titles of what has no id yet. */
export const lazyTitles = (
  entity: 'lead' | 'task',
  { agreements, records }: TitledItems,
  coming: readonly string[] = [],
): ChoiceIndex<number> => lazyChoices(() => indexTitles(titledChoices(entity, records, agreements), coming));

/**
 * The same names, of which all are indexed only where one does not tell by itself what a text means. Nearly every text is a label in full, and
 * to index tens of thousands takes longer than anything else may.
 */
export const singleTitles = (
  all: ChoiceIndex<number>,
  choiceOf: (id: RecordId) => TitledChoice | undefined,
): ChoiceIndex<number> => ({
  get labels() {
    return all.labels;
  },
  label: (id) => choiceOf(String(id))?.label,
  find(text) {
    const named = choiceOf(idInLabel(text) ?? '');
    return named?.label === text ? { kind: 'one', id: named.id } : all.find(text);
  },
  mayShow(id, text) {
    const { former = [] } = choiceOf(String(id)) ?? {};
    return former.some((label) => labelKey(label) === labelKey(text)) || all.mayShow(id, text);
  },
  suggest: (text) => all.suggest(text),
});

type TitledItems = Pick<Known, 'records'> & Partial<Pick<Known, 'agreements'>>;

/** All names, of records as they are known, where nothing is coming. */
export const namesOf = (known: TitledItems & Pick<Known, 'catalog'>, timeZone: string): Names => ({
  ...createNames(known.catalog, [], timeZone),
  leads: lazyTitles('lead', known),
  tasks: lazyTitles('task', known),
  userIds: lazyUserIds(known),
});

/** The ids of users that the catalog or a record names. */
export const lazyUserIds = ({ catalog, records }: Pick<Known, 'catalog' | 'records'>): (() => string[]) =>
  once(() => {
    const named = catalog.users?.map(({ id }) => id) ?? [];
    return [...new Set([...named, ...countUserIds(catalog, records).keys()])].toSorted((one, other) =>
      one.localeCompare(other, 'en', { numeric: true }),
    );
  });

interface CountedIds {
  readonly records: readonly KnownRecord[];
  readonly counts: Map<string, number>;
}

/** What was counted last, for as long as the catalog says the same. */
const counted = new WeakMap<Catalog, CountedIds>();

/** How often records name each user. Only records that are other objects than those that were counted last are looked into. */
function countUserIds(catalog: Catalog, records: readonly KnownRecord[]): CountedIds['counts'] {
  const { counts, records: before } = counted.get(catalog) ?? { counts: new Map(), records: [] };
  counted.set(catalog, { counts, records });
  const fields = catalog.customFields.filter(({ kind }) => kind === 'user' || kind === 'users');
  const names = fields.map(({ key }) => customFieldName(key));
  const count = (record: KnownRecord | undefined, by: number) => {
    for (const id of names.flatMap((name) => record?.fields[name] ?? []).map(String)) {
      const number = (counts.get(id) ?? 0) + by;
      if (number === 0) counts.delete(id);
      else counts.set(id, number);
    }
  };
  const longer = Math.max(before.length, records.length);
  for (let place = 0; place < longer; place += 1) {
    if (before[place] === records[place]) continue;
    count(before[place], -1);
    count(records[place], 1);
  }
  return counts;
}
