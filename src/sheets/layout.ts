import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Layout, TabLayout } from '../core/layout.ts';
import type { Request } from './client.ts';
import { bindColumns } from './columns.ts';
import type { Grid } from './grid.ts';
import { headTab, type Rule, ruleOf, setRule } from './tab-look.ts';

/** Field mask of the dropdowns in the ranges that are asked for. */
export const ruleFields = 'sheets(properties.sheetId,data(startColumn,rowData.values.dataValidation))';

/** Rules of the second row of a tab, by its sheet id and by grid column. */
export type RulesBySheet = ReadonlyMap<number, readonly (Rule | undefined)[]>;

export interface LayOutTask {
  readonly layout: Layout;
  /** `refresh` leaves missing and empty tabs alone. */
  readonly mode: 'create' | 'refresh';
  readonly grids: readonly Grid[];
  /** The tab of a layout, where there is one. */
  readonly gridOf: (tab: TabLayout) => Grid | undefined;
  readonly rules: RulesBySheet;
}

/**
 * What is missing until the spreadsheet has the layout. Of a tab with content only dropdowns change; a lone
 * empty tab, as every new spreadsheet has one, becomes the first tab of the layout.
 */
export function layOutRequests({ layout, mode, grids, gridOf, rules }: LayOutTask): Request[] {
  const [lone, ...others] = grids;
  const spare = lone && others.length === 0 && isEmptyGrid(lone) ? [lone] : [];
  const freeIds = freeSheetIds(grids);
  return layout.flatMap((tab) => {
    const grid = gridOf(tab);
    if (grid && !isEmptyGrid(grid)) return refreshRules(grid, tab, rules.get(grid.sheetId) ?? []);
    if (mode === 'refresh') return [];
    const empty = grid ?? spare.shift();
    return empty ? headTab(empty.sheetId, empty.columnCount, tab) : createTab(freeIds.next().value, tab);
  });
}

const gridSize = { rowCount: 1000, columnCount: 26 };

const createTab = (sheetId: number, tab: TabLayout): Request[] => [
  { addSheet: { properties: { sheetId, title: tab.title, gridProperties: gridSize } } },
  ...headTab(sheetId, gridSize.columnCount, tab),
];

/** Dropdowns of a tab with content that differ from `rules`. */
function refreshRules(grid: Grid, layout: TabLayout, rules: readonly (Rule | undefined)[]): Request[] {
  const binding = bindColumns(grid.rows, layout);
  if (binding.state === 'held' || grid.rowCount < 2) return [];
  return layout.columns.flatMap((column) => {
    const index = binding.columns.fields.get(column.field)?.index;
    const rule = ruleOf(column);
    if (index === undefined || !rule || equalRules(rules[index], rule)) return [];
    return [setRule(grid.sheetId, index, rule)];
  });
}

function equalRules(present: Rule | undefined, wanted: Rule): boolean {
  const conditionOf = ({ condition }: Rule) => [
    condition?.type,
    ...(condition?.values ?? []).map((value) => value.userEnteredValue),
  ];
  return (
    present !== undefined && JSON.stringify(conditionOf(present)) === JSON.stringify(conditionOf(wanted))
  );
}

/** The rules of a row as {@link ruleFields} brings them, by grid column. */
export function readRules(block: sheets_v4.Schema$GridData | undefined): (Rule | undefined)[] {
  const left = Array.from({ length: block?.startColumn ?? 0 }, () => undefined);
  return [...left, ...(block?.rowData?.[0]?.values ?? []).map((cell) => cell.dataValidation)];
}

export const isEmptyGrid = ({ rows }: Grid): boolean =>
  rows.every((row) => row.every((cell) => cell.kind === 'empty'));

/** The smallest ids that no tab has, from 1 on, so that one batch can create tabs and fill them. */
function* freeSheetIds(grids: readonly Grid[]): Generator<number, never> {
  const taken = new Set(grids.map((grid) => grid.sheetId));
  for (let id = 1; ; id += 1) if (!taken.has(id)) yield id;
}
