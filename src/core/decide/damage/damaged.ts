import { describeCell } from '../../cell.ts';
import { type Suspect, watchMs } from '../../damage.ts';
import type { RecordId } from '../../record.ts';
import type { ObservedRow } from '../../table.ts';
import { type DecideInput, damageScope, type TabContext } from '../context.ts';
import type { Draft } from '../draft.ts';
import { journalEntry } from '../journal-entry.ts';
import { pauseRow } from '../rows/paused.ts';
import { writeRow } from '../rows/row-write.ts';
import { findRestores, type Restore } from './restore.ts';
import { createLostSearch, isDamaged, isRead, showsAgain, showsNothing } from './shown.ts';
import { damageQuestion, pendingReason } from './words.ts';

/** A tab without the rows that misdirected writes may have damaged. */
interface Sound {
  readonly context: TabContext;
  /** The records and claims that these rows are about, or whose ID they show: none of them has vanished. */
  readonly named: ReadonlySet<RecordId>;
  /** Those of them that have their own row among the damaged ones: no other row is theirs. */
  readonly present: ReadonlySet<RecordId>;
  /** Plans what is to be written there, which waits where a brake holds. */
  readonly write: () => void;
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
 * Sets apart what is no evidence of what a user means: nothing is merged, claimed, created or deleted because of it. What could not be
 * undone is asked about.
 */
export function setDamagedApart(context: TabContext): Sound {
  const { entity, input, tab } = context;
  const own = input.known.suspects.filter(({ damage }) => damage.entity === entity);
  const apart = new Set<ObservedRow>();
  const cases: Case[] = [];
  // The last damage of a row covers what was done before: it is put right first.
  for (const suspect of own.toReversed()) {
    const open = openCase(context, suspect, apart);
    if (!open) continue;
    cases.push(open);
    for (const row of open.rows) apart.add(row);
  }
  const shown = new Set([...apart].filter(hasId).map(({ id }) => describeCell(id)));
  const ids = new Set(cases.map(({ suspect }) => idOf(suspect)).filter((id) => id !== ''));
  return {
    context:
      apart.size > 0
        ? { ...context, tab: { ...tab, rows: tab.rows.filter((row) => !apart.has(row)) } }
        : context,
    named: ids.union(shown),
    present: ids.intersection(shown),
    write: () => writeCases(context, cases),
  };
}

const hasId = ({ id }: ObservedRow): boolean => id.kind !== 'empty';

const idOf = ({ damage: { id } }: Suspect): RecordId => (id.kind === 'empty' ? '' : describeCell(id));

/** Finds what a suspect comes to by this read and a user's answer, and asks about it; `undefined` where its rows are decided as any others. */
function openCase(context: TabContext, suspect: Suspect, apart: ReadonlySet<ObservedRow>): Case | undefined {
  const { draft, entity, tab } = context;
  const { clearReads, damage, id, state } = suspect;
  const isLost = state === 'undone' ? () => false : createLostSearch(context, damage);
  const found = tab.rows.filter((row) => isDamaged(tab, row, damage) || isLost(row));
  if (state === 'pending') return ask(context, { suspect, rows: found, reason: pendingReason, restores: [] });
  const isWatched = state === 'undone';
  const rows = isWatched ? found.filter((row) => showsAgain(context, row, damage)) : found;
  if (isWatched && rows.length === 0) return undefined;
  const scope = damageScope(entity, idOf(suspect), id);
  const answer = context.decision(scope);
  const restores = answer === 'restore' ? findRestores(tab, damage, rows) : [];
  const isCovered = rows.some((row) => apart.has(row));
  const reads = !isWatched && !isCovered && showsNothing(tab, rows, damage) ? clearReads + 1 : 0;
  const isRestored = answer === 'restore' && !isCovered && restores.length === 0 && isRead(tab, damage);
  if (answer === 'keep' || isRestored || reads >= clearReadsMax) {
    draft.suspectsDropped.push(id);
    return undefined;
  }
  // What a user's own undo brought back is asked about until it is answered, however long that takes.
  if (isWatched || reads !== clearReads)
    draft.suspectsSaved.push({ ...suspect, state: 'escalated', clearReads: reads });
  const open = { suspect, rows, reason: damageQuestion(context.layout, damage), restores };
  return answer === 'restore' ? open : ask(context, open, scope);
}

/** Holds the rows. A question is asked once, also where no row is left. */
function ask({ draft, entity }: TabContext, open: Case, scope?: string): Case {
  const { reason, rows, suspect } = open;
  const id = idOf(suspect);
  for (const [index, { position }] of rows.entries())
    draft.holds.push({ entity, id, position, reason, ...(scope && index === 0 ? { decision: scope } : {}) });
  if (scope && rows.length === 0)
    draft.holds.push({ entity, ...(id === '' ? {} : { id }), reason, decision: scope });
  return open;
}

/** Writes a row once, however many writes damaged it. One without an ID is known by what it shows: nothing is said there. */
function writeCases(context: TabContext, cases: readonly Case[]): void {
  const written = new Set<ObservedRow>();
  const isFirst = (row: ObservedRow) => written.size < written.add(row).size;
  for (const { restores, suspect } of cases)
    for (const { row, write } of restores) if (!row || isFirst(row)) planRestore(context, suspect, write);
  for (const { reason, restores, rows } of cases)
    for (const row of rows)
      if (restores.length === 0 && hasId(row) && isFirst(row)) sayHeld(context, row, reason);
}

function planRestore({ draft, entity, input }: TabContext, suspect: Suspect, write: Restore['write']): void {
  const key = { entity, id: idOf(suspect) };
  const cause = 'a user chose to put back what a write had replaced when rows moved';
  draft.table.push({
    write,
    offers: {},
    notice: '',
    closes: suspect.id,
    ...(key.id === '' ? {} : { journal: journalEntry(input, key, { kind: 'repair', cause }) }),
  });
}

function sayHeld(context: TabContext, row: ObservedRow, reason: string): void {
  const id = describeCell(row.id);
  if (row.isPaused) pauseRow(context, row, id);
  else writeRow(context, row, { entity: context.entity, id }, { state: { kind: 'held', reason } });
}

const isOver = ({ at, damage, state }: Suspect, now: number): boolean =>
  damage.entity === 'question' || (state === 'undone' && now >= at + watchMs);

/** Suspects that are over by themselves: watched until a late read shows nothing, or in the tab of the questions, where nothing is lost. */
export function findOver({ known, now, table }: DecideInput, { suspectsSaved }: Draft): string[] {
  const isOpen = ({ damage: { entity }, id }: Suspect) =>
    table.tabs[entity]?.state === 'held' || suspectsSaved.some((saved) => saved.id === id);
  return known.suspects.filter((suspect) => isOver(suspect, now) && !isOpen(suspect)).map(({ id }) => id);
}
