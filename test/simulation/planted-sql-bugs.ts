import type { Mirror } from '../../src/core/mirror.ts';
import type { Link } from '../../src/sync/link.ts';
import type { WarehouseTerms } from '../../src/warehouse/link.ts';
import type { EditedRow, SqlEdit, Warehouse } from '../../src/warehouse/port/port.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { SqlPlant } from './sql-side.ts';

/** Known mistakes of the side that is edited by SQL. */
export const plantedSqlBugs: readonly PlantedBug[] = [
  {
    name: 'a row that is not there counts as deleted by SQL',
    plantSql: withDatabase((database, terms, link) => ({
      async readEdits(tables, page) {
        const read = await database.readEdits(tables, page);
        const rows: EditedRow[] = [...read.rows];
        for (const { columns, entity, ...table } of tables) {
          const shown = new Set(read.rows.map(({ id }) => id));
          for await (const { id } of database.scan({ ...table, columns, entity })) shown.add(id);
          for (const { fields, key, presence } of link.mirror.readRecords(entity))
            if (presence === 'present' && !shown.has(key.id))
              rows.push({ entity, id: key.id, edits: [absence(key.id, { title: fields['title'] ?? null })] });
        }
        return terms.editing?.deletes === 'restore' ? read : { ...read, rows };
      },
    })),
    runsMax: 100,
    hasMishaps: true,
  },
  {
    name: 'an edit is taken as often as it is read',
    plantSql: withStores((mirror) => ({ edits: { ...mirror.edits, find: () => undefined } })),
    runsMax: 60,
    hasMishaps: true,
  },
  {
    name: 'a create is sent before the database knows that it was taken',
    plantSql: withStores((mirror) => ({
      edits: {
        ...mirror.edits,
        find(editId) {
          const found = mirror.edits.find(editId);
          return found && { ...found, isTold: true };
        },
      },
    })),
    firstSeed: 75,
    runsMax: 20,
    hasMishaps: true,
  },
  {
    name: 'a database that went back is taken for what it was',
    plantSql: withDatabase((database, _terms, link) => {
      const { feed } = link.mirror.of('warehouse');
      return {
        readEdits: async (...asked) => ({ ...(await database.readEdits(...asked)), lastRun: feed.lastRun() }),
        meet: async () => ({ ...(await database.meet()), lastRun: feed.lastRun() }),
        async write(run, batch) {
          const reply = await database.write(run, { ...batch, after: await database.touch([]) });
          return { ...reply, run: batch.after + 1 };
        },
      };
    }),
    firstSeed: 200,
    runsMax: 60,
    hasMishaps: true,
  },
  {
    name: 'no number of edits by SQL is too large',
    plantSql: withEditing(({ limits }) => ({ limits: { ...limits, changesMin: 1_000, deletesMin: 1_000 } })),
    runsMax: 100,
    hasMishaps: true,
  },
  {
    name: 'a row that was deleted by SQL goes to the trash without a question',
    plantSql: withEditing(() => ({ deletes: 'trash' })),
    runsMax: 60,
  },
  {
    name: 'what SQL lost to the CRM is written down nowhere',
    plantSql: withStores((mirror) => ({
      appendJournal: (entries) =>
        mirror.appendJournal(entries.filter(({ lost }) => Object.keys(lost).length === 0)),
    })),
    runsMax: 100,
  },
  {
    name: 'a row that was inserted keeps its temporary id',
    plantSql: withDatabase((database) => ({
      write: (run, batch) =>
        database.write(run, batch.edits ? { ...batch, edits: { ...batch.edits, renames: [] } } : batch),
    })),
    runsMax: 60,
  },
  {
    name: 'what is due at the tables is forgotten',
    plantSql: withStores((mirror) => ({ feed: { ...mirror.feed, noteDue: () => undefined } })),
    runsMax: 60,
  },
  {
    name: 'an outcome counts as told before the database has it',
    plantSql: withStores((mirror) => ({
      edits: { ...mirror.edits, save: (edit) => mirror.edits.save({ ...edit, isTold: true }) },
    })),
    runsMax: 60,
  },
];

const absence = (id: string, before: SqlEdit['before']): SqlEdit => ({
  editId: `absent-${id}`,
  kind: 'delete',
  state: 'new',
  before,
  after: {},
  by: 'nobody',
  ageMs: 0,
});

/** The database with parts that behave otherwise. */
function withDatabase(
  change: (database: Warehouse, terms: WarehouseTerms, link: Link) => Partial<Warehouse>,
): SqlPlant {
  return ({ link, terms }) => {
    const parts = change(terms.database, terms, link);
    const database = new Proxy(terms.database, {
      get(target, name) {
        const member: unknown = Reflect.get(name in parts ? parts : target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    return { link, terms: { ...terms, database } };
  };
}

function withEditing(
  change: (editing: NonNullable<WarehouseTerms['editing']>) => Partial<WarehouseTerms['editing']>,
): SqlPlant {
  return ({ link, terms }) => {
    const { editing } = terms;
    return { link, terms: editing ? { ...terms, editing: { ...editing, ...change(editing) } } : terms };
  };
}

/** The stores of this side with parts that behave otherwise. */
function withStores(change: (mirror: Mirror) => Partial<Mirror>): SqlPlant {
  return ({ link, terms }) => {
    const of = (name: string) => {
      const mirror = link.mirror.of(name);
      return name === 'warehouse' ? { ...mirror, ...change(mirror) } : mirror;
    };
    return { terms, link: { ...link, mirror: { ...link.mirror, of } } };
  };
}
