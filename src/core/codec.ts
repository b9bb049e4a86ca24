import {
  type Catalog,
  type Choice,
  leadStatusChoices,
  stageChoices,
  taskPriorityChoices,
  taskStatusChoices,
} from './catalog.ts';
import { booleanCell, type Cell, describeCell, emptyCell, numberCell, textCell } from './cell.ts';
import { type ChoiceIndex, indexChoices } from './choice.ts';
import { dateToSerial, instantToSerial, parseTypedDate, serialToDate } from './dates.ts';
import type { FieldDefinition } from './field.ts';
import { labelKey } from './label-key.ts';
import type { Value } from './value.ts';

/** What a cell holds for a field, or why it holds nothing that can be used; the reason is for the person at the row. */
export type Decoded =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'refused'; readonly reason: string };

/** Names for ids, and the zone in which instants are shown. */
export interface Names {
  readonly timeZone: string;
  readonly stages: ChoiceIndex<number>;
  readonly leadStatuses: ChoiceIndex<string>;
  readonly taskStatuses: ChoiceIndex<number>;
  readonly taskPriorities: ChoiceIndex<number>;
  readonly leads: ChoiceIndex<number>;
}

/** A cell of a spreadsheet holds no more characters: https://support.google.com/drive/answer/37603 */
const cellLengthMax = 50_000;
const cutMark = '… (cut: too long for a cell)';

export function createNames(catalog: Catalog, leads: readonly Choice<number>[], timeZone: string): Names {
  return {
    timeZone,
    stages: indexChoices(stageChoices(catalog)),
    leadStatuses: indexChoices(leadStatusChoices(catalog)),
    taskStatuses: indexChoices(taskStatusChoices),
    taskPriorities: indexChoices(taskPriorityChoices),
    leads: indexChoices(leads),
  };
}

/** A lead as a choice for cells: its title with the id, because titles repeat; the bare title is understood where it is unique. */
export const leadChoice = (id: number, title: string): Choice<number> => ({
  id,
  label: `${title} (#${id})`,
  aliases: [title],
});

/** The choices a field takes its values from, or `undefined` where any value of its kind will do. */
export function choicesOf(
  field: FieldDefinition,
  names: Names,
): ChoiceIndex<number> | ChoiceIndex<string> | undefined {
  switch (field.kind) {
    case 'stage':
      return names.stages;
    case 'lead-status':
      return names.leadStatuses;
    case 'task-status':
      return names.taskStatuses;
    case 'task-priority':
      return names.taskPriorities;
    case 'lead':
      return names.leads;
    case 'select':
    case 'multi-select':
      return indexChoices(
        (field.options ?? []).map((option) => ({ id: option, label: option, aliases: [] })),
      );
    default:
      return undefined;
  }
}

/** How a value stands in a cell: names instead of ids, real dates and numbers, text as text. */
export function encode(field: FieldDefinition, value: Value, names: Names): Cell {
  if (value === null) return emptyCell;
  if (typeof value === 'boolean') return booleanCell(value);
  if (typeof value === 'object') return encodeText(value.join(', '));
  const label = labelOf(field, value, names);
  if (label !== undefined) return encodeText(label);
  if (typeof value === 'number') return numberCell(value);
  const serial = serialOf(field, value, names);
  return Number.isFinite(serial) ? numberCell(serial) : encodeText(value);
}

/** The serial number of a date or an instant; `NaN` for other kinds, and for a text that is none. */
function serialOf(field: FieldDefinition, text: string, names: Names): number {
  if (field.kind === 'date') return dateToSerial(text);
  const epochMs = field.kind === 'instant' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? epochMs : instantToSerial(epochMs, names.timeZone);
}

function encodeText(text: string): Cell {
  return textCell(
    text.length > cellLengthMax ? text.slice(0, cellLengthMax - cutMark.length) + cutMark : text,
  );
}

/** The label of an id; an id the catalog does not know is shown as `#id`, so that nothing is hidden. */
function labelOf(field: FieldDefinition, value: string | number, names: Names): string | undefined {
  const unnamed = typeof value === 'number' ? `#${value}` : value;
  switch (field.kind) {
    case 'stage':
      return names.stages.label(Number(value)) ?? unnamed;
    case 'task-status':
      return names.taskStatuses.label(Number(value)) ?? unnamed;
    case 'task-priority':
      return names.taskPriorities.label(Number(value)) ?? unnamed;
    case 'lead':
      return names.leads.label(Number(value)) ?? unnamed;
    case 'lead-status':
      return names.leadStatuses.label(String(value)) ?? unnamed;
    default:
      return undefined;
  }
}

