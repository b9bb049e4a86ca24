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
  // The tab before may have told of another part of the same write.
  const toldBefore = new Map(draft.toldWrites.map((write) => [write.id, write]));
  const openWrites = input.known.openWrites.map((write) => toldBefore.get(write.id) ?? write);
  const known = new Set(openWrites.map(({ id }) => id));
  const hits = openWrites.flatMap((write) =>
    write.outcome === 'landed'
      ? findTaken(context, write, missing)
      : findHits(context, write).filter(({ id }) => id === write.id || !known.has(id)),
  );
  if (hits.length === 0) return context;
  const told = new Set(hits.map(({ id }) => id));
  const isOther = ({ id }: OpenWrite) => !told.has(id);
  draft.toldWrites = [...draft.toldWrites.filter(isOther), ...hits];
  const all = [...openWrites.filter(isOther), ...hits];
  return { ...context, input: { ...input, known: { ...input.known, openWrites: all } } };
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
 * A write with what its sets did to other rows of which nothing was kept. One without a reply may land yet, so what it did is told apart from
 * it; of one that was answered the row takes the place of the blank one that was kept.
 */
function findHits(context: TabContext, write: OpenWrite): readonly OpenWrite[] {
  const { entity } = context;
  const place = write.places[entity];
  if (!place) return [];
  const isAnswered = write.outcome === 'answered';
  const damages = new Map(
    write.sets.flatMap((sent) => {
      const isUntold = sent.entity === entity && (isAnswered ? isKeptBlank(sent) : place.hiddenRows);
      const damage = isUntold && findDamage(context, sent, place);
      return damage ? [[sent, damage] as const] : [];
    }),
  );
  if (isAnswered)
    return damages.size > 0 ? [{ ...write, sets: write.sets.map((sent) => damages.get(sent) ?? sent) }] : [];
  return [...damages.values()].map((damage) => {
    const id = `${write.id}?${damage.slot}`;
    return { ...write, id, outcome: 'answered', sets: [damage], deletes: [], appends: [] };
  });
}

/** Whether a set reached a blank row, as far as what was kept of it tells: of a row that somebody hid by a filter in that moment it tells the same. */
const isKeptBlank = ({ kept }: SentSet): boolean =>
  kept?.id.kind === 'empty' && Object.values(kept.cells).every((cell) => isSameKept(cell));

/**
 * What the set put into another row than its own: it stands where the set was to go, or has the ID that it wrote, and shows all that another
 * row was to get. What stood there tells the read before, or what is on its way from there or agreed; of a cell of which none of that is
 * known nothing can be told.
 */
function findDamage(
  context: TabContext,
  { confirms: _confirms, others: _others, sync: _sync, was: _was, ...sent }: SentSet,
  place: PlannedPlace,
): SentSet | undefined {
  const { rows } = context.tab;
  const { id } = sent;
  const showsIt = (each: ObservedRow) => showsWritten(each, sent);
  const row = id ? onlyOne(withId(context.tab, id)) : rows.find(({ position }) => position === sent.position);
  if (!row || equalCells(row.id, sent.idSeen) || !showsIt(row)) return undefined;
  const read = sent.kept && findRead(context, row, sent);
  // Only the read before tells whose row it was where the ID is written, and where its own row shows the same.
  if (!read && (id || withId(context.tab, sent.idSeen).some(showsIt))) return undefined;
  const before = Object.entries(sent.cells).flatMap(([name, written]) => {
    const cell = read?.cells[name] ?? knownCell(context, row, name);
    return cell && !isSameKept(cell, written) ? [[name, written, cell] as const] : [];
  });
  if (before.length === 0 && !id) return undefined;
  const stood = Object.fromEntries(before.map(([name, , cell]) => [name, cell]));
  return {
    ...sent,
    cells: Object.fromEntries(before.map(([name, written]) => [name, written])),
    kept: rowAsRead(id && read ? read.id : row.id, { ...row.cells, ...stood }, place),
  };
}

const onlyOne = <Item>(items: readonly Item[]): Item | undefined =>
  items.length === 1 ? items[0] : undefined;

/**
 * The row as the read before showed it, but for what the set wrote, and for a claim of it that landed as well. Of several that were alike it
 * does not matter which. Where the set wrote the ID, it had one that fewer rows have by now, and not the one that the set was meant for.
 */
function findRead(
  { entity, input, tab }: TabContext,
  row: ObservedRow,
  sent: SentSet,
): ObservedRow | undefined {
  const isClaimed = isClaimToken(describeCell(row.id));
  const rows = input.rowsBefore(entity);
  const mayHaveId = ({ id }: ObservedRow) =>
    sent.id
      ? !equalCells(id, sent.idSeen) && withId(tab, id).length < withId({ rows }, id).length
      : equalCells(id, row.id) || (isClaimed && equalCells(id, emptyCell));
  const hasSameRest = ({ cells }: ObservedRow) =>
    Object.entries(row.cells).every(([name, cell]) => name in sent.cells || isSameKept(cell, cells[name]));
  const [first, ...others] = rows.filter(
    (each) => mayHaveId(each) && hasSameRest(each) && !showsWritten(each, sent),
  );
  const isLikeFirst = ({ cells, id }: ObservedRow) =>
    first !== undefined &&
    equalCells(id, first.id) &&
    Object.keys(sent.cells).every((name) => isSameKept(cells[name], first.cells[name]));
  return others.every(isLikeFirst) ? first : undefined;
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
