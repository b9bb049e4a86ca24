import { namesakeAdvice } from '../../../core/fields/headers.ts';
import { describeUnread } from '../../../core/merge.ts';
import type { Entity } from '../../../core/record.ts';
import type { Agreement, KnownRecord } from '../../../core/state.ts';
import type { FieldName } from '../../../core/value.ts';
import type { Hold } from '../../../core/waiting/waiting.ts';
import { describeCell } from '../../port/cell.ts';
import { columnOf, type TabLayout } from '../../port/layout.ts';
import type { ReadTab } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';

type AgreementsById = ReadonlyMap<string, Agreement>;

/** What people read above the column of a field; its name where it has none. */
export const headerOf = ({ layout }: Pick<TabIndex, 'layout'>, field: FieldName): string =>
  columnOf(layout, field)?.header ?? field;

/**
 * What the tab lacks of the layout. A column that was there and is gone says nothing about the values of its field: they stay as
 * they are on the CRM's side. A new field is offered, and never added unasked.
 */
export function holdMissingColumns({
  agreements,
  countAgreed,
  layout,
  tab,
}: Pick<TabIndex, 'agreements' | 'countAgreed' | 'layout' | 'tab'>): Hold[] {
  const { entity, title } = layout;
  const wasThere = (field: FieldName) => countAgreed(field, undefined) < agreements.size;
  const holds = layout.columns
    .filter(({ field, held }) => !held && !tab.fields.has(field) && tab.headers?.[field] === undefined)
    .map(({ field, header }): Hold => {
      const namesake = tab.namesakes?.[field];
      const advice =
        namesake === undefined ? 'Nothing is added unasked:' : `${namesakeAdvice(namesake)}, and then`;
      const gone = `The column “${header}” of “${title}” is gone; the CRM keeps its values. Undo it or give the column its header back, ${orElse(field)}`;
      const lacking = `“${title}” has no column for the CRM's field “${header}”. ${advice} ${orElse(field)}`;
      if (!wasThere(field)) return { entity, reason: lacking, isOffer: true };
      return { entity, reason: namesake === undefined ? gone : lacking };
    });
  holds.push(...holdUnusable(layout, tab));
  if (tab.hasSync) return holds;
  const reason = `“${title}” has no column “Sync”, so that nobody sees what happened to a row. Run init --add-columns for a new one.`;
  return [...holds, { entity, reason }];
}

/** Columns whose fields the CRM takes no value for now. */
const holdUnusable = ({ columns, entity, title }: TabLayout<Entity>, tab: ReadTab): Hold[] =>
  columns.flatMap(({ field, header, held }) => {
    if (held === undefined || !tab.fields.has(field)) return [];
    return {
      entity,
      reason: `The column “${header}” of “${title}” is left alone, because ${held}. ${waysOut}`,
    };
  });

const waysOut = 'It goes on by itself once the field is back; delete the column if it is not needed.';

const orElse = (field: FieldName) =>
  `run init --add-columns for a new one, or set the direction of ${field} to off.`;

/**
 * The agreements without what the empty cells of a new column seem to say: nobody emptied them, and taken for edits they would empty
 * the CRM's fields.
 */
export function forgetFreshColumns(tab: ReadTab, agreements: AgreementsById): AgreementsById {
  const { fresh = new Set<FieldName>(), rows } = tab;
  if (fresh.size === 0) return agreements;
  const filled = new Map(
    rows.map(({ id, cells }) => [
      describeCell(id),
      new Set([...fresh].filter((field) => cells[field]?.kind !== 'empty')),
    ]),
  );
  const isForgotten = (id: string, field: FieldName) => fresh.has(field) && !filled.get(id)?.has(field);
  const changed = [...agreements].flatMap(([id, agreement]) => {
    const fields = Object.entries(agreement.fields).filter(([field]) => !isForgotten(id, field));
    if (fields.length === Object.keys(agreement.fields).length) return [];
    return [[id, { ...agreement, fields: Object.fromEntries(fields) }] as const];
  });
  // Where the agreements are others, every row is decided at once.
  return changed.length === 0 ? agreements : new Map([...agreements, ...changed]);
}

/** Says why some of a record's fields are left alone; `undefined` where all were understood. */
export function unreadReason({ fields }: TabIndex, { unread = {} }: KnownRecord): string | undefined {
  const reasons = Object.entries(unread).flatMap(([name, fault]) => {
    const field = fields.get(name);
    return field ? [describeUnread(field.header, fault)] : [];
  });
  return reasons.length === 0 ? undefined : reasons.join(' ');
}

/** Finds what cannot be understood of a tab's records and of what the CRM lists for them. All else goes on. */
export function holdUnread(index: TabIndex): Hold[] {
  const { entity, input, layout, loose } = index;
  const { catalog, nameless } = input.known;
  const lost = nameless.get(entity) ?? [];
  const odd = (catalog.odd ?? []).flatMap((each) => (each.entity === entity ? [each.words] : []));
  const hold = (reason: string): Hold => ({ entity, reason: `${reason} ${mendThere}` });
  return [
    ...(lost.length === 0 ? [] : [hold(`${listFirst(lost)}. ${namelessReason(layout.title)}`)]),
    ...(odd.length === 0 ? [] : [hold(`${listFirst(odd)}. What was known of it before stays.`)]),
    ...loose.records.flatMap((record): Hold[] => {
      const reason = record.presence === 'present' ? unreadReason(index, record) : undefined;
      return reason === undefined ? [] : [{ entity, id: record.key.id, reason, isUnread: true }];
    }),
  ];
}

const namelessReason = (title: string): string =>
  `It is left out; it may be any record of “${title}” that seems to be missing.`;

const mendThere = 'Correct it in the CRM; everything else goes on.';

const namedMax = 3;

const listFirst = (words: readonly string[]): string =>
  [
    ...words.slice(0, namedMax),
    ...(words.length > namedMax ? [`and ${words.length - namedMax} more`] : []),
  ].join('; ');
