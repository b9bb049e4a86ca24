import { nextStale } from '../../core/notice.ts';
import { isMarkedCopy } from '../cells/sync-text.ts';
import type { Behind, InStep } from '../index/tab-standing.ts';
import { isInTable } from './identity/likeness.ts';
import { clearedOf, editsOf, lostValuesOf, type MergedRow } from './rows/merge.ts';
import type { RecordRow } from './rows/row.ts';
import { showsValues } from './rows/row-values.ts';
import { isAtRest, type TabIndex } from './tab-index.ts';
import { type Findings, nothing, type Verdict } from './verdict.ts';

/**
 * A row that is only behind: it shows what is agreed, people changed nothing in it, and all that follows is that it is written to. Then it makes no
 * difference to anything else when that happens.
 */
export function findBehind(index: TabIndex, { merged, row }: RecordRow, verdict: Verdict): InStep[] {
  // The row of a record whose ID only copies have may be another one.
  if (!merged || merged.isRestless || isMarkedCopy(row) || !isMereWrite(verdict)) return [];
  const { agreement, record } = merged;
  if (!agreement || agreement.leave?.state === 'left') return [];
  if (!isInTable(index, agreement) || !isAtRest(index, record) || isCounted(merged)) return [];
  const names = merged.decided.map(({ field }) => field.name);
  if (!showsValues(index, row, agreement.fields, agreement.shown, names)) return [];
  return [{ id: record.key.id, row, until: lastsUntil(index, merged, verdict) }];
}

/** Until when time alone changes nothing about what a row comes to, epoch ms. */
function lastsUntil({ input, only }: TabIndex, { agreement, record }: MergedRow, verdict: Verdict): number {
  const fit = only.fitOf(record);
  const fitsUntil = fit.kind === 'unfit' ? Number.POSITIVE_INFINITY : fit.until;
  const staleAt = nextStale(agreement ? [agreement] : [], input.now);
  return Math.min(fitsUntil, staleAt, ...(verdict.changesAt ?? []));
}

/** All that a verdict may say that comes to a write alone: the write, what is kept of it until it is confirmed, and when time would change it. */
const ofWrite: ReadonlySet<string> = new Set<keyof Findings>(['agreementsSaved', 'changesAt', 'table']);

function isMereWrite(verdict: Verdict): boolean {
  const [step, ...others] = verdict.table ?? [];
  if (step?.write.kind !== 'set' || step.write.id || others.length > 0) return false;
  return Object.entries(verdict).every(([name, found]) => ofWrite.has(name) || found.length === 0);
}

/** Whether brakes count anything of it. */
const isCounted = (merged: MergedRow): boolean =>
  [editsOf, clearedOf, lostValuesOf].some((valuesOf) => valuesOf(merged).length > 0);

/**
 * The verdicts with as many rows that are only behind as one write may have, from top to bottom, and the others of those: as if nobody had looked
 * at them yet. To write all of ten thousands at once would keep everything else waiting for seconds. `rows` has in each place the row that the
 * verdict is of, if that is surely the row of its record.
 */
export function limitBehind(
  index: TabIndex,
  rows: readonly (RecordRow | undefined)[],
  verdicts: readonly Verdict[],
): { readonly verdicts: readonly Verdict[]; readonly behind: Behind } {
  const { updatesMax } = index.input.policy;
  const mere = verdicts.flatMap((verdict, number) => {
    const row = rows[number];
    const merged = row?.merged;
    return row && merged && isMereWrite(verdict) ? [{ row, merged, verdict, number }] : [];
  });
  // Most often all of them may be written: then it makes no difference which of them are only behind.
  if (mere.length <= updatesMax) {
    const inTurn = mere.map(({ merged, verdict }) => ({
      id: merged.record.key.id,
      until: lastsUntil(index, merged, verdict),
    }));
    return { verdicts, behind: { inTurn, later: [] } };
  }
  const found = mere
    .flatMap(({ row, verdict, number }) => findBehind(index, row, verdict).map((each) => ({ each, number })))
    .toSorted((one, other) => one.each.row.position - other.each.row.position);
  const left = found.slice(updatesMax);
  const numbers = new Set(left.map(({ number }) => number));
  return {
    verdicts: verdicts.map((verdict, number) => (numbers.has(number) ? nothing : verdict)),
    behind: {
      inTurn: found.slice(0, updatesMax).map(({ each }) => each),
      later: left.map(({ each }) => each),
    },
  };
}
