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
  readWhere(column: string, equals: string): Item[];
  find(key: string): Item | undefined;
  /** Adds the item, or replaces the one of the same key. */
  save(item: Item): void;
  drop(key: string): void;
}

export function openKeyedTable<Row extends Record<keyof Row, string | number | null>, Item>(
  connection: Connection,
  { table, columns, toRow, fromRow }: TableShape<Row, Item>,
): KeyedTable<Item> {
  const [key, ...others] = columns;
  const select = `SELECT ${columns.join(', ')} FROM ${table}`;
  const statements = {
    all: connection.prepare<Row>(`${select} ORDER BY rowid`),
    one: connection.prepare<Row>(`${select} WHERE ${key} = ?`),
    save: connection.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    ),
    drop: connection.prepare(`DELETE FROM ${table} WHERE ${key} = ?`),
  };
  return {
    readAll: () => statements.all.all().map(fromRow),
    readWhere: (column, equals) =>
      connection.prepare<Row>(`${select} WHERE ${column} = ? ORDER BY rowid`).all(equals).map(fromRow),
    find(wanted) {
      const row = statements.one.get(wanted);
      return row && fromRow(row);
    },
    save(item) {
      const row = toRow(item);
      statements.save.run(...columns.map((column) => row[column]));
    },
    drop: (unwanted) => void statements.drop.run(unwanted),
  };
}
