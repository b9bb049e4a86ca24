import { isFresh, nextStale } from '../../core/notice.ts';
import { type Entity, type RecordId, recordKeyText } from '../../core/record.ts';
import type { Slices } from '../../core/slices.ts';
import type { Agreement, KnownRecord } from '../../core/state.ts';
import { shownValue } from '../cells/extra-fields.ts';
import { type CellLook, isUsualForm, noteShown } from '../cells/shown.ts';
import { syncText } from '../cells/sync-text.ts';
import type { Standing } from '../index/standing.ts';
import type { InStep } from '../index/tab-standing.ts';
import { leaveAfterMs } from '../only/leave.ts';
import type { DecideInput } from '../plans/plan.ts';
import { type Cell, describeCell, equalCells, textCell } from '../port/cell.ts';
import { suspectIds } from '../port/damage.ts';
import { recordTabs, type TabLayout } from '../port/layout.ts';
import type { ObservedRow } from '../port/table.ts';
import { findBehind } from './behind.ts';
import { isInTable } from './identity/likeness.ts';
import { mergeRow } from './rows/merge.ts';
import { decideRow, type RecordRow } from './rows/row.ts';
import { showsValues } from './rows/row-values.ts';
import { indexTab, indexTable, isAtRest, type TabIndex } from './tab-index.ts';
import { isNothing, type Verdict } from './verdict.ts';

/**
 * A row that is in step with its record: it shows what is agreed in the form in which that is known, and nothing is to be said or done about
 * it. Only its notice may grow old, and time alone may make it fit its tab no longer, or leave it.
 */
export function findInStep(index: TabIndex, { merged, row }: RecordRow, verdict: Verdict): InStep[] {
  // When it changes by time alone is known with the row.
  const { changesAt: _, ...rest } = verdict;
  if (!merged || merged.isRestless || !isNothing(rest)) return [];
  const { agreement, record } = merged;
  const until = agreement && calmUntil(index, record, agreement, row.hasOwn);
  if (!agreement || until === undefined || !isInTable(index, agreement)) return [];
  if (!showsValues(index, row, agreement.fields, agreement.shown)) return [];
  return [{ id: record.key.id, row, until }];
}

/**
 * Until when time alone changes nothing about a record, epoch ms; `undefined` where something about it is under way or not known. A row that
 * `hasOwn` cells of users stays although its record does not fit.
 */
function calmUntil(
  index: TabIndex,
  record: KnownRecord,
  agreement: Agreement,
  hasOwn = false,
): number | undefined {
  if (!isAtRest(index, record)) return undefined;
  const { leave } = agreement;
  const fit = index.only.fitOf(record);
  const staleAt = nextStale([agreement], index.input.now);
  if (fit.kind !== 'unfit') return leave ? undefined : Math.min(fit.until, staleAt);
  if (!leave) return hasOwn ? staleAt : undefined;
  return leave.state === 'leaving' ? Math.min(leave.at + leaveAfterMs, staleAt) : undefined;
}

/** Finds what a row is in step with. */
type FindPlain = (row: ObservedRow, record: KnownRecord) => InStep | undefined;

/**
 * The same for a row that is settled, without judging it: where its record, what is agreed and what it shows are plainly the same, judging it
 * would come to nothing. `undefined` where that takes more to find out.
 */
function createPlainSearch(index: TabIndex): FindPlain {
  const { columns, names, tab } = index;
  const told = createTeller(index);
  return (row, record) => {
    const { id } = record.key;
    const agreement = index.agreements.get(id);
    const until = agreement && calmUntil(index, record, agreement);
    if (!agreement || agreement.leave || until === undefined) return undefined;
    if (Object.keys(agreement.offered).length > 0) return undefined;
    const { fields: agreed, shown } = agreement;
    if (Object.keys(agreed).length === 0) return undefined;
    const naming: CellLook[] = [];
    for (const { column, field, isNaming } of columns) {
      const { name } = field;
      const cell = row.cells[name];
      const value = agreed[name];
      if (!cell || value === undefined || field.held !== undefined) return undefined;
      const inCrm = shownValue(index, record, column);
      // Members of a list may be the same in another order, which the cell has to follow.
      if (inCrm !== value && JSON.stringify(inCrm) !== JSON.stringify(value)) return undefined;
      if (!isUsualForm(field, value, cell, names)) return undefined;
      if (isNaming || shown?.[name]) naming.push({ field, cell, value });
    }
    if (naming.length > 0 && noteShown(agreement, {}, naming) !== shown) return undefined;
    if (tab.hasSync && !equalCells(row.sync, told(agreement))) return undefined;
    return { id, row, until };
  };
}

