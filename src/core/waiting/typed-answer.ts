import { equalValues, type Value } from '../value.ts';

/** A person settled a conflict with a value of their own, in the face of what both sides had. */
export interface TypedAnswer {
  readonly value: Value;
  /** What they saw on both sides: anything else there is another question. */
  readonly crm: Value;
  readonly table: Value;
}

/** A person settled a conflict with what a side has, in the face of what both sides had. */
export interface SideAnswer {
  readonly side: 'crm' | 'table';
  /** What they saw on both sides; absent in old mirrors. */
  readonly seen?: { readonly crm: Value; readonly table: Value };
}

const mark = 'value:';

/** The choice of a decision that carries a value. A value that a side has already is that side's. */
export function writeTypedAnswer(answer: TypedAnswer): string {
  const { value, crm, table } = answer;
  if (equalValues(value, crm)) return writeSideAnswer('crm', { crm, table });
  return equalValues(value, table)
    ? writeSideAnswer('table', { crm, table })
    : mark + JSON.stringify({ value, crm, table });
}

/** The choice of a decision that takes what a side has, as long as both have what they have now. */
export const writeSideAnswer = (
  side: SideAnswer['side'],
  { crm, table }: { readonly crm: Value; readonly table: Value },
): string => `${side}:${JSON.stringify({ crm, table })}`;

/** The side that a choice takes; `undefined` for any other choice. */
export function readSideAnswer(choice: string | undefined): SideAnswer | undefined {
  const [, side, seen] = /^(crm|table)(?::(.*))?$/s.exec(choice ?? '') ?? [];
  if (side !== 'crm' && side !== 'table') return undefined;
  return seen === undefined ? { side } : { side, seen: JSON.parse(seen) };
}

/** Whether a side was chosen in the face of these values. */
export const isForValues = ({ seen }: SideAnswer, crm: Value, table: Value): boolean =>
  seen === undefined || (equalValues(seen.crm, crm) && equalValues(seen.table, table));

/** The value that a choice carries; `undefined` for any other choice. */
export function readTypedAnswer(choice: string | undefined): TypedAnswer | undefined {
  return choice?.startsWith(mark) ? JSON.parse(choice.slice(mark.length)) : undefined;
}
