import { idHeader } from '../../../core/fields/headers.ts';
import { journalEntry } from '../../../core/journal-entry.ts';
import type { Entity, RecordId } from '../../../core/record.ts';
import { quoteText } from '../../../core/text/cut-text.ts';
import { damageScope } from '../../../core/waiting/scopes.ts';
import type { Hold } from '../../../core/waiting/waiting.ts';
import type { DecideInput, TableStep } from '../../plans/plan.ts';
import { type Cell, describeCell, emptyCell } from '../../port/cell.ts';
import { type Damage, type DamagedCell, type Suspect, watchMs } from '../../port/damage.ts';
import type { TabLayout } from '../../port/layout.ts';
import type { ObservedRow, ReadTab } from '../../port/table.ts';
import { isLike } from '../identity/likeness.ts';
import { writeRow } from '../rows/row-write.ts';
import { pauseRow } from '../rows/waiting-edits.ts';
import type { TabIndex } from '../tab-index.ts';
import { answerTo, join, nothing, type Verdict } from '../verdict.ts';
import {
  createLostSearch,
  deletedRow,
  findRestores,
  isDamaged,
  isRead,
  type Restore,
  rowBefore,
  showsAgain,
  showsNothing,
} from './shown.ts';

/** What misdirected writes may have damaged in a tab. */
export interface Damaged {
  /** The rows, with what is to be done there. */
  readonly rows: ReadonlyMap<ObservedRow, DamagedRow>;
  /** The records and claims that these rows are about, or whose ID they show: none of them has vanished. */
  readonly named: ReadonlySet<RecordId>;
  /** Those of them that have their own row among the damaged ones: no other row is theirs. */
  readonly present: ReadonlySet<RecordId>;
  /** Records whose ID a write gave to a row without one, and lost to its undo: a row that has it since may be a copy made in between. */
  readonly unsure: readonly RecordId[];
  /** The rows as they were before, also those that were deleted: where one has no ID, it may be the row of a record that has none. */
  readonly before: readonly ObservedRow[];
  /** What became of the suspects, and what is asked about them, whatever brake holds. */
  readonly verdict: Verdict;
  /** What comes back where there is no row. */
  readonly restored: Verdict;
}

/** What a user chose to put back into a row, or else why it is held. */
export interface DamagedRow {
  readonly restore?: TableStep;
  readonly reason?: string;
}

/** A suspect that is not over. */
interface Case {
  readonly suspect: Suspect;
  readonly rows: readonly ObservedRow[];
  readonly reason: string;
  /** What a user chose to put back. */
  readonly restores: readonly Restore[];
}

/** An escalated write is over once two reads in a row show nothing of it. */
const clearReadsMax = 2;

/**
 * Finds what is no evidence of what a user means: nothing is merged, claimed, created or deleted because of it. What could not be
 * undone is asked about.
 */
export function findDamaged(index: TabIndex): Damaged {
  const { entity, input } = index;
  const own = input.known.suspects.filter(({ damage }) => damage.entity === entity);
  const apart = new Set<ObservedRow>();
  const cases: Case[] = [];
  const verdicts: Verdict[] = [];
  // The last damage of a row covers what was done before: it is put right first.
  for (const suspect of own.toReversed()) {
    const { open, verdict } = openCase(index, suspect, apart);
    verdicts.push(verdict);
    if (!open) continue;
    cases.push(open);
    for (const row of open.rows) apart.add(row);
  }
  const shown = new Set([...apart].filter(hasId).map(({ id }) => describeCell(id)));
  const ids = new Set(cases.map(({ suspect }) => idOf(suspect)).filter((id) => id !== ''));
  const settled = cases.filter(({ suspect }) => !input.known.arriving.has(suspect.id));
  const restored = settled.flatMap(({ restores, suspect }) =>
    restores.flatMap((restore) => (restore.row ? [] : [restoreStep(index, suspect, restore)])),
  );
  return {
    rows: new Map([...apart].map((row) => [row, findStep(index, row, cases)])),
    named: ids.union(shown),
    present: ids.intersection(shown),
    unsure: own.flatMap(takenBackId),
    before: findBefore(index.tab, cases),
    verdict: join(...verdicts),
    restored: { table: restored },
  };
}

