import { SyncError } from '../core/errors.ts';
import { type Layout, recordTabs, type TabKind, type TabLayout } from '../core/layout.ts';
import type { Table } from '../core/ports.ts';
import type { ObservedTab } from '../core/table.ts';
import { quoteTitle } from './a1.ts';
import {
  createSheetsClient,
  type SheetsClient,
  type SheetsClientOptions,
  type Spreadsheet,
} from './client.ts';
import { type Grid, gridFields, readGrids } from './grid.ts';
import { createKnownTabs } from './known-tabs.ts';
import { isEmptyGrid, layOutRequests, type RulesBySheet, readRules, ruleFields } from './layout.ts';
import { type BoundTab, observeTab, type TabReading } from './read.ts';
import { createWriter } from './writer.ts';

/**
 * A Google spreadsheet as a table: one tab per entity. It remembers the numeric ids of its tabs, so that a
 * renamed tab stays the same tab as long as the process runs. Positions of a write are those of the read
 * before it, or of the confirmed write after that read.
 */
export function createGoogleSheetTable(options: SheetsClientOptions): Table {
  const { spreadsheetId, log } = options;
  const client = createSheetsClient(options);
  const known = createKnownTabs();
  const writer = createWriter(client, log);
  let isTabMissing = false;
  /** Whether the spreadsheet had no tab of questions when it was last read as a whole. People may do without it. */
  let lacksQuestions = false;

  /** The tabs of the layout alone; the whole spreadsheet when one of them is not found by its last title. */
  async function readSpreadsheet(layout: Layout): Promise<Spreadsheet> {
    if (!isTabMissing) {
      const wanted = lacksQuestions ? recordTabs(layout) : layout;
      const spreadsheet = await client.get(gridFields, wanted.map(known.title).map(quoteTitle));
      if (spreadsheet && known.areIn(readGrids(spreadsheet), wanted)) return spreadsheet;
    }
    return readWhole(client);
  }

  return {
    identity: spreadsheetId,

    async read(layout) {
      const spreadsheet = await readSpreadsheet(layout);
      const grids = readGrids(spreadsheet);
      const readings = new Map<TabKind, TabReading>();
      for (const tab of layout) {
        const grid = known.find(grids, tab);
        if (known.remember(grid, tab) === 'renamed') log.info('sheet.tab_renamed', { entity: tab.entity });
        readings.set(tab.entity, observeTab(grid, tab));
      }
      isTabMissing = recordTabs(layout).some((tab) => !known.has(tab));
      const questions = layout.find(({ entity }) => entity === 'question');
      lacksQuestions = questions !== undefined && !known.has(questions);
      writer.start(boundTabs(readings));
      const observed = (entity: TabKind): ObservedTab => readings.get(entity)?.observed ?? notLaidOut;
      return {
        tabs: {
          lead: observed('lead'),
          opportunity: observed('opportunity'),
          task: observed('task'),
          contact: observed('contact'),
          ...(questions && { question: observed('question') }),
        },
        timeZone: timeZoneOf(spreadsheet),
      };
    },

    write: (steps) => writer.write(steps),

    async layOut(layout, mode) {
      lacksQuestions = false;
      const grids = readGrids(await readWhole(client));
      const gridOf = (tab: TabLayout) => known.find(grids, tab);
      const filled = layout.map(gridOf).filter((grid) => grid !== undefined && !isEmptyGrid(grid));
      const rules = await readRulesOf(client, filled);
      const requests = layOutRequests({ layout, mode, grids, gridOf, rules });
      if (requests.length === 0) return;
      await client.batchUpdate(requests, 'sheets.properties.sheetId', []);
      log.info('sheet.laid_out', { requests: requests.length });
      isTabMissing = false;
    },
  };
}

const notLaidOut: ObservedTab = { state: 'held', reason: 'It is not part of the layout.' };

async function readWhole(client: SheetsClient): Promise<Spreadsheet> {
  const spreadsheet = await client.get(gridFields);
  if (!spreadsheet) throw new Error('Without ranges no range can be unknown.');
  return spreadsheet;
}

function boundTabs(readings: ReadonlyMap<TabKind, TabReading>): Map<TabKind, BoundTab> {
  return new Map([...readings].flatMap(([entity, { bound }]) => (bound ? [[entity, bound] as const] : [])));
}

function timeZoneOf({ properties }: Spreadsheet): string {
  if (properties?.timeZone) return properties.timeZone;
  throw new SyncError('SHEET_UNREADABLE', 'The spreadsheet does not say its time zone.');
}

/** Reads the second row only: a dropdown repeats all its labels in every cell of its column. */
async function readRulesOf(
  client: SheetsClient,
  grids: readonly (Grid | undefined)[],
): Promise<RulesBySheet> {
  const ranges = grids.flatMap((grid) =>
    grid && grid.rowCount > 1 ? [`${quoteTitle(grid.title)}!2:2`] : [],
  );
  const spreadsheet = ranges.length > 0 ? await client.get(ruleFields, ranges) : undefined;
  return new Map(
    (spreadsheet?.sheets ?? []).map(({ properties, data }) => [
      properties?.sheetId ?? 0,
      readRules(data?.[0]),
    ]),
  );
}
