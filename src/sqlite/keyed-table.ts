import type { Connection } from './connection.ts';

/** How items of one kind stand in a table whose first column names them. */
export interface TableShape<Row extends object, Item> {
  readonly table: string;
  /** All columns, the primary key first. */
  readonly columns: readonly [keyof Row & string, ...(keyof Row & string)[]];
  toRow(item: Item): Row;
  fromRow(row: Row): Item;
}

/** Items by primary key. They are read in the order in which they were first saved. */
export interface KeyedTable<Item> {
  readAll(): Item[];
  find(key: string): Item | undefined;
  /** Adds the item, or replaces the one of the same key. */
  save(item: Item): void;
  drop(key: string): void;
}

/**
 * Items are kept as they were read or saved, because a cycle asks for all of them: what is not written stays the same object. The
 * connection is the only writer of its file, so only a transaction that failed can make them differ from it.
 */
export function openKeyedTable<Row extends Record<keyof Row, string | number | null>, Item>(
  connection: Connection,
  { table, columns, toRow, fromRow }: TableShape<Row, Item>,
): KeyedTable<Item> {
  const [key, ...others] = columns;
  const statements = {
    all: connection.prepare<Row>(`SELECT ${columns.join(', ')} FROM ${table} ORDER BY rowid`),
    save: connection.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    ),
    drop: connection.prepare(`DELETE FROM ${table} WHERE ${key} = ?`),
  };
  let kept: Map<string, Item> | undefined;
  connection.onRollback(() => {
    kept = undefined;
  });
  const readKept = () => {
    kept ??= new Map(statements.all.all().map((row) => [String(row[key]), fromRow(row)]));
    return kept;
  };
  return {
    readAll: () => [...readKept().values()],
    find: (wanted) => readKept().get(wanted),
    save(item) {
      const row = toRow(item);
      statements.save.run(...columns.map((column) => row[column]));
      kept?.set(String(row[key]), item);
    },
    drop(unwanted) {
      statements.drop.run(unwanted);
      kept?.delete(unwanted);
    },
  };
}
