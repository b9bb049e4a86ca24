import { type RecordKey, recordKeyText } from '../core/record.ts';
import { quoteText } from '../core/text/cut-text.ts';
import type { FieldName } from '../core/value.ts';
import { findFields, findRecords, labelsOf } from '../sync/labels.ts';
import type { Link } from '../sync/link.ts';
import { RequestRefused } from './input.ts';

/** More records than this are only counted. */
const listedMax = 12;

/** The one record that a person names. Throws {@link RequestRefused}, which lists the records where there are several. */
export function findRecord(link: Link, text: string): RecordKey {
  const [only, ...others] = findRecords(link, text);
  if (!only)
    throw new RequestRefused(
      404,
      `No record is called ${quoteText(text)}. Name one by its id, its key like lead-42, or its title.`,
    );
  if (others.length === 0) return only;
  const all = [only, ...others];
  const labels = labelsOf(link);
  const shown = all.slice(0, listedMax).map((key) => `${recordKeyText(key)} is ${labels.nameOf(key)}`);
  const more = all.length > listedMax ? `, and ${all.length - listedMax} more` : '';
  throw new RequestRefused(
    400,
    `${quoteText(text)} may be ${all.length} records; name one by its key: ${shown.join(', ')}${more}.`,
  );
}

/** The one field that a person names. Throws {@link RequestRefused} where several are called so. */
export function findField(link: Link, text: string, key?: RecordKey): FieldName {
  const [only = text, ...others] = findFields(link, text, key);
  if (others.length === 0) return only;
  throw new RequestRefused(
    400,
    `${quoteText(text)} may be ${[only, ...others].join(' or ')}: name one of them.`,
  );
}
