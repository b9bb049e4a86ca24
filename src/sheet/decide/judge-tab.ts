import { once } from '../../core/once.ts';
import type { RecordId } from '../../core/record.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';
import { notedLosses } from './brakes/approvals.ts';
import type { Braked } from './brakes/tab-brakes.ts';
import { type ClassifiedRow, type ClassifiedTab, isOpenClaim, isVoidClaim } from './classify.ts';
import { createSuspectSearch } from './identity/strays.ts';
import { judgeRow } from './judge.ts';
import { appendRows } from './lifecycle/append.ts';
import { findCreatesWithoutRow, forgetCreates } from './lifecycle/new-row.ts';
import { decideRowless } from './lifecycle/rowless.ts';
import { takeBackDeletes } from './lifecycle/vanished.ts';
import { holdUnread } from './rows/unread.ts';
import { collect, type Verdict } from './verdict.ts';

/** Says what of a tab is known whatever brake holds. */
export function judgeWhole(tab: ClassifiedTab): Verdict[] {
  const { damaged, index, missing, named, steadilyVanished, vanished } = tab;
  const { entity } = index;
  const steady = new Set(steadilyVanished);
  const kept = [...missing.map(({ key }) => key), ...[...named].map((id) => ({ entity, id }))];
  return [
    { holds: holdUnread(index), kept },
    // One that came too late for its brake is over.
    { scopes: missing.length > 0 ? notedLosses(index) : [] },
    { unsettled: vanished.filter((each) => !steady.has(each)).map(({ key }) => key.id) },
    damaged.verdict,
  ];
}

/** Judges every row of a tab that no brake stops, and then the records that have none. */
export function judgeTab(tab: ClassifiedTab, { release }: Braked): Verdict[] {
  const { binding, damaged, foundIds, index, present, rows, steadilyVanished } = tab;
  const boundIds = new Set(binding.records.map(({ id }) => id));
  const around = { boundIds, creates: once(() => findCreatesWithoutRow(index)), release };
  // What the rows of records come to says which other rows may be theirs.
  const first = rows.filter(({ kind }) => !dependentKinds.has(kind));
  const verdicts = first.map((row) => judgeRow(row, index, { ...around, suspectsOf: () => [] }));
  const suspectsOf = createSuspects(tab, collect(verdicts, 'unsure'));
  const later = rows.filter(({ kind }) => dependentKinds.has(kind));
  verdicts.push(...later.map((row) => judgeRow(row, index, { ...around, suspectsOf })));
  const found = new Set([...collect(verdicts, 'resembled'), ...lookAlikes(tab).flatMap(suspectsOf)]);
  const shown = present.union(tab.named);
  const known = shown.union(found);
  const given = collect(verdicts, 'table').flatMap(({ write }) =>
    write.kind === 'set' && write.id ? [describeCell(write.id)] : [],
  );
  const vanished = steadilyVanished.map(({ key }) => key.id).filter((id) => !found.has(id));
  const rowless = decideRowless(index, {
    vanished: new Set(vanished),
    present: known,
    tokens: known.union(new Set(given)),
    release,
  });
  return [
    damaged.restored,
    ...verdicts,
    forgetCreates(index, shown),
    ...rowless,
    takeBackDeletes(index, known.union(foundIds), release),
    ...appendRows(index, collect(rowless, 'due')),
  ];
}

/** The kinds of rows that may be the row of a record that has none. */
const dependentKinds: ReadonlySet<ClassifiedRow['kind']> = new Set([
  'claimed',
  'duplicate',
  'unknownId',
  'blank',
  'new',
]);

/** Finds the records without a row whose row another one may be: lost ones, and those whose own row may be another's. */
function createSuspects(
  { foundIds, index, missing, orphaned }: ClassifiedTab,
  unsure: readonly RecordId[],
): (row: ObservedRow) => readonly RecordId[] {
  const lost = [...missing.filter(({ key }) => !foundIds.has(key.id)), ...orphaned];
  const unsureOnes = unsure.flatMap((id) => index.agreements.get(id) ?? []);
  const find = createSuspectSearch(index, [...lost, ...unsureOnes]);
  const known = new Map<ObservedRow, readonly RecordId[]>();
  return (row) => {
    const suspects = known.get(row) ?? find(row);
    known.set(row, suspects);
    return suspects;
  };
}

/** The rows by which a lost record has not vanished as long as they look like it, whatever becomes of them. */
function lookAlikes({ binding, index }: ClassifiedTab): ObservedRow[] {
  const { claimed, copies, records, strangers, unbound } = binding;
  const isGone = ({ id }: { readonly id: RecordId }) => index.records.get(id)?.presence === 'gone';
  const voidClaims = claimed.filter((bound) => !bound.row.isPaused && isVoidClaim(index, bound));
  return [
    ...[...records.filter(isGone), ...voidClaims, ...copies, ...strangers].map(({ row }) => row),
    ...unbound,
    ...index.tab.rows.filter((row) => isOpenClaim(index, row)),
  ];
}
