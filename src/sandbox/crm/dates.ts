import { z } from 'zod';
import type { CrmChoices } from './choices.ts';
import { refuseField } from './refusal.ts';

const calendarDate = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });
const slashDate = /^(\d{2})\/(\d{2})\/(\d{4})$/;

/**
 * Reads a date of a body: `YYYY-MM-DD`, or a date-time cut to the day as it is written, whatever its offset
 * (specification, "Date rules", 1 to 3).
 * @throws Refusal 400 that names the field and the accepted formats.
 */
export function readBodyDate(field: string, text: string): string {
  const day = readIsoDay(text);
  if (day === undefined) {
    throw refuseField(field, 'Invalid date, accepted formats are YYYY-MM-DD and ISO 8601 date-time');
  }
  return day;
}

/**
 * Reads a custom field's date, which may also be DD/MM/YYYY or MM/DD/YYYY ("Custom field definition").
 * @throws Refusal 400 that names the field and the accepted formats.
 */
export function readCustomFieldDate(
  field: string,
  text: string,
  ambiguous: CrmChoices['ambiguousSlashDate'],
): string {
  const day = readIsoDay(text) ?? readSlashDay(text, ambiguous);
  if (day === undefined) {
    const formats = 'YYYY-MM-DD, DD/MM/YYYY, MM/DD/YYYY and ISO 8601';
    throw refuseField(field, `Invalid date, accepted formats are ${formats}`);
  }
  return day;
}

function readIsoDay(text: string): string | undefined {
  if (calendarDate.safeParse(text).success) return text;
  return dateTime.safeParse(text).success ? text.slice(0, 10) : undefined;
}

function readSlashDay(text: string, ambiguous: CrmChoices['ambiguousSlashDate']): string | undefined {
  const [, first, second, year] = slashDate.exec(text) ?? [];
  const dayFirst = `${year}-${second}-${first}`;
  const monthFirst = `${year}-${first}-${second}`;
  const readings = ambiguous === 'dayFirst' ? [dayFirst, monthFirst] : [monthFirst, dayFirst];
  return readings.find((reading) => calendarDate.safeParse(reading).success);
}