/** What several writes did to one row is taken back from the last of them on. */
function findBefore(tab: ReadTab, cases: readonly Case[]): readonly ObservedRow[] {
  const before = new Map<ObservedRow, ObservedRow>();
  for (const { rows, suspect } of cases)
    for (const row of rows) before.set(row, rowBefore(before.get(row) ?? row, suspect.damage));
  return [...before.values(), ...cases.flatMap(({ suspect }) => deletedRow(tab, suspect.damage) ?? [])];
}

const hasId = ({ id }: ObservedRow): boolean => id.kind !== 'empty';

const idOf = ({ damage: { id } }: Suspect): RecordId => (id.kind === 'empty' ? '' : describeCell(id));

/**
 * Finds what a suspect comes to by this read and a user's answer; its case is absent where its rows are decided as any others. A user is asked
 * what is to become of it, and what was answered is done.
 */
function openCase(index: TabIndex, suspect: Suspect, apart: ReadonlySet<ObservedRow>) {
  const { answers, entity, layout, questions, tab } = index;
  const { clearReads, damage, id, state } = suspect;
  const isWatched = state === 'undone';
  const isLost = isWatched ? () => false : createLostSearch(index, damage);
  const found = tab.rows.filter((row) => isDamaged(tab, row, damage) || isLost(row));
  if (state === 'pending') {
    const open = { suspect, rows: found, reason: pendingReason, restores: [] };
    return { open, verdict: { holds: holdsOf(entity, open) } };
  }
  const rows = isWatched ? found.filter((row) => showsAgain(index, row, damage)) : found;
  if (isWatched && rows.length === 0) return { verdict: watchOn(index, suspect) };
  const scope = damageScope(entity, idOf(suspect), id);
  const isCovered = rows.some((row) => apart.has(row));
  const reads = !isWatched && !isCovered && showsNothing(index, rows, damage) ? clearReads + 1 : 0;
  const dropped = { scopes: [scope], suspectsDropped: [id] };
  if (reads >= clearReadsMax) return { verdict: dropped };
  const reason = damageQuestion(layout, damage);
  const holds = holdsOf(entity, { suspect, rows, reason }, scope);
  const { answered, verdict } = answerTo(answers, scope, () => holds[0] && questions.ofHold(holds[0]));
  const isRestored = answered?.choice === 'restore';
  const restores = isRestored ? findRestores(index, damage, rows) : [];
  const isDone = isRestored && !isCovered && restores.length === 0 && isRead(tab, damage);
  if (answered?.choice === 'keep' || isDone) return { verdict: join(verdict, dropped) };
  // What a user's own undo brought back is asked about until it is answered, however long that takes.
  const suspectsSaved: Suspect[] =
    isWatched || reads !== clearReads ? [{ ...suspect, state: 'escalated', clearReads: reads }] : [];
  const open = { suspect, rows, reason, restores };
  return { open, verdict: join(verdict, { suspectsSaved }, isRestored ? nothing : { holds }) };
}

/** The record whose ID an undone write gave to a row without one. */
const takenBackId = ({ damage: { cells, id, kind }, state }: Suspect): RecordId[] => {
  const given = cells[idHeader]?.written ?? emptyCell;
  return state === 'undone' && kind === 'overwritten' && id.kind === 'empty' && given.kind !== 'empty'
    ? [describeCell(given)]
    : [];
};

/** Watches on, from now, as long as a row without an ID looks like the record whose ID the undo took: it may be its row. */
function watchOn(index: TabIndex, suspect: Suspect): Verdict {
  const { now } = index.input;
  if (now < suspect.at + watchMs / 2) return nothing;
  const agreements = takenBackId(suspect).flatMap((id) => index.agreements.get(id) ?? []);
  const mayBeIts = (row: ObservedRow) => agreements.some((agreement) => isLike(index, row, agreement));
  const isThere = index.tab.rows.some((row) => row.id.kind === 'empty' && mayBeIts(row));
  return isThere ? { suspectsSaved: [{ ...suspect, at: now }] } : nothing;
}

