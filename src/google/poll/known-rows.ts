import type { Clock } from '../../core/ports.ts';
import { type Grid, lastFilled, type Rows } from '../grid.ts';
import { areSameCells } from './mend.ts';

/** To compare so many rows takes some ten milliseconds. */
const sliceRows = 5_000;

/**
 * The grids of a read of everything, with the rows of the read `before` in place of those that hold the same: what follows from a row is known
 * by its object, and to find it out again for tens of thousands of rows keeps all else waiting.
 */
export async function keepKnownRows(
  grids: readonly Grid[],
  before: readonly Grid[],
  clock: Clock,
): Promise<Grid[]> {
  const kept: Grid[] = [];
  for (const grid of grids) {
    const last = before.find(({ sheetId }) => sheetId === grid.sheetId);
    kept.push(last ? { ...grid, rows: await knownRows(grid.rows, last.rows, clock) } : grid);
  }
  return kept;
}

async function knownRows(rows: Rows, before: Rows, clock: Clock): Promise<Rows> {
  const shift = lastFilled(rows) - lastFilled(before);
  const known = [...rows];
  // Below the header, which is no row.
  for (let place = 1; place < rows.length; place += 1) {
    if (place % sliceRows === 0) await clock.sleep(0);
    const row = rows[place] ?? [];
    // Where rows came or went, those below them are elsewhere by as many.
    const [same, moved] = [before[place], before[Math.max(1, place - shift)]];
    known[place] = [same, moved].find((other) => other && areSameCells(other, row)) ?? row;
  }
  return known;
}
