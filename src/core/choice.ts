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
  /** Understands a label, an alias that only one choice has, `id`, `#id`, and `anything (#id)`. */
  find(text: string): Found<Id>;
}

/** A bare id may lack the `#`; behind a text it may not, because `Acme (2019)` is a title. */
const idPattern = /^#?(\d+)$|\(#(\d+)\)$/;

export function indexChoices<Id extends string | number>(choices: readonly Choice<Id>[]): ChoiceIndex<Id> {
  const byId = new Map(choices.map((choice) => [String(choice.id), choice]));
  const byLabel = Map.groupBy(choices, (choice) => labelKey(choice.label));
  const byAlias = new Map<string, Choice<Id>[]>();
  for (const choice of choices) {
    for (const key of new Set(choice.aliases.map(labelKey))) {
      byAlias.set(key, [...(byAlias.get(key) ?? []), choice]);
    }
  }
  const find = (text: string): Found<Id> => {
    const key = labelKey(text);
    const matches = byLabel.get(key) ?? byAlias.get(key) ?? [];
    if (matches.length > 1) return { kind: 'several', labels: matches.map((choice) => choice.label) };
    const [, bare, behind] = idPattern.exec(key) ?? [];
    const match = matches[0] ?? byId.get(bare ?? behind ?? '');
    return match ? { kind: 'one', id: match.id } : { kind: 'none' };
  };
  return {
    labels: choices.map((choice) => choice.label),
    label: (id) => byId.get(String(id))?.label,
    find,
  };
}
