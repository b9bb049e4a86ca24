import { syncHeader } from '../core/fields/headers.ts';
import { once } from '../core/once.ts';
import { describeCell } from '../sheet/port/cell.ts';
import type { Marks } from '../sheet/port/instance.ts';
import type { TabLayout } from '../sheet/port/layout.ts';
import { tabFields } from './chosen-tabs.ts';
import { createSheetsClient } from './client.ts';
import { placesOf } from './columns.ts';
import { type Grid, gridFields, isEmptyGrid, readGrids } from './grid.ts';
import { marksIn } from './marks.ts';
import { observeTab } from './read.ts';
import { countCells } from './room.ts';
import type { GoogleSheetOptions } from './table.ts';
import { findStranger, placeTab, readTagged } from './tabs.ts';

/** What a spreadsheet says about itself. */
export interface SpreadsheetLook {
  readonly title: string;
  readonly locale: string;
  readonly timeZone: string;
  /** Cells of all its tabs, blank ones included. */
  readonly cells: number;
  /** Why nothing in it may be written, where it says that it belongs elsewhere. */
  readonly stranger: string | undefined;
  /** Which daemons work on it. */
  readonly marks: Marks;
}

/**
 * A tab against its layout.
 * - `absent`, `empty`: `init` makes it or fills its header row.
 * - `held`: it can not be used, and why.
 * - `found`: managed headers that are missing, and the headers of columns that belong to people.
 */
export type TabLook =
  | { readonly state: 'absent'; readonly title: string }
  | { readonly state: 'empty'; readonly title: string }
  | { readonly state: 'held'; readonly title: string; readonly reason: string }
  | {
      readonly state: 'found';
      readonly title: string;
      readonly rows: number;
      readonly missing: readonly string[];
      readonly own: readonly string[];
    };

/** Looks at a spreadsheet without writing to it. Errors are `SyncError`s with a SHEET_ code. */
export interface SheetProbe {
  look(): Promise<SpreadsheetLook>;
  lookAtTab(layout: TabLayout): Promise<TabLook>;
}

export function createSheetProbe(options: GoogleSheetOptions): SheetProbe {
  const client = createSheetsClient(options);
  /** The names and sizes of all tabs: people may have large ones beside ours. */
  const lookOnce = once(async () => (await client.get(`properties(title,locale),${tabFields}`)) ?? {});

  return {
    async look() {
      const { properties, ...spreadsheet } = await lookOnce();
      const { title, locale, timeZone } = properties ?? {};
      const tagged = readTagged(spreadsheet);
      return {
        title: title ?? '',
        locale: locale ?? '',
        timeZone: timeZone ?? '',
        cells: countCells(tagged.grids),
        stranger: findStranger(tagged, options),
        marks: marksIn(tagged.marks),
      };
    },
    async lookAtTab(layout) {
      const { title } = layout;
      const place = placeTab(readTagged(await lookOnce()), layout);
      if (place.state === 'lost') return { state: 'held', title, reason: place.reason };
      if (!place.grid) return { state: 'absent', title };
      const { sheetId } = place.grid;
      const [grid] = readGrids((await client.get(gridFields, [{ sheetId }])) ?? {});
      return grid ? compareTab(grid, layout) : { state: 'absent', title };
    },
  };
}

function compareTab(grid: Grid, layout: TabLayout): TabLook {
  const { columns } = layout;
  const { title } = grid;
  if (isEmptyGrid(grid)) return { state: 'empty', title };
  const { observed, bound } = observeTab(grid, layout);
  if (observed.state === 'held') return { state: 'held', title, reason: observed.reason };
  // What can be read is bound.
  const { columns: found } = bound!;
  const missing = columns.filter(({ field }) => !found.fields.has(field)).map(({ header }) => header);
  const managed = new Set([found.pause, ...placesOf(found).values()]);
  const own = (grid.rows[0] ?? []).flatMap((cell, index) =>
    cell.kind === 'empty' || managed.has(index) ? [] : describeCell(cell),
  );
  return {
    state: 'found',
    title,
    rows: observed.rows.length,
    missing: observed.hasSync ? missing : [...missing, syncHeader],
    own,
  };
}