const refused = (reason: string): Decoded => ({ kind: 'refused', reason });
const decoded = (value: Value): Decoded => ({ kind: 'value', value });

/** What a person's cell means for a field. Everything they may reasonably type is understood, the rest is refused with what is accepted. */
export function decode(field: FieldDefinition, cell: Cell, names: Names): Decoded {
  if (cell.kind === 'empty') return decoded(null);
  if (cell.kind === 'formula')
    return refused(
      `${field.header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.`,
    );
  if (cell.kind === 'error') return refused(`${field.header} shows ${cell.message}. Put a value there.`);
  if (cell.kind === 'text' && cell.text.endsWith(cutMark))
    return refused(`${field.header} is longer than a cell can hold. Edit it in the CRM.`);
  switch (field.kind) {
    case 'text':
    case 'user':
      return decoded(describeCell(cell));
    case 'users':
      return decoded(splitList(describeCell(cell)));
    case 'number':
    case 'integer':
      return decodeNumber(field, cell);
    case 'boolean':
      return decodeBoolean(field, cell);
    case 'date':
      return decodeDate(field, cell);
    case 'instant':
      return refused(`${field.header} is set by the CRM and can not be edited here.`);
    case 'multi-select':
      return decodeMembers(field, describeCell(cell), names);
    default:
      return decodeChoice(field, describeCell(cell), names);
  }
}

function splitList(text: string): string[] {
  return text
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function decodeNumber(field: FieldDefinition, cell: Cell): Decoded {
  const number = cell.kind === 'number' ? cell.number : parseTypedNumber(describeCell(cell));
  if (number === undefined)
    return refused(`“${describeCell(cell)}” is not a number. ${field.header} takes a number like 1250.5.`);
  if (field.kind === 'number' || Number.isInteger(number)) return decoded(number);
  // A person who types 50% gets a cell that holds 0.5; a field of whole percents can mean nothing else.
  const percent = Math.round(number * 100);
  if (field.max === 100 && number > 0 && number < 1 && Math.abs(percent - number * 100) < 1e-9)
    return decoded(percent);
  return refused(`“${number}” is not a whole number. ${field.header} takes a whole number.`);
}

function parseTypedNumber(text: string): number | undefined {
  const [, digits] = /^(-?\d+(?:\.\d+)?)\s*%?$/.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
};

function decodeBoolean(field: FieldDefinition, cell: Cell): Decoded {
  const truth = truths[labelKey(describeCell(cell))];
  if (truth !== undefined) return decoded(truth);
  return refused(
    `“${describeCell(cell)}” is neither yes nor no. ${field.header} takes TRUE or FALSE, yes or no.`,
  );
}

function decodeDate(field: FieldDefinition, cell: Cell): Decoded {
  const date = cell.kind === 'number' ? serialToDate(cell.number) : parseTypedDate(describeCell(cell));
  if (date !== undefined) return decoded(date);
  return refused(`“${describeCell(cell)}” is not a date. ${field.header} takes a date like 2026-12-31.`);
}

function decodeChoice(field: FieldDefinition, text: string, names: Names): Decoded {
  const choices = choicesOf(field, names);
  const found = choices?.find(text);
  if (found?.kind === 'one') return decoded(found.id);
  if (found?.kind === 'several')
    return refused(`“${text}” names several: ${listFew(found.labels)}. Write which one.`);
  if (field.kind === 'lead')
    return refused(`No lead is called “${text}”. Write its title or its id, like #42.`);
  return refused(`“${text}” is not known. ${field.header} takes ${listFew(choices?.labels ?? [])}.`);
}

/** Members of a list; option names may contain commas, so neighbouring parts are tried together, longest first. */
function decodeMembers(field: FieldDefinition, text: string, names: Names): Decoded {
  const choices = choicesOf(field, names);
  const parts = splitList(text);
  const members: string[] = [];
  for (let start = 0; start < parts.length; ) {
    let end = parts.length;
    let found = choices?.find(parts.slice(start, end).join(', '));
    while (found?.kind !== 'one' && end > start + 1)
      found = choices?.find(parts.slice(start, --end).join(', '));
    if (found?.kind !== 'one')
      return refused(
        `“${parts[start]}” is not known. ${field.header} takes ${listFew(choices?.labels ?? [])}.`,
      );
    members.push(String(found.id));
    start = end;
  }
  return decoded([...new Set(members)]);
}

const listedMax = 12;

function listFew(labels: readonly string[]): string {
  const shown = labels.slice(0, listedMax).join(', ');
  return labels.length > listedMax ? `${shown} and ${labels.length - listedMax} more` : shown;
}
