import { once } from '../once.ts';
import { labelKey, labelWithId } from '../text/label-key.ts';
import { createSuggester } from '../text/suggest.ts';
import type { Choice, FormerLabel } from './catalog.ts';

/**
 * What a typed label stands for: one thing, several things, nothing known, or something that has no id yet, beside those that have one.
 */
export type Found<Id> =
  | { readonly kind: 'one'; readonly id: Id }
  | { readonly kind: 'several'; readonly labels: readonly string[] }
  | { readonly kind: 'coming'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

/** Finds choices by id and by what a person typed. */
export interface ChoiceIndex<Id extends string | number> {
  readonly labels: readonly string[];
  label(id: string | number): string | undefined;
  /**
   * Understands a label, an alias, `id`, `#id`, and `anything (#id)`. A label in full comes first, because it is what is shown; where
   * an alias is another choice's id, or two have it, nobody can tell which was meant; nor where the id is one's and the text before it
   * names another one.
   */
  find(text: string): Found<Id>;
  /**
   * Whether what has the id may still show the text, because the label changed since it was written: then no user typed it, whatever
   * else is called so now.
   */
  mayShow(id: string | number, text: string): boolean;
  /** What may be meant by a text that names nothing, in words that name one thing each. */
  suggest(text: string): readonly string[];
}

/** An index that is made when it is asked first: there may be many things, and few that are named. */
export function lazyChoices<Id extends string | number>(make: () => ChoiceIndex<Id>): ChoiceIndex<Id> {
  const index = once(make);
  return {
    get labels() {
      return index().labels;
    },
    label: (id) => index().label(id),
    find: (text) => index().find(text),
    mayShow: (id, text) => index().mayShow(id, text),
    suggest: (text) => index().suggest(text),
  };
}

/** A bare id may lack the `#`; behind a text it may not, because `Acme (2019)` is a title. */
const idPattern = /^#?(\d+)$|^(.*?) ?\(#(\d+)\)$/;

/** `coming` are names of what has no id yet: nothing else can be meant by one of them for certain. */
export function indexChoices<Id extends string | number>(
  choices: readonly Choice<Id>[],
  former: readonly FormerLabel<Id>[] = [],
  coming: readonly string[] = [],
): ChoiceIndex<Id> {
  const byId = new Map(choices.map((choice) => [String(choice.id), choice]));
  const comingKeys = new Set(coming.map(labelKey));
  // Most values show the label of an id that is already known: then the index is not needed.
  const names = once(() => indexNames(choices, former));
  const find = (text: string): Found<Id> => {
    const { byAlias, byExactLabel, byLabel } = names();
    const exact = byExactLabel.get(text);
    if (exact) return { kind: 'one', id: exact.id };
    const key = labelKey(text);
    const [, bare, before = '', behind] = idPattern.exec(key) ?? [];
    const named = byId.get(bare ?? behind ?? '');
    const isNamedWhole = before === '' || byAlias.has(key) || byLabel.has(key);
    const bearers = isNamedWhole ? [] : (byLabel.get(before) ?? byAlias.get(before) ?? []);
    const mayBeOther = named !== undefined && !isNamedWhole && !bearers.includes(named);
    const rivals = mayBeOther ? bearers : [];
    const matches = byLabel.get(key) ?? [
      ...new Set([...(byAlias.get(key) ?? []), ...rivals, ...(named ? [named] : [])]),
    ];
    const isComing = comingKeys.has(key) || (mayBeOther && comingKeys.has(before));
    if (isComing) return { kind: 'coming', labels: matches.map((choice) => choice.label) };
    if (matches.length > 1) return { kind: 'several', labels: matches.map((choice) => choice.label) };
    return matches[0] ? { kind: 'one', id: matches[0].id } : { kind: 'none' };
  };
  const formerByLabel = once(() => Map.groupBy(former, ({ label }) => labelKey(label)));
  const mayShow = (id: string | number, text: string): boolean => {
    const bearers = formerByLabel().get(labelKey(text)) ?? [];
    if (bearers.some((bearer) => String(bearer.id) === String(id))) return true;
    // It was written bare for what bears it now, before that was told apart.
    const label = byId.get(String(id))?.label;
    return bearers.length > 0 && label !== undefined && labelKey(label) === labelKey(labelWithId(text, id));
  };
  const suggest = createSuggester(() =>
    choices.flatMap(({ aliases: [name], inFull, label }) =>
      name === undefined ? [] : [{ name, label: inFull ?? label }],
    ),
  );
  return {
    labels: choices.map((choice) => choice.label),
    label: (id) => byId.get(String(id))?.label,
    find,
    mayShow,
    suggest,
  };
}

function indexNames<Id extends string | number>(
  choices: readonly Choice<Id>[],
  former: readonly FormerLabel<Id>[],
) {
  const byAlias = new Map<string, Choice<Id>[]>();
  const formerOf = Map.groupBy(former, ({ id }) => id);
  for (const choice of choices) {
    const labels = (formerOf.get(choice.id) ?? []).map(({ label }) => label);
    for (const key of new Set([...choice.aliases, ...labels].map(labelKey))) {
      byAlias.set(key, [...(byAlias.get(key) ?? []), choice]);
    }
  }
  return {
    byAlias,
    byExactLabel: new Map(choices.map((choice) => [choice.label, choice])),
    byLabel: Map.groupBy(choices, (choice) => labelKey(choice.label)),
  };
}
