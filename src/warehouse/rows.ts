import type { EndedVersion, Version } from '../core/feed.ts';
import { joinContactId, splitContactId } from '../core/fields/contact-id.ts';
import { type Entity, isListed, type RecordId, type RecordKey } from '../core/record.ts';
import type { Fields, Value } from '../core/value.ts';
import type { TableLayout } from './port/layout.ts';
import type { PastVersion, RowId, RowValues, RowVersion } from './port/port.ts';

/** The id that a record has in its table: of a contact its own, because the one of its lead is in a column. */
export const rowIdOf = ({ entity, id }: RecordKey): RowId =>
  isListed(entity) ? id : splitContactId(id).contactId;

/** The key under which a row is due that shows no record: to be deleted. */
export const strayKey = (entity: Entity, id: RowId): RecordKey => ({
  entity,
  id: isListed(entity) ? id : joinContactId({ leadId: '0', contactId: id }),
});

/** The key of the record that a row shows; `undefined` where the row of a contact names no lead. */
export function keyOf(entity: Entity, id: RowId, values: RowValues): RecordKey | undefined {
  if (isListed(entity)) return { entity, id };
  const leadId = values['lead_id'];
  return leadId == null
    ? undefined
    : { entity, id: joinContactId({ leadId: String(leadId), contactId: id }) };
}

/** What is shown of the fields, by column; a field that is not known has no entry. */
export function valuesOf(fields: Fields, { columns }: Pick<TableLayout, 'columns'>): RowValues {
  const values: Record<string, Value> = {};
  for (const { field, name, retiredAt } of columns) {
    const value = fields[field];
    if (value !== undefined && retiredAt === undefined) values[name] = storable(value);
  }
  return values;
}

/** The fields that columns show; the reverse of {@link valuesOf}. */
export const fieldsOf = (values: RowValues, { columns }: Pick<TableLayout, 'columns'>): Fields =>
  Object.fromEntries(
    columns.flatMap(({ field, name }) => {
      const value = values[name];
      return value === undefined ? [] : [[field, value] as const];
    }),
  );

/** Every column that is in use as empty. */
export const emptyValues = ({ columns }: Pick<TableLayout, 'columns'>): RowValues =>
  Object.fromEntries(
    columns.flatMap(({ name, retiredAt }) => (retiredAt === undefined ? [[name, null]] : [])),
  );

/** No text of the database holds the character 0, nor half a character: https://www.postgresql.org/docs/18/datatype-character.html */
export const storableText = (text: string): string =>
  text.isWellFormed() && !text.includes('\0') ? text : text.toWellFormed().replaceAll('\0', '\ufffd');

function storable(value: Value): Value {
  if (typeof value === 'string') return storableText(value);
  return Array.isArray(value) ? value.map((member) => String(storable(member))) : value;
}

/** How long lists of the CRM may lag: what one showed may have been over for so long. */
export interface Bounds {
  readonly lagMs: number;
}

export const rowOf = (version: Version, table: TableLayout, { lagMs }: Bounds): RowVersion => ({
  id: rowIdOf(version.key),
  values: valuesOf(version.fields, table),
  validFrom: version.validFrom,
  validAfter: version.validAfter === undefined ? undefined : version.validAfter - lagMs,
  madeBy: version.madeBy === 'warehouse' ? 'sql' : version.madeBy,
});

export const pastOf = (version: EndedVersion, table: TableLayout, bounds: Bounds): PastVersion => ({
  ...rowOf(version, table, bounds),
  validUntil: version.validUntil,
  ended: version.ended,
});

/** Compares two ids of rows as the database orders them: numbers by size, UUIDs as texts. Returns less than 0 where the left one is first. */
export function compareIds(left: RecordId, right: RecordId): number {
  if (left.length !== right.length && /^\d+$/.test(left) && /^\d+$/.test(right))
    return left.length - right.length;
  return left < right ? -1 : Number(left > right);
}
