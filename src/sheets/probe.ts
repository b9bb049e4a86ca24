import { describeCell } from '../core/cell.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { labelKey } from '../core/label-key.ts';
import type { TabLayout } from '../core/layout.ts';
import { quoteTitle } from './a1.ts';
import { createSheetsClient, type SheetsClientOptions } from './client.ts';
import { type Grid, gridFields, readGrids } from './grid.ts';
import { isEmptyGrid } from './layout.ts';
import { observeTab } from './read.ts';

/** What a spreadsheet says about itself. */
export interface SpreadsheetLook {
  readonly title: string;
  readonly locale: string;
  readonly timeZone: string;
  /** Titles of all its tabs. */
  readonly tabs: readonly string[];
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

const lookFields = 'properties(title,locale,timeZone),sheets(properties(title))';

export function createSheetProbe(options: SheetsClientOptions): SheetProbe {
  const client = createSheetsClient(options);
  let spreadsheetLook: Promise<SpreadsheetLook> | undefined;

  async function readLook(): Promise<SpreadsheetLook> {
    const { properties, sheets = [] } = (await client.get(lookFields)) ?? {};
    const { title, locale, timeZone } = properties ?? {};
    return {
      title: title ?? '',
      locale: locale ?? '',
      timeZone: timeZone ?? '',
      tabs: sheets.map((sheet) => sheet.properties?.title ?? ''),
    };
  }
  const look = () => {
    spreadsheetLook ??= readLook();
    return spreadsheetLook;
  };

  return {
    look,
    async lookAtTab(layout) {
      const key = labelKey(layout.title);
      const title = (await look()).tabs.find((candidate) => labelKey(candidate) === key);
      if (title === undefined) return { state: 'absent', title: layout.title };
      const [grid] = readGrids((await client.get(gridFields, [quoteTitle(title)])) ?? {});
      return compareTab(grid, layout);
    },
  };
}

function compareTab(grid: Grid | undefined, layout: TabLayout): TabLook {
  const { title, columns } = layout;
  if (!grid) return { state: 'absent', title };
  if (isEmptyGrid(grid)) return { state: 'empty', title };
  const { observed, bound } = observeTab(grid, layout);
  if (observed.state === 'held') return { state: 'held', title, reason: observed.reason };
  const missing = columns
    .filter(({ field }) => !bound?.columns.fields.has(field))
    .map(({ header }) => header);
  const managed = new Set([idHeader, syncHeader, ...columns.map(({ header }) => header)].map(labelKey));
  const headers = (grid.rows[0] ?? []).flatMap((cell) => (cell.kind === 'empty' ? [] : describeCell(cell)));
  return {
    state: 'found',
    title,
    rows: observed.rows.length,
    missing: observed.hasSync ? missing : [...missing, syncHeader],
    own: headers.filter((header) => !managed.has(labelKey(header))),
  };
}
