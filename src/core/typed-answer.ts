import { equalValues, type Value } from './value.ts';

/** A person settled a conflict with a value of their own, in the face of what both sides had. */
export interface TypedAnswer {
  readonly value: Value;
  /** What they saw on both sides: anything else there is another question. */
  readonly crm: Value;
  readonly table: Value;
}

const mark = 'value:';

/** The choice of a decision that carries a value. A value that a side has already is that side's. */
export function writeTypedAnswer(answer: TypedAnswer): string {
  const { value, crm, table } = answer;
  if (equalValues(value, crm)) return 'crm';
  return equalValues(value, table) ? 'table' : mark + JSON.stringify({ value, crm, table });
}

/** The value that a choice carries; `undefined` for any other choice. */
export function readTypedAnswer(choice: string | undefined): TypedAnswer | undefined {
  return choice?.startsWith(mark) ? JSON.parse(choice.slice(mark.length)) : undefined;
}
