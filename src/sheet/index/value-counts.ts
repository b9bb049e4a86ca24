import type { FieldName, Fields, Value } from '../../core/value.ts';

/** Counts in how many records a value of a field is agreed. A field is counted once it is asked for, and from then on kept up to date. */
export class ValueCounts {
  readonly #all: () => Iterable<{ readonly fields: Fields }>;
  readonly #byField = new Map<FieldName, Map<unknown, number>>();

  constructor(all: () => Iterable<{ readonly fields: Fields }>) {
    this.#all = all;
  }

  count(name: FieldName, value: Value | undefined): number {
    return this.#countsOf(name).get(nameOf(value)) ?? 0;
  }

  /** To be called with each agreement that changed, after it did. */
  note(
    before: { readonly fields: Fields } | undefined,
    after: { readonly fields: Fields } | undefined,
  ): void {
    for (const [name, counts] of this.#byField) {
      if (before) add(counts, before.fields[name], -1);
      if (after) add(counts, after.fields[name], 1);
    }
  }

  #countsOf(name: FieldName): ReadonlyMap<unknown, number> {
    const known = this.#byField.get(name);
    if (known) return known;
    const counts = new Map<unknown, number>();
    for (const { fields } of this.#all()) add(counts, fields[name], 1);
    this.#byField.set(name, counts);
    return counts;
  }
}

function add(counts: Map<unknown, number>, value: Value | undefined, by: number): void {
  const name = nameOf(value);
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** Lists that are equal have one name. */
const nameOf = (value: Value | undefined): unknown =>
  typeof value === 'object' && value !== null ? `\0${JSON.stringify(value)}` : value;
