import { syncSchemaOf, type TableLayout, type WarehouseLayout } from '../../warehouse/port/layout.ts';
import { type Found, findRelation } from './found.ts';
import { columnMark } from './marks.ts';
import { pastNameOf } from './tables.ts';

/** The layout without retired columns that were laid out once and that a user dropped since: those are cleaned up, and not missing. */
export const withoutCleaned = (layout: WarehouseLayout, found: Found): WarehouseLayout => ({
  ...layout,
  tables: layout.tables.map((table) => ({
    ...table,
    columns: table.columns.filter(
      ({ name, retiredAt }) => retiredAt === undefined || !isCleaned(layout, found, table, name),
    ),
  })),
});

function isCleaned(layout: WarehouseLayout, found: Found, table: TableLayout, column: string): boolean {
  const past = { schema: syncSchemaOf(layout.schema), name: pastNameOf(table.entity) };
  const homes = [{ schema: layout.schema, name: table.entity }, ...(layout.hasHistory ? [past] : [])];
  return homes.some((home) => {
    const relation = findRelation(found, home);
    const isThere = relation?.columns.some(({ name }) => name === column);
    return relation !== undefined && !isThere && found.laidOut.has(columnMark(home.name, column));
  });
}
