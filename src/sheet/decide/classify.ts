import { once } from '../../core/once.ts';
import { isClaimToken, type RecordId, recordKeyText } from '../../core/record.ts';
import type { Agreement } from '../../core/state.ts';
import type { Fields } from '../../core/value.ts';
import { describeCell } from '../port/cell.ts';
import { isBlank, type ObservedRow } from '../port/table.ts';
import { type Damaged, type DamagedRow, findDamaged } from './damage/damaged.ts';
import { type Binding, type BoundRow, bindRows, type CopiedRow, type IdLookup } from './identity/bind.ts';
import { isInTable, wasMissing } from './identity/likeness.ts';
import { createSuspectSearch, findOrphans, findStrays } from './identity/strays.ts';
import { findSwaps, type Swap } from './identity/swaps.ts';
import { type MergedRow, mergeRow } from './rows/merge.ts';
import type { RecordRow } from './rows/row.ts';
import { showsValues } from './rows/row-values.ts';
import type { TabIndex } from './tab-index.ts';

/**
 * What every row is, with what is to be known of it. `damaged` comes first, then `paused`. A duplicate is none even where it is paused: what
 * waits belongs to its original.
 */
interface RowCases {
  merge: RecordRow;
  recordGone: RecordRow;
  /** Its two sides fight over a field. */
  flapping: RecordRow & { readonly otherwise: ClassifiedRow };
  /** Its ID may be the one of another record. */
  swappedId: RecordRow & { readonly swap: Swap; readonly otherwise: ClassifiedRow };
  /** It surely lost its ID. */
  lostId: BoundRow;
  claimed: BoundRow;
  /** Its ID belongs, or belonged, to another row. */
  duplicate: CopiedRow;
  unknownId: BoundRow;
  paused: BoundRow;
  blank: { readonly row: ObservedRow };
  new: { readonly row: ObservedRow };
  /** A misdirected write may have damaged it. */
  damaged: { readonly row: ObservedRow; readonly damage: DamagedRow };
}

export type RowKind = keyof RowCases;
export type RowOf<Kind extends RowKind> = RowCases[Kind] & { readonly kind: Kind };
export type ClassifiedRow = { [Kind in RowKind]: RowOf<Kind> }[RowKind];

/** A tab of which every row is classified, and every row of a record merged. */
export interface ClassifiedTab {
  /** Without the rows that may be damaged: they are no evidence. */
  readonly index: TabIndex;
  readonly damaged: Damaged;
  readonly rows: readonly ClassifiedRow[];
  readonly binding: Binding;
  /** The merges of the rows with the ID of a record that are not paused. */
  readonly merges: ReadonlyMap<ObservedRow, MergedRow>;
  /** The ids of all rows, and of the records whose row still carries the token of their create. */
  readonly present: ReadonlySet<RecordId>;
  /** The records and claims that damaged rows are about. */
  readonly named: ReadonlySet<RecordId>;
  /** Records that had a row, have none with their ID, and fit the tab: their row should be there. */
  readonly missing: readonly Agreement[];
  /** Those of them whose row surely is none of these, and those of which only copies are there. */
  readonly vanished: readonly Agreement[];
  readonly orphaned: readonly Agreement[];
  /** All whose row may be there without their ID, also of records that do not fit. */
  readonly findLost: () => readonly Agreement[];
  /** The vanished ones that the read before lacked as well. */
  readonly steadilyVanished: readonly Agreement[];
  /** Records whose row was found although it lacks its ID. */
  readonly foundIds: ReadonlySet<RecordId>;
}

/** Says of every row of a tab which kind it is. */
export function classifyTab(whole: TabIndex): ClassifiedTab {
  const damaged = findDamaged(whole);
  const rows = whole.tab.rows.filter((row) => !damaged.rows.has(row));
  const index = damaged.rows.size === 0 ? whole : { ...whole, tab: { ...whole.tab, rows } };
  const present = presentIds(index, [...rows.map(({ id }) => describeCell(id)), ...damaged.present]);
  const named = presentIds(index, damaged.named);
  const settled = rows.filter((row) => !isOpenClaim(index, row));
  const isAbsent = (agreement: Agreement) =>
    isInTable(index, agreement) && !present.has(agreement.key.id) && mayStay(index, agreement.key.id);
  const missing = index.loose.agreements.filter(
    (agreement) => isAbsent(agreement) && !index.only.isOut(agreement),
  );
  const absent = once(() => index.candidates().filter(isAbsent));
  const orphans = findOrphans(index, settled);
  const strays = findStrays(index, settled, () => [...absent(), ...orphans]);
  const [strayRows, foundIds] = [new Set(strays.map(({ row }) => row)), new Set(strays.map(({ id }) => id))];
  const isStillLost = ({ key }: Agreement) => !foundIds.has(key.id);
  const vanished = missing.filter((agreement) => isStillLost(agreement) && !named.has(agreement.key.id));
  const orphaned = orphans.filter(isStillLost);
  const findLost = once(() => [...absent().filter(isStillLost), ...orphaned]);
  const others = settled.filter((row) => !strayRows.has(row));
  const binding = bindRows(others, createLookup(index, findLost));
  const records = classifyRecordRows(index, binding);
  return {
    index,
    damaged,
    rows: [
      ...[...damaged.rows].map(([row, damage]): ClassifiedRow => ({ kind: 'damaged', row, damage })),
      ...strays.map((stray) => unlessPaused(stray, { kind: 'lostId', ...stray })),
      ...records.rows,
      ...classifyOthers(index, binding),
      ...rows.filter((row) => isOpenClaim(index, row)).map(claimedRow),
    ],
    binding,
    merges: records.merges,
    present,
    named,
    missing,
    vanished,
    orphaned,
    findLost,
    steadilyVanished: vanished.filter((agreement) => wasMissing(index, agreement)),
    foundIds,
  };
}

