import type { ShownVersion } from '../../sandbox/postgres/record-history.ts';
import type { RecordTable, ShownName, ShownTable } from '../../sandbox/postgres/shown-tables.ts';

/** A row by its columns, values as PostgreSQL writes them. */
export type WarehouseRow = Readonly<Record<string, string | null>>;

/** Someone who reads the warehouse and edits it by SQL, through the page that shows it. */
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
    /** Runs SQL as who may edit. Fails with the words of the database. */
    async run(sql: string): Promise<void> {
      const response = await fetch(new URL('/sql', pageUrl), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql }),
      });
      const { error } = (await response.json()) as { readonly error?: string };
      if (error !== undefined) throw new Error(error);
    },
    findRow: async (table: RecordTable, id: number): Promise<WarehouseRow | undefined> =>
      (await look(table)).find((row) => row['id'] === String(id)),
    /** The newest version first. */
    readHistory: (table: RecordTable, id: number): Promise<readonly ShownVersion[]> =>
      ask(`/tables/${table}/${id}/history`),
  };
}
