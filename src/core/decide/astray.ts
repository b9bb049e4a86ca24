import { type Cell, describeCell, emptyCell, equalCells } from '../cell.ts';
import { encode } from '../codec.ts';
import type { OpenWrite, RowBefore, SentSet } from '../open-write.ts';
import type { RecordId } from '../record.ts';
import type { DeleteStep, ObservedRow, RowStep } from '../table.ts';
import type { FieldName } from '../value.ts';
import { equalRows } from './bind.ts';
import type { TabContext } from './context.ts';
import { showsValues } from './row-values.ts';

/** What our own writes did to rows that are not theirs, because rows moved between a read and the write that was planned from it. */
export interface Astray {
  /** Rows that hold cells of another one. Nothing may be concluded from them before they are mended. */
  readonly rows: ReadonlySet<ObservedRow>;
  /** Records whose row is hit or was taken: they have not vanished. */
  readonly ids: ReadonlySet<RecordId>;
  readonly repairs: readonly RepairStep[];
}

type RepairStep = Exclude<RowStep, { kind: 'delete' }>;

interface Damage {
  readonly row: ObservedRow;
  readonly sent: SentSet;
  /** The row as it was, as far as it is known. */
  readonly before: Pick<ObservedRow, 'id' | 'cells'>;
}

/** Finds the damage of all writes that are still open, and marks those writes as needed for as long as they may have done any. */
export function findAstray(context: TabContext): Astray {
  const rows = new Set<ObservedRow>();
  const ids = new Set<RecordId>();
  const repairs: RepairStep[] = [];
  for (const write of context.input.known.openWrites) {
    if (write.outcome === 'unknown') noteLanded(context, write);
    const damages = write.sets
      .flatMap((sent) => findDamage(context, write, sent))
      .filter(({ row }) => !rows.has(row));
    const taken = findTaken(context, write);
    if (damages.length > 0 || taken.length > 0 || isPending(context, write))
      context.draft.neededWrites.add(write.id);
    for (const { row, before } of damages) {
      rows.add(row);
      ids.add(describeCell(before.id));
    }
    for (const { id } of taken) ids.add(describeCell(id));
    repairs.push(...damages.map((damage) => repairStep(context, damage)), ...taken.map(restoreStep));
  }
  return { rows, ids, repairs };
}

/** A set without a reply that its row shows has landed: now it is a change that was done, and nothing of it is open any more. */
function noteLanded(context: TabContext, { sets }: OpenWrite): void {
  const { draft, entity } = context;
  for (const sent of sets) {
    if (sent.entity !== entity) continue;
    const row = findRow(context, sent.id ?? sent.idSeen);
    if (!row || !shows(row, sent)) continue;
    draft.landedSets.add(sent);
    if (sent.journal) draft.journal.push(sent.journal);
  }
}

/** Whether a step of a write without a reply has neither landed nor surely been lost. */
function isPending({ draft, entity, input, tab }: TabContext, write: OpenWrite): boolean {
  if (write.outcome === 'answered' || input.now >= write.settlesAt) return false;
  return (
    write.sets.some((sent) => sent.entity === entity && !draft.landedSets.has(sent)) ||
    write.deletes.some((step) => step.entity === entity && stillStands(tab.rows, write, step))
  );
}

/** The first row with the ID. */
const findRow = ({ tab }: TabContext, id: Cell): ObservedRow | undefined =>
  tab.rows.find((row) => equalCells(row.id, id));

const shows = (row: ObservedRow, { cells }: SentSet): boolean =>
  Object.entries(cells).every(([name, cell]) => equalCells(row.cells[name] ?? emptyCell, cell));

function findDamage(context: TabContext, write: OpenWrite, sent: SentSet): Damage[] {
  if (sent.entity !== context.entity) return [];
  return sent.idFound
    ? findReported(context, write, sent, sent.idFound)
    : findUnreported(context, write, sent);
}

/** The reply showed which row was hit; it is damaged as long as it shows what was written. */
function findReported(context: TabContext, write: OpenWrite, sent: SentSet, idFound: Cell): Damage[] {
  if (sent.id && isMended(context, sent, idFound)) return [];
  const row = findRow(context, sent.id ?? idFound);
  if (!row) return [];
  // A formula can not be seen in the reply as it was: it is known from the read.
  const cells = { ...beforeOf(context, write, row, idFound, sent)?.cells, ...sent.replaced };
  const before = { id: idFound, cells };
  if (sent.replaced && !sent.id) return findLeft({ row, sent, before });
  return shows(row, sent) ? [{ row, sent, before }] : [];
}

/** Of the cells that were replaced, those over which nobody has typed since. */
function findLeft({ row, sent, before }: Damage): Damage[] {
  const left = Object.entries(sent.cells).filter(
    ([name, cell]) =>
      equalCells(row.cells[name] ?? emptyCell, cell) && !equalCells(before.cells[name] ?? emptyCell, cell),
  );
  return left.length === 0 ? [] : [{ row, sent: { ...sent, cells: Object.fromEntries(left) }, before }];
}

/** The own row has its new ID and the row that was hit its old one: whoever shows what was sent does so rightly. */
function isMended(context: TabContext, { idSeen }: SentSet, idFound: Cell): boolean {
  if (idSeen.kind === 'empty' || findRow(context, idSeen)) return false;
  return idFound.kind === 'empty' || findRow(context, idFound) !== undefined;
}

/**
 * Nobody saw where the write went. The row that stands in its place now was hit if it is another one and shows what it did not
 * show before. An ID that was written astray is no matter of this: what a row shows tells whose it is.
 */
