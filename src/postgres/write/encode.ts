import type { Value } from '../../core/value.ts';
import type { ColumnLayout, TableLayout } from '../../warehouse/port/layout.ts';
import type { PastVersion, RowVersion } from '../../warehouse/port/port.ts';
import { liveColumns } from '../names.ts';

export const isoOf = (epochMs: number): string => new Date(epochMs).toISOString();
const isoOrNull = (epochMs: number | undefined) => (epochMs === undefined ? null : isoOf(epochMs));

/** A value as its column is given it: the same in JSON and in COPY. Half characters, which neither can carry, become U+FFFD. */
function plainOf({ type }: Pick<ColumnLayout, 'type'>, value: Value): Value {
  if (value === null) return null;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'object')
    return type === 'text'
      ? JSON.stringify(value).toWellFormed()
      : value.map((member) => member.toWellFormed());
  // JSON has no infinities; and a number in a column of text is to look as it does here.
  const isText = type === 'text' || (typeof value === 'number' && !Number.isFinite(value));
  return isText ? String(value) : value;
}

/** A version as JSON that `jsonb_populate_record` reads: what is absent keeps what it has. */
export const rowJson = (table: TableLayout, row: RowVersion): string => JSON.stringify(plainRow(table, row));

/** The values alone: the version that the row shows goes on. */
export const valuesJson = (table: TableLayout, row: RowVersion): string =>
  JSON.stringify(plainValues(table, row));

function plainValues(table: TableLayout, row: RowVersion): Record<string, Value> {
  const plain: Record<string, Value> = { id: row.id };
  for (const column of liveColumns(table)) {
    const value = row.values[column.name];
    if (value !== undefined) plain[column.name] = plainOf(column, value);
  }
  return plain;
}

function plainRow(table: TableLayout, row: RowVersion): Record<string, Value> {
  return {
    ...plainValues(table, row),
    valid_from: isoOf(row.validFrom),
    valid_after: isoOrNull(row.validAfter),
    made_by: row.madeBy,
  };
}

/** A version that is over; of a column that is retired by now it has a value too. */
export function pastJson(table: TableLayout, version: PastVersion): string {
  const all: TableLayout = {
    ...table,
    columns: table.columns.map((column) => ({ ...column, retiredAt: undefined }) as never),
  };
  return JSON.stringify({
    ...plainRow(all, version),
    valid_until: isoOf(version.validUntil),
    ended: version.ended,
  });
}

/** A version as a line of COPY's text form: the id, the columns that are written, the tail. */
export function rowLine(table: TableLayout, row: RowVersion): string {
  const values = liveColumns(table).map((column) => plainOf(column, row.values[column.name] ?? null));
  const all = [row.id, ...values, isoOf(row.validFrom), isoOrNull(row.validAfter), row.madeBy];
  return `${all.map(copyField).join('\t')}\n`;
}

const copyEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function copyField(value: Value): string {
  if (value === null) return '\\N';
  const text = typeof value === 'object' ? arrayText(value) : String(value);
  return text.replace(/[\\\n\r\t]/g, (character) => copyEscapes[character] ?? character);
}

/** Members are quoted, so that none is taken for NULL or for more than one. */
const arrayText = (members: readonly string[]): string =>
  `{${members.map((member) => `"${member.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;

const bigintMax = 2n ** 63n - 1n;

/** Whether the id column can hold it: any other would fail the statement that all rows share. */
export function isStorableId({ idType }: TableLayout, id: string): boolean {
  if (idType === 'uuid') return /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/.test(id);
  return /^(?:0|-?[1-9]\d{0,18})$/.test(id) && BigInt(id) <= bigintMax && BigInt(id) >= -bigintMax;
}
