import { waitingStep } from '../../../core/outbox.ts';
import type { RecordId, RecordKey } from '../../../core/record.ts';
import { isStuck, isUnanswered, type OutboxItem } from '../../../core/state.ts';
import { equalFields, type Fields } from '../../../core/value.ts';
import { refusedScope } from '../../../core/waiting/scopes.ts';
import { isPending, likeMark, type RowState } from '../../cells/sync-text.ts';
import type { TableStep } from '../../plans/plan.ts';
import { describeCell, emptyCell } from '../../port/cell.ts';
import { isBlank, type ObservedRow } from '../../port/table.ts';
import type { BoundRow } from '../identity/bind.ts';
import { resembles, suspectReason } from '../identity/likeness.ts';
import { copyReason, offerAsNew } from '../identity/strays.ts';
import { mergeRow } from '../rows/merge.ts';
import { decideRow } from '../rows/row.ts';
import { type RowValues, readRowValues } from '../rows/row-values.ts';
import { claimRow, creating, findUnsettled, holdRow, writeRow } from '../rows/row-write.ts';
import { answerRefusal, waitingText } from '../rows/update.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, nothing, type Verdict } from '../verdict.ts';
import { decideGoneRecord } from './gone.ts';
import type { Release } from './vanished.ts';

/**
 * Decides a row without an ID that is not blank: a new record once it rests and its required cells are filled. Then it is claimed with a token,
 * and created in a later cycle, after the token was seen in the sheet.
 */
export function decideNewRow(index: TabIndex, row: ObservedRow, around: Surroundings): Verdict {
  const unsettled = findUnsettled(index, row);
  if (unsettled) return unsettled;
  const values = readRowValues(index, row);
  const obstacle = findObstacle(index, row, '', values, around.suspectsOf(row));
  if (obstacle) return obstacle;
  const creates = around.creates();
  const underWay = findUnderWay(creates, values.fields);
  if (underWay) return writeRow(index, row, '', { state: pendingCreate(underWay) });
  // Who cleared its ID before the row said that a user is needed has answered nothing.
  const isUntold = (item: OutboxItem) => item.state === 'review' && resembles(item.fields, values.fields);
  const untold = isPending(row) ? creates.find(isUntold) : undefined;
  if (!untold) return claimRow(index, row, values.fields);
  return giveToken(index, row, untold, { kind: 'held', reason: reviewReason(untold) });
}

/** Decides a row in which nothing is filled. */
export const decideBlankRow = (index: TabIndex, row: ObservedRow): Verdict =>
  row.id.kind !== 'empty' || (index.tab.hasSync && row.sync.kind !== 'empty')
    ? clearRow(index, row)
    : nothing;

/** Takes out of a blank row what we wrote there: its token, and what its Sync cell says. */
function clearRow({ entity, tab }: TabIndex, row: ObservedRow): Verdict {
  const step: TableStep = {
    write: {
      kind: 'set',
      entity,
      position: row.position,
      idSeen: row.id,
      ...(row.id.kind === 'empty' ? {} : { id: emptyCell }),
      cells: {},
      ...(tab.hasSync ? { sync: emptyCell } : {}),
    },
  };
  return { table: [step] };
}

/** What keeps a record from being made of a row, noted where it is a fault of a cell; `undefined` where nothing does. */
function findObstacle(
  index: TabIndex,
  row: ObservedRow,
  id: RecordId,
  { faults, missing }: RowValues,
  suspects: readonly RecordId[],
): Verdict | undefined {
  if (suspects.length > 0) {
    const reason = suspectReason(likeMark, suspects, 'change the row to make it a new record');
    return join({ resembled: suspects }, holdRow(index, { row, id }, reason));
  }
  if (faults.length > 0) {
    const reason = faults.join(' ');
    const refusals = [{ entity: index.entity, position: row.position, reason }];
    return join({ refusals }, writeRow(index, row, id, { state: { kind: 'error', reason } }));
  }
  return missing.length > 0
    ? writeRow(index, row, id, { state: { kind: 'incomplete', missing } })
    : undefined;
}

