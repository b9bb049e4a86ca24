import {
  type Catalog,
  type Choice,
  type FormerLabel,
  leadStatusChoices,
  stageChoices,
  taskPriorityChoices,
  taskStatusChoices,
  userChoices,
} from '../../core/fields/catalog.ts';
import { type ChoiceIndex, indexChoices } from '../../core/fields/choice.ts';
import type { FieldDefinition } from '../../core/fields/field.ts';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import { decodeFound, readTask, refusedName, refusedReading } from '../../core/fields/found-name.ts';
import { readMembers, writeMembers } from '../../core/fields/members.ts';
import { readUser, readUsers } from '../../core/fields/users.ts';
import { listFew, quoteText } from '../../core/text/cut-text.ts';
import { dateToSerial, instantToSerial, serialToDate } from '../../core/text/dates.ts';
import { labelKey, labelWithId } from '../../core/text/label-key.ts';
import { readTypedDate } from '../../core/text/typed-date.ts';
import { readTypedNumber } from '../../core/text/typed-number.ts';
import { cleanText, type Value } from '../../core/value.ts';
import {
  booleanCell,
  type Cell,
  describeCell,
  emptyCell,
  isShownAsPercent,
  numberCell,
  readTypedTruth,
  textCell,
} from '../port/cell.ts';
import { isShownAsMoment, isShownWithoutDay, isShownWithTime } from '../port/shown-number.ts';

/** What a cell holds for a field, or why it holds nothing that can be used; the reason is for the person at the row. */
export type Decoded =
  | { readonly kind: 'value'; readonly value: Value }
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** What it would be if it were taken; absent where nobody can read it. */
      readonly typed?: Value;
    };

/** Names for ids, and the zone in which instants are shown. */
export interface Names {
  readonly timeZone: string;
  readonly stages: ChoiceIndex<number>;
  readonly leadStatuses: ChoiceIndex<string>;
  readonly taskStatuses: ChoiceIndex<number>;
  readonly taskPriorities: ChoiceIndex<number>;
  readonly leads: ChoiceIndex<number>;
  readonly tasks: ChoiceIndex<number>;
  /** Those that the configuration names. */
  readonly users: ChoiceIndex<string>;
  /** Ids of users that records name: the CRM lists its users nowhere. */
  readonly userIds?: () => readonly string[];
}

/** A cell of a spreadsheet holds no more characters: https://support.google.com/drive/answer/37603 */
const cellLengthMax = 50_000;
const cutMark = '… (cut: too long for a cell)';

/** `coming` are the titles of leads that have no id yet. */
export function createNames(
  catalog: Catalog,
  leads: readonly TitledChoice[],
  timeZone: string,
  coming: readonly string[] = [],
): Names {
  return {
    timeZone,
    stages: indexChoices(stageChoices(catalog), catalog.formerLabels?.stages),
    leadStatuses: indexChoices(leadStatusChoices(catalog), catalog.formerLabels?.leadStatuses),
    taskStatuses: indexChoices(taskStatusChoices),
    taskPriorities: indexChoices(taskPriorityChoices),
    leads: indexTitles(leads, coming),
    tasks: indexTitles([]),
    users: indexChoices(userChoices(catalog), catalog.formerLabels?.users),
  };
}

/** `coming` are the titles of what has no id yet. */
export const indexTitles = (
  choices: readonly TitledChoice[],
  coming: readonly string[] = [],
): ChoiceIndex<number> =>
  indexChoices(
    choices,
    choices.flatMap(({ former = [], id }) => former.map((label) => ({ id, label }))),
    coming,
  );

/** A lead or a task with the labels that cells may still show for it. */
export interface TitledChoice extends Choice<number> {
  readonly former?: readonly string[];
}

/**
 * A lead or a task as a choice for cells: its title with the id, because titles repeat; the bare title is understood where
 * it is unique.
 */
export const titledChoice = (id: number, title: string): Choice<number> => ({
  id,
  label: labelWithId(title, id),
  aliases: [title, `${title} #${id}`, `#${id} ${title}`],
});

const choicesByKind: Partial<Record<FieldKind, ChoiceNames>> = {
  stage: 'stages',
  'lead-status': 'leadStatuses',
  'task-status': 'taskStatuses',
  'task-priority': 'taskPriorities',
  lead: 'leads',
  task: 'tasks',
  user: 'users',
};

