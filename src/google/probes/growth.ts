import type { Request } from '../client.ts';
import { part, replyFields, scratchId, scratchIn, scratchRange, tableRows, writeTexts } from './scratch.ts';
import { unknown } from './unknown.ts';

/** Rows of each Table, its header among them. */
const height = 3;

const names = { upper: 'crm_sheet_sync_probe_1', lower: 'crm_sheet_sync_probe_2' };

const makeTable = (name: string, row: number): Request[] => [
  writeTexts(row, ['header', 'one', 'two']),
  { addTable: { table: { name, range: part(row, 0, height, 1) } } },
];

const insertBelow = (row: number, inheritFromBefore: boolean): Request => ({
  insertDimension: {
    range: { sheetId: scratchId, dimension: 'ROWS', startIndex: row + height, endIndex: row + height + 1 },
    inheritFromBefore,
  },
});

/** Whether a row that is inserted right below a Table is of it: of the upper one where it takes after the last row, of the lower one where not. */
export const tableGrowth = unknown({
  answers: {
    inheriting: 'New rows below the last one of a Table join it.',
    always: 'New rows below the last one of a Table join it, whatever they take after.',
    never:
      'New rows below the last one of a Table stay outside of it: drag the corner of the Table down over them.',
  },
  safest: 'inheriting',
  ask: (client) =>
    client.batchUpdate(
      [
        ...makeTable(names.upper, tableRows.upper),
        ...makeTable(names.lower, tableRows.lower),
        // The lower one first: then the other is still where it was.
        insertBelow(tableRows.lower, false),
        insertBelow(tableRows.upper, true),
      ],
      replyFields,
      [scratchRange],
    ),
  read(reply) {
    const isLarger = (name: string) => {
      const { range } = scratchIn(reply)?.tables?.find((table) => table.name === name) ?? {};
      const rows = (range?.endRowIndex ?? Number.NaN) - (range?.startRowIndex ?? 0);
      return Number.isNaN(rows) ? undefined : rows > height;
    };
    const [inheriting, other] = [isLarger(names.upper), isLarger(names.lower)];
    if (inheriting === undefined || other === undefined) return undefined;
    if (inheriting) return other ? 'always' : 'inheriting';
    return other ? undefined : 'never';
  },
});
