import { type Cell, describeCell, emptyCell, equalCells } from '../cell.ts';
import { quoteText } from '../cut-text.ts';
import { type Damage, type DamagedCell, type Suspect, watchMs } from '../damage.ts';
import { idHeader, syncHeader } from '../headers.ts';
import { isSameKept } from '../kept-cell.ts';
import type { RecordId } from '../record.ts';
import { showsValue } from '../shown.ts';
import type { ObservedRow, RowStep } from '../table.ts';
import { type DecideInput, damageScope, type TabContext } from './context.ts';
import { journalEntry } from './journal-entry.ts';
import { pauseRow } from './paused.ts';
import { holdRow } from './row-write.ts';

/** A tab without the rows that a misdirected write may have damaged, and the records that these are about. */
interface Sound {
  readonly context: TabContext;
  readonly named: ReadonlySet<RecordId>;
}

/** An escalated write is over once two reads in a row show nothing of it. */
const clearReadsMax = 2;

/**
 * Sets apart what is no evidence of what a user means: nothing is merged, claimed, created or deleted because of it. What could not be
 * undone is asked about.
 */
export function setDamagedApart(context: TabContext): Sound {
  const { entity, input, tab } = context;
  const apart = new Set<ObservedRow>();
  const named = new Set<RecordId>();
  for (const suspect of input.known.suspects) {
    if (suspect.damage.entity !== entity) continue;
    const rows = tab.rows.filter((row) => isDamaged(context, row, suspect));
    const isWatched = suspect.state === 'undone';
    if ((isWatched && rows.length === 0) || isSettled(context, suspect, rows)) continue;
    for (const row of rows) apart.add(row);
    if (suspect.damage.id.kind !== 'empty') named.add(describeCell(suspect.damage.id));
  }
  if (apart.size + named.size === 0) return { context, named };
  return { context: { ...context, tab: { ...tab, rows: tab.rows.filter((row) => !apart.has(row)) } }, named };
}

/** Asks about a suspect, or does what was answered. Returns whether it is over, so that its rows are decided as any others. */
function isSettled(context: TabContext, suspect: Suspect, rows: readonly ObservedRow[]): boolean {
  const { draft, entity } = context;
  const { damage, id, state } = suspect;
  if (state === 'pending') {
    for (const row of rows) hold(context, row, pendingReason);
    return false;
  }
  const recordId = damage.id.kind === 'empty' ? '' : describeCell(damage.id);
  const scope = damageScope(entity, recordId, id);
  const answer = context.decision(scope);
  const isOver =
    answer === 'keep' ||
    (answer === 'restore' && !planRestore(context, suspect, rows)) ||
    isClear(context, suspect);
  if (isOver) {
    draft.suspectsDropped.push(id);
    return true;
  }
  if (answer === 'restore') return false;
  const reason = questionOf(context, damage);
  const [first, ...others] = rows;
  if (first) hold(context, first, reason, scope);
  else draft.holds.push({ entity, ...(recordId === '' ? {} : { id: recordId }), reason, decision: scope });
  for (const row of others) hold(context, row, reason);
  return false;
}

const pendingReason =
  'Rows moved while this one was written. What was written here by mistake is being taken back.';

function hold(context: TabContext, row: ObservedRow, reason: string, scope?: string): void {
  const id = row.id.kind === 'empty' ? '' : describeCell(row.id);
  if (row.isPaused) pauseRow(context, row, id);
  else holdRow(context, row, id, reason, scope);
}

/** Whether a row may be one that the write damaged. */
function isDamaged(context: TabContext, row: ObservedRow, { damage, state }: Suspect): boolean {
  if (damage.kind === 'deleted') return false;
  const isAll = showsAll(row, damage);
  if (damage.kind === 'added') return isAll;
  const isOwn = damage.id.kind !== 'empty' && equalCells(row.id, damage.id);
  if (state === 'undone')
    return isOwn ? showsAgain(context, row, damage) : hasNone(row) && isAll && hasEdit(damage);
  const writtenId = damage.cells[idHeader]?.written ?? emptyCell;
  const isGiven = writtenId.kind !== 'empty' && equalCells(row.id, writtenId);
  return isOwn || ((isGiven || hasNone(row)) && isAll);
}

const hasNone = ({ id }: ObservedRow): boolean => id.kind === 'empty';

/** Whether the damage is more than what the daemon itself writes beside a row. */
const hasEdit = ({ cells }: Damage): boolean =>
  Object.keys(cells).some((name) => name !== idHeader && name !== syncHeader);

const cellIn = (row: ObservedRow, name: string): Cell | undefined => {
  if (name === idHeader) return row.id;
  return name === syncHeader ? row.sync : row.cells[name];
};

/** Whether a row shows everything that was written there by mistake, which is something. */
function showsAll(row: ObservedRow, { cells }: Damage): boolean {
  const known = Object.entries(cells).filter(([name]) => cellIn(row, name) !== undefined);
  return (
    known.some(([, { written }]) => written.kind !== 'empty') &&
    known.every(([name, { written }]) => isSameKept(cellIn(row, name), written))
  );
}

/** Whether a field shows what was undone there, as after a user's own undo, and neither side has that by right. */
function showsAgain(context: TabContext, row: ObservedRow, damage: Damage): boolean {
  const { agreements, fields, names, records } = context;
  const id = describeCell(row.id);
  const { fields: agreed = {}, offered = {}, shown = {} } = agreements.get(id) ?? {};
  return Object.entries(damage.cells).some(([name, { written }]) => {
    const [field, cell] = [fields.get(name), row.cells[name]];
    if (!field || !cell || !isSameKept(cell, written)) return false;
    const known = [agreed[name], offered[name], records.get(id)?.fields[name]];
    return !known.some((value) => value !== undefined && showsValue(field, value, cell, names, shown[name]));
  });
}

