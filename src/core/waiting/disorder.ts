import type { RecordId } from '../record.ts';
import { type FieldName, sameText, type Value } from '../value.ts';
import type { BrakeLimits } from './brakes.ts';

/** A value that is not where it was agreed to be. */
export interface Displaced {
  readonly id: RecordId;
  readonly field: FieldName;
  readonly before: Value;
}

/** A value that a person changed in the table, against the agreed one. */
export interface Edit extends Displaced {
  readonly after: Value;
}

/** A pattern of edits that nobody means to make, with those that make it. */
export interface Disorder {
  readonly kind: 'torn' | 'blanked' | 'column' | 'changed' | 'cleared';
  readonly reason: string;
  readonly edits: readonly Edit[];
}

/** Fewer different values than this change places by hand; from here on somebody sorted a part of the rows. */
const tornMin = 3;
/** Two values, like the states of a checkbox, change places so often by hand. */
const exchangedMax = 5;
/** Other edits of the column may wait at the same time, one that the CRM refused for as long as nobody corrects it. */
const movedShareMin = 0.8;

/**
 * What is wrong with the edits of all records of a kind: values that only changed places (a sort that tore the rows apart, or an ID column
 * that moved alone), a column that was wiped or filled, or more changed rows than somebody works through by hand. `headerOf` returns what
 * people read above the column of a field. `lost` are values that nothing took the place of: their row is gone, or shows what cannot
 * be read.
 */
export function findDisorder(
  edits: readonly Edit[],
  agreed: number,
  limits: BrakeLimits,
  headerOf: (field: FieldName) => string,
  lost: readonly Displaced[] = [],
): Disorder[] {
  const byField = [...Map.groupBy(edits, ({ field }) => field)];
  const allowedBlanks = blanksMax(agreed, limits);
  const allowedValues = Math.max(limits.columnMin, Math.floor(agreed * limits.columnShare));
  const allowedRows = Math.max(limits.changesMin, Math.floor(agreed * limits.changesShare));
  const lostOf = (name: FieldName) => lost.filter(({ field }) => field === name);
  /** One disorder for all columns that are wrong in this way, with their edits; none where no column is. */
  const find = (
    kind: Disorder['kind'],
    isWrong: (own: readonly Edit[], field: FieldName) => boolean,
    say: (fields: string) => string,
  ): Disorder[] => {
    const wrong = byField.filter(([field, own]) => isWrong(own, field));
    const reason = say(wrong.map(([field]) => `“${headerOf(field)}”`).join(', '));
    return wrong.length === 0 ? [] : [{ kind, reason, edits: wrong.flatMap(([, own]) => own) }];
  };
  const found = [
    ...find(
      'torn',
      (own, name) => areMoved(own, lostOf(name)),
      (fields) => `The values of ${fields} only changed places: was a part of the rows sorted?`,
    ),
    ...find(
      'blanked',
      (own) => own.filter(({ after }) => after === null).length > allowedBlanks,
      (fields) => `More than ${allowedBlanks} values of ${fields} were emptied at once.`,
    ),
  ];
  const rows = new Set(edits.map(({ id }) => id)).size;
  const isEveryRow = rows === agreed && rows > limits.columnMin;
  if (isEveryRow || rows > allowedRows) {
    const may = isEveryRow ? 'not all of them may' : `${allowedRows} may`;
    found.push({ kind: 'changed', reason: `${rows} of ${agreed} rows changed at once; ${may}.`, edits });
  }
  // What was said already of some edits needs no other name.
  if (found.length > 0) return found;
  return find(
    'column',
    (own) => own.length > allowedValues,
    (fields) => `More than ${allowedValues} of ${agreed} values of ${fields} changed at once.`,
  );
}

/** Values of a field that may be emptied at once. */
const blanksMax = (agreed: number, { deletesMin, deletesShare }: BrakeLimits): number =>
  Math.max(deletesMin, Math.floor(agreed * deletesShare));

/**
 * Columns of which the CRM emptied so many values at once that it may have answered without them. All else that it changes is followed,
 * however much it is: whoever works there does so in bulk, and the sheet only shows it.
 */
export function findCleared(
  cleared: readonly Edit[],
  agreed: number,
  limits: BrakeLimits,
  headerOf: (field: FieldName) => string,
): Disorder[] {
  const allowed = blanksMax(agreed, limits);
  return [...Map.groupBy(cleared, ({ field }) => field)].flatMap(([field, own]): Disorder[] => {
    const reason = `The CRM emptied ${own.length} values of “${headerOf(field)}” at once; ${allowed} may be.`;
    return own.length > allowed ? [{ kind: 'cleared', reason, edits: own }] : [];
  });
}

/**
 * Whether the edits of a column are values that stood in other places of it before. Three that each stood in one place alone, as titles
 * do, tell by themselves; of values that many rows share, as statuses are, there must be hardly any other edit.
 */
function areMoved(edits: readonly Edit[], lost: readonly Displaced[]): boolean {
  const former = countTexts([...edits, ...lost].map(({ before }) => before));
  const texts = edits.map(({ after }) => sameText(after));
  const latter = countTexts(edits.map(({ after }) => after));
  const places = new Map(former);
  const moved = texts.filter((text) => {
    const left = places.get(text) ?? 0;
    if (left > 0) places.set(text, left - 1);
    return left > 0;
  });
  const distinct = new Set(moved);
  const isAlone = (text: string) =>
    text !== sameText(null) && [former, latter].every((counts) => counts.get(text) === 1);
  if ([...distinct].filter(isAlone).length >= tornMin) return true;
  const isMuch = distinct.size >= tornMin || (distinct.size === 2 && moved.length > exchangedMax);
  return isMuch && moved.length >= edits.length * movedShareMin;
}

/** Counts each value. A user who fills or sorts a long column edits tens of thousands of values: too many to compare each with each. */
function countTexts(values: readonly Value[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of values.map(sameText)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
