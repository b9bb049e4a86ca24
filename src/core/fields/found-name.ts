import { listFew, quoteText } from '../text/cut-text.ts';
import { listOr } from '../text/list-words.ts';
import type { ChoiceIndex, Found } from './choice.ts';

/** What is named by a title or a name, or by an id. */
type Noun = 'lead' | 'task' | 'user';

/** What a typed name comes to. */
export type Named =
  | { readonly kind: 'value'; readonly value: number | string | readonly string[] | null }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): Named => ({ kind: 'refused', reason });

/** What is found under a name, or why that is not enough; `undefined` where nothing is. */
export function decodeFound(
  found: Found<number> | Found<string>,
  text: string,
  noun: Noun,
): Named | undefined {
  switch (found.kind) {
    case 'one':
      return { kind: 'value', value: found.id };
    case 'several':
      return refused(`${quoteText(text)} names several: ${listFew(found.labels)}. Write which one.`);
    case 'coming':
      return refused(explainComing(text, found.labels, noun));
    default:
      return undefined;
  }
}

/** Refuses a text that names nothing. `accepted` says what would be taken, where nothing can be suggested. */
export function refusedName(
  text: string,
  noun: Noun,
  suggested: readonly string[],
  accepted = 'Write its title or its id, like #42.',
): Named {
  const advice = suggested.length === 0 ? accepted : `Did you mean ${listOr(suggested)}?`;
  const quoted = quoteText(text);
  return refused(
    noun === 'user' ? `Nobody is called ${quoted}. ${advice}` : `No ${noun} is called ${quoted}. ${advice}`,
  );
}

/** A task by its title or its id; an id that nobody knows here is for the CRM to judge. */
export function readTask(text: string, tasks: ChoiceIndex<number>): Named {
  const found = decodeFound(tasks.find(text), text, 'task');
  if (found) return found;
  const id = Number(/^\s*#?(-?\d+)\s*$/.exec(text)?.[1]);
  return Number.isSafeInteger(id)
    ? { kind: 'value', value: id }
    : refusedName(text, 'task', tasks.suggest(text));
}

const explainComing = (text: string, labels: readonly string[], noun: Noun): string =>
  labels.length === 0
    ? `The ${noun} ${quoteText(text)} is a new row that has no ID of the CRM yet. This goes on once it has one.`
    : `${quoteText(text)} names several: ${listFew(labels)}, and a new row that has no ID of the CRM yet. Write which one, or wait for that ID.`;

/** Refuses a list that can be cut into members in two ways. */
export const refusedReading = (text: string, noun: 'option' | 'name'): Named =>
  refused(`${quoteText(text)} may mean several things. Write one ${noun} a line.`);
