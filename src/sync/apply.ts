import { backoffMs } from '../core/backoff.ts';
import { type Cell, describeCell, emptyCell, equalCells } from '../core/cell.ts';
import type { Plan, TableStep } from '../core/decide/plan.ts';
import { isSyncError } from '../core/errors.ts';
import type { RecordKey } from '../core/record.ts';
import type { MisplacedWrite, ObservedRow, ObservedTable, RowStep } from '../core/table.ts';
import type { FieldName } from '../core/value.ts';
import { currentLayout } from './layout.ts';
import type { Link } from './link.ts';

/**
 * Applies a plan: what it says about the outbox, agreements and the journal becomes durable in one transaction, then the table is
 * written in one atomic batch, and only what the reply confirms becomes agreed.
 */
export async function applyPlan(link: Link, plan: Plan, table: ObservedTable): Promise<void> {
  commitPlan(link, plan);
  await wake(
    link,
    plan.outbox.save.map(({ key }) => key),
  );
  if (plan.table.length === 0) return;
  const receipt = await link.table.write(plan.table.map(({ write }) => write));
  const missed = new Set<RowStep>(receipt.misplaced.map(({ step }) => step));
  link.log.info('sheet.written', { run: plan.run, rows: plan.table.length - missed.size });
  confirmSteps(
    link,
    plan,
    plan.table.filter(({ write }) => !missed.has(write)),
  );
  if (receipt.misplaced.length > 0) await repairMisplaced(link, table, receipt.misplaced);
}

function commitPlan(link: Link, plan: Plan): void {
  const { mirror } = link;
  mirror.transaction(() => {
    for (const key of plan.outbox.drop) mirror.dropOutboxItem(key);
    for (const item of plan.outbox.save) mirror.saveOutboxItem(item);
    for (const key of plan.agreements.drop) mirror.dropAgreement(key);
    for (const agreement of plan.agreements.save) mirror.saveAgreement(agreement);
    for (const scope of plan.settledDecisions) mirror.dropDecision(scope);
    if (plan.journal.length > 0) mirror.appendJournal(plan.journal);
  });
}

/** Wakes the worker. A queue that does not answer is no loss: the refill adds what is due as soon as it does. */
export async function wake(link: Link, keys: readonly RecordKey[]): Promise<void> {
  if (keys.length === 0) return;
  try {
    await link.queue.add(keys);
  } catch (error) {
    if (!isSyncError(error, 'QUEUE_UNREACHABLE')) throw error;
    link.log.debug('queue.unreachable', { message: error.message, waiting: keys.length });
  }
}

/**
 * What was offered and written is agreed now. The agreement is read again, because a push may have moved other fields of it while the
 * table was being written.
 */
function confirmSteps(link: Link, plan: Plan, steps: readonly TableStep[]): void {
  const { mirror } = link;
  mirror.transaction(() => {
    for (const { key, offers, notice, forgets, journal } of steps) {
      if (journal) mirror.appendJournal([journal]);
      if (!key) continue;
      const agreement = mirror.findAgreement(key);
      if (forgets) {
        mirror.dropAgreement(key);
        mirror.dropOutboxItem(key);
      } else if (agreement && Object.keys(offers).length > 0) {
        const fields = { ...agreement.fields, ...offers };
        mirror.saveAgreement({ ...agreement, fields, offered: {}, changedAt: plan.at, notice });
      }
    }
  });
}

/** Rows that keep moving are repaired this often before the next cycle has to look at them. */
const repairsMax = 5;

/**
 * Puts back what a misplaced write replaced: rows moved between our read and our write, so cells of one record reached the row of
 * another. The row is found by the ID that the reply showed in it, and gets the cells it had in the read before.
 */
async function repairMisplaced(
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
  readonly step: Extract<RowStep, { kind: 'set' }>;
}

function planRepair(before: ObservedTable, now: ObservedTable, cause: MisplacedWrite): Repair[] {
  const { step, idFound } = cause;
  const row = rowsOf(now, step).find((candidate) => isDamaged(candidate, step, idFound));
  if (!row) return [];
  const original = rowsOf(before, step).find((candidate) => equalCells(candidate.id, idFound));
  const hadCells = idFound.kind === 'empty' ? {} : (original?.cells ?? {});
  const cells: Record<FieldName, Cell> = {};
  for (const name of Object.keys(step.cells)) cells[name] = hadCells[name] ?? emptyCell;
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

const rowsOf = (table: ObservedTable, step: RowStep): readonly ObservedRow[] => {
  const tab = table.tabs[step.entity];
  return tab.state === 'read' ? tab.rows : [];
};

/** The row that was hit: it has the ID that was found in it and still shows what was written. */
function isDamaged(row: ObservedRow, step: MisplacedWrite['step'], idFound: Cell): boolean {
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
