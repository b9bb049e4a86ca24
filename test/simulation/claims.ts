import type { FieldName } from '../../src/core/value.ts';

/** What a value says of itself: whom and which field it was typed for, and which one it is of all. */
export interface Claim {
  readonly owner: string;
  readonly field: FieldName;
  readonly number: number;
  /** When it was typed, in the order of everything that happens. */
  readonly typedAt: number;
}

/** Numbers begin here, so that none is mistaken for an id or a date. */
const firstNumber = 1_000_000;

function spell(owner: string, field: FieldName, number: number): string {
  if (field === 'custom.budget') return String(firstNumber + number);
  return field === 'about.url' ? `https://example.com/${owner}/${number}` : `${owner} ${field} ${number}`;
}

/**
 * Every value that somebody types is typed once and names the record and the field that it was meant for. So a value tells by itself
 * whether it stands where it belongs.
 */
export class Claims {
  readonly #byValue = new Map<string, Claim>();
  #count = 0;
  #moment = 0;
  #owners = 0;

  /** Something else happens: answers its place in the order of everything that happens. */
  nextMoment(): number {
    this.#moment += 1;
    return this.#moment;
  }

  newOwner(): string {
    this.#owners += 1;
    return `R${this.#owners}`;
  }

  /** A new value for a field of the owner, as it is typed. */
  newValue(owner: string, field: FieldName): string {
    this.#count += 1;
    const number = this.#count;
    const value = spell(owner, field, number);
    this.#byValue.set(value, { owner, field, number, typedAt: this.nextMoment() });
    return value;
  }

  of(value: unknown): Claim | undefined {
    return this.#byValue.get(String(value));
  }

  all(): IterableIterator<[string, Claim]> {
    return this.#byValue.entries();
  }
}
