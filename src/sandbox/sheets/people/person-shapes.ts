import { z } from 'zod';

/** Where on which tab; a tab by its title or its id. */
const onTab = {
  sheet: z.union([z.string(), z.number().int()]),
  /**
   * How many moves of the tab's lines the person had seen, as the grid tells it. The action then goes to what stood at
   * its rows and columns at that time, or is refused when that is gone. Without it the action applies as it is.
   */
  movesSeen: z.number().int().nonnegative().optional(),
};
const row = z.number().int().nonnegative();
/** A column by its zero based index or the text of its header. */
const column = z.union([z.number().int().nonnegative(), z.string()]);
const count = z.number().int().positive().default(1);
/** A rectangle, half open. */
const range = z.object({ startRow: row, endRow: row, startColumn: row, endColumn: row });

/** What a person can do in the grid; rows and columns are zero based. */
export const personAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), ...onTab, row, column, text: z.string() }),
  /** Texts from the clipboard, each taken as if it were typed. */
  z.object({ kind: z.literal('paste'), ...onTab, row, column, rows: z.array(z.array(z.string())) }),
  /** Cells with formulas, formats, notes and rules; into a larger range as often as they fit. A cut empties the source. */
  z.object({
    kind: z.literal('pasteCells'),
    ...onTab,
    range,
    source: z.object({ ...onTab, range }),
    cut: z.boolean().default(false),
  }),
  /** The first row of the range into the rows below it. */
  z.object({ kind: z.literal('fillDown'), ...onTab, range }),
  /** A text in which every `@` becomes a chip: a person by an address, or a file of Google Drive by its link. */
  z.object({
    kind: z.literal('insertChips'),
    ...onTab,
    row,
    column,
    text: z.string().default('@'),
    chips: z
      .array(z.union([z.strictObject({ email: z.string() }), z.strictObject({ uri: z.string() })]))
      .min(1),
  }),
  z.object({ kind: z.literal('clear'), ...onTab, range }),
  /** A number format by its pattern; without one the cells show their values as they are. */
  z.object({ kind: z.literal('formatNumbers'), ...onTab, range, pattern: z.string().optional() }),
  z.object({ kind: z.literal('insertRows'), ...onTab, row, count }),
  z.object({ kind: z.literal('deleteRows'), ...onTab, row, count }),
  z.object({ kind: z.literal('moveRows'), ...onTab, row, count, to: row }),
  z.object({ kind: z.literal('copyRow'), ...onTab, row, to: row, inserts: z.boolean().default(false) }),
  z.object({ kind: z.literal('hideRows'), ...onTab, row, count }),
  z.object({
    kind: z.literal('sort'),
    ...onTab,
    column,
    descending: z.boolean().default(false),
    /** Only these rows and columns; without it the whole tab below the frozen rows. */
    range: range.optional(),
  }),
  /** Hides the rows whose cell in the column shows none of these texts. */
  z.object({ kind: z.literal('filter'), ...onTab, column, shown: z.array(z.string()) }),
  /** Ends the filter and shows every hidden row and column. */
  z.object({ kind: z.literal('showAll'), ...onTab }),
  z.object({ kind: z.literal('insertColumns'), ...onTab, column, count }),
  z.object({ kind: z.literal('deleteColumns'), ...onTab, column, count }),
  z.object({ kind: z.literal('moveColumns'), ...onTab, column, count, to: row }),
  z.object({ kind: z.literal('hideColumns'), ...onTab, column, count }),
  z.object({ kind: z.literal('renameHeader'), ...onTab, column, text: z.string() }),
  z.object({ kind: z.literal('renameTab'), ...onTab, title: z.string().min(1) }),
  z.object({ kind: z.literal('addTab'), title: z.string().min(1) }),
  z.object({ kind: z.literal('duplicateTab'), ...onTab, title: z.string().optional() }),
  z.object({ kind: z.literal('deleteTab'), ...onTab }),
  z.object({ kind: z.literal('undo') }),
  z.object({ kind: z.literal('redo') }),
]);

export type PersonAction = z.infer<typeof personAction>;
/** A person's action as it may be written, with defaults left out. */
export type PersonActionInput = z.input<typeof personAction>;
/** One kind of action. */
export type ActionOf<Kind extends PersonAction['kind']> = Extract<PersonAction, { kind: Kind }>;
/** An action on the grid; undo and redo need to know what was before and are kept apart. */
export type GridAction = Exclude<PersonAction, { kind: 'undo' | 'redo' }>;
