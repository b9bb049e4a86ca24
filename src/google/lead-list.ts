import type { OfferedLeads } from '../sheet/port/port.ts';
import { quoteTitle } from './a1.ts';
import type { Request, SheetsClient } from './client.ts';
import { type Rule, setRule } from './dress.ts';
import type { BoundTab } from './read.ts';
import { grow } from './room.ts';

/*
 * A dropdown with all leads in each cell would be sent with every read, and one that is written anew loses the colours that people gave its
 * chips. So the dropdowns of leads take their names from a hidden tab of ours, and only that changes.
 */

/** Its title as we make it, and the id by which it is known under another one. */
export const leadListTitle = 'crm-sheet-sync leads, please leave';
const leadListId = 1_913_724_614;

/** So many names in one request stay below the 2 MB that Google recommends, however long they are: a title has 200 characters at most. */
const namesMax = 5_000;

/** Room for the leads that come, so that the tab seldom grows. */
const spareRows = 100;

/**
 * Writes the names of leads to the hidden tab where they are others, and has them sorted there. Where there is no such tab, it is made. The
 * columns of leads get their dropdowns: once while the tab is there, so that what people make of them is theirs. Returns which columns have had one.
 */
export async function writeLeadList(
  client: SheetsClient,
  tabs: Iterable<BoundTab>,
  names: readonly string[],
  before: OfferedLeads,
): Promise<readonly string[]> {
  const { sheets = [] } = (await client.get(listFields)) ?? {};
  const known = findLeadList(sheets.map(({ properties }) => properties));
  const sheetId = known?.sheetId ?? leadListId;
  const rowCount = names.length + spareRows;
  const room = known
    ? grow(sheetId, 'ROWS', rowCount - (known.gridProperties?.rowCount ?? 0))
    : [createList(sheetId, rowCount)];
  const rule = listRule(known?.title ?? leadListTitle);
  const columns = [...tabs].flatMap((tab) => leadColumnsIn(tab, rule));
  const all = columns.map(({ name }) => name);
  const given = new Set(known ? (before.columns ?? all) : []);
  const rules = columns.flatMap(({ name, request }) => (given.has(name) ? [] : [request]));
  // A tab that cannot be read just now keeps what was made of its dropdowns.
  const givenNow = [...given.union(new Set(all))];
  const ask = (requests: readonly Request[]) => client.batchUpdate(requests, 'sheets.properties.sheetId', []);
  if (known && before.areWritten) {
    if (rules.length > 0) await ask(rules);
    return givenNow;
  }
  const starts = Array.from({ length: Math.ceil(names.length / namesMax) }, (_, part) => part * namesMax);
  for (const start of starts)
    await ask([
      ...(start === 0 ? room : []),
      writeNames(sheetId, start, names.slice(start, start + namesMax)),
      ...(start === starts.at(-1)
        ? [clearBelow(sheetId, names.length), sortNames(sheetId, names.length), ...rules]
        : []),
    ]);
  return givenNow;
}

/** The hidden tab with the names, under whatever title it has now. */
export const findLeadList = <
  Tab extends { readonly sheetId?: number | null; readonly title?: string | null },
>(
  tabs: readonly (Tab | undefined)[],
): Tab | undefined => tabs.find((tab) => tab?.sheetId === leadListId || tab?.title === leadListTitle);

const listFields = 'sheets.properties(sheetId,title,gridProperties.rowCount)';

const createList = (sheetId: number, rowCount: number): Request => ({
  addSheet: {
    properties: {
      sheetId,
      title: leadListTitle,
      hidden: true,
      gridProperties: { rowCount, columnCount: 1 },
    },
  },
});

const writeNames = (sheetId: number, rowIndex: number, names: readonly string[]): Request => ({
  updateCells: {
    start: { sheetId, rowIndex, columnIndex: 0 },
    rows: names.map((stringValue) => ({ values: [{ userEnteredValue: { stringValue } }] })),
    fields: 'userEnteredValue',
  },
});

const clearBelow = (sheetId: number, startRowIndex: number): Request => ({
  updateCells: {
    range: { sheetId, startRowIndex, startColumnIndex: 0, endColumnIndex: 1 },
    fields: 'userEnteredValue',
  },
});

/** Google sorts by the language of the spreadsheet. To sort 40,000 names here would keep all else waiting for a quarter of a second. */
const sortNames = (sheetId: number, endRowIndex: number): Request => ({
  sortRange: {
    range: { sheetId, startRowIndex: 0, endRowIndex, startColumnIndex: 0, endColumnIndex: 1 },
    sortSpecs: [{ dimensionIndex: 0, sortOrder: 'ASCENDING' }],
  },
});

/** Not strict: whoever types a title or an id is understood as well. */
const listRule = (listTitle: string): Rule => ({
  condition: {
    type: 'ONE_OF_RANGE',
    values: [{ userEnteredValue: `=${quoteTitle(listTitle)}!$A$1:$A` }],
  },
  strict: false,
  showCustomUi: true,
});

/** The columns of leads that can have a dropdown, with the request for it. A field of another tab has another name, also where that took its place. */
function leadColumnsIn({ columns, rowCount, sheetId, typed }: BoundTab, rule: Rule) {
  if (rowCount < 2) return [];
  return [...columns.fields].flatMap(([field, { index, kind }]) =>
    kind === 'lead' && !typed.some((column) => column.index === index)
      ? [{ name: `${sheetId} ${field}`, request: setRule(sheetId, index, rule) }]
      : [],
  );
}