/** What the Sync cell of a row in step says. */
type TellSync = (agreement: Agreement) => Cell;

/** Rows that were written together say the same. */
function createTeller({ input, names }: TabIndex): TellSync {
  const known = new Map<number, Cell>();
  return (agreement) => {
    const { changedAt: at, notice } = agreement;
    const isToldNow = isFresh(agreement, input.now);
    const tell = () => textCell(syncText({ kind: 'synced', at, notice, isFresh: isToldNow }, names.timeZone));
    if (notice !== '') return tell();
    const cell = known.get(at) ?? tell();
    known.set(at, cell);
    return cell;
  };
}

/** So many rows are looked at, or decided at once, before anything else gets its turn. */
export const sliceMax = 250;

/**
 * Finds which rows are in step where many are not known to be, as after a start, in slices between which others get their turn: deciding them
 * all at once would keep everything else waiting for seconds. So it would where many are behind: of those as many are left to be decided as one
 * write may have. `standing` was brought up to date with the input.
 */
export function* settleRows(input: DecideInput, standing: Standing, rowsMin = sliceMax): Slices<void> {
  const isLong = ({ entity }: TabLayout<Entity>) => standing.countLooseRows(entity) > rowsMin;
  if (!recordTabs(input.layout).some(isLong)) return;
  // To bring a tab up to date of which each row is another took long, and so does it to index it.
  yield;
  const table = indexTable(input, standing);
  yield;
  for (const layout of recordTabs(table.input.layout).filter(isLong)) {
    const { entity } = layout;
    const [ground, tab] = [table.groundOf(entity), input.table.tabs[entity]];
    if (tab.state === 'held') continue;
    const index = indexTab(table, layout, tab, ground.agreements);
    // Where more than the rows themselves decides, they are decided together.
    if (index.inStep !== ground.inStep) continue;
    const { rows } = index.tab;
    const [ids, repeated] = [new Set<RecordId>(), new Set<RecordId>()];
    for (const { id } of rows) (ids.has(describeCell(id)) ? repeated : ids).add(describeCell(id));
    const unclear = repeated.union(suspectIds(input.known.suspects, entity));
    const alone = rows.filter(({ id }) => !unclear.has(describeCell(id)));
    const findPlain = createPlainSearch(index);
    const behind: InStep[] = [];
    const { updatesMax } = input.policy;
    for (let start = 0; start < alone.length; start += sliceMax) {
      const found = alone.slice(start, start + sliceMax).map((row) => checkRow(index, row, findPlain));
      standing.noteInStep(
        entity,
        found.flatMap(({ inStep }) => inStep),
      );
      behind.push(...found.flatMap((each) => each.behind));
      const later = behind.splice(updatesMax);
      standing.noteBehind(entity, { inTurn: behind, later });
      yield;
    }
  }
}

/** What a row was found to be: in step, only behind, or neither. */
interface Checked {
  readonly inStep: readonly InStep[];
  readonly behind: readonly InStep[];
}

const neither: Checked = { inStep: [], behind: [] };

/** Judges a row that surely is the row of a record, and of none other, as far as it may be in step or only behind. */
function checkRow(index: TabIndex, row: ObservedRow, findPlain: FindPlain): Checked {
  const record = index.records.get(describeCell(row.id));
  if (row.isPaused || record?.presence !== 'present') return neither;
  if (index.input.known.contests.has(recordKeyText(record.key))) return neither;
  const plain = findPlain(row, record);
  if (plain) return { ...neither, inStep: [plain] };
  const own = { row, record, merged: mergeRow(index, row, record.key.id) };
  if (!own.merged) return neither;
  const verdict = decideRow(index, own);
  return { inStep: findInStep(index, own, verdict), behind: findBehind(index, own, verdict) };
}
