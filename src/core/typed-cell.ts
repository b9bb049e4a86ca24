import type { Cell } from './cell.ts';
import { type Decoded, decode, type Names } from './codec.ts';
import type { FieldDefinition } from './field.ts';
import type { FieldKind } from './field-kind.ts';

/** Kinds that take any text. */
const freeKinds: ReadonlySet<FieldKind> = new Set(['text', 'user', 'users']);

/**
 * What a cell means that a person filled: as `decode`, but what the CRM may hold and nobody types there is refused. A value of the CRM never
 * comes here, because its cell is known by what it shows.
 */
export function decodeTyped(field: FieldDefinition, cell: Cell, names: Names): Decoded {
  const read = decode(field, cell, names);
  const isTaken = read.kind === 'value' && !freeKinds.has(field.kind);
  if (!isTaken && isFormulaText(cell)) return { kind: 'refused', reason: explainFormulaText(field) };
  return read;
}

/**
 * Whether a text is a formula that the format plain text kept from being computed. No sheet computes `==`, `=>` or a lone `=`; nor what begins
 * with `+`, `-` or `@` in such a cell, as phone numbers do.
 */
const isFormulaText = (cell: Cell): boolean => cell.kind === 'text' && /^=\s*[^\s=<>)]/.test(cell.text);

function explainFormulaText({ header, kind }: FieldDefinition): string {
  const said = `${header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.`;
  return kind === 'text' ? `${said} If it is meant as a text, type it in the CRM.` : said;
}
