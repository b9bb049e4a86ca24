import { emptyCell, equalCells } from '../cell.ts';
import type { RecordId } from '../record.ts';
import type { Agreement } from '../state.ts';
import type { ObservedRow } from '../table.ts';
import type { FieldName } from '../value.ts';
import type { TabContext } from './context.ts';
import { baseOf } from './origin.ts';
import { resembles } from './resemblance.ts';
import { cellsOf, readRowValues } from './row-values.ts';

/** So many values of a record are no coincidence, if one of them is that record's alone. */
const sharedMin = 2;

/** A record, and the cells of a row that shows it. */
export interface OwnCells {
  readonly id: RecordId;
  readonly own: ObservedRow['cells'];
}

/** Whether cells show so much of what a record has that they surely come from its row. */
export function showsPart(context: TabContext, cells: ObservedRow['cells'], { id, own }: OwnCells): boolean {
  const shared = sharedNames(cells, own);
  // Nobody types into a column that only shows, so a value there counts twice.
  const weight = shared.length + shared.filter((name) => isShownOnly(context, name)).length;
  return weight >= sharedMin && shared.some((name) => isRare(context, name, id));
}

/** Whether cells show something that people type and that only this record has. */
export const showsRare = (context: TabContext, cells: ObservedRow['cells'], { id, own }: OwnCells): boolean =>
  sharedNames(cells, own).some((name) => !isShownOnly(context, name) && isRare(context, name, id));

const sharedNames = (cells: ObservedRow['cells'], own: ObservedRow['cells']): readonly FieldName[] =>
  Object.entries(cells).flatMap(([name, cell]) =>
    cell.kind !== 'empty' && equalCells(cell, own[name] ?? emptyCell) ? [name] : [],
  );

export const isShownOnly = ({ layout }: TabContext, name: FieldName): boolean =>
  layout.columns.some(({ direction, field }) => field === name && direction === 'toTable');

/** How many records of a tab have each value of a field, for as long as the tab is decided. */
const countsByTab = new WeakMap<TabContext, Map<FieldName, ReadonlyMap<string, number>>>();

/** Whether the record is the only one of its tab that has its value of the field. */
function isRare(context: TabContext, name: FieldName, id: RecordId): boolean {
  const ofTab = countsByTab.get(context) ?? new Map<FieldName, ReadonlyMap<string, number>>();
  countsByTab.set(context, ofTab);
  const counts = ofTab.get(name) ?? countValues(context, name);
  ofTab.set(name, counts);
  return counts.get(JSON.stringify(context.agreements.get(id)?.fields[name])) === 1;
}

function countValues({ agreements }: TabContext, name: FieldName): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { fields } of agreements.values()) {
    const value = JSON.stringify(fields[name]);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

/** Whether the row looks like the record's, although not for certain. */
export function isLike(context: TabContext, row: ObservedRow, agreement: Agreement): boolean {
  const known = baseOf(context, agreement);
  // A write that was on its way when the row lost its ID may have brought what the CRM has by now.
  const { fields: inCrm = known, written } = context.records.get(agreement.key.id) ?? {};
  // Somebody may have taken back in the sheet what was on its way to the CRM.
  const before = { ...inCrm, ...written?.before };
  const shown = readRowValues(context, row).fields;
  if ([known, inCrm, before].some((fields) => resembles(fields, shown))) return true;
  // Records that the CRM made in one minute have columns alike that only show.
  const typed = Object.fromEntries(Object.entries(row.cells).filter(([name]) => !isShownOnly(context, name)));
  return showsPart(context, typed, { id: agreement.key.id, own: cellsOf(context, row, known) });
}