const claimedRow = (row: ObservedRow): ClassifiedRow => ({ kind: 'claimed', row, id: describeCell(row.id) });

const unlessPaused = (bound: BoundRow, otherwise: ClassifiedRow): ClassifiedRow =>
  bound.row.isPaused ? { kind: 'paused', ...bound } : otherwise;

/** Whether a row carries a token of a write that has no reply so far: nothing is concluded from that. */
export const isOpenClaim = ({ input }: TabIndex, { id }: ObservedRow): boolean =>
  input.known.claims.open.has(describeCell(id));

/** Rows with the ID of their record. */
function classifyRecordRows(index: TabIndex, { copies, records, strangers, unbound }: Binding) {
  const others = [...unbound, ...[...copies, ...strangers].map(({ row }) => row)];
  const { contests } = index.input.known;
  const merges = new Map<ObservedRow, MergedRow>();
  for (const { row, id } of records) {
    const merged = row.isPaused ? undefined : mergeRow(index, row, id);
    if (merged) merges.set(row, merged);
  }
  const swaps = findSwaps(index, records, merges, others);
  const rows = records.flatMap(({ row, id }): ClassifiedRow[] => {
    if (row.isPaused) return [{ kind: 'paused', row, id }];
    const [record, swap] = [index.records.get(id), swaps.get(id)];
    if (!record) return [];
    const isGone = record.presence === 'gone';
    const own = { row, record, merged: merges.get(row) };
    const plain: ClassifiedRow = { kind: isGone ? 'recordGone' : 'merge', ...own };
    const known: ClassifiedRow = swap ? { kind: 'swappedId', ...own, swap, otherwise: plain } : plain;
    const isFlapping = !isGone && contests.size > 0 && contests.has(recordKeyText(record.key));
    return [isFlapping ? { kind: 'flapping', ...own, otherwise: known } : known];
  });
  return { rows, merges };
}

/** Rows that carry the token of their create, and those that belong to no record for certain. */
function classifyOthers(index: TabIndex, { claimed, copies, strangers, unbound }: Binding): ClassifiedRow[] {
  const newRow = (row: ObservedRow): ClassifiedRow => ({ kind: isBlank(row) ? 'blank' : 'new', row });
  return [
    ...claimed.map((bound) =>
      unlessPaused(bound, isVoidClaim(index, bound) ? newRow(bound.row) : { kind: 'claimed', ...bound }),
    ),
    ...copies.map((copy): ClassifiedRow => ({ kind: 'duplicate', ...copy })),
    ...strangers.map((bound) => unlessPaused(bound, { kind: 'unknownId', ...bound })),
    ...unbound.map((row) => (isBlank(row) ? newRow(row) : unlessPaused({ row, id: '' }, newRow(row)))),
  ];
}

/** Whether a row carries a token that no write has put there for certain: it is as if it had none. */
export const isVoidClaim = ({ input, outbox }: TabIndex, { id }: BoundRow): boolean =>
  input.known.claims.void.has(id) && !outbox.has(id);

/** Whether a record is in the CRM and nothing is known that takes it away. */
export function mayStay({ cascades, records }: TabIndex, id: RecordId): boolean {
  const record = records.get(id);
  return record?.presence === 'present' && !cascades.isLeaving(record);
}

/** The ids of rows, with those of the records whose row still carries the token of their create. */
function presentIds({ outbox }: TabIndex, ids: Iterable<RecordId>): Set<RecordId> {
  const present = new Set(ids);
  for (const id of [...present]) {
    const recordId = isClaimToken(id) ? outbox.get(id)?.recordId : undefined;
    if (recordId !== undefined) present.add(recordId);
  }
  return present;
}

/** What the row of an id may show before anybody edits it: first what was last decided from it, and last what is agreed. */
function createLookup(index: TabIndex, findLost: () => readonly Agreement[]): IdLookup {
  const agreementOf = (id: RecordId) => index.agreements.get(index.outbox.get(id)?.recordId ?? id);
  const versionsOf = (id: RecordId): Fields[] => {
    const item = index.outbox.get(id);
    const { fields = {}, offered = {} } = agreementOf(id) ?? {};
    const sent = item && item.kind !== 'delete' ? [{ ...fields, ...item.fields }] : [];
    return [...sent, { ...fields, ...offered }, fields].filter((each) => Object.keys(each).length > 0);
  };
  const findSuspects = createSuspectSearch(index, findLost);
  return {
    isKnown: (id) => index.records.has(id),
    isForeign: (row) => findSuspects(row).length > 0,
    findOriginal(id, rows) {
      for (const values of versionsOf(id)) {
        const row = rows.find((candidate) => showsValues(index, candidate, values, agreementOf(id)?.shown));
        if (row) return row;
      }
      return undefined;
    },
  };
}
