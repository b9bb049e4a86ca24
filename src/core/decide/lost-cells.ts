import { describeCell, isUnfilled } from '../cell.ts';
import type { Consequences, OpenWrite } from '../open-write.ts';
import type { JournalEntry } from '../state.ts';
import type { KeptRow, WriteReply } from '../table.ts';
import { journalEntry } from './journal-entry.ts';

/**
 * What stood in the rows that a write reached by mistake, or under columns that had moved, as the `reply` tells: for the journal, so that
 * it can be found there whatever becomes of it.
 */
export const describeDamage = (
  { id: run, deletes, outcome, sets }: OpenWrite,
  { rows }: Pick<WriteReply, 'rows'>,
  at: number,
): readonly JournalEntry[] =>
  [...sets, ...deletes].flatMap(({ entity, kept, slot }) => {
    // Of a new row nothing was there before.
    if (outcome !== 'answered' || !kept || slot < 0 || entity === 'question') return [];
    // What is kept of a step that reached its own row has what it put there by right, and this is lost as well.
    const stood = rows.get(slot)?.cells ?? kept.cells;
    const cells = Object.entries(stood).filter(([, { kind }]) => kind !== 'empty');
    const before = Object.fromEntries(cells.map(([name, cell]) => [name, describeCell(cell)]));
    if (cells.length === 0) return [];
    const key = { entity, id: describeCell(kept.id) };
    const cause = 'stood in a row that a write reached because somebody moved rows or typed';
    return [journalEntry({ now: at, run }, key, { kind: 'repair', before, cause })];
  });

/** A confirmed step whose line in the journal, if its row is gone, tells also what people had there in columns of their own, by their headers. */
export function withOwnCells<Step extends Pick<Consequences, 'journal'>>(
  step: Step,
  { place: { cells, columns, headers } }: KeptRow,
): Step {
  const { journal } = step;
  if (journal?.kind !== 'delete') return step;
  const managed = new Set(Object.values(columns));
  const own = cells.flatMap((cell, column) =>
    isUnfilled(cell) || managed.has(column)
      ? []
      : [[headers[column] || `column ${column + 1}`, describeCell(cell)] as const],
  );
  return { ...step, journal: { ...journal, lost: { ...Object.fromEntries(own), ...journal.lost } } };
}
