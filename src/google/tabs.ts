import { labelKey } from '../core/text/label-key.ts';
import type { TabLayout } from '../sheet/port/layout.ts';
import type { Spreadsheet } from './client.ts';
import { type Grid, readGrids } from './grid.ts';
import { marksOf, type StoredMarks } from './marks.ts';
import { type LinkTag, linkTags, readTags, type Stored, type WriteTag, writeTags } from './metadata.ts';

/** Whose spreadsheet it has to be. */
export interface Owner {
  readonly spreadsheetId: string;
  /** Names the CRM account; equal for every daemon of that account. */
  readonly account: string;
}

/** A spreadsheet as it was read: its tabs, and what it says about itself once it was laid out. */
export interface TaggedSpreadsheet extends SpreadsheetTags {
  readonly grids: readonly Grid[];
}

/** What a spreadsheet says about itself. */
export interface SpreadsheetTags {
  /** IANA name; absent where it was not asked for. */
  readonly timeZone: string | undefined;
  readonly link: Stored<LinkTag> | undefined;
  readonly lastWrite: Stored<WriteTag> | undefined;
  readonly marks: StoredMarks;
}

export const readTagged = (spreadsheet: Spreadsheet): TaggedSpreadsheet => ({
  ...readSpreadsheetTags(spreadsheet),
  grids: readGrids(spreadsheet),
});

export const readSpreadsheetTags = (spreadsheet: Spreadsheet): SpreadsheetTags => ({
  timeZone: spreadsheet.properties?.timeZone ?? undefined,
  link: readTags(spreadsheet.developerMetadata ?? [], linkTags)[0],
  lastWrite: readTags(spreadsheet.developerMetadata ?? [], writeTags)[0],
  marks: marksOf(spreadsheet),
});

/**
 * Where the tab of an entity is. `lost`: it was there and is gone, and nothing may take its place unasked, or the tab of its title is another
 * one's.
 */
export type TabPlace =
  | { readonly state: 'found'; readonly grid: Grid }
  | { readonly state: 'absent' | 'lost'; readonly grid?: undefined; readonly reason: string };

/**
 * A tab is found by the numeric id that the spreadsheet's tag names for it: it outlives restarts and renames,
 * and the copy of a tab has another one. Only where no tag names one, it is found by its title.
 */
export function placeTab(spreadsheet: TaggedSpreadsheet, tab: TabLayout): TabPlace {
  const { grids, link } = spreadsheet;
  const sheetId = link?.tabs[tab.entity];
  if (sheetId === undefined) return placeByTitle(spreadsheet, tab);
  const grid = grids.find((candidate) => candidate.sheetId === sheetId);
  // A tab of questions holds nothing that is not known elsewhere: people may do without it, and have a new one.
  if (!grid && tab.entity === 'question') return placeByTitle(spreadsheet, tab);
  return grid ? { state: 'found', grid } : { state: 'lost', reason: lostReason(grids, tab) };
}

export function placeByTitle({ grids, link }: TaggedSpreadsheet, { entity, title }: TabLayout): TabPlace {
  const grid = findByTitle(grids, title);
  if (!grid) return { state: 'absent', reason: `There is no tab “${title}”. Run init to make it.` };
  const isTaken = Object.entries(link?.tabs ?? {}).some(
    ([owner, sheetId]) => owner !== entity && sheetId === grid.sheetId,
  );
  return isTaken ? { state: 'lost', reason: takenReason(title) } : { state: 'found', grid };
}

const takenReason = (title: string): string =>
  `“${title}” is the tab of other records already. Give it another title, or set another one for this tab in the settings; then run init.`;

/** Google takes titles for two that look the same to people, as with a space behind: then the exact one is meant. */
export const findByTitle = (grids: readonly Grid[], title: string): Grid | undefined =>
  grids.find((grid) => grid.title === title) ??
  grids.find((grid) => labelKey(grid.title) === labelKey(title));

function lostReason(grids: readonly Grid[], { title }: TabLayout): string {
  return findByTitle(grids, title)
    ? `The tab that was kept the same is gone; this “${title}” is another one. Bring the old one back (File, Version history), or run init --adopt to go on with this one.`
    : `The tab “${title}” was deleted. Bring it back (undo, or File, Version history), or run init --adopt for a new one.`;
}

/** Why nothing in the spreadsheet may be written, where it says that it belongs elsewhere. */
export function findStranger(
  { link }: TaggedSpreadsheet,
  { account, spreadsheetId }: Owner,
): string | undefined {
  if (!link) return undefined;
  if (link.spreadsheetId !== spreadsheetId)
    return 'This spreadsheet is a copy of one that is kept the same with the CRM. To go on with the copy, run init --adopt.';
  if (link.account !== account)
    return 'This spreadsheet belongs to another CRM. Check CRM_BASE_URL; to give it to this CRM, run init --adopt.';
  return undefined;
}
