import { lazyChoices } from '../../core/fields/choice.ts';
import { customFieldName } from '../../core/fields/field.ts';
import { once } from '../../core/once.ts';
import { isClaimToken } from '../../core/record.ts';
import type { Agreement, KnownRecord } from '../../core/state.ts';
import { labelKey, labelWithId } from '../../core/text/label-key.ts';
import type { Known } from '../plans/plan.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedTable } from '../port/table.ts';
import { indexTitles, type TitledChoice, titledChoice } from './codec.ts';

/**
 * The leads, or the tasks, by the names under which cells show them. One that is gone from the CRM keeps its name, because rows of what went
 * to the trash with it show that name and would look edited without it; but a bare title only means one that is there. A title that it had
 * until now still means it where the id stands behind: rows show it so until they are written.
 */
export function titledChoices(
  entity: 'lead' | 'task',
  records: readonly KnownRecord[],
  agreements: readonly Agreement[] = [],
): TitledChoice[] {
  const agreed = new Map(
    agreements.flatMap((each) => (each.key.entity === entity ? [[each.key.id, each]] : [])),
  );
  return records
    .filter(({ key }) => key.entity === entity)
    .map(({ key, fields, presence, written }) => {
      const choice = titledChoice(Number(key.id), String(fields['title'] ?? ''));
      const { fields: last, offered } = agreed.get(key.id) ?? {};
      const titles = [last, offered, written?.before, written?.earlier].map((each) => each?.['title']);
      const former = titles.flatMap((title) =>
        typeof title === 'string' && title !== fields['title'] ? [labelWithId(title, key.id)] : [],
      );
      return { ...choice, aliases: presence === 'present' ? choice.aliases : [], former };
    });
}

/**
 * The titles of rows that are to become leads, or tasks: those without an ID, those that are claimed, and those that will be new once somebody clears
 * an ID that no record has or that belongs to another row. Whoever adds a lead and what belongs to it can name it by nothing but its title,
 * and must not reach an older lead that is called the same.
 */
export function comingTitles(
  entity: 'lead' | 'task',
  { outbox, records }: Known,
  { tabs }: ObservedTable,
): string[] {
  const tab = tabs[entity];
  if (tab.state === 'held') return [];
  const made = new Set(outbox.filter(({ state }) => state === 'done').map(({ key }) => key.id));
  const titles = new Map(
    records.flatMap(({ fields, key }) => (key.entity === entity ? [[key.id, fields['title']] as const] : [])),
  );
  const sameIds = Map.groupBy(tab.rows, ({ id }) => describeCell(id));
  return tab.rows.flatMap(({ id, cells: { title } }) => {
    if (title?.kind !== 'text' && title?.kind !== 'number') return [];
    const [text, named] = [describeCell(id), describeCell(title)];
    if (id.kind === 'empty') return [named];
    if (isClaimToken(text)) return made.has(text) ? [] : [named];
    const isCopy =
      (sameIds.get(text)?.length ?? 0) > 1 && labelKey(String(titles.get(text))) !== labelKey(named);
    return isCopy || !titles.has(text) ? [named] : [];
  });
}

/** The tasks by their names, and the ids of users. */
export function namesOfRecords(
  known: Pick<Known, 'catalog' | 'records'> & Partial<Pick<Known, 'agreements'>>,
  coming: () => string[] = () => [],
) {
  return {
    tasks: lazyChoices(() => indexTitles(titledChoices('task', known.records, known.agreements), coming())),
    userIds: once(() => findUserIds(known)),
  };
}

function findUserIds({ catalog, records }: Pick<Known, 'catalog' | 'records'>): string[] {
  const fields = catalog.customFields.filter(({ kind }) => kind === 'user' || kind === 'users');
  const names = fields.map(({ key }) => customFieldName(key));
  const ids = records.flatMap((record) => names.flatMap((name) => record.fields[name] ?? []));
  const named = catalog.users?.map(({ id }) => id) ?? [];
  return [...new Set([...named, ...ids.map(String)])].toSorted((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
}
