import type { TabLayout } from '../core/layout.ts';
import type { Request } from './client.ts';
import { dressColumn, writeHeaders } from './column-look.ts';
import { type Managed, managedColumns } from './managed.ts';
import { noteHash, tagColumn } from './metadata.ts';

/** ID, Sync and the first field, which names the record, stay in view. */
const frozenColumnsMax = 3;

/** A tab that is new or has no cell at all: title, frozen header row and first columns, and all its columns. */
export function headTab(sheetId: number, columnCount: number, layout: TabLayout): Request[] {
  const managed = managedColumns(layout);
  const missing = managed.length - columnCount;
  // Google refuses to freeze all columns of a tab.
  const frozenColumnCount = Math.min(frozenColumnsMax, Math.max(managed.length, columnCount) - 1);
  const gridProperties = { frozenRowCount: 1, frozenColumnCount };
  return [
    ...(missing > 0 ? [{ appendDimension: { sheetId, dimension: 'COLUMNS', length: missing } }] : []),
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

const tagOf = ({ name, note }: Managed) => ({
  field: name,
  ...(note === undefined ? {} : { note: noteHash(note) }),
});
