import { type Cell, describeCell, emptyCell, equalCells, textCell } from '../cell.ts';
import { encode } from '../codec.ts';
import { isSameKept } from '../kept-cell.ts';
import type { OpenWrite, SentSet } from '../open-write.ts';
import { isClaimToken } from '../record.ts';
import type { Agreement } from '../state.ts';
import type { ObservedRow, PlannedPlace } from '../table.ts';
import type { FieldName, Fields } from '../value.ts';
import type { TabContext } from './context.ts';
import { showsWritten, withId } from './hit-rows.ts';
import { isLike } from './likeness.ts';
import { rowAsRead } from './open-writes.ts';
import { baseOf, wasMissing } from './origin.ts';
import { idCell } from './row-values.ts';
import { waitingFields } from './waiting-edits.ts';

/**
 * Adds what writes did to rows that a filter hides, as writes to be mended. Nothing is copied of such a row, so only the table as it was read
 * after it tells. `missing` are the records that have no row.
 */
export function withUnkeptHits(context: TabContext, missing: readonly Agreement[]): TabContext {
  const { draft, input } = context;
  const { openWrites } = input.known;
  const known = new Set(openWrites.map(({ id }) => id));
  const hits = openWrites.flatMap((write) =>
    write.outcome === 'landed'
      ? findTaken(context, write, missing)
      : findHits(context, write).filter(({ id }) => !known.has(id)),
  );
  if (hits.length === 0) return context;
  draft.toldWrites.push(...hits);
  return { ...context, input: { ...input, known: { ...input.known, openWrites: [...openWrites, ...hits] } } };
}

/**
 * The rows of records and of creates that went in the moment of deletes which left their own rows. Who deleted another one then gets it back
 * as well: nobody can tell which of them it was.
 */
function findTaken(
  context: TabContext,
  write: OpenWrite,
  missing: readonly Agreement[],
): readonly OpenWrite[] {
  const { entity, tab } = context;
  const place = write.places[entity];
  const left = write.deletes.find((sent) => sent.entity === entity && withId(tab, sent.idSeen).length > 0);
  // Where no filter hides anything, a delete of which nothing was kept took a blank row.
  if (!left || !place || !(place.hiddenRows || tab.isFiltered)) return [];
  const { confirms: _confirms, ...sent } = left;
  const deletes = [...lostRecords(context, missing), ...lostCreates(context)].map(({ fields, id }, slot) => ({
    ...sent,
    slot,
    kept: rowAsRead(id, cellsOfFields(context, fields), place),
  }));
  return deletes.length === 0 ? [] : [{ ...write, id: `${write.id}${entity}`, outcome: 'answered', deletes }];
}

/** A row by what is known of it. */
interface KnownRow {
  readonly id: Cell;
  readonly fields: Fields;
}

/** Records whose row the read before had, and of which no row without their ID shows anything. */
function lostRecords(context: TabContext, missing: readonly Agreement[]): KnownRow[] {
  const others = context.tab.rows.filter(({ id }) => !context.agreements.has(describeCell(id)));
  return missing
    .filter((agreement) => !wasMissing(context, agreement))
    .filter((agreement) => !others.some((row) => isLike(context, row, agreement)))
    .map((agreement) => {
      const { id } = agreement.key;
      return {
        id: idCell(id),
        fields: { ...baseOf(context, agreement), ...waitingFields(context.outbox.get(id)) },
      };
    });
}

function lostCreates({ input, outbox, tab }: TabContext): KnownRow[] {
  return [...outbox.values()].flatMap(({ fields, key, kind, state }) => {
    const id = textCell(key.id);
    const isLost = kind === 'create' && state !== 'done' && withId(tab, id).length === 0;
    return isLost && !input.wasMissing(key) ? [{ id, fields }] : [];
  });
}

function cellsOfFields({ fields, names, tab }: TabContext, values: Fields): ObservedRow['cells'] {
  const cells = Object.entries(values).flatMap(([name, value]) => {
    const field = fields.get(name);
    return field && tab.fields.has(name) ? [[name, encode(field, value, names)] as const] : [];
  });
  return Object.fromEntries(cells);
}

/**
 * The sets of a write that hit another row of which nothing was kept: it stands where the set was to go, shows all that another row was to
 * get, and something else of it was read before, or is on its way or agreed. Of a cell of which none is known nothing can be told.
 */
function findHits(context: TabContext, write: OpenWrite): readonly OpenWrite[] {
  const { entity, tab } = context;
  const place = write.places[entity];
  if (!place) return [];
  const rows = new Map(tab.rows.map((row) => [row.position, row]));
  return write.sets.flatMap((sent): OpenWrite | [] => {
    const row = sent.entity === entity ? rows.get(sent.position) : undefined;
    const isUntold = write.outcome === 'unknown' ? place.hiddenRows : isKeptBlank(sent);
    const damage = row && isUntold && findDamage(context, row, sent, place);
    if (!damage) return [];
    const id = `${write.id}?${sent.slot}`;
    return { ...write, id, outcome: 'answered', sets: [damage], deletes: [], appends: [] };
  });
}

/** Whether a set reached a blank row, as far as what was kept of it tells: of a row that somebody hid by a filter in that moment it tells the same. */
const isKeptBlank = ({ kept }: SentSet): boolean =>
  kept?.id.kind === 'empty' && Object.values(kept.cells).every((cell) => isSameKept(cell));

/**
 * What the set put into another row than its own. Its own does not show it, unless the set has landed and the read before tells of the other
 * one. Where it wrote the ID, nobody knows whose row it was.
 */
function findDamage(
  context: TabContext,
  row: ObservedRow,
  { confirms: _confirms, others: _others, sync: _sync, was: _was, ...sent }: SentSet,
  place: PlannedPlace,
): SentSet | undefined {
  const showsIt = (each: ObservedRow) => showsWritten(each, sent);
  if (sent.id || equalCells(row.id, sent.idSeen) || !showsIt(row)) return undefined;
  const read = findRead(context, row, sent);
  if (!(read && sent.kept) && withId(context.tab, sent.idSeen).some(showsIt)) return undefined;
  const before = Object.entries(sent.cells).flatMap(([name, written]) => {
    const cell = read?.cells[name] ?? knownCell(context, row, name);
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

/** The one row of the read before that was as this one is but for what the set wrote, and for a claim of it that landed as well. */
function findRead({ entity, input }: TabContext, row: ObservedRow, sent: SentSet): ObservedRow | undefined {
  const isClaimed = isClaimToken(describeCell(row.id));
  const hasSameId = ({ id }: ObservedRow) =>
    equalCells(id, row.id) || (isClaimed && equalCells(id, emptyCell));
  const hasSameRest = ({ cells }: ObservedRow) =>
    Object.entries(row.cells).every(([name, cell]) => name in sent.cells || isSameKept(cell, cells[name]));
  const found = input
    .rowsBefore(entity)
    .filter((each) => hasSameId(each) && hasSameRest(each) && !showsWritten(each, sent));
  return found.length === 1 ? found[0] : undefined;
}

/** What the row showed as far as anybody knows: what is on its way to the CRM from there, or else what both sides had. */
function knownCell(
  { agreements, fields, names, outbox }: TabContext,
  { id }: ObservedRow,
  name: FieldName,
): Cell | undefined {
  const key = describeCell(id);
  const item = outbox.get(key);
  const typed = item?.kind === 'create' ? item.fields : waitingFields(item);
  const value = typed[name] ?? agreements.get(key)?.fields[name];
  const field = fields.get(name);
  return field && value !== undefined ? encode(field, value, names) : undefined;
}