/** Counts the reads that show nothing of an escalated write. Of users' own columns a read shows nothing. */
function isClear({ draft, tab }: TabContext, suspect: Suspect): boolean {
  const { clearReads, damage, state } = suspect;
  if (state !== 'escalated') return false;
  const reads = showsNothing(tab.rows, damage) ? clearReads + 1 : 0;
  if (reads >= clearReadsMax) return true;
  if (reads !== clearReads) draft.suspectsSaved.push({ ...suspect, clearReads: reads });
  return false;
}

function showsNothing(rows: readonly ObservedRow[], damage: Damage): boolean {
  const { cells, id, kind, own } = damage;
  const ownRows = id.kind === 'empty' ? [] : rows.filter((row) => equalCells(row.id, id));
  if (kind === 'deleted')
    return ownRows.length > 0 || (id.kind === 'empty' && rows.some((row) => showsBefore(row, cells)));
  if (Object.keys(own).length > 0 || rows.some((row) => showsAll(row, damage))) return false;
  return !ownRows.some((row) =>
    Object.entries(cells).some(([name, { written }]) => isSameKept(cellIn(row, name), written)),
  );
}

const showsBefore = (row: ObservedRow, cells: Damage['cells']): boolean =>
  Object.entries(cells).every(
    ([name, { before }]) => name === syncHeader || isSameKept(cellIn(row, name), before),
  );

/** Plans to put back what was there. Returns whether there is anything to do. */
function planRestore(context: TabContext, { damage, id }: Suspect, rows: readonly ObservedRow[]): boolean {
  const { draft, entity, input } = context;
  const write = restoreOf(context, damage, rows);
  if (!write) return false;
  const key = damage.id.kind === 'empty' ? undefined : { entity, id: describeCell(damage.id) };
  const cause = 'a user chose to put back what a write had replaced when rows moved';
  draft.table.push({
    write,
    offers: {},
    notice: '',
    closes: id,
    ...(key ? { journal: journalEntry(input, key, { kind: 'repair', cause }) } : {}),
  });
  return true;
}

function restoreOf(
  { entity, tab }: TabContext,
  damage: Damage,
  rows: readonly ObservedRow[],
): RowStep | undefined {
  const { id, kind, own } = damage;
  const row = rows.find((each) => equalCells(each.id, id)) ?? rows[0];
  const values = (isWanted: (name: string, cell: DamagedCell) => boolean) =>
    Object.fromEntries(
      Object.entries(damage.cells).flatMap(([name, cell]) =>
        tab.fields.has(name) && isWanted(name, cell) ? [[name, cell.before] as const] : [],
      ),
    );
  if (kind === 'deleted') {
    const isBack = id.kind !== 'empty' && tab.rows.some((each) => equalCells(each.id, id));
    const cells = values(() => true);
    return isBack
      ? undefined
      : { kind: 'append', entity, cells, own, ...(id.kind === 'empty' ? {} : { id }) };
  }
  if (!row) return undefined;
  const { id: idSeen, position } = row;
  if (kind === 'added') return { kind: 'delete', entity, position, idSeen };
  const cells = values((name, { written }) => isSameKept(row.cells[name], written));
  const given = damage.cells[idHeader];
  const isGiven = given !== undefined && equalCells(idSeen, given.written);
  if (Object.keys(cells).length + Object.keys(own).length === 0 && !isGiven) return undefined;
  return { kind: 'set', entity, position, idSeen, cells, own, ...(isGiven ? { id: given.before } : {}) };
}

/** What a user is asked: the columns by their headers, with what was written and what was there. */
function questionOf({ layout }: TabContext, { cells, kind, own }: Damage): string {
  const headers = new Map(layout.columns.map(({ field, header }) => [field, header]));
  const all = [
    ...Object.entries(cells).map(([name, cell]) => [headers.get(name) ?? name, cell] as const),
    ...Object.entries(own),
  ];
  const said = all.map(([header, cell]) => `${header}: ${wordsOf(kind, cell)}`).join('; ');
  return `Rows or columns moved while the sheet was written, and that could not be taken back by itself. ${beginnings[kind]} ${said}. Restore puts back what was there, Keep leaves all as it is.`;
}

const beginnings = {
  overwritten: 'Written here by mistake:',
  deleted: 'This row was deleted by mistake, with',
  added: 'This row was added under wrong columns, with',
} as const;

/** The user is to be able to put it back by hand. */
const quotedMax = 500;

function wordsOf(kind: Damage['kind'], { before, written }: DamagedCell): string {
  const [old, now] = [before, written].map((cell) =>
    cell.kind === 'empty' ? 'nothing' : quoteText(describeCell(cell), quotedMax),
  );
  if (kind === 'overwritten') return `${now} over ${old}`;
  return `${kind === 'deleted' ? old : now}`;
}

/** Suspects that are over by themselves: watched for long enough, or in the tab of the questions, where nothing is lost. */
export const findOver = ({ known, now }: Pick<DecideInput, 'known' | 'now'>): string[] =>
  known.suspects
    .filter(
      ({ at, damage, state }) => damage.entity === 'question' || (state === 'undone' && now >= at + watchMs),
    )
    .map(({ id }) => id);
