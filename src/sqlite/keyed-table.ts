import type { Connection } from './connection.ts';

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** How a property of an item is kept in a table: in the column of its name, or in others. What is absent is NULL there. */
export interface Property<Value> {
  readonly columns?: readonly string[];
  write(value: Value): readonly Cell[];
  read(...cells: readonly Cell[]): Value;
}

/** Values that SQLite knows, each in the column of its name. */
export const plain = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, plainProperty])) as Record<Name, Property<never>>;

const plainProperty: Property<Cell | undefined> = {
  write: (value) => [value ?? null],
  read: (cell) => cell ?? undefined,
};

/** How each property of an item is kept. */
export type Properties<Item> = { readonly [Name in keyof Item]-?: Property<Item[Name]> };

/** Items as rows, and rows as items. */
export function shapeOf<Item extends object>(properties: Properties<Item>) {
  const names = Object.keys(properties) as (keyof Item & string)[];
  const columnsOf = (name: keyof Item & string) => properties[name].columns ?? [name];
  return {
    /** All columns, in the order of the properties. */
    columns: names.flatMap(columnsOf),
    toCells: (item: Item): Cell[] => names.flatMap((name) => properties[name].write(item[name])),
    fromRow(row: Row): Item {
      const item: Partial<Item> = {};
      for (const name of names) {
        const value = properties[name].read(...columnsOf(name).map((column) => row[column] ?? null));
        if (value !== undefined) item[name] = value;
      }
      return item as Item;
    },
  };
}

interface TableOptions<Item> {
  /** Whose items these are; all of a table that is of none where absent. */
  readonly side?: string;
  /** Whether the later state of an item says so little more that it need not be written yet; never where absent. */
  readonly mayWait?: (kept: Item, later: Item) => boolean;
  /** Called with the text of the key of an item that is another one now, or gone. */
  readonly onChange?: (name: string) => void;
}

/**
 * The items of a side, or all of a table that is of none, by their key, which is the first property. They are read in the order in which
 * they were first saved, and kept as they were read or saved, because a cycle asks for all of them: what is not written stays the same
 * object. The connection is the only writer of its file, so only a transaction that failed can make them differ from it, and items that
 * `mayWait` to be written: a crash takes back what they said.
 */
export function openKeyedTable<Item extends object, KeyName extends keyof Item>(
  connection: Connection,
  table: string,
  properties: Properties<Item>,
  { side, mayWait = () => false, onChange = () => undefined }: TableOptions<Item> = {},
) {
  const { columns, fromRow, toCells } = shapeOf(properties);
  const [key, ...others] = columns;
  const keyName = Object.keys(properties)[0] as KeyName;
  const textOf = (wanted: Item[KeyName]) => String(properties[keyName].write(wanted)[0]);
  const [own, ownColumn, isOwn] = side === undefined ? [[], [], 'TRUE'] : [[side], ['side'], 'side = ?'];
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
  /** What was kept before a transaction failed: in it are the later states that wait to be written. */
  let former: typeof kept;
  let list: readonly Item[] | undefined;
  connection.onRollback(() => {
    former = kept ?? former;
    kept = undefined;
    list = undefined;
  });
  const readItem = (row: Row): [string, Item] => {
    const item = fromRow(row);
    const name = textOf(item[keyName]);
    const later = former?.get(name);
    return [name, later && mayWait(item, later) ? later : item];
  };
  const readKept = () => {
    kept ??= new Map(statements.all.all(...own).map(readItem));
    former = undefined;
    return kept;
  };
  return {
    /** Returns the same list until something is written. */
    readAll(): readonly Item[] {
      list ??= [...readKept().values()];
      return list;
    },
    find: (wanted: Item[KeyName]) => readKept().get(textOf(wanted)),
    /** Adds the item, or replaces the one of the same key. */
    save(item: Item): void {
      const name = textOf(item[keyName]);
      const before = kept?.get(name);
      const isOther = !before || !mayWait(before, item);
      if (isOther) statements.save.run(...toCells(item), ...own);
      kept?.set(name, item);
      list = undefined;
      if (isOther) onChange(name);
    },
    drop(unwanted: Item[KeyName]): void {
      const name = textOf(unwanted);
      statements.drop.run(...own, name);
      const isOther = kept?.delete(name) ?? true;
      list = undefined;
      if (isOther) onChange(name);
    },
  };
}
