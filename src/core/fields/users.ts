import { listFew, quoteText } from '../text/cut-text.ts';
import type { ChoiceIndex } from './choice.ts';
import { decodeFound, type Named, refusedName, refusedReading } from './found-name.ts';
import { listSeparator, readMembers } from './members.ts';

/** A user by name. A text that is no known name is returned as it is, because it may be an id. */
export const readUser = (text: string, users: ChoiceIndex<string>): Named =>
  decodeFound(users.find(text), text, 'user') ?? { kind: 'value', value: text };

/** A list of users, each as {@link readUser} reads it. A name may hold a comma. */
export function readUsers(text: string, users: ChoiceIndex<string>): Named {
  const read = readMembers(text, withIds(users));
  if (read.kind === 'members') return { kind: 'value', value: listOrNull(read.members) };
  if (read.kind === 'ambiguous') return refusedReading(text, 'name');
  const parts = text.split(listSeparator).map((part) => part.trim());
  const named = parts.filter((part) => part !== '').map((part) => readUser(part, users));
  const refusal = named.find(({ kind }) => kind === 'refused');
  const ids = named.flatMap((each) => (each.kind === 'value' ? [String(each.value)] : []));
  return refusal ?? { kind: 'value', value: listOrNull([...new Set(ids)]) };
}

const listOrNull = (list: readonly string[]) => (list.length === 0 ? null : list);

/** The users with all that may be ids of others beside them. */
const withIds = ({ find, ...users }: ChoiceIndex<string>): ChoiceIndex<string> => ({
  ...users,
  find: (text) => {
    const found = find(text);
    const id = text.trim();
    return found.kind === 'none' && isWholeNumber(id) ? { kind: 'one', id } : found;
  },
});

/**
 * Refuses the first text that is no id of a user; `undefined` where each may be one. `ids` are the ids that are known. Where users have names
 * and all known ids are numbers, only a number may be another id. Otherwise any text may be one, unless its form rules that out.
 */
export function refuseUserName(
  typed: readonly string[],
  header: string,
  users: ChoiceIndex<string>,
  ids: readonly string[],
): Named | undefined {
  const isNamed = users.labels.length > 0;
  const mayBeId = (text: string) =>
    isNamed && ids.every(isWholeNumber) ? isWholeNumber(text) : !isName(text, ids);
  const name = typed.find((text) => !ids.includes(text) && !mayBeId(text));
  if (name === undefined) return undefined;
  if (isNamed) {
    const accepted = `${header} takes ${listFew(users.labels)}, or the id of a user.`;
    return refusedName(name, 'user', users.suggest(name), accepted);
  }
  const known = ids.length === 0 ? '' : ` Ids that are known here: ${listFew(ids)}.`;
  const reason = `${quoteText(name)} is not the id of a user. ${header} takes ids, as the CRM has them.${known}`;
  return { kind: 'refused', reason };
}

const isWholeNumber = (text: string): boolean => /^\d+$/.test(text);

/** No id has a blank within it; and where all that are known have digits, one without any is none. */
const isName = (text: string, ids: readonly string[]): boolean =>
  /\S\s+\S/.test(text) || (ids.length > 0 && ids.every((id) => /\d/.test(id)) && !/\d/.test(text));
