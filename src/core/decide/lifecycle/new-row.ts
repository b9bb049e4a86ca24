import { describeCell, emptyCell, isUnfilled } from '../../cell.ts';
import type { RecordId, RecordKey } from '../../record.ts';
import { isUnanswered, type OutboxItem } from '../../state.ts';
import type { ObservedRow } from '../../table.ts';
import { equalFields, type Fields } from '../../value.ts';
import { isLeftToRest, refusedScope, type TabContext } from '../context.ts';
import { copyReason, offerAsNew } from '../identity/copies.ts';
import { resembles } from '../identity/resemblance.ts';
import { suspectReason } from '../identity/strays.ts';
import { waitingStep } from '../outbox-step.ts';
import { answerRefusal, isStuck } from '../rows/refused.ts';
import { decideRow } from '../rows/row.ts';
import { type RowValues, readRowValues } from '../rows/row-values.ts';
import { claimRow, creating, holdRow, writeRow } from '../rows/row-write.ts';
import { isPending, type RowState } from '../rows/sync-text.ts';
import { waitingText } from '../rows/update.ts';

/**
 * Decides a row without an ID: a new record once it rests and its required cells are filled. Then it is claimed with a token, and created
 * in a later cycle, after the token was seen in the sheet. `suspects` are missing records whose row it may be.
 */
export function decideNewRow(context: TabContext, row: ObservedRow, suspects: readonly RecordId[]): void {
  if (isBlank(row)) {
    if (row.id.kind !== 'empty' || (context.tab.hasSync && row.sync.kind !== 'empty')) clearRow(context, row);
  } else if (!isLeftToRest(context, row)) decideUnclaimedRow(context, row, suspects);
}

/** Whether nothing is filled in a row, whatever its ID and its Sync cell say. */
export const isBlank = (row: ObservedRow): boolean => Object.values(row.cells).every(isUnfilled);

/** Takes out of a blank row what we wrote there: its token, and what its Sync cell says. */
function clearRow({ draft, entity, tab }: TabContext, row: ObservedRow): void {
  draft.table.push({
    write: {
      kind: 'set',
      entity,
      position: row.position,
      idSeen: row.id,
      ...(row.id.kind === 'empty' ? {} : { id: emptyCell }),
      cells: {},
      ...(tab.hasSync ? { sync: emptyCell } : {}),
    },
    offers: {},
    notice: '',
  });
}

function decideUnclaimedRow(context: TabContext, row: ObservedRow, suspects: readonly RecordId[]): void {
  if (suspects.length > 0) return holdRow(context, row, '', likeReason(suspects));
  const values = readRowValues(context, row);
  const nobody = { entity: context.entity, id: '' };
  const obstacle = findObstacle(context, row, values);
  if (obstacle) return writeRow(context, row, nobody, { state: obstacle });
  const underWay = findUnderWay(context, values.fields);
  if (underWay)
    return writeRow(context, row, nobody, { state: { kind: 'pending', what: pendingCreate(underWay) } });
  const untold = findUntold(context, row, values.fields);
  if (untold) {
    const state = { kind: 'held', reason: reviewReason(untold) } as const;
    return writeRow(context, row, untold.key, { given: { id: untold.key.id }, state });
  }
  claimRow(context, row, values.fields);
}

/** What keeps a record from being made of a row, noted where it is a fault of a cell; `undefined` where nothing does. */
function findObstacle(
  { draft, entity }: TabContext,
  { position }: ObservedRow,
  { faults, missing }: RowValues,
): RowState | undefined {
  if (faults.length === 0) return missing.length > 0 ? { kind: 'incomplete', missing } : undefined;
  const reason = faults.join(' ');
  draft.refusals.push({ entity, position, reason });
  return { kind: 'error', reason };
}

/**
 * A create that is on its way for a row like this one, which lost its token then, or left it behind in a blank row: sent once more, it
 * would make a second record.
 */