type ChoiceNames =
  | 'stages'
  | 'leadStatuses'
  | 'taskStatuses'
  | 'taskPriorities'
  | 'leads'
  | 'tasks'
  | 'users';

/** The choices a field takes its values from, or `undefined` where any value of its kind will do. */
export function choicesOf(
  field: FieldDefinition,
  names: Names,
): ChoiceIndex<number> | ChoiceIndex<string> | undefined {
  if (field.kind === 'select' || field.kind === 'multi-select') return optionsOf(field, field.formerOptions);
  const own = choicesByKind[field.kind];
  return own && names[own];
}

const noOptions: readonly string[] = [];
const noFormer: readonly FormerLabel<string>[] = [];
const optionIndexes = new WeakMap<object, WeakMap<object, ChoiceIndex<string>>>();

/** The options of a field, indexed once: they are asked for with every cell. What one was called before is understood where none is called so. */
export function optionsOf(
  { options = noOptions }: Pick<FieldDefinition, 'options'>,
  former: readonly FormerLabel<string>[] = noFormer,
): ChoiceIndex<string> {
  const byFormer = optionIndexes.get(options) ?? new WeakMap<object, ChoiceIndex<string>>();
  optionIndexes.set(options, byFormer);
  const known = byFormer.get(former);
  if (known) return known;
  const namesOf = Map.groupBy(former, ({ id }) => id);
  const index = indexChoices(
    options.map((option) => ({
      id: option,
      label: option,
      aliases: (namesOf.get(option) ?? []).map(({ label }) => label),
    })),
  );
  byFormer.set(former, index);
  return index;
}

/** How a value stands in a cell: names instead of ids, real dates and numbers, text as text. */
export function encode(field: FieldDefinition, value: Value, names: Names): Cell {
  if (value === null) return emptyCell;
  if (typeof value === 'boolean') return booleanCell(value);
  if (typeof value === 'object')
    return encodeText(writeMembers(value, field.kind === 'users' ? names.users : optionsOf(field)));
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
  const clean = cleanText(text);
  if (clean.length <= cellLengthMax) return textCell(clean);
  // The cut may go through a character of two halves.
  return textCell(cleanText(clean.slice(0, cellLengthMax - cutMark.length)) + cutMark);
}

/** The label of an id; an id the catalog does not know is shown as `#id`, so that nothing is hidden. */
function labelOf(field: FieldDefinition, value: string | number, names: Names): string | undefined {
  // An option is its own label.
  if (field.kind === 'select' || field.kind === 'multi-select') return undefined;
  const choices = choicesOf(field, names);
  return choices && (choices.label(value) ?? (typeof value === 'number' ? `#${value}` : value));
}

const refused = (reason: string): Decoded => ({ kind: 'refused', reason });
const decoded = (value: Value): Decoded => ({ kind: 'value', value });

/** What is typed into a text of which the cell shows a part lacks the rest of it. */
export const refusedCut = ({ header }: FieldDefinition) =>
  refused(`${header} is longer than a cell can hold. Undo the change here, and edit it in the CRM.`);

/** Whoever leaves so much of the beginning of a text edits it, and does not write another one. */
const editedMin = 200;

/** Whether a cell holds what somebody made of the `shown` part of a text that is too long for it, although they took the mark of the cut away. */
export const isEditOfCut = (cell: Cell, shown: Cell): boolean =>
  shown.kind === 'text' &&
  shown.text.endsWith(cutMark) &&
  cell.kind === 'text' &&
  cell.text.startsWith(shown.text.slice(0, editedMin));

