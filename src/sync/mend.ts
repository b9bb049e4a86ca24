import { backoffMs } from '../core/backoff.ts';
import { type Cell, describeCell, emptyCell, equalCells } from '../core/cell.ts';
import { equalRows } from '../core/decide/bind.ts';
import { isSyncError } from '../core/errors.ts';
import { type Entity, entities } from '../core/record.ts';
import type {
  DeleteStep,
  MisplacedWrite,
  ObservedRow,
  ObservedTable,
  RowStep,
  SetStep,
} from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { currentLayout } from './layout.ts';
import type { Link } from './link.ts';

/** Rows that keep moving are repaired this often before the next cycle has to look at them. */
const repairsMax = 5;

/**
 * Puts back what a misplaced write replaced: rows moved between our read and our write, so cells of one record reached the row of
 * another. The row is found by the ID that the reply showed in it, and gets the cells it had in the read before.
 */
export async function repairMisplaced(
  link: Link,
  before: ObservedTable,
  misplaced: readonly MisplacedWrite[],
): Promise<void> {
  let open = misplaced;
  for (let round = 1; open.length > 0 && round <= repairsMax; round += 1) {
    link.log.warn('sheet.rows_moved', { rows: open.length, round });
    open = await insist(link, () => repairOnce(link, before, open));
  }
}

/** Answers what is still to be mended. */
async function repairOnce(
  link: Link,
  before: ObservedTable,
  misplaced: readonly MisplacedWrite[],
): Promise<readonly MisplacedWrite[]> {
  const now = await link.table.read(currentLayout(link));
  const repairs = misplaced.flatMap((write) => planRepair(before, now, write));
  if (repairs.length === 0) return [];
  const receipt = await link.table.write(repairs.map(({ step }) => step));
  const missed = new Set<RowStep>(receipt.misplaced.map(({ step }) => step));
  journalRepairs(
    link,
    repairs.filter(({ step }) => !missed.has(step)),
  );
  // A repair that went astray itself hit another row: that row is mended, and the first one still is to be.
  return [...receipt.misplaced, ...repairs.filter(({ step }) => missed.has(step)).map(({ cause }) => cause)];
}

/**
 * Tries for as long as the sheet fails. A row that shows the values of another record would count as edited in the next cycle, so there
 * must be none before it is mended.
 */
async function insist<Result>(link: Link, work: () => Promise<Result>): Promise<Result> {
  const { backoff, clock, log, random } = link;
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isSyncError(error)) throw error;
      log.warn('sheet.repair_failed', { code: error.code, failures });
      await clock.sleep(error.retryAfterMs ?? backoffMs(backoff, failures, random()));
    }
  }
}

interface Repair {
  readonly cause: MisplacedWrite;
  readonly step: SetStep;
}

function planRepair(before: ObservedTable, now: ObservedTable, cause: MisplacedWrite): Repair[] {
  const { step, idFound } = cause;
  const row = rowsOf(now, step.entity).find((candidate) => isDamaged(candidate, step, idFound));
  if (!row) return [];
  const original = rowsOf(before, step.entity).find((candidate) => equalCells(candidate.id, idFound));
  const hadCells = idFound.kind === 'empty' ? {} : (original?.cells ?? {});
  const cells: Record<FieldName, Cell> = {};
  for (const name of Object.keys(step.cells)) cells[name] = writableCell(hadCells[name] ?? emptyCell);
  const sync = step.sync ? { sync: original?.sync ?? emptyCell } : {};
  // An ID that was written astray is taken out again: the row's own is the one that stood there before.
  const id = step.id ? { id: idFound.kind === 'empty' ? emptyCell : idFound } : {};
  return [
    {
      cause,
      step: {
        kind: 'set',
        entity: step.entity,
        position: row.position,
        idSeen: row.id,
        cells,
        ...sync,
        ...id,
      },
    },
  ];
}

/** Of an error only its message is known, and that is no value. */
const writableCell = (cell: Cell): Cell => (cell.kind === 'error' ? emptyCell : cell);

const rowsOf = (table: ObservedTable, entity: Entity): readonly ObservedRow[] => {
  const tab = table.tabs[entity];
  return tab.state === 'read' ? tab.rows : [];
};

/** The row that was hit: it has the ID that was found in it and still shows what was written. */
function isDamaged(row: ObservedRow, step: SetStep, idFound: Cell): boolean {
  if (!equalCells(row.id, step.id ?? idFound)) return false;
  return Object.entries(step.cells).every(([name, cell]) => equalCells(row.cells[name] ?? emptyCell, cell));
}

function journalRepairs(link: Link, repairs: readonly Repair[]): void {
  if (repairs.length === 0) return;
  link.mirror.appendJournal(
    repairs.map(({ step }) => ({
      at: link.clock.now(),
      run: link.newWord(),
      key: { entity: step.entity, id: describeCell(step.idSeen) },
      kind: 'repair' as const,
      side: 'table' as const,
      before: {},
      after: {},
      lost: {},
      cause: `rows moved while they were written: ${Object.keys(step.cells).join(', ')}`,
    })),
  );
}

/**
 * Puts back the rows that deletes took instead of their own. Nobody meant them to go: missing, they would count as deleted by a person.
 * Only their managed cells are known.
 */
export async function restoreRows(
  link: Link,
  before: ObservedTable,
  astray: readonly DeleteStep[],
): Promise<void> {
  if (astray.length === 0) return;
  await insist(link, async () => {
    const now = await link.table.read(currentLayout(link));
    const hit = entities.filter((entity) => astray.some((step) => step.entity === entity));
    const steps = hit.flatMap((entity) => planRestores(entity, rowsOf(before, entity), rowsOf(now, entity)));
    if (steps.length > 0) await link.table.write(steps);
  });
}

function planRestores(
  entity: Entity,
  before: readonly ObservedRow[],
  now: readonly ObservedRow[],
): RowStep[] {
  const stands = (row: ObservedRow) =>
    now.some((other) => (row.id.kind === 'empty' ? equalRows(row, other) : equalCells(row.id, other.id)));
  return before
    .filter((row) => !isBlank(row) && !stands(row))
    .map(({ id, sync, cells }) => ({
      kind: 'append',
      entity,
      ...(id.kind === 'empty' ? {} : { id }),
      ...(sync.kind === 'empty' ? {} : { sync }),
      cells: Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, writableCell(cell)])),
    }));
}

const isBlank = ({ id, cells }: ObservedRow): boolean =>
  [id, ...Object.values(cells)].every((cell) => cell.kind === 'empty');
