import { type Cell, emptyCell, textCell } from '../../src/core/cell.ts';
import type { OpenWrite, SentDelete, SentSet } from '../../src/core/open-write.ts';
import type { KeptRow } from '../../src/core/table.ts';

/** Where the columns of the kept row stand. */
export const place = {
  row: 5,
  headers: ['ID', 'Title', 'Status'],
  columns: { title: 1, status_name: 2 },
  cells: [],
};

/** The cells of a row of which only the title matters. */
export const titled = (text: string) => ({ title: textCell(text) });

/** A row as the table kept it right before a write. */
export const keptRow = (id: Cell, cells: KeptRow['cells']): KeptRow => ({
  id,
  sync: emptyCell,
  cells,
  place,
});

/** A write with these steps, of which no reply is known unless told otherwise. */
export const openWrite = (steps: Partial<Pick<OpenWrite, 'sets' | 'deletes' | 'outcome'>>): OpenWrite => ({
  id: 'w1',
  at: 0,
  outcome: 'unknown',
  settlesAt: 1,
  keeping: { run: 'w1', from: 0 },
  height: 6,
  places: {},
  sets: [],
  deletes: [],
  appends: [],
  ...steps,
});

/** A new title for the lead in the first row, which had this ID and another title when it was read. */
export const setTo = (idSeen: Cell, rest: Partial<SentSet> = {}): SentSet => ({
  entity: 'lead',
  position: 1,
  slot: 0,
  idSeen,
  cells: titled('Written'),
  was: titled('Read'),
  ...rest,
});

/** The end of the lead in the first row, which had this ID when it was read. */
export const deleteOf = (idSeen: Cell): SentDelete => ({
  kind: 'delete',
  entity: 'lead',
  position: 1,
  slot: 0,
  idSeen,
  was: titled('Read'),
});
