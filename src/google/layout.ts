import { syncHeader } from '../core/fields/headers.ts';
import type { Layout, TabKind, TabLayout } from '../sheet/port/layout.ts';
import type { LaidOut, LayOutConsent } from '../sheet/port/port.ts';
import type { Request } from './client.ts';
import {
  addColumns,
  type ColumnLooks,
  missingColumns,
  offerOf,
  refreshTab,
  writeHeaders,
} from './column-look.ts';
import { bindColumns } from './columns.ts';
import { coloursNow, dressColumn } from './dress.ts';
import { type Grid, isEmptyGrid } from './grid.ts';
import { type Managed, wantedColumns } from './managed.ts';
import { removeMarks } from './marks.ts';
import {
  type ColumnTag,
  headerHash,
  linkTags,
  noteHash,
  tagColumn,
  writeTag,
  writeTags,
} from './metadata.ts';
import { grow } from './room.ts';
import {
  findStranger,
  type Owner,
  placeByTitle,
  placeTab,
  type TabPlace,
  type TaggedSpreadsheet,
} from './tabs.ts';
import { createShadow, findShadow } from './write/shadow.ts';

export interface LayOutTask {
  readonly layout: Layout;
  /** `refresh` leaves missing and empty tabs alone. */
  readonly mode: 'create' | 'refresh';
  readonly consent: LayOutConsent;
  readonly owner: Owner;
  readonly spreadsheet: TaggedSpreadsheet;
  /** By sheet id. */
  readonly looks: ReadonlyMap<number, ColumnLooks>;
}

type Placing = Pick<LayOutTask, 'layout' | 'consent' | 'spreadsheet'>;

/** What has to be written, for each tab and for the spreadsheet as a whole, and what is not laid out. */
export interface LayingOut extends LaidOut {
  readonly parts: readonly (readonly Request[])[];
}

/** What laying out one tab comes to; `sheetId` where the tab is one of ours from now on. */
interface TabOutcome extends LaidOut {
  readonly requests: readonly Request[];
  readonly sheetId?: number;
}

/**
 * What is missing until the spreadsheet has the layout, in one batch. Cells of a tab with content never change; a
 * lone empty tab, as every new spreadsheet has one, becomes the first tab of the layout, unless it is called like one already.
 */
export function planLayOut(task: LayOutTask): LayingOut {
  const { consent, layout, owner, spreadsheet } = task;
  const stranger = findStranger(spreadsheet, owner);
  if (stranger !== undefined && !consent.adopt) return { parts: [], held: [stranger], offered: [] };
  const { grids, lastWrite, link, marks } = spreadsheet;
  const lone = findLone(spreadsheet);
  const spare = lone && isEmptyGrid(lone) && !placedGrids(task).includes(lone) ? [lone] : [];
  const freeIds = freeSheetIds([
    ...grids.map(({ sheetId }) => sheetId),
    ...Object.values(link?.tabs ?? {}),
    ...(link?.shadow === undefined ? [] : [link.shadow]),
  ]);
  const outcomes = layout.map((tab) => ({
    entity: tab.entity,
    ...layOutTab(task, tab, () => spare.shift(), freeIds),
  }));
  const bound = outcomes.flatMap(({ entity, sheetId }): [TabKind, number][] =>
    sheetId === undefined ? [] : [[entity, sheetId]],
  );
  const tabs = { ...link?.tabs, ...Object.fromEntries(bound) };
  const isTagged = link !== undefined || bound.length > 0;
  const known = findShadow(spreadsheet)?.sheetId;
  const shadow = known ?? (isTagged ? freeIds.next().value : undefined);
  const isMissing = shadow !== undefined && known === undefined;
  const ofAll = [
    ...(isMissing ? [createShadow(shadow)] : []),
    ...(isTagged ? writeTag(linkTags, link, { ...owner, tabs, shadow }) : []),
    ...(isTagged && !lastWrite ? writeTag(writeTags, undefined, { run: '' }) : []),
    // A copy that is taken over has the marks of those that run on the spreadsheet it was made of.
    ...(stranger === undefined ? [] : removeMarks(marks)),
  ];
  return {
    parts: [...outcomes.map(({ requests }) => requests), ofAll].filter(({ length }) => length > 0),
    held: outcomes.flatMap(({ held }) => held),
    offered: outcomes.flatMap(({ offered }) => offered),
  };
}

/** The only tab, where it is no larger than those of new spreadsheets: of a larger one nobody looks whether all of it is empty. */
function findLone({ grids }: TaggedSpreadsheet): Grid | undefined {
  const [lone, ...others] = grids;
  const isSmall = lone && lone.rowCount <= newSize.rowCount && lone.columnCount <= newSize.columnCount;
  return isSmall && others.length === 0 ? lone : undefined;
}

/** The tabs whose cells say what is to be laid out. */
export function tabsToRead(task: Placing): Grid[] {
  return [...new Set([...placedGrids(task), findLone(task.spreadsheet) ?? []].flat())];
}

