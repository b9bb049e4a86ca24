import type { Spreadsheet } from '../client.ts';
import {
  filtered,
  type HiddenRows,
  handHidden,
  part,
  replyFields,
  scratchIn,
  scratchRange,
  texts,
} from './scratch.ts';
import { unknown } from './unknown.ts';

/** How a reply says that a row is hidden. */
type HiddenBy = 'hiddenByFilter' | 'hiddenByUser';

/**
 * What becomes of copies of hidden rows: of one alone and of one among others, as a write makes them before it, and of a copy into one, as the
 * write makes that gives back what was there.
 */
const copiesOf = (words: string, hiddenBy: HiddenBy, rows: HiddenRows) =>
  unknown({
    answers: {
      copied: `Rows ${words} are copied like all others before they are written.`,
      gap: `Copies leave out rows ${words}: what a write meets there is known by its values alone.`,
      shifted: `Copies leave out rows ${words} and move others into their places: what a write meets there is known by its values alone.`,
      mixed: `Copies of rows ${words} come out in no way that is known, and none is made.`,
      refused: `Google refuses copies of rows ${words}, and none is made.`,
    },
    safest: 'gap',
    refused: 'refused',
    ask: (client) => {
      const copy = (row: number, column: number, height: number, toRow: number, toColumn: number) => ({
        copyPaste: {
          source: part(row, column, height, 1),
          destination: part(toRow, toColumn, height, 1),
          pasteType: 'PASTE_FORMULA',
        },
      });
      const { blockCopy, loneCopy, top } = rows;
      const requests = [
        copy(top + 1, 0, 1, loneCopy, 0),
        copy(top, 0, texts.length, blockCopy, 0),
        copy(top, 0, 1, top + 1, 1),
      ];
      return client.batchUpdate(requests, replyFields, [scratchRange]);
    },
    read: (reply) => judge(reply, hiddenBy, rows),
  });

/** Nothing is learned where the row is not hidden at all. */
function judge(reply: Spreadsheet, hiddenBy: HiddenBy, { blockCopy, loneCopy, top }: HiddenRows) {
  const { rowData = [], rowMetadata = [] } = scratchIn(reply)?.data?.[0] ?? {};
  const textAt = (row: number, column = 0) =>
    rowData[row]?.values?.[column]?.userEnteredValue?.stringValue ?? '';
  if (!rowMetadata[top + 1]?.[hiddenBy]) return undefined;
  const [above, hidden, below] = texts;
  const block = texts.map((_, index) => textAt(blockCopy + index));
  const [lone, into] = [textAt(loneCopy), textAt(top + 1, 1)];
  if (lone === hidden && into === above && block.join() === texts.join()) return 'copied';
  if (lone === hidden || into === above) return 'mixed';
  if (block.join() === [above, '', below].join()) return 'gap';
  return block[0] === above && block[1] === below ? 'shifted' : 'mixed';
}

export const filteredCopies = copiesOf('that a filter hides', 'hiddenByFilter', filtered);
export const handHiddenCopies = copiesOf('that are hidden by hand', 'hiddenByUser', handHidden);
