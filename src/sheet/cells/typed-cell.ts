import type { FieldDefinition } from '../../core/fields/field.ts';
import { decodeFound, refusedName } from '../../core/fields/found-name.ts';
import { listFew, quoteText } from '../../core/text/cut-text.ts';
import type { Cell } from '../port/cell.ts';
import { type Decoded, decode, type Names } from './codec.ts';

/**
 * What a cell means that a person filled: as `decode`, with what people may type instead of an id, and without what the CRM may hold and
 * nobody types there. A value of the CRM does not come here, because its cell is known by what it shows, unless nothing is agreed about it any
 * more: then it `mayBeOfCrm`.
 */
export function decodeTyped(
  field: FieldDefinition,
  cell: Cell,
  names: Names,
  { mayBeOfCrm }: { readonly mayBeOfCrm: boolean } = { mayBeOfCrm: false },
): Decoded {
  const read = field.kind === 'task' ? decodeTask(field, cell, names) : decode(field, cell, names);
  if (mayBeOfCrm) return read;
  switch (field.kind) {
    case 'text':
      return isFormulaText(cell) ? refusedFormula(field, read) : read;
    case 'user':
    case 'users':
      return isFormulaText(cell) ? refusedFormula(field, read) : (refuseUserName(field, read, names) ?? read);
    default:
      return read.kind === 'refused' && isFormulaText(cell) ? refusedFormula(field, read) : read;
  }
}

/**
 * Whether a text is a formula that the format plain text kept from being computed. No sheet computes `==`, `=>` or a lone `=`; nor what begins
 * with `+`, `-` or `@` in such a cell, as phone numbers do.
 */
const isFormulaText = (cell: Cell): boolean => cell.kind === 'text' && /^=\s*[^\s=<>)]/.test(cell.text);

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;

function refusedFormula({ header, kind }: FieldDefinition, read: Decoded): Decoded {
  const said = `${header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.`;
  const reason = kind === 'text' ? `${said} If it is meant as a text, type it in the CRM.` : said;
  return read.kind === 'value' ? { ...refused(reason), typed: read.value } : refused(reason);
}

/** A task by its title or its id. A bare number is an id, as the cells show it; one that nobody knows here is for the CRM to judge. */
function decodeTask(field: FieldDefinition, cell: Cell, names: Names): Decoded {
  const read = decode(field, cell, names);
  const isEmpty = read.kind === 'value' && read.value === null;
  if (cell.kind !== 'text' || !names.tasks || isEmpty) return read;
  const found = decodeFound(names.tasks().find(cell.text), cell.text, 'task');
  return found ?? (read.kind === 'refused' ? refusedName(cell.text, 'task') : read);
}

/** Refuses a name in a column that takes ids of users, as far as the known ids show the difference. */
function refuseUserName({ header }: FieldDefinition, read: Decoded, names: Names): Decoded | undefined {
  if (read.kind === 'refused' || read.value === null) return undefined;
  const ids = names.userIds?.() ?? [];
  const typed = (Array.isArray(read.value) ? read.value : [read.value]).map(String);
  const name = typed.find((text) => !ids.includes(text) && isName(text, ids));
  if (name === undefined) return undefined;
  const known = ids.length === 0 ? '' : ` Ids that are known here: ${listFew(ids)}.`;
  return refused(
    `${quoteText(name)} is not the id of a user. ${header} takes ids, as the CRM has them.${known}`,
  );
}

/** No id has a blank within it; and where all that are known have digits, one without any is none. */
const isName = (text: string, ids: readonly string[]): boolean =>
  /\S\s+\S/.test(text) || (ids.length > 0 && ids.every((id) => /\d/.test(id)) && !/\d/.test(text));
