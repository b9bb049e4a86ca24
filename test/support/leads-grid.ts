import type { Grid } from '../../src/google/grid.ts';
import { type BoundTab, observeTab } from '../../src/google/read.ts';
import { type Cell, textCell } from '../../src/sheet/port/cell.ts';
import type { TabLayout } from '../../src/sheet/port/layout.ts';

/** Rules of a column that goes both ways. */
export const both = { direction: 'both', conflict: 'crm' } as const;

/** A tab of leads with three columns. */
export const leads: TabLayout = {
  entity: 'lead',
  title: 'Leads',
  columns: [
    { field: 'title', kind: 'text', header: 'Title', ...both },
    { field: 'met', kind: 'date', header: 'Met', ...both },
    { field: 'vip', kind: 'boolean', header: 'VIP', ...both },
  ],
};

export const headers = ['ID', 'Title', 'Met', 'VIP', 'Sync'].map(textCell);

/** The tab with these rows below its header. */
export const gridOf = (rows: Cell[][], merges: Grid['merges'] = []): Grid => ({
  sheetId: 7,
  title: 'Leads',
  rowCount: 100,
  columnCount: 26,
  rows: [headers, ...rows],
  merges,
  tags: [],
  typed: [],
  tables: [],
  hiddenRows: new Set<number>(),
});

/** The tab as a read binds it; fails where that holds it. */
export function bind(grid: Grid): BoundTab {
  const { bound } = observeTab(grid, leads);
  if (!bound) throw new Error('held');
  return bound;
}