/** Gives a row back the token of its create. */
const giveToken = (index: TabIndex, row: ObservedRow, { key }: OutboxItem, state: RowState): Verdict =>
  writeRow(index, row, key.id, { given: { id: key.id }, state });

/**
 * A create that is on its way for a row like this one, which lost its token then, or left it behind in a blank row: sent once more, it
 * would make a second record.
 */
const findUnderWay = (creates: readonly OutboxItem[], fields: Fields): OutboxItem | undefined =>
  creates.find((item) => item.state !== 'review' && resembles(item.fields, fields));

/** The creates that are on their way or need a person, and whose token stands in no row, or in a blank one. */
export function findCreatesWithoutRow({ outbox, tab }: TabIndex): readonly OutboxItem[] {
  const rows = new Map(tab.rows.map((row) => [describeCell(row.id), row]));
  return [...outbox.values()].filter((item) => {
    if (item.kind !== 'create') return false;
    const row = rows.get(item.key.id);
    if (row) return isBlank(row) && (isUnanswered(item) || item.state === 'done');
    return isUnanswered(item) || item.state === 'review';
  });
}

const foreignReason =
  'This row was being created when the daemon lost its memory of it. If the CRM has the record, put its ID into the ID cell; if not, clear the ID cell to create it.';

/** What judging a row has to know of all others. */
export interface Surroundings {
  /** Records that have a row with their own ID. */
  readonly boundIds: ReadonlySet<RecordId>;
  /** Creates whose token no row shows. */
  readonly creates: () => readonly OutboxItem[];
  /** Missing records whose row this may be. */
  readonly suspectsOf: (row: ObservedRow) => readonly RecordId[];
  readonly release: Release;
}

/**
 * Decides a row that carries a claim token: its create is put into the outbox and followed, and the record's ID replaces the token. A
 * token that got beside the values of a missing record is not followed.
 */
export function decideClaimedRow(index: TabIndex, claimed: BoundRow, around: Surroundings): Verdict {
  const { row, id: token } = claimed;
  const key = { entity: index.entity, id: token };
  const item = index.outbox.get(token);
  if (item?.state === 'done' && item.recordId !== undefined) {
    if (around.boundIds.has(item.recordId)) return offerAsNew(index, claimed, copyReason);
    if (isBlank(row) && hasMoved(index, item)) return clearRow(index, row);
    return decideMadeRow(index, row, item.recordId);
  }
  if (item?.state === 'review') return holdRow(index, claimed, reviewReason(item));
  if (item && isUnanswered(item)) return writeRow(index, row, token, { state: pendingCreate(item) });
  // A row that holds nothing else makes no record, whatever became of the create.
  if (!item && !index.input.isOwnToken(token) && !isBlank(row)) return holdRow(index, claimed, foreignReason);
  return item ? decideUnsentRow(index, row, item, around) : decideFreshClaim(index, row, key, around);
}

/** Decides a row whose record is made: it gets its ID. */
function decideMadeRow(index: TabIndex, row: ObservedRow, id: RecordId): Verdict {
  const record = index.records.get(id);
  if (!record) return nothing;
  if (record.presence === 'gone') return decideGoneRecord(index, row, record);
  return decideRow(index, { row, record, merged: mergeRow(index, row, id) }, { id });
}

/**
 * Decides a claimed row whose create waits in the outbox, or was refused. It follows what the row shows, and is dropped where the row can not
 * become a record.
 */
