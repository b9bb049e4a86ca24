import type { Choice } from './catalog.ts';
import { labelKey } from './label-key.ts';

/** What a typed label stands for: one thing, several things, or nothing known. */
export type Found<Id> =
  | { readonly kind: 'one'; readonly id: Id }
  | { readonly kind: 'several'; readonly labels: readonly string[] }
  | { readonly kind: 'none' };

/** Finds choices by id and by what a person typed. */
export interface ChoiceIndex<Id extends string | number> {
  readonly labels: readonly string[];
  label(id: Id): string | undefined;
  /**
   * Understands a label, an alias, `id`, `#id`, and `anything (#id)`. A label in full comes first, because it is what cells show; where
   * an alias is another choice's id, or two have it, nobody can tell which was meant.
   */
  find(text: string): Found<Id>;
}

/** A bare id may lack the `#`; behind a text it may not, because `Acme (2019)` is a title. */
const idPattern = /^#?(\d+)$|\(#(\d+)\)$/;

export function indexChoices<Id extends string | number>(choices: readonly Choice<Id>[]): ChoiceIndex<Id> {
  const byId = new Map(choices.map((choice) => [String(choice.id), choice]));
  let names: ReturnType<typeof indexNames<Id>> | undefined;
  const find = (text: string): Found<Id> => {
    // Most cells show the label of an id that is known already: then nobody asks.
    names ??= indexNames(choices);
    const exact = names.byExactLabel.get(text);
    if (exact) return { kind: 'one', id: exact.id };
    const key = labelKey(text);
    const [, bare, behind] = idPattern.exec(key) ?? [];
    const named = byId.get(bare ?? behind ?? '');
    const matches = names.byLabel.get(key) ?? [
      ...new Set([...(names.byAlias.get(key) ?? []), ...(named ? [named] : [])]),
    ];
    if (matches.length > 1) return { kind: 'several', labels: matches.map((choice) => choice.label) };
    return matches[0] ? { kind: 'one', id: matches[0].id } : { kind: 'none' };
  };
  return {
    labels: choices.map((choice) => choice.label),
    label: (id) => byId.get(String(id))?.label,
    find,
  };
}

function indexNames<Id extends string | number>(choices: readonly Choice<Id>[]) {
  const byAlias = new Map<string, Choice<Id>[]>();
  for (const choice of choices) {
    for (const key of new Set(choice.aliases.map(labelKey))) {
      byAlias.set(key, [...(byAlias.get(key) ?? []), choice]);
    }
  }
  return {
    byAlias,
    byExactLabel: new Map(choices.map((choice) => [choice.label, choice])),
    byLabel: Map.groupBy(choices, (choice) => labelKey(choice.label)),
  };
}