/** The places of the tabs of the layout, as far as they are there. */
const placedGrids = (task: Placing): Grid[] => task.layout.flatMap((tab) => placeFor(task, tab).grid ?? []);

const nothing: TabOutcome = { requests: [], held: [], offered: [] };

function layOutTab(
  task: LayOutTask,
  tab: TabLayout,
  takeSpare: () => Grid | undefined,
  freeIds: Generator<number, never>,
): TabOutcome {
  const place = placeFor(task, tab);
  if (place.grid && !isEmptyGrid(place.grid)) return layOutFilled(task, tab, place.grid);
  if (place.state === 'lost') return { ...nothing, held: [place.reason] };
  if (task.mode === 'refresh') return nothing;
  const empty = place.grid ?? takeSpare();
  if (empty) {
    const requests = headTab(empty.sheetId, empty.columnCount, tab);
    return { ...nothing, requests, sheetId: empty.sheetId };
  }
  const sheetId = freeIds.next().value;
  return { ...nothing, requests: createTab(sheetId, tab), sheetId };
}

/** The tabs with content that will be laid out; each needs its look. */
export const filledTabs = (task: Placing): Grid[] => [
  ...new Set(placedGrids(task).filter((grid) => !isEmptyGrid(grid))),
];

/** Who adopts takes the tab of that title where the one that was kept the same is gone. */
function placeFor({ consent, spreadsheet }: Placing, tab: TabLayout): TabPlace {
  const place = placeTab(spreadsheet, tab);
  return place.state === 'lost' && consent.adopt ? placeByTitle(spreadsheet, tab) : place;
}

function layOutFilled(task: LayOutTask, layout: TabLayout, grid: Grid): TabOutcome {
  const { consent, looks, mode } = task;
  const binding = bindColumns(grid, { ...layout, title: grid.title });
  if (binding.state === 'foreign' && consent.addColumns)
    return { ...nothing, requests: addColumns(grid, layout.entity, binding.missing), sheetId: grid.sheetId };
  if (binding.state !== 'bound') return { ...nothing, held: [binding.reason] };
  const look = looks.get(grid.sheetId) ?? { notes: [], rules: [] };
  const filled = { grid, layout, look, columns: binding.columns };
  const missing = missingColumns(filled);
  const namesakeOf = ({ name }: Managed) => binding.columns.namesakes?.get(name);
  const added = consent.addColumns ? missing.filter((column) => namesakeOf(column) === undefined) : [];
  // A column that a person added since is tagged by a refresh alone, after the cycle that read it.
  const isTagged = mode === 'refresh' || grid.tags.length === 0;
  return {
    requests: [...refreshTab(filled, isTagged), ...addColumns(grid, layout.entity, added)],
    held: [],
    offered: missing
      .filter((column) => !added.includes(column))
      .map((column) => offerOf(grid.title, column, namesakeOf(column))),
    sheetId: grid.sheetId,
  };
}

/** The smallest ids that no tab has or had, from 1 on, so that one batch can create tabs and fill them. */
function* freeSheetIds(taken: readonly number[]): Generator<number, never> {
  for (let id = 1; ; id += 1) if (!taken.includes(id)) yield id;
}

/** As Google makes new tabs. */
const newSize = { rowCount: 1000, columnCount: 26 };

const createTab = (sheetId: number, tab: TabLayout): Request[] => [
  { addSheet: { properties: { sheetId, title: tab.title, gridProperties: newSize } } },
  ...headTab(sheetId, newSize.columnCount, tab),
];

/** A tab that is new or has no cell at all: title, frozen header row and first columns, and all its columns. */
function headTab(sheetId: number, columnCount: number, layout: TabLayout): Request[] {
  const managed = wantedColumns(layout);
  const named = managed.findIndex(({ isNaming }) => isNaming) + 1;
  // Google refuses to freeze all columns of a tab.
  const frozenColumnCount = Math.min(named, Math.max(managed.length, columnCount) - 1);
  const gridProperties = { frozenRowCount: 1, frozenColumnCount };
  return [
    ...grow(sheetId, 'COLUMNS', managed.length - columnCount),
    {
      updateSheetProperties: {
        properties: { sheetId, title: layout.title, gridProperties },
        fields: 'title,gridProperties(frozenRowCount,frozenColumnCount)',
      },
    },
    writeHeaders(sheetId, 0, managed),
    ...(layout.entity === 'question' ? [] : [{ setBasicFilter: { filter: { range: { sheetId } } } }]),
    ...managed.flatMap((column, index) => [
      ...dressColumn(sheetId, index, layout.entity, column),
      ...tagColumn(undefined, tagOf(column), sheetId, index),
    ]),
  ];
}

const tagOf = ({ fieldHeader, name, note }: Managed): ColumnTag => ({
  field: name,
  note: note && noteHash(note),
  header: fieldHeader && headerHash(fieldHeader),
  ...(name === syncHeader ? { colours: coloursNow } : {}),
});
