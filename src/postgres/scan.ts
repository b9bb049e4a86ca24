import { escapeIdentifier } from 'pg';
import type { Clock } from '../core/ports.ts';
import type { Value } from '../core/value.ts';
import type { ColumnLayout, TableLayout } from '../warehouse/port/layout.ts';
import type { ScannedRow } from '../warehouse/port/port.ts';
import type { Address } from './address.ts';
import { openSession } from './connection.ts';
import { copyFields, decoders } from './decode.ts';
import { warehouseError } from './errors.ts';
import { liveColumns, type Names } from './names.ts';
import { settingsSql } from './transaction.ts';

/** No statement of a scan ends by time: how long it takes is up to who reads it. */
const settings = { statement_timeout: '0' };

/**
 * All rows in the order of their ids, each as soon as it has come. It has a connection of its own, so that rows can be written while others are
 * still read.
 */
export async function* scanRows(
  address: Address,
  clock: Clock,
  names: Names,
  table: TableLayout,
): AsyncGenerator<ScannedRow> {
  const columns = liveColumns(table);
  const linesOf = createSplitter();
  try {
    await using session = await openSession(address, clock);
    await session.runTogether(`BEGIN READ ONLY; ${settingsSql(settings)}`);
    // A generator around this one, or one of lines, would cost each row as much again.
    for await (const piece of session.copyOut(copySql(names, table, columns)))
      for (const line of linesOf(piece)) yield rowOf(line, columns);
  } catch (error) {
    throw warehouseError(error, `read ${table.entity} from the ${address.place}`);
  }
}

/** A column as the decoder of its type reads it. */
export const readableColumn = ({ name, type }: ColumnLayout): string =>
  type === 'text[]' ? `to_json(${escapeIdentifier(name)})` : escapeIdentifier(name);

function copySql(names: Names, { entity }: TableLayout, columns: readonly ColumnLayout[]): string {
  const shown = columns.map(readableColumn);
  return `COPY (SELECT ${['id', ...shown].join(', ')} FROM ${names.shown(entity)} ORDER BY id) TO STDOUT`;
}

function rowOf(line: string, columns: readonly ColumnLayout[]): ScannedRow {
  const [id, ...fields] = copyFields(line);
  const values: Record<string, Value> = {};
  for (const [index, { name, type }] of columns.entries()) {
    const field = fields[index] ?? null;
    values[name] = field === null ? null : decoders[type](field);
  }
  return { id: id ?? '', values };
}

/** Splits pieces that end anywhere, also within a character, into lines. A line of many pieces is put together once. */
function createSplitter() {
  let begun: Buffer[] = [];
  return function* linesOf(piece: Buffer): Generator<string> {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      const last = piece.subarray(from, end);
      yield (begun.length === 0 ? last : Buffer.concat([...begun, last])).toString();
      begun = [];
      from = end + 1;
    }
    if (from < piece.length) begun.push(piece.subarray(from));
  };
}