/** What a person's cell means for a field. Everything they may reasonably type is understood, the rest is refused with what is accepted. */
export function decode(field: FieldDefinition, cell: Cell, names: Names): Decoded {
  if (cell.kind === 'empty') return decoded(null);
  if (cell.kind === 'formula') return refused(explainFormula(field, cell.formula));
  if (cell.kind === 'error')
    return refused(`${field.header} shows ${cell.message.replace(/\.$/, '')}. Put a value there.`);
  if (cell.kind === 'chip')
    return refused(
      `${field.header} holds a smart chip. Chips are not sent to the CRM: put its text there instead.`,
    );
  if (cell.kind === 'text' && cell.text.includes(cutMark)) return refusedCut(field);
  if (field.kind === 'text') return decodeText(field, cell);
  if (field.kind === 'user') return decodeUsers(field, cell, names);
  // Who leaves a space in a cell that takes no text means to leave it empty.
  if (labelKey(describeCell(cell)) === '') return decoded(null);
  switch (field.kind) {
    case 'users':
      return decodeUsers(field, cell, names);
    case 'number':
      return decodeNumber(field, cell);
    case 'integer':
      return field.max === 100 ? decodePercent(field, cell) : decodeInteger(field, cell);
    case 'task':
      // A bare number is an id, whatever tasks are called.
      return cell.kind === 'text' ? readTask(cell.text, names.tasks) : decodeInteger(field, cell);
    case 'boolean':
      return decodeBoolean(field, cell);
    case 'date':
      return decodeDate(field, cell);
    case 'instant':
      return refused(`${field.header} is set by the CRM and can not be edited here.`);
    case 'multi-select':
      return decodeMembers(field, describeCell(cell));
    default:
      return decodeChoice(field, describeCell(cell), names);
  }
}

const explainFormula = (field: FieldDefinition, formula: string): string =>
  formula === ''
    ? `${field.header} is filled by an array formula. Formulas are not sent to the CRM: take it out, or put it into a column of your own.`
    : `${field.header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.`;

/** From so many on, and where it shows an exponent, a sheet has dropped digits of what was typed. */
const wholeNumberMax = 1e15;

/** A number in a column of texts is what the sheet made of a typed text: what people see there is what they mean. */
function decodeText(field: FieldDefinition, cell: Cell): Decoded {
  const text = describeCell(cell);
  const isShortened =
    cell.kind === 'number' && (Math.abs(cell.number) >= wholeNumberMax || /\dE[-+]?\d/i.test(text));
  if (!isShortened) return decoded(text);
  return refused(
    `The sheet took ${field.header} for a number and dropped digits. Format the cell as plain text and type it again.`,
  );
}

function decodeUsers(field: FieldDefinition, cell: Cell, { users }: Names): Decoded {
  const text = decodeText(field, cell);
  if (text.kind === 'refused') return text;
  return (field.kind === 'user' ? readUser : readUsers)(String(text.value), users);
}

/** Refuses what a cell shows, in the words of what it is not and what its column takes. */
const refusedCell = ({ header }: FieldDefinition, cell: Cell, fault: string, accepted: string): Decoded =>
  refused(`${quoteText(describeCell(cell))} is ${fault}. ${header} takes ${accepted}.`);

/** The value comes first and then the format: the other way round the cell would show the day's serial number meanwhile, which is a number. */
const refusedMoment = (field: FieldDefinition, cell: Cell): Decoded =>
  refused(
    `The sheet took ${field.header} for a date or a time: it shows “${describeCell(cell)}”. Type the number again with the decimal sign of this spreadsheet, like 10.5 or 10,5, and then format the cell as a number.`,
  );

const refusedReadings = (cell: Cell, readings: readonly (string | number)[]): Decoded =>
  refused(`${quoteText(describeCell(cell))} may mean ${readings.join(' or ')}. Write it like one of these.`);

/** The serial number of the first day of 2100: what is later was typed as the number that it is, into a cell that has the format of days. */
const typedDaysMax = 73_051;

const isTypedMoment = (cell: Cell): boolean =>
  cell.kind === 'number' && isShownAsMoment(cell) && (cell.number < typedDaysMax || isShownWithoutDay(cell));

/** A number as the sheet itself counts it: 50% is 0.5. */
function decodeNumber(field: FieldDefinition, cell: Cell): Decoded {
  if (isTypedMoment(cell)) return refusedMoment(field, cell);
  if (cell.kind === 'number') return decoded(cell.number);
  const { numbers, isPercent } = readTypedNumber(describeCell(cell));
  const [number] = numbers;
  const accepted = `a ${field.kind === 'integer' ? 'whole number' : 'number like 1250.5'}`;
  if (cell.kind === 'boolean' || number === undefined)
    return refusedCell(field, cell, 'not a number', accepted);
  return numbers.length > 1 ? refusedReadings(cell, numbers) : decoded(isPercent ? number / 100 : number);
}

function decodeInteger(field: FieldDefinition, cell: Cell): Decoded {
  const read = decodeNumber(field, cell);
  if (read.kind === 'refused' || Number.isSafeInteger(read.value)) return read;
  return refused(`“${read.value}” is not a whole number. ${field.header} takes a whole number.`);
}

