import { z } from 'zod';

/**
 * Where no document says what Google does, the sandbox has to do something. Each of these can be switched, so that a client can be tried
 * against every answer the real service may give.
 */
export const choicesShape = z.strictObject({
  /**
   * A `copyPaste` that meets rows which a basic filter hides. `skipAndTile`: such rows are left out, what is left moves up and fills the
   * destination as often as it fits, as one report has it. `nothing`: nothing becomes of these rows, all others keep their places.
   * `copied`: they are rows like all others. `refused`: the whole batch is refused with 400; no report gives the words.
   */
  hiddenRowCopy: z.enum(['skipAndTile', 'nothing', 'copied', 'refused']).default('skipAndTile'),
  /** Whether rows that a person has hidden by hand are copied like all others, or like those that a filter hides. */
  handHiddenRowCopy: z.enum(['copied', 'asFiltered']).default('copied'),
  /** Which `insertDimension` right behind a Table's last row or column makes the Table larger: live runs saw only one that inherits. */
  tableGrowth: z.enum(['inheriting', 'always', 'never']).default('inheriting'),
  /** Whether the metadata of a row goes along when the row is sorted; two live runs saw it go. */
  sortedRowMetadata: z.enum(['follows', 'stays']).default('follows'),
  /** What a chip reads as in the value that was entered: the character that stands for it, or what it shows. */
  chipText: z.enum(['placeholder', 'shown']).default('placeholder'),
  /** Whether a `getByDataFilter` with ranges brings the metadata of the spreadsheet itself, which is in none of them. */
  metadataByRange: z.enum(['brought', 'leftOut']).default('brought'),
  /** How long a read takes for each cell that it brings. */
  readMicrosPerCell: z.number().nonnegative().default(0),
});

export type Choices = z.infer<typeof choicesShape>;

/** By the id of a spreadsheet, or `*` for all that have none of their own; posting replaces it all. */
export const choicesBySpreadsheet = z.record(z.string(), choicesShape);

export type ChoicesBySpreadsheet = z.infer<typeof choicesBySpreadsheet>;
export type ChoicesInput = z.input<typeof choicesBySpreadsheet>;

export const defaultChoices: Choices = choicesShape.parse({});

/** What holds for one spreadsheet. */
export function choicesFor(choices: ChoicesBySpreadsheet, spreadsheetId: string): Choices {
  return choices[spreadsheetId] ?? choices['*'] ?? defaultChoices;
}
