import { z } from 'zod';

/** A tab by its title or its id. */
const sheet = z.union([z.string(), z.number().int()]);
const row = z.number().int().nonnegative();
/** A column by its zero based index or the text of its header. */
const column = z.union([z.number().int().nonnegative(), z.string()]);
const count = z.number().int().positive().default(1);

/** What a person can do in the grid; rows and columns are zero based. */
export const personAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), sheet, row, column, text: z.string() }),
  z.object({ kind: z.literal('paste'), sheet, row, column, rows: z.array(z.array(z.string())) }),
  z.object({ kind: z.literal('insertRows'), sheet, row, count }),
  z.object({ kind: z.literal('deleteRows'), sheet, row, count }),
  z.object({ kind: z.literal('moveRows'), sheet, row, count, to: row }),
  z.object({ kind: z.literal('copyRow'), sheet, row, to: row, inserts: z.boolean().default(false) }),
  z.object({
    kind: z.literal('sort'),
    sheet,
    column,
    descending: z.boolean().default(false),
    /** Only these rows and columns, half open; without it the whole tab below the frozen rows. */
    range: z.object({ startRow: row, endRow: row, startColumn: row, endColumn: row }).optional(),
  }),
  z.object({ kind: z.literal('insertColumns'), sheet, column, count }),
  z.object({ kind: z.literal('deleteColumns'), sheet, column, count }),
  z.object({ kind: z.literal('moveColumns'), sheet, column, count, to: row }),
  z.object({ kind: z.literal('renameTab'), sheet, title: z.string().min(1) }),
  z.object({ kind: z.literal('renameHeader'), sheet, column, text: z.string() }),
  z.object({ kind: z.literal('addTab'), title: z.string().min(1) }),
  z.object({ kind: z.literal('duplicateTab'), sheet, title: z.string().optional() }),
  z.object({ kind: z.literal('deleteTab'), sheet }),
  z.object({ kind: z.literal('undo') }),
]);

export type PersonAction = z.infer<typeof personAction>;
/** A person's action as it may be written, with defaults left out. */
export type PersonActionInput = z.input<typeof personAction>;
/** One kind of action. */
export type ActionOf<Kind extends PersonAction['kind']> = Extract<PersonAction, { kind: Kind }>;
