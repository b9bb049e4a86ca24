import type { FieldDefinition } from '../../core/fields/field.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { formatInstant } from '../../core/text/dates.ts';
import type { Value } from '../../core/value.ts';
import { describeCell } from '../port/cell.ts';
import { encode, type Names } from './codec.ts';
import { showValue } from './sync-text.ts';

const shownLengthMax = 1_000;

/** A value as its cell shows it, in one line and cut where it would fill the screen. */
export const describeValue = (field: FieldDefinition, value: Value, names: Names): string =>
  cutText(oneLine(showWhole(field, value, names)), shownLengthMax);

/** A value as its cell shows it, with all that belongs to it. */
export function showWhole(field: FieldDefinition, value: Value, names: Names): string {
  if (value === null) return '(empty)';
  if (field.kind === 'date') return String(value);
  if (field.kind === 'instant') return showInstant(String(value), names);
  return describeCell(encode(field, value, names));
}

/** What somebody typed instead of an instant has no zone, and is shown as it is. */
function showInstant(text: string, { timeZone }: Names): string {
  const epochMs = text.endsWith('Z') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? text : formatInstant(epochMs, timeZone);
}

/** A value in a sentence, by the names that people know. */
export const quoteValue = (field: FieldDefinition, value: Value, names: Names): string =>
  showValue(value === null ? null : describeValue(field, value, names));

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