/** Holds the rows. A question is asked once, also where no row is left. */
function holdsOf(
  entity: Entity,
  { reason, rows, suspect }: Omit<Case, 'restores'>,
  scope?: string,
): readonly Hold[] {
  const id = idOf(suspect);
  const asked = scope === undefined ? {} : { decision: scope };
  if (scope && rows.length === 0) return [{ entity, ...(id === '' ? {} : { id }), reason, ...asked }];
  return rows.map(({ position }, place) => ({ entity, id, position, reason, ...(place === 0 ? asked : {}) }));
}

/** Finds what is to be written into a row: once, however many writes damaged it. One without an ID is known by what it shows: nothing is said there. */
function findStep(index: TabIndex, row: ObservedRow, cases: readonly Case[]): DamagedRow {
  for (const { restores, suspect } of cases) {
    const restore = restores.find((each) => each.row === row);
    if (restore) return { restore: restoreStep(index, suspect, restore) };
  }
  const held = cases.find(({ restores, rows }) => restores.length === 0 && rows.includes(row));
  return held && hasId(row) ? { reason: held.reason } : {};
}

function restoreStep({ entity, input }: TabIndex, suspect: Suspect, restore: Restore): TableStep {
  const { offers, row, write } = restore;
  const key = { entity, id: idOf(suspect) };
  const cause = 'a user chose to put back what a write had replaced when rows moved';
  return {
    write,
    closes: suspect.id,
    ...(offers && row ? { key: { entity, id: describeCell(row.id) }, offers } : {}),
    ...(key.id === '' ? {} : { journal: journalEntry(input, key, { kind: 'repair', cause }) }),
  };
}

/** Decides a damaged row. */
export function decideDamagedRow(index: TabIndex, row: ObservedRow, damage: DamagedRow): Verdict {
  const { reason, restore } = damage;
  if (restore) return { table: [restore] };
  if (reason === undefined) return nothing;
  const id = describeCell(row.id);
  if (row.isPaused) return pauseRow(index, { row, id });
  return writeRow(index, row, id, { state: { kind: 'held', reason } });
}

/**
 * Finds suspects that are over by themselves: watched until a late read shows nothing, or in the tab of the questions, where nothing is lost.
 * `saved` are those of which this read shows something.
 */
export function findOver({ known, now, table }: DecideInput, saved: readonly Suspect[]): string[] {
  const open = new Set(saved.map(({ id }) => id));
  const isOver = ({ at, damage: { entity }, id, state }: Suspect): boolean => {
    const isPast = entity === 'question' || (state === 'undone' && now >= at + watchMs);
    return isPast && table.tabs[entity]?.state !== 'held' && !open.has(id);
  };
  return known.suspects.filter(isOver).map(({ id }) => id);
}

export const pendingReason = 'What was written here by mistake is being taken back.';

/** What a user is asked: the columns by their headers, with what was written and what was there. */
function damageQuestion({ columns }: Pick<TabLayout, 'columns'>, damage: Damage): string {
  const { cells, isUnseen, kind, own } = damage;
  const headers = new Map(columns.map(({ field, header }) => [field, header]));
  const all = [
    ...Object.entries(cells).map(([name, cell]) => [headers.get(name) ?? name, cell] as const),
    ...Object.entries(own),
  ];
  const said = all.map(([header, cell]) => `${header}: ${describeDamaged(damage, cell)}`).join('; ');
  const restored = isUnseen ? 'shows what the CRM has' : 'puts back what was there';
  return `Rows or columns moved while the sheet was written, and that could not be taken back by itself. ${beginnings[kind]} ${said}. Restore ${restored}, Keep leaves all as it is.`;
}

const beginnings = {
  overwritten: 'Written here by mistake:',
  deleted: 'This row was deleted by mistake, with',
  added: 'This row was added under wrong columns, with',
} as const;

/** The user is to be able to put it back by hand. */
const quotedMax = 500;

function describeDamaged({ isUnseen, kind }: Damage, { before, written }: DamagedCell): string {
  const quote = (cell: Cell) =>
    cell.kind === 'empty' ? 'nothing' : quoteText(describeCell(cell), quotedMax);
  if (kind === 'overwritten' && !isUnseen) return `${quote(written)} over ${quote(before)}`;
  return quote(kind === 'deleted' ? before : written);
}
