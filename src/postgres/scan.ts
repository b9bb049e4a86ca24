import { escapeIdentifier } from 'pg';
import type { Clock } from '../core/ports.ts';
import type { Value } from '../core/value.ts';
import type { TableLayout } from '../warehouse/port/layout.ts';
import type { ScannedRow } from '../warehouse/port/port.ts';
import type { Address } from './address.ts';
import { openSession, type Session } from './connection.ts';
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
  try {
    await using session = await openSession(address, clock);
    await session.runTogether(`BEGIN READ ONLY; ${settingsSql(settings)}`);
    yield* copiedRows(session, names, table);
  } catch (error) {
    throw warehouseError(error, `read ${table.entity} from the ${address.place}`);
  }
}

async function* copiedRows(session: Session, names: Names, table: TableLayout): AsyncGenerator<ScannedRow> {
  const columns = liveColumns(table);
  const shown = columns.map(({ name, type }) =>
    type === 'text[]' ? `to_json(${escapeIdentifier(name)})` : escapeIdentifier(name),
  );
  const text = `COPY (SELECT ${['id', ...shown].join(', ')} FROM ${names.shown(table.entity)} ORDER BY id) TO STDOUT`;
  for await (const line of linesOf(session.copyOut(text))) {
    const [id, ...fields] = copyFields(line);
    const values: Record<string, Value> = {};
    for (const [index, { name, type }] of columns.entries()) {
      const field = fields[index] ?? null;
      values[name] = field === null ? null : decoders[type](field);
    }
    yield { id: id ?? '', values };
  }
}

/** Lines of pieces that end anywhere, also within a character. A line of many pieces is put together once. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let begun: Buffer[] = [];
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, from)) {
      const last = piece.subarray(from, end);
      yield (begun.length === 0 ? last : Buffer.concat([...begun, last])).toString();
      begun = [];
      from = end + 1;
    }
    if (from < piece.length) begun.push(piece.subarray(from));
  }
}