const findUnderWay = (context: TabContext, fields: Fields): OutboxItem | undefined =>
  findCreate(context, fields, (item) => !needsPerson(item));

/** Such a create that needs a person whom the row has not told yet: who cleared its ID before then has answered nothing. */
const findUntold = (context: TabContext, row: ObservedRow, fields: Fields): OutboxItem | undefined =>
  isPending(row) ? findCreate(context, fields, needsPerson) : undefined;

const needsPerson = ({ state }: OutboxItem): boolean => state === 'review';

const findCreate = (
  context: TabContext,
  fields: Fields,
  isWanted: (item: OutboxItem) => boolean,
): OutboxItem | undefined =>
  createsWithoutRow(context).find((item) => isWanted(item) && resembles(item.fields, fields));

/** Such creates of a tab, for as long as it is decided: many rows may be pasted at once while many creates wait. */
const createsByTab = new WeakMap<TabContext, readonly OutboxItem[]>();

function createsWithoutRow(context: TabContext): readonly OutboxItem[] {
  const { outbox, tab } = context;
  const known = createsByTab.get(context);
  if (known) return known;
  const rows = new Map(tab.rows.map((row) => [describeCell(row.id), row]));
  const creates = [...outbox.values()].filter((item) => {
    if (item.kind !== 'create') return false;
    const row = rows.get(item.key.id);
    if (row) return isBlank(row) && (isUnanswered(item) || item.state === 'done');
    return isUnanswered(item) || item.state === 'review';
  });
  createsByTab.set(context, creates);
  return creates;
}

const foreignReason =
  'This row was being created when the daemon lost its memory of it. If the CRM has the record, put its ID into the ID cell; if not, clear the ID cell to create it.';

const likeReason = (suspects: readonly RecordId[]) =>
  suspectReason('This', suspects, 'change the row to make it a new record');

/** What deciding a claimed row has to know about the others. */
export interface ClaimSurroundings {
  /** Records that have a row with their own ID. */
  readonly boundIds: ReadonlySet<RecordId>;
  /** Missing records whose row this may be. */
  readonly suspectsOf: (row: ObservedRow) => readonly RecordId[];
}

/**
 * Decides a row that carries a claim token: its create is put into the outbox and followed, and the record's ID replaces the token. A
 * token that got beside the values of a missing record is not followed.
 */
export function decideClaimedRow(
  context: TabContext,
  row: ObservedRow,
  token: RecordId,
  { boundIds, suspectsOf }: ClaimSurroundings,
): void {
  const key = { entity: context.entity, id: token };
  const item = context.outbox.get(token);
  if (item?.state === 'done' && item.recordId !== undefined) {
    if (boundIds.has(item.recordId)) return offerAsNew(context, row, token, copyReason);
    if (isBlank(row) && hasMoved(context, item)) return clearRow(context, row);
    return decideRow(context, row, item.recordId, { id: item.recordId });
  }
  if (item?.state === 'review') return holdRow(context, row, token, reviewReason(item));
  if (item && isUnanswered(item)) {
    return writeRow(context, row, key, { state: { kind: 'pending', what: pendingCreate(item) } });
  }
  // A row that holds nothing else makes no record, whatever became of the create.
  if (!item && !context.input.isOwnToken(token) && !isBlank(row))
    return holdRow(context, row, token, foreignReason);
  decideUnsentRow(context, row, key, item, suspectsOf);
}

/**
 * Decides a claimed row whose create is not on its way: none was put into the outbox yet, or it waits there, or was refused. It follows what
 * the row shows, and is dropped where the row can not become a record.
 */
