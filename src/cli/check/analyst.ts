import type { ShownVersion } from '../../sandbox/postgres/record-history.ts';
import type { RecordTable, ShownName, ShownTable } from '../../sandbox/postgres/shown-tables.ts';

/** A row by its columns, values as PostgreSQL writes them. */
export type WarehouseRow = Readonly<Record<string, string | null>>;

/** Someone who reads the warehouse, through the page that shows it. */
export type Analyst = ReturnType<typeof readWarehouse>;

export function readWarehouse(pageUrl: string) {
  async function ask<Answer>(path: string): Promise<Answer> {
    const response = await fetch(new URL(path, pageUrl));
    if (!response.ok) throw new Error(`The warehouse could not be read: ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  const look = async (name: ShownName): Promise<readonly WarehouseRow[]> => {
    const { columns, rows } = await ask<ShownTable>(`/tables/${name}`);
    return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column.name, row[index]!])));
  };

  return {
    look,
    findRow: async (table: RecordTable, id: number): Promise<WarehouseRow | undefined> =>
      (await look(table)).find((row) => row['id'] === String(id)),
    /** The newest version first. */
    readHistory: (table: RecordTable, id: number): Promise<readonly ShownVersion[]> =>
      ask(`/tables/${table}/${id}/history`),
  };
}
