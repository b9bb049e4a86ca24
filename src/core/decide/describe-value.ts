import { describeCell } from '../cell.ts';
import { encode, type Names } from '../codec.ts';
import { cutText } from '../cut-text.ts';
import { formatInstant } from '../dates.ts';
import type { FieldDefinition } from '../field.ts';
import type { Value } from '../value.ts';
import { showValue } from './sync-text.ts';

const shownLengthMax = 1_000;

/** A value as its cell shows it, in one line and cut where it would fill the screen. */
export const describeValue = (field: FieldDefinition, value: Value, names: Names): string =>
  cutText(oneLine(showWhole(field, value, names)), shownLengthMax);

/** A value as its cell shows it, with all that belongs to it. */
export function showWhole(field: FieldDefinition, value: Value, names: Names): string {
  if (value === null) return '(empty)';
  if (field.kind === 'date') return String(value);
  const epochMs = field.kind === 'instant' ? Date.parse(String(value)) : Number.NaN;
  if (!Number.isNaN(epochMs)) return formatInstant(epochMs, names.timeZone);
  return describeCell(encode(field, value, names));
}

/** A value in a sentence, by the names that people know. */
export const quoteValue = (field: FieldDefinition, value: Value, names: Names): string =>
  showValue(value === null ? null : describeValue(field, value, names));

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
