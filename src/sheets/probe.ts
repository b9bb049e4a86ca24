import { describeCell } from '../core/cell.ts';
import { syncHeader } from '../core/headers.ts';
import type { Marks } from '../core/instance.ts';
import type { TabLayout } from '../core/layout.ts';
import { createSheetsClient, type Spreadsheet } from './client.ts';
import { gridFields, isEmptyGrid } from './grid.ts';
import { marksIn } from './marks.ts';
import { observeTab } from './read.ts';
import { countCells } from './room.ts';
import type { GoogleSheetOptions } from './table.ts';
import { findStranger, placeTab, readTagged, type TaggedSpreadsheet } from './tabs.ts';

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
  let read: Promise<Spreadsheet> | undefined;
  const readOnce = async (): Promise<Spreadsheet> => {
    read ??= client.get(`properties(title,locale),${gridFields}`).then((spreadsheet) => spreadsheet ?? {});
    return read;
  };

  return {
    async look() {
      const { properties, ...spreadsheet } = await readOnce();
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
    lookAtTab: async (layout) => compareTab(readTagged(await readOnce()), layout),
  };
}

function compareTab(spreadsheet: TaggedSpreadsheet, layout: TabLayout): TabLook {
  const { columns } = layout;
  const place = placeTab(spreadsheet, layout);
  const { grid } = place;
  if (place.state === 'lost') return { state: 'held', title: layout.title, reason: place.reason };
  if (!grid) return { state: 'absent', title: layout.title };
  const { title } = grid;
  if (isEmptyGrid(grid)) return { state: 'empty', title };
  const { observed, bound } = observeTab(grid, layout);
  if (observed.state === 'held') return { state: 'held', title, reason: observed.reason };
  // What can be read is bound.
  const { id, sync, pause, fields } = bound!.columns;
  const missing = columns.filter(({ field }) => !fields.has(field)).map(({ header }) => header);
  const managed = new Set([id, sync, pause, ...[...fields.values()].map(({ index }) => index)]);
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
