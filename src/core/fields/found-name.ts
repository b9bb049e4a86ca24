import { listFew, quoteText } from '../text/cut-text.ts';
import type { Found } from './choice.ts';

/** What is named by a title or an id. */
type Noun = 'lead' | 'task';

/** What a typed name comes to. */
type Named =
  | { readonly kind: 'value'; readonly value: number | string }
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

export const refusedName = (text: string, noun: Noun): Named =>
  refused(`No ${noun} is called ${quoteText(text)}. Write its title or its id, like #42.`);

const explainComing = (text: string, labels: readonly string[], noun: Noun): string =>
  labels.length === 0
    ? `The ${noun} ${quoteText(text)} is a new row that has no ID of the CRM yet. This goes on once it has one.`
    : `${quoteText(text)} names several: ${listFew(labels)}, and a new row that has no ID of the CRM yet. Write which one, or wait for that ID.`;
