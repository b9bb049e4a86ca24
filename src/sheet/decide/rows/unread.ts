import type { FieldDefinition } from '../../../core/fields/field.ts';
import { describeUnread } from '../../../core/merge.ts';
import type { KnownRecord } from '../../../core/state.ts';
import type { FieldName } from '../../../core/value.ts';
import type { Hold } from '../../../core/waiting/waiting.ts';
import type { TabIndex } from '../tab-index.ts';

type Fields = ReadonlyMap<FieldName, FieldDefinition>;

/** Says why some of a record's fields are left alone; `undefined` where all were understood. */
export function unreadReason(
  { unread = {} }: Pick<KnownRecord, 'unread'>,
  fields: Fields,
): string | undefined {
  const reasons = Object.entries(unread).flatMap(([name, fault]) => {
    const field = fields.get(name);
    return field ? [describeUnread(field.header, fault)] : [];
  });
  return reasons.length === 0 ? undefined : reasons.join(' ');
}

/** Finds what cannot be understood of a tab's records and of what the CRM lists for them. All else goes on. */
export function holdUnread({ entity, fields, input, layout, records }: TabIndex): Hold[] {
  const { catalog, nameless } = input.known;
  const lost = nameless.get(entity) ?? [];
  const odd = (catalog.odd ?? []).flatMap((each) => (each.entity === entity ? [each.words] : []));
  const hold = (reason: string): Hold => ({ entity, reason: `${reason} ${mendThere}` });
  return [
    ...(lost.length === 0 ? [] : [hold(`${listFirst(lost)}. ${namelessReason(layout.title)}`)]),
    ...(odd.length === 0 ? [] : [hold(`${listFirst(odd)}. What was known of it before stays.`)]),
    ...[...records.values()].flatMap((record): Hold[] => {
      const reason = record.presence === 'present' ? unreadReason(record, fields) : undefined;
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
