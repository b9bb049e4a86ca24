import { labelKey } from '../core/label-key.ts';
import type { Layout, TabKind, TabLayout } from '../core/layout.ts';
import type { Grid } from './grid.ts';

/** Which grid is which tab: by its numeric id once it was seen, so that a renamed tab stays the same tab. */
export interface KnownTabs {
  /** The title under which the tab was last seen, or its title in the layout. */
  title(tab: TabLayout): string;
  has(tab: TabLayout): boolean;
  find(grids: readonly Grid[], tab: TabLayout): Grid | undefined;
  /** Whether every tab that was seen before is among the grids. */
  areIn(grids: readonly Grid[], layout: Layout): boolean;
  /** Notes under which grid a tab was found; forgets the tab where there is none. */
  remember(grid: Grid | undefined, tab: TabLayout): 'same' | 'renamed';
}

export function createKnownTabs(): KnownTabs {
  const known = new Map<TabKind, { readonly sheetId: number; readonly title: string }>();
  return {
    title: ({ entity, title }) => known.get(entity)?.title ?? title,

    has: ({ entity }) => known.has(entity),

    find(grids, { entity, title }) {
      const sheetId = known.get(entity)?.sheetId;
      return (
        grids.find((grid) => grid.sheetId === sheetId) ??
        grids.find((grid) => labelKey(grid.title) === labelKey(title))
      );
    },

    areIn: (grids, layout) =>
      layout.every(({ entity }) => {
        const sheetId = known.get(entity)?.sheetId;
        return sheetId === undefined || grids.some((grid) => grid.sheetId === sheetId);
      }),

    remember(grid, { entity }) {
      const before = known.get(entity);
      if (!grid) {
        known.delete(entity);
        return 'same';
      }
      known.set(entity, { sheetId: grid.sheetId, title: grid.title });
      return before && before.title !== grid.title ? 'renamed' : 'same';
    },
  };
}
