import type { Log } from '../core/ports.ts';
import { type Layout, recordTabs, type TabKind, tabOf } from '../sheet/port/layout.ts';
import { quoteTitle } from './a1.ts';
import { type Choose, createChosenTabs, createParts, type KnownOfReads, tabFields } from './chosen-tabs.ts';
import type { SheetsClient } from './client.ts';
import { type Grid, gridFields } from './grid.ts';
import { mapKnown } from './map-known.ts';
import { countCells } from './room.ts';
import { placeTab, readTagged, type TaggedSpreadsheet } from './tabs.ts';
import { findShadow, shadowTitle } from './write/shadow.ts';

/** People may do without a tab of questions. Where there is none, it is looked for once in so many reads: it may be brought back, or made. */
const readsPerLook = 12;

/** Reads the tabs of a layout, and never the cells of others: people may have large ones beside them. */
export function createReader(client: SheetsClient, log: Log, known: KnownOfReads) {
  const parts = createParts(client);
  const chosen = createChosenTabs(client, parts, log, known);
  /** Titles under which tabs were last seen; a tab that is not there has none. */
  let titles: ReadonlyMap<TabKind, string> | undefined;
  let otherCells = 0;
  /** Where the hidden tab was last seen: nowhere when it is `undefined`. */
  let shadow: string | undefined = shadowTitle;
  let readsWithoutQuestions = 0;

  async function readChosen(layout: Layout, choose: Choose): Promise<TaggedSpreadsheet> {
    const tagged = await chosen.read(layout, choose);
    otherCells = countCells(tagged.grids) - countCells(foundGrids(tagged, layout));
    return tagged;
  }

  /** The tabs of the layout in one request by their last titles; they are looked for where one of them is not found. */
  async function readTabs(layout: Layout): Promise<TaggedSpreadsheet> {
    const wanted = !titles || titles.has('question') ? layout : recordTabs(layout);
    const ranges = wanted.flatMap(({ entity, title }) => (titles ? (titles.get(entity) ?? []) : title));
    const isComplete = ranges.length === wanted.length;
    const corner = shadow === undefined ? [] : [`${quoteTitle(shadow)}!A1`];
    const part =
      isComplete && chosen.areWhole()
        ? await parts.get(gridFields, [...ranges.map(quoteTitle), ...corner])
        : undefined;
    const tagged = part && parts.join([part]);
    const isFound = tagged && foundGrids(tagged, wanted).length === wanted.length;
    return isFound ? tagged : readChosen(layout, (spreadsheet) => foundGrids(spreadsheet, layout));
  }

  /** Looks for the tab of questions from time to time where it is wanted and was not found. */
  async function lookForQuestions(layout: Layout): Promise<void> {
    const tab = tabOf(layout, 'question');
    if (!titles || !tab || titles.has(tab.entity)) return;
    readsWithoutQuestions += 1;
    if (readsWithoutQuestions % readsPerLook > 0) return;
    const { grid } = placeTab(readTagged((await client.get(tabFields)) ?? {}), tab);
    if (grid) titles = new Map([...titles, [tab.entity, grid.title]]);
  }

  return {
    /** As long as the spreadsheet says the same, it is the same object. */
    async read(layout: Layout): Promise<TaggedSpreadsheet> {
      await lookForQuestions(layout);
      const tagged = await chosen.paced(() => readTabs(layout));
      const before = titles;
      titles = new Map([...foundTabs(tagged, layout)].map(([entity, { title }]) => [entity, title]));
      for (const [entity, title] of titles)
        if ((before?.get(entity) ?? title) !== title) log.info('sheet.tab_renamed', { entity });
      shadow = findShadow(tagged)?.title;
      return tagged;
    },
    /** All tabs there are, and of those alone the cells that are chosen when only names and sizes are known. */
    readChosen: (layout: Layout, choose: Choose) => chosen.paced(() => readChosen(layout, choose)),
    /** Cells of the tabs that are not read in every cycle, as of the last look at all of them. */
    otherCells: () => otherCells,
    /** A write makes the hidden tab anew where there was none. */
    expectShadow() {
      shadow ??= shadowTitle;
    },
    /** Tabs may be elsewhere now. */
    forget() {
      titles = undefined;
      shadow = shadowTitle;
    },
  };
}

const foundTabs = (spreadsheet: TaggedSpreadsheet, layout: Layout): Map<TabKind, Grid> =>
  mapKnown(
    layout.map((tab) => [tab.entity, tab]),
    (tab) => placeTab(spreadsheet, tab).grid,
  );

const foundGrids = (spreadsheet: TaggedSpreadsheet, layout: Layout): Grid[] => [
  ...foundTabs(spreadsheet, layout).values(),
];
