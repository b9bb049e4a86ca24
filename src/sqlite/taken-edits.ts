import { isObject } from '../core/facts.ts';
import { isOpen, type TakenEdit, type TakenEdits } from '../core/taken-edit.ts';
import type { Connection } from './connection.ts';
import { readJson } from './stored-json.ts';

interface Row {
  readonly content: string;
}

const isTakenEdit = (content: unknown): content is TakenEdit =>
  isObject(content) && isObject(content['key']) && isObject(content['ended']);

const read = ({ content }: Row): TakenEdit => readJson('an edit', isTakenEdit, content);

/** The edits that were taken from a side, each kept whole, as JSON. Those that are open are asked for many times a cycle, and parsed once. */
export function openTakenEdits(connection: Connection, side: string): TakenEdits {
  const select = (rest: string) =>
    connection.prepare<Row>(`SELECT content FROM takenEdit WHERE side = ? AND ${rest}`);
  const statements = {
    find: select('editId = ?'),
    open: select('isOpen = 1 ORDER BY number'),
    untold: select('isTold = 0 ORDER BY number LIMIT ?'),
    insert: select('entity = ? AND insertedRow = ? ORDER BY number DESC LIMIT 1'),
    save: connection.prepare(
      `INSERT INTO takenEdit (side, editId, entity, insertedRow, at, isOpen, isTold, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (side, editId) DO UPDATE SET at = excluded.at, isOpen = excluded.isOpen, isTold = excluded.isTold, content = excluded.content`,
    ),
    forget: connection.prepare(
      'DELETE FROM takenEdit WHERE side = ? AND at < ? AND isOpen = 0 AND isTold = 1',
    ),
  };
  /** By their ids, in the order in which they were taken. */
  let open: Map<string, TakenEdit> | undefined;
  connection.onRollback(() => {
    open = undefined;
  });
  const first = (rows: readonly Row[]) => rows.slice(0, 1).map(read)[0];
  return {
    find: (editId) => first(statements.find.all(side, editId)),
    readOpen() {
      open ??= new Map(
        statements.open
          .all(side)
          .map(read)
          .map((edit) => [edit.editId, edit]),
      );
      return [...open.values()];
    },
    readUntold: (limit) => statements.untold.all(side, limit).map(read),
    findInsert: (entity, row) => first(statements.insert.all(side, entity, row)),
    save(edit) {
      const { at, editId, isTold, key, kind, row, toldAt } = edit;
      const insertedRow = kind === 'insert' ? row : null;
      const content = JSON.stringify(edit);
      statements.save.run(
        side,
        editId,
        key.entity,
        insertedRow,
        toldAt ?? at,
        Number(isOpen(edit)),
        Number(isTold),
        content,
      );
      if (!isOpen(edit)) open?.delete(editId);
      // One that is new here has its place by its number.
      else if (open?.has(editId)) open.set(editId, edit);
      else open = undefined;
    },
    forget: (before) => void statements.forget.run(side, before),
  };
}