function decideUnsentRow(
  context: TabContext,
  row: ObservedRow,
  key: RecordKey,
  item: OutboxItem | undefined,
  suspectsOf: ClaimSurroundings['suspectsOf'],
): void {
  const { draft, input } = context;
  const values = readRowValues(context, row);
  if (item && isLeftToRest(context, row)) {
    context.decision(refusedScope(key));
    // What stood here before may be what a sort tore apart, withheld until now: it is not sent while somebody mends the row.
    if (item.state === 'waiting' && !equalFields(item.fields, values.fields)) draft.outboxDropped.push(key);
    return;
  }
  if (isBlank(row)) return releaseClaim(context, row, key);
  // A claim that lands late takes the place of the token under which the row's create is on its way, if somebody has wiped that.
  const underWay = item ? undefined : findUnderWay(context, values.fields);
  if (underWay) {
    const state = { kind: 'pending', what: pendingCreate(underWay) } as const;
    return writeRow(context, row, underWay.key, { given: { id: underWay.key.id }, state });
  }
  const isAsSent = item !== undefined && equalFields(item.fields, values.fields);
  const suspects = isAsSent ? [] : suspectsOf(row);
  if (suspects.length > 0) {
    if (item) draft.outboxDropped.push(key);
    return holdRow(context, row, key.id, likeReason(suspects));
  }
  const obstacle = findObstacle(context, row, values);
  if (obstacle) {
    if (item) draft.outboxDropped.push(key);
    return writeRow(context, row, key, { state: obstacle });
  }
  if (isAsSent) {
    const state = isStuck(item) ? answerRefusal(context, item, row.position) : waitingCreate(item);
    return writeRow(context, row, key, { state });
  }
  draft.outboxSaved.push(waitingStep(input, key, { kind: 'create', fields: values.fields, base: {} }));
  writeRow(context, row, key, { state: creating });
}

/** A row of which nothing is left but its token, or that was never more, because the row to be claimed moved in the same moment. */
function releaseClaim(context: TabContext, row: ObservedRow, key: RecordKey): void {
  const { draft, outbox } = context;
  if (isLeftToRest(context, row)) return;
  if (outbox.has(key.id)) draft.outboxDropped.push(key);
  clearRow(context, row);
}

/** Whether the row that a create was made for stands elsewhere, without the token: somebody took back that it was moved. */
const hasMoved = (context: TabContext, { fields }: OutboxItem): boolean =>
  context.tab.rows.some(
    (row) =>
      row.id.kind === 'empty' && !isBlank(row) && resembles(fields, readRowValues(context, row).fields),
  );

const reviewReason = ({ error }: OutboxItem): string => error?.message ?? 'Its create needs a person.';

/** What keeps a create from being sent. One that was looked for and not found is sent like one that never was. */
const waitingCreate = (item: OutboxItem): RowState =>
  item.error === undefined || item.error.code === 'CRM_UNKNOWN_OUTCOME'
    ? creating
    : { kind: 'pending', what: waitingText(item) };

const pendingCreate = (item: OutboxItem): string =>
  item.state === 'unknown'
    ? 'the CRM did not say whether it created the record; the daemon looks before it tries again'
    : 'being created in the CRM';

/** How long a create that is over is kept: whoever brings back the row with its token does so within this time. */
const overKeptMs = 30 * 24 * 60 * 60 * 1000;

/** Whether a create is older than any that is over is kept. */
export const isOverKept = ({ createdAt }: Pick<OutboxItem, 'createdAt'>, now: number): boolean =>
  createdAt < now - overKeptMs;

/**
 * Forgets creates whose token stands in no row: at once those that were not sent, and after a month those that are over. Until then
 * a row that comes back is known.
 */
export function forgetCreates(context: TabContext, tokens: ReadonlySet<RecordId>): void {
  const { draft, input, outbox } = context;
  for (const { key, kind, state, createdAt } of outbox.values()) {
    if (kind !== 'create' || tokens.has(key.id)) continue;
    const isUnsent = state === 'waiting' || state === 'refused';
    const isOver = state === 'done' || state === 'review';
    if (isUnsent || (isOver && isOverKept({ createdAt }, input.now))) draft.outboxDropped.push(key);
  }
}
