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
export const lazyUserIds = (known: Pick<Known, 'catalog' | 'records'>): (() => string[]) =>
  once(() => findUserIds(known));

function findUserIds({ catalog, records }: Pick<Known, 'catalog' | 'records'>): string[] {
  const fields = catalog.customFields.filter(({ kind }) => kind === 'user' || kind === 'users');
  const names = fields.map(({ key }) => customFieldName(key));
  const ids = records.flatMap((record) => names.flatMap((name) => record.fields[name] ?? []));
  const named = catalog.users?.map(({ id }) => id) ?? [];
  return [...new Set([...named, ...ids.map(String)])].toSorted((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
}
