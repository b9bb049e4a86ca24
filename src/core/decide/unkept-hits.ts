import { type Cell, describeCell, equalCells } from '../cell.ts';
import { encode } from '../codec.ts';
import { isSameKept } from '../kept-cell.ts';
import type { OpenWrite, SentSet } from '../open-write.ts';
import type { ObservedRow, PlannedPlace } from '../table.ts';
import type { FieldName } from '../value.ts';
import type { TabContext } from './context.ts';
import { showsWritten, withId } from './hit-rows.ts';
import { rowAsRead } from './open-writes.ts';

/**
 * Adds what writes whose reply was lost did to rows that a filter hides, as writes to be mended. Nothing is copied of such a row, so only
 * the row itself tells: it stands where the set was to go, shows all that another row was to get, and something else of it is on its way or
 * agreed. Of a cell of which neither is known nothing can be told.
 */
export function withUnkeptHits(context: TabContext): TabContext {
  const { input } = context;
  const { known } = input;
  const hits = findUnkeptHits(context);
  if (hits.length === 0) return context;
  return { ...context, input: { ...input, known: { ...known, openWrites: [...known.openWrites, ...hits] } } };
}

function findUnkeptHits(context: TabContext): readonly OpenWrite[] {
  const { entity, input, tab } = context;
  return input.known.openWrites.flatMap((write) => {
    const place = write.places[entity];
    if (write.outcome !== 'unknown' || !place?.hiddenRows) return [];
    const rows = new Map(tab.rows.map((row) => [row.position, row]));
    const deleted = write.deletes.filter((sent) => sent.entity === entity).map(({ position }) => position);
    return write.sets.flatMap((sent): OpenWrite | [] => {
      // The deletes of a batch come last.
      const above = deleted.filter((position) => position < sent.position);
      const row = sent.entity === entity ? rows.get(sent.position - above.length) : undefined;
      const damage = row && findDamage(context, row, sent, place);
      if (!damage) return [];
      const id = `${write.id}?${sent.slot}`;
      return { ...write, id, outcome: 'answered', sets: [damage], deletes: [], appends: [] };
    });
  });
}

/** What the set put into another row than its own, which does not show it. Where it wrote the ID, nobody knows whose row it was. */
function findDamage(
  context: TabContext,
  row: ObservedRow,
  { confirms: _confirms, others: _others, sync: _sync, was: _was, ...sent }: SentSet,
  place: PlannedPlace,
): SentSet | undefined {
  const showsIt = (each: ObservedRow) => showsWritten(each, sent);
  if (sent.id || equalCells(row.id, sent.idSeen) || !showsIt(row)) return undefined;
  if (withId(context.tab, sent.idSeen).some(showsIt)) return undefined;
  const before = Object.entries(sent.cells).flatMap(([name, written]) => {
    const cell = knownCell(context, row, name);
    return cell && !isSameKept(cell, written) ? [[name, written, cell] as const] : [];
  });
  if (before.length === 0) return undefined;
  const stood = Object.fromEntries(before.map(([name, , cell]) => [name, cell]));
  return {
    ...sent,
    cells: Object.fromEntries(before.map(([name, written]) => [name, written])),
    kept: rowAsRead(row.id, { ...row.cells, ...stood }, place),
  };
}

/** What the row showed as far as anybody knows: what is on its way to the CRM from there, or else what both sides had. */
function knownCell(
  { agreements, fields, names, outbox }: TabContext,
  { id }: ObservedRow,
  name: FieldName,
): Cell | undefined {
  const key = describeCell(id);
  const value = outbox.get(key)?.fields[name] ?? agreements.get(key)?.fields[name];
  const field = fields.get(name);
  return field && value !== undefined ? encode(field, value, names) : undefined;
}
