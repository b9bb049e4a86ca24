import { isObject } from '../core/facts.ts';
import { recordKeyText } from '../core/record.ts';
import { isOpen, type TakenEdit, type TakenEdits } from '../core/taken-edit.ts';
import type { Connection } from './connection.ts';
import { type NumberedEdit, OpenEdits } from './open-edits.ts';
import { readJson } from './stored-json.ts';

interface Row {
  readonly number: number;
  readonly content: string;
}

const isTakenEdit = (content: unknown): content is TakenEdit =>
  isObject(content) && isObject(content['key']) && isObject(content['ended']);

const read = ({ content }: Row): TakenEdit => readJson('an edit', isTakenEdit, content);
const readNumbered = (row: Row): NumberedEdit => ({ number: row.number, edit: read(row) });

function prepareStatements(connection: Connection) {
  const select = (rest: string) =>
    connection.prepare<Row>(`SELECT number, content FROM takenEdit WHERE side = ? AND ${rest}`);
  return {
    find: select('editId = ?'),
    open: select('isOpen = 1 ORDER BY number'),
    untold: select('isTold = 0 ORDER BY number LIMIT ?'),
    insert: select('entity = ? AND insertedRow = ? ORDER BY number DESC LIMIT 1'),
    untoldInserts: select('isTold = 0 AND insertedRow IS NOT NULL'),
    save: connection.prepare(
      `INSERT INTO takenEdit (side, editId, entity, insertedRow, at, isOpen, isTold, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (side, editId) DO UPDATE SET at = excluded.at, isOpen = excluded.isOpen, isTold = excluded.isTold, content = excluded.content`,
    ),
    forget: connection.prepare(
      'DELETE FROM takenEdit WHERE side = ? AND at < ? AND isOpen = 0 AND isTold = 1',
    ),
  };
}

/**
 * The edits that were taken from a side, each kept whole, as JSON. Those that are open are read once, and kept. Calls `onChange` with the
 * names of the record and the row of an edit that is saved, also of the record that it was about before.
 */
export function openTakenEdits(
  connection: Connection,
  side: string,
  onChange: (name: string) => void,
): TakenEdits {
  const statements = prepareStatements(connection);
  let kept: OpenEdits | undefined;
  /** The names of records that were made of rows, and of which the side does not know it. */
  let newRows: Set<string> | undefined;
  connection.onRollback(() => {
    kept = undefined;
    newRows = undefined;
  });
  const open = () => {
    kept ??= new OpenEdits(statements.open.all(side).map(readNumbered));
    return kept;
  };
  const isMade = ({ isTold, newId }: TakenEdit) => newId !== undefined && !isTold;
  const readNewRows = () => {
    const made = statements.untoldInserts.all(side).map(read).filter(isMade);
    return new Set(made.map(({ key }) => recordKeyText(key)));
  };
  const first = (rows: readonly Row[]) => rows.slice(0, 1).map(read)[0];
  const find = (editId: string) => open().find(editId) ?? first(statements.find.all(side, editId));
  const keep = (edit: TakenEdit) => {
    const { editId } = edit;
    if (isMade(edit)) newRows?.add(recordKeyText(edit.key));
    else if (edit.newId !== undefined) newRows?.delete(recordKeyText(edit.key));
    if (!isOpen(edit)) return kept?.drop(editId);
    if (!kept || kept.replace(edit)) return;
    const [row] = statements.find.all(side, editId);
    // One that was over keeps its place.
    if (row && !kept.add({ number: row.number, edit })) kept = undefined;
  };
  return {
    find,
    readOpen: () => open().readAll(),
    countOpen: () => open().size,
    findOpen: (key) => open().findOf(key),
    findOpenOfRow: (entity, row) => open().findOfRow(entity, row),
    isNewRow(key) {
      newRows ??= readNewRows();
      return newRows.has(recordKeyText(key));
    },
    readUntold: (limit) => statements.untold.all(side, limit).map(read),
    findInsert: (entity, row) => first(statements.insert.all(side, entity, row)),
    save(edit) {
      const { at, editId, isTold, key, kind, row, toldAt } = edit;
      const insertedRow = kind === 'insert' ? row : null;
      const before = open().find(editId);
      statements.save.run(
        side,
        editId,
        key.entity,
        insertedRow,
        toldAt ?? at,
        Number(isOpen(edit)),
        Number(isTold),
        JSON.stringify(edit),
      );
      keep(edit);
      const keys = [key, { entity: key.entity, id: row }, ...(before ? [before.key] : [])];
      for (const name of new Set(keys.map(recordKeyText))) onChange(name);
    },
    forget: (before) => void statements.forget.run(side, before),
  };
}