function findUnreported(context: TabContext, write: OpenWrite, sent: SentSet): Damage[] {
  if (Object.keys(sent.cells).length === 0 || context.draft.landedSets.has(sent)) return [];
  const own = findRow(context, sent.id ?? sent.idSeen);
  const gone = write.deletes.filter(
    ({ entity, position }) => entity === sent.entity && position < sent.position,
  );
  const row = context.tab.rows.find(({ position }) => position === sent.position - gone.length);
  if (!row || row === own || !shows(row, sent)) return [];
  const before = beforeOf(context, write, row, row.id, sent);
  if (!before || shows({ ...row, cells: before.cells }, sent)) return [];
  return [{ row, sent, before }];
}

/** What a row showed before it was hit: as it was read then or, where that was not worth keeping, what is agreed for its record. */
function beforeOf(
  context: TabContext,
  { before }: OpenWrite,
  row: ObservedRow,
  id: Cell,
  sent: SentSet,
): Damage['before'] | undefined {
  const own = before.filter((candidate) => candidate.entity === sent.entity && equalCells(candidate.id, id));
  if (id.kind === 'empty') return own.find((candidate) => differOnlyIn(candidate, row, sent));
  const agreement = context.agreements.get(describeCell(id));
  if (own[0] || !agreement) return own[0];
  const cells = Object.fromEntries(
    Object.keys(sent.cells).map((name) => {
      const [field, value] = [context.fields.get(name), agreement.fields[name]];
      return [name, field && value !== undefined ? encode(field, value, context.names) : emptyCell];
    }),
  );
  return { id, cells };
}

const differOnlyIn = ({ cells }: RowBefore, row: ObservedRow, sent: SentSet): boolean =>
  Object.entries(row.cells).every(
    ([name, cell]) => name in sent.cells || equalCells(cells[name] ?? emptyCell, cell),
  );

/** Rows that a delete took instead of its own, which still stands. */
function findTaken(context: TabContext, write: OpenWrite): RowBefore[] {
  const { entity, tab } = context;
  const { before, deletes } = write;
  const own = deletes.filter((step) => step.entity === entity);
  if (!own.some((step) => stillStands(tab.rows, write, step))) return [];
  const stands = (gone: RowBefore) =>
    gone.id.kind === 'empty' ? tab.rows.some((row) => equalRows(row, gone)) : findRow(context, gone.id);
  const isMeant = (gone: RowBefore) => own.some(({ idSeen }) => equalCells(idSeen, gone.id));
  return before.filter((row) => row.entity === entity && !isMeant(row) && !stands(row));
}

/** Whether the row that was to be deleted is still there; copies of it that a person made are not it. */
function stillStands(rows: readonly ObservedRow[], { before }: OpenWrite, step: DeleteStep): boolean {
  const count = (all: readonly Pick<ObservedRow, 'id'>[]) =>
    all.filter(({ id }) => equalCells(id, step.idSeen)).length;
  const copies = Math.max(0, count(before.filter(({ entity }) => entity === step.entity)) - 1);
  return count(rows) > copies;
}

function repairStep({ entity }: TabContext, { row, sent, before }: Damage): RepairStep {
  const cells: Record<FieldName, Cell> = {};
  for (const name of Object.keys(sent.cells)) cells[name] = writable(before.cells[name]);
  // An ID that was written astray is taken out again: the row's own is the one that stood there before.
  const id = sent.id ? { id: before.id } : {};
  return { kind: 'set', entity, position: row.position, idSeen: row.id, cells, ...id };
}

const restoreStep = ({ entity, id, cells }: RowBefore): RepairStep => ({
  kind: 'append',
  entity,
  ...(id.kind === 'empty' ? {} : { id }),
  cells: Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, writable(cell)])),
});

/** Of an error that no formula shows only the message is known, and that is no value. */
const writable = (cell: Cell | undefined): Cell =>
  cell === undefined || (cell.kind === 'error' && cell.formula === undefined) ? emptyCell : cell;

/** Plans the repairs, with a line in the journal for each. */
export function planRepairs({ draft, entity, input }: TabContext, { repairs }: Astray): void {
  for (const write of repairs) {
    const id = write.kind === 'set' ? (write.id ?? write.idSeen) : (write.id ?? emptyCell);
    draft.table.push({
      write,
      offers: {},
      notice: '',
      isRepair: true,
      journal: {
        at: input.now,
        run: input.run,
        key: { entity, id: describeCell(id) },
        kind: 'repair',
        side: 'table',
        before: {},
        after: {},
        lost: {},
        cause:
          write.kind === 'set'
            ? `somebody moved rows or typed while they were written: ${Object.keys(write.cells).join(', ')}`
            : 'rows moved while one of them was deleted',
      },
    });
  }
}

/**
 * Keeps what the planned steps of the tab would replace if rows moved meanwhile. A row that shows what is agreed can be told from the
 * agreement; where rows are deleted, every row may be taken.
 */
export function keepBefore(context: TabContext): void {
  const { agreements, draft, entity, tab } = context;
  const steps = draft.table.flatMap(({ write }) => (write.entity === entity ? [write] : []));
  const hasDeletes = steps.some(({ kind }) => kind === 'delete');
  if (!hasDeletes && !steps.some((step) => step.kind === 'set' && Object.keys(step.cells).length > 0)) return;
  const isAgreed = (row: ObservedRow) => {
    const agreement = agreements.get(describeCell(row.id));
    return agreement !== undefined && showsValues(context, row, agreement.fields);
  };
  for (const row of tab.rows) {
    if (hasDeletes || !isAgreed(row)) draft.before.push({ entity, id: row.id, cells: row.cells });
  }
}
