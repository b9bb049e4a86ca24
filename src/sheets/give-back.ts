import { bareCell, describeCell, emptyCell } from '../core/cell.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { isSameKept } from '../core/kept-cell.ts';
import type { AppendStep, KeptPlace, SetStep } from '../core/table.ts';
import { cellAt } from './grid.ts';
import type { BoundTab } from './read.ts';
import type { PlacedCell } from './steps.ts';

/** A cell that is copied back, from its column in the kept row. */
export interface GivenCell extends PlacedCell {
  readonly from: number;
}

/** The cells that a step gives back from what is kept, by where they belong as the tab was read; none where it writes values instead. */
export function givenCells(tab: BoundTab, step: SetStep | AppendStep): GivenCell[] {
  const { place } = step;
  if (!place) return [];
  if (step.kind === 'append') return findTargets(tab, place, [...place.headers.keys()]);
  const { cells, id, others = [], position, sync } = step;
  const names = [...Object.keys(cells), ...(id ? [idHeader] : []), ...(sync ? [syncHeader] : [])];
  const managed = names.flatMap((name) => place.columns[name] ?? []);
  const own = others.flatMap(({ column, written }) => {
    const [target] = findTargets(tab, place, [column]);
    const found = bareCell(cellAt(tab.rows, position, target?.column ?? -1));
    return isSameKept(found, written) ? [column] : [];
  });
  return findTargets(tab, place, [...managed, ...own]);
}

/** Where columns of a kept row stand now: managed ones by what they carry, others by their header, or by their place if they have none. */
function findTargets(
  { columns, rows }: BoundTab,
  { cells, columns: keptColumns, headers }: KeptPlace,
  wanted: readonly number[],
): GivenCell[] {
  const fields = new Map(Object.entries(keptColumns).map(([field, column]) => [column, field]));
  const headersNow = (rows[0] ?? []).map((cell) => (cell.kind === 'empty' ? '' : describeCell(cell)));
  const targetOf = (column: number): number => {
    const field = fields.get(column);
    if (field === idHeader) return columns.id;
    if (field === syncHeader) return columns.sync ?? -1;
    if (field !== undefined) return columns.fields.get(field)?.index ?? -1;
    const header = headers[column] ?? '';
    if (header !== '') return headersNow.indexOf(header);
    return (headersNow[column] ?? '') === '' ? column : -1;
  };
  return wanted
    .map((from) => ({ from, column: targetOf(from), cell: cells[from] ?? emptyCell }))
    .filter(({ column }) => column >= 0);
}
