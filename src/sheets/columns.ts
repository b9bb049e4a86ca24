import { type Cell, describeCell } from '../core/cell.ts';
import type { FieldKind } from '../core/field-kind.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { labelKey } from '../core/label-key.ts';
import type { TabLayout } from '../core/layout.ts';
import type { FieldName } from '../core/value.ts';
import { columnLetters } from './a1.ts';

export interface ManagedColumn {
  /** Zero-based grid column. */
  readonly index: number;
  readonly kind: FieldKind;
}

/** Where the managed columns of a tab stand; all numbers are zero-based grid columns. */
export interface ManagedColumns {
  readonly id: number;
  readonly sync: number | undefined;
  readonly fields: ReadonlyMap<FieldName, ManagedColumn>;
}

export type Binding =
  | { readonly state: 'bound'; readonly columns: ManagedColumns }
  | { readonly state: 'held'; readonly reason: string };

const held = (reason: string): Binding => ({ state: 'held', reason });

/** Finds the managed columns of a tab by their headers in the first row, wherever they stand. */
export function bindColumns(rows: readonly (readonly Cell[])[], layout: TabLayout): Binding {
  const places = placesByHeader(rows[0] ?? []);
  const managed = [idHeader, ...layout.columns.map((column) => column.header), syncHeader];
  const doubled = managed.find((header) => (places.get(labelKey(header)) ?? []).length > 1);
  if (doubled !== undefined) {
    const letters = places.get(labelKey(doubled))?.map(columnLetters).join(' and ');
    return held(`Columns ${letters} of “${layout.title}” are both called “${doubled}”. Rename one of them.`);
  }
  const placeOf = (header: string) => places.get(labelKey(header))?.[0];
  const id = placeOf(idHeader);
  if (id === undefined) return held(explainMissingId(rows, layout));
  const fields = new Map<FieldName, ManagedColumn>();
  for (const { field, header, kind } of layout.columns) {
    const index = placeOf(header);
    if (index !== undefined) fields.set(field, { index, kind });
  }
  return { state: 'bound', columns: { id, sync: placeOf(syncHeader), fields } };
}

function placesByHeader(headerRow: readonly Cell[]): ReadonlyMap<string, number[]> {
  const headers = headerRow.flatMap((cell, index) =>
    cell.kind === 'empty' ? [] : [{ index, key: labelKey(describeCell(cell)) }],
  );
  const groups = Map.groupBy(headers, ({ key }) => key);
  return new Map([...groups].map(([key, group]) => [key, group.map(({ index }) => index)]));
}

/** A header row that was sorted in between the rows is recognised by its content. */
function explainMissingId(rows: readonly (readonly Cell[])[], { title, columns }: TabLayout): string {
  const headers = columns.map((column) => labelKey(column.header));
  const headerRow = rows.findIndex((row, index) => {
    const places = index === 0 ? undefined : placesByHeader(row);
    return places?.has(labelKey(idHeader)) && headers.some((header) => places.has(header));
  });
  return headerRow > 0
    ? `The header row of “${title}” stands in row ${headerRow + 1}. Move it back to row 1.`
    : `“${title}” has no column “${idHeader}” in row 1. Put the header back above the record ids.`;
}
