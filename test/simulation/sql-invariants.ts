import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { equalValues } from '../../src/core/value.ts';
import { readRecord } from '../../src/crm/records.ts';
import { valuesOf } from '../../src/warehouse/rows.ts';
import { fieldsOfBody } from './crm-people.ts';
import type { People } from './people.ts';
import type { Call } from './simulated-crm.ts';
import { type TabEntity, tabEntities } from './tab-view.ts';
import { Violation } from './violation.ts';

/** Looks at a write to the CRM that was made by SQL: nothing else than what a user wrote by SQL is sent, and nothing over a brake. */
export function checkSqlCall(
  people: People,
  { entity, id }: RecordKey,
  method: string,
  body: Call['body'],
): void {
  const { sql, stage } = people;
  if (!sql) return;
  const item = stage.link.mirror
    .of('warehouse')
    .readOutbox()
    .find((each) =>
      method === 'POST'
        ? each.key.entity === entity && each.kind === 'create' && each.fields['title'] === body['title']
        : recordKeyText(each.key) === recordKeyText({ entity, id }) && each.state === 'sending',
    );
  if (!item) return;
  for (const [field, value] of Object.entries(item.kind === 'delete' ? {} : item.fields))
    if (people.claims.of(value) && !sql.written.has(String(value)))
      throw new Violation(
        'W2',
        `“${value}” was sent to ${field} of ${entity} ${id}, and nobody wrote it by SQL`,
      );
  for (const { kind, rows } of sql.masses) {
    const isMeant = kind === 'deleted' ? method === 'DELETE' && rows.has(id) : false;
    const isWritten = fieldsOfBody(body).some(([, value]) => [...rows.values()].includes(String(value)));
    if (isMeant || isWritten)
      throw new Violation(
        'W6',
        `${entity} ${id} was sent with ${rows.size} rows ${kind} by SQL, over the brake`,
      );
  }
}

/** Whether a record may go to the trash because its row was deleted by SQL. */
export const mayTrash = ({ sql }: People, owner: string): boolean =>
  sql?.side.editing.deletes === 'trash' && sql.deleted.has(owner);

/**
 * What edits say that are over and did not come to the CRM: it stands beside their outcome. What lost against a value of the CRM has to be in the
 * history as well.
 */
export const endedValues = ({ sql }: People): readonly string[] =>
  (sql?.edits ?? [])
    .filter(
      ({ id, isOver, kind, state }) =>
        isOver && state !== 'done' && (kind === 'insert' || state !== 'lost' || id.startsWith('-')),
    )
    .flatMap(({ after }) => Object.values(after).map(String));

/** W1 W4 W7 W10: every edit has come to something, and the tables show exactly what the CRM has. */
export function checkTables(people: People): void {
  const { sql } = people;
  if (!sql) return;
  const [open] = sql.openEdits;
  if (open) throw new Violation('W1', `nothing came of an edit: ${JSON.stringify(open)}`);
  for (const entity of tabEntities) checkTable(people, entity);
}

function checkTable({ sql, stage }: People, entity: TabEntity): void {
  const { link, crm } = stage;
  const catalog = link.mirror.readCatalog();
  const table = sql?.side.database.layout?.tables.find((each) => each.entity === entity);
  if (!sql || !catalog || !table) throw new Violation('W7', `no table of ${entity} was laid out`);
  const rows = new Map(sql.side.database.rowsOf(entity));
  const records = entity === 'lead' ? crm.records.leads.live() : crm.records.tasks.live();
  for (const stored of records) {
    const record = readRecord(entity, stored, catalog.customFields);
    if ('problem' in record) throw new Error(record.problem);
    const row = rows.get(record.id);
    if (!row) throw new Violation('W7', `${entity} ${record.id} has no row`);
    rows.delete(record.id);
    const wanted = valuesOf(record.fields, table);
    for (const [name, value] of Object.entries(wanted))
      if (!equalValues(value, row[name] ?? null))
        throw new Violation(
          'W7',
          `${name} of ${entity} ${record.id} is ${JSON.stringify(row[name])} in its row, and ${JSON.stringify(value)} in the CRM`,
        );
  }
  const [extra] = rows.keys();
  if (extra !== undefined) throw new Violation('W10', `${entity} ${extra} has a row and no record`);
}