/**
 * A whole number of percents from 0 to 100. Who types 50% gets a cell that holds 0.5 and shows `50%`; a bare 0.5 can mean nothing else. A
 * cell that shows `5000%` may have been typed so, or hold a 50 that was only formatted.
 */
function decodePercent(field: FieldDefinition, cell: Cell): Decoded {
  const read = decodeNumber(field, cell);
  if (read.kind === 'refused' || typeof read.value !== 'number') return read;
  const isPercent = isShownAsPercent(cell) || readTypedNumber(describeCell(cell)).isPercent;
  const isPart = isPercent || (read.value > 0 && read.value < 1);
  const percent = isPart ? Number((read.value * 100).toPrecision(15)) : read.value;
  if (Number.isInteger(percent) && (!isPercent || percent <= 100)) return decoded(percent);
  return refusedCell(field, cell, 'not a whole number from 0 to 100', 'one like 50 or 50%');
}

function decodeBoolean(field: FieldDefinition, cell: Cell): Decoded {
  const truth = readTypedTruth(cell);
  if (truth !== undefined) return decoded(truth);
  return refusedCell(field, cell, 'neither yes nor no', 'TRUE or FALSE, yes or no');
}

/**
 * The serial number of the first day of 1910. Nobody types a time on an earlier day: a sheet with a decimal point takes `31.12` and `12.2026`
 * for numbers, and a cell with the format of days shows them as days of 1900.
 */
const timedDaysMin = 3_654;

const isTypedNumber = (cell: Cell): boolean =>
  cell.kind === 'number' &&
  cell.number >= 0 &&
  cell.number < timedDaysMin &&
  !Number.isInteger(cell.number) &&
  !isShownWithTime(cell);

/** Where the cell shows a day, that is the one that its format makes of the number, and not the one that was meant. */
function refusedTypedNumber(field: FieldDefinition, cell: Cell): Decoded {
  if (cell.kind !== 'number' || cell.shown === undefined) return refusedDate(field, cell);
  return refused(
    `${field.header} shows ${quoteText(cell.shown)}, but its cell holds ${cell.number}, which may be another date that the sheet took for a number. Type it like 2026-12-31, without a time.`,
  );
}

const refusedDate = (field: FieldDefinition, cell: Cell): Decoded =>
  refused(`${quoteText(describeCell(cell))} is not a date. ${field.header} takes a date like 2026-12-31.`);

function decodeDate(field: FieldDefinition, cell: Cell): Decoded {
  // A number that says how it is shown, and that without a day, is no day to whoever typed it: most likely it is a year. A Swedish sheet
  // makes 2026 hours and some minutes of 2026.12.31.
  const isBare = cell.kind === 'number' && cell.shown !== undefined && isShownWithoutDay(cell);
  if (isTypedNumber(cell) && !isBare) return refusedTypedNumber(field, cell);
  const days =
    cell.kind === 'number' && !isBare ? [serialToDate(cell.number)] : readTypedDate(describeCell(cell));
  const [day, other] = days;
  if (day !== undefined) return other === undefined ? decoded(day) : refusedReadings(cell, [day, other]);
  return refusedDate(field, cell);
}

function decodeChoice(field: FieldDefinition, text: string, names: Names): Decoded {
  const choices = choicesOf(field, names);
  const found = choices && decodeFound(choices.find(text), text, 'lead');
  if (found) return found;
  if (field.kind === 'lead') return refusedName(text, 'lead', names.leads.suggest(text));
  return refused(explainUnknown(field, text, choices?.labels ?? []));
}

const explainUnknown = ({ header }: FieldDefinition, text: string, labels: readonly string[]): string =>
  labels.length === 0
    ? `${quoteText(text)} is not known: the CRM has nothing to choose from for ${header}.`
    : `${quoteText(text)} is not known. ${header} takes ${listFew(labels)}.`;

function decodeMembers(field: FieldDefinition, text: string): Decoded {
  const choices = optionsOf(field);
  const asNow = readMembers(text, choices);
  const read =
    asNow.kind === 'unknown' && field.formerOptions
      ? readMembers(text, optionsOf(field, field.formerOptions))
      : asNow;
  // What is left of a list whose options were deleted may be the commas between them.
  if (read.kind === 'members') return decoded(read.members.length === 0 ? null : read.members);
  return read.kind === 'unknown'
    ? refused(explainUnknown(field, read.part, choices.labels))
    : refusedReading(text, 'option');
}
