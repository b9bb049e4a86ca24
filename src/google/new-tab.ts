import { syncHeader } from '../core/fields/headers.ts';
import type { TabLayout } from '../sheet/port/layout.ts';
import type { Request } from './client.ts';
import { coloursNow, dressColumn, writeHeaders } from './column-look.ts';
import { type Managed, wantedColumns } from './managed.ts';
import { type ColumnTag, headerHash, noteHash, tagColumn } from './metadata.ts';
import { grow } from './room.ts';

/** ID, Sync and the first field, which names the record, stay in view. */
const frozenColumnsMax = 3;

/** As Google makes new tabs. */
export const newSize = { rowCount: 1000, columnCount: 26 };

export const createTab = (sheetId: number, tab: TabLayout): Request[] => [
  { addSheet: { properties: { sheetId, title: tab.title, gridProperties: newSize } } },
  ...headTab(sheetId, newSize.columnCount, tab),
];

/** A tab that is new or has no cell at all: title, frozen header row and first columns, and all its columns. */
export function headTab(sheetId: number, columnCount: number, layout: TabLayout): Request[] {
  const managed = wantedColumns(layout);
  // Google refuses to freeze all columns of a tab.
  const frozenColumnCount = Math.min(frozenColumnsMax, Math.max(managed.length, columnCount) - 1);
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
    ...managed.flatMap((column, index) => [
      ...dressColumn(sheetId, index, column),
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
