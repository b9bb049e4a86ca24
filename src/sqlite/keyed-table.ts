import type { Connection } from './connection.ts';

/** How items of one kind stand in a table whose first column names them. A table of sides has a column `side` besides. */
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
 * The items of a side, or all of a table that is of none. They are kept as they were read or saved, because a cycle asks for all of them: what is not written stays the same object. The
 * connection is the only writer of its file, so only a transaction that failed can make them differ from it.
 */
export function openKeyedTable<Row extends Record<keyof Row, string | number | null>, Item>(
  connection: Connection,
  { table, columns, toRow, fromRow }: TableShape<Row, Item>,
  side?: string,
): KeyedTable<Item> {
  const [key, ...others] = columns;
  const own = side === undefined ? [] : [side];
  const [ownColumn, isOwn] = side === undefined ? [[], 'TRUE'] : [['side'], 'side = ?'];
  const all = [...columns, ...ownColumn];
  const statements = {
    all: connection.prepare<Row>(`SELECT ${columns.join(', ')} FROM ${table} WHERE ${isOwn} ORDER BY rowid`),
    save: connection.prepare(
      `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    ),
    drop: connection.prepare(`DELETE FROM ${table} WHERE ${isOwn} AND ${key} = ?`),
  };
  let kept: Map<string, Item> | undefined;
  connection.onRollback(() => {
    kept = undefined;
  });
  const readKept = () => {
    kept ??= new Map(statements.all.all(...own).map((row) => [String(row[key]), fromRow(row)]));
    return kept;
  };
  return {
    readAll: () => [...readKept().values()],
    find: (wanted) => readKept().get(wanted),
    save(item) {
      const row = toRow(item);
      statements.save.run(...columns.map((column) => row[column]), ...own);
      kept?.set(String(row[key]), item);
    },
    drop(unwanted) {
      statements.drop.run(...own, unwanted);
      kept?.delete(unwanted);
    },
  };
}