function decideUnsentRow(index: TabIndex, row: ObservedRow, item: OutboxItem, around: Surroundings): Verdict {
  const { key } = item;
  const drop = { outboxDropped: [key] };
  const values = readRowValues(index, row);
  const isAsSent = equalFields(item.fields, values.fields);
  const unsettled = findUnsettled(index, row);
  // What stood here before may be what a sort tore apart, withheld until now: it is not sent while somebody mends the row.
  if (unsettled)
    return join(
      unsettled,
      { scopes: [refusedScope(key)] },
      item.state === 'waiting' && !isAsSent ? drop : nothing,
    );
  if (isBlank(row)) return join(drop, clearRow(index, row));
  const obstacle = findObstacle(index, row, key.id, values, isAsSent ? [] : around.suspectsOf(row));
  if (obstacle) return join(drop, obstacle);
  if (!isAsSent) return sendCreate(index, row, key, values.fields);
  const said = isStuck(item)
    ? answerRefusal(index, item, row.position)
    : { state: waitingCreate(item), verdict: nothing };
  return join(said.verdict, writeRow(index, row, key.id, { state: said.state }));
}

/** Decides a claimed row of which nothing was put into the outbox yet. */
function decideFreshClaim(index: TabIndex, row: ObservedRow, key: RecordKey, around: Surroundings): Verdict {
  // Nothing is left but its token, or that was never more, because the row to be claimed moved in the same moment.
  if (isBlank(row)) return findUnsettled(index, row) ?? clearRow(index, row);
  const values = readRowValues(index, row);
  // A claim that lands late takes the place of the token under which the row's create is on its way, if somebody has wiped that.
  const underWay = findUnderWay(around.creates(), values.fields);
  if (underWay) return giveToken(index, row, underWay, pendingCreate(underWay));
  const obstacle = findObstacle(index, row, key.id, values, around.suspectsOf(row));
  return obstacle ?? sendCreate(index, row, key, values.fields);
}

const sendCreate = (index: TabIndex, row: ObservedRow, key: RecordKey, fields: Fields): Verdict =>
  join(
    { outboxSaved: [waitingStep(index.input, key, { kind: 'create', fields, base: {} })] },
    writeRow(index, row, key.id, { state: creating }),
  );

/** Whether the row that a create was made for stands elsewhere, without the token: somebody took back that it was moved. */
const hasMoved = (index: TabIndex, { fields }: OutboxItem): boolean =>
  index.tab.rows.some(
    (row) => row.id.kind === 'empty' && !isBlank(row) && resembles(fields, readRowValues(index, row).fields),
  );

const reviewReason = ({ error }: OutboxItem): string => error?.message ?? 'Its create needs a person.';

/** What keeps a create from being sent. One that was looked for and not found is sent like one that never was. */
const waitingCreate = (item: OutboxItem): RowState =>
  item.error === undefined || item.error.code === 'CRM_UNKNOWN_OUTCOME'
    ? creating
    : { kind: 'pending', what: waitingText(item) };

const pendingCreate = ({ state }: OutboxItem): RowState => ({
  kind: 'pending',
  what:
    state === 'unknown'
      ? 'the CRM did not say whether it created the record; the daemon looks before it tries again'
      : 'being created in the CRM',
});

/** How long a create that is over is kept: whoever brings back the row with its token does so within this time. */
const overKeptMs = 30 * 24 * 60 * 60 * 1000;

/** Whether a create is older than any that is over is kept. */
export const isOverKept = ({ createdAt }: Pick<OutboxItem, 'createdAt'>, now: number): boolean =>
  createdAt < now - overKeptMs;

/**
 * Forgets creates whose token stands in no row: at once those that were not sent, and after a month those that are over. Until then
 * a row that comes back is known.
 */
export function forgetCreates({ input, outbox }: TabIndex, tokens: ReadonlySet<RecordId>): Verdict {
  const isForgotten = ({ key, kind, state, createdAt }: OutboxItem): boolean => {
    if (kind !== 'create' || tokens.has(key.id)) return false;
    const isOver = state === 'done' || state === 'review';
    return state === 'waiting' || state === 'refused' || (isOver && isOverKept({ createdAt }, input.now));
  };
  return { outboxDropped: [...outbox.values()].filter(isForgotten).map(({ key }) => key) };
}
