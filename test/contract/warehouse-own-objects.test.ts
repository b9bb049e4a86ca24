import { expect, it, onTestFinished } from 'vitest';
import { batchOf, leads, noon, openWarehouseDatabase, version } from '../support/warehouse-database.ts';

async function openStage() {
  const database = await openWarehouseDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const warehouse = database.open();
  const rows = [1, 2, 3, 4].map((id) => version(id, { title: 'old' }));
  await warehouse.write('run-1', batchOf(0, { rows }));
  return { database, warehouse };
}

const renamed = (titles: readonly string[]) =>
  titles.map((title, index) => version(index + 1, { title }, noon(2)));

it('fault 14: a row that a CHECK refuses stays as it is with its history, and all others are written', async () => {
  const { database, warehouse } = await openStage();
  await database.query("ALTER TABLE crm.lead ADD CONSTRAINT no_bad CHECK (title <> 'bad')");
  const reply = await warehouse.write(
    'run-2',
    batchOf(1, { rows: renamed(['a', 'bad', 'c', 'bad', 'new']) }),
  );
  expect(reply.added).toEqual({ lead: 1 });
  expect(reply.left).toEqual(
    ['2', '4'].map((id) => ({
      entity: 'lead',
      id,
      why: 'refused',
      words: expect.stringContaining('no_bad'),
    })),
  );
  expect(await database.list('SELECT title FROM crm.lead ORDER BY id')).toEqual([
    'a',
    'old',
    'c',
    'old',
    'new',
  ]);
  expect(await database.list('SELECT id FROM crm_sync.lead_past ORDER BY id')).toEqual(['1', '3']);
});

it('a write with many rows that are refused ends soon, and what it left untried is a case of its own', async () => {
  const { database, warehouse } = await openStage();
  await database.query("ALTER TABLE crm.lead ADD CONSTRAINT no_bad CHECK (title <> 'bad') NOT VALID");
  let due = Array.from({ length: 400 }, (_each, id) => version(id, { title: id % 4 === 0 ? 'good' : 'bad' }));
  const refused = new Set<string>();
  let run = 1;
  for (; due.length > 0; run += 1) {
    const { left } = await warehouse.write(`run-x${run}`, batchOf(run, { rows: due }));
    const found = left.filter(({ why }) => why === 'refused');
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(100);
    for (const { id } of found) refused.add(id);
    const untried = new Set(left.filter(({ why }) => why === 'untried').map(({ id }) => id));
    due = due.filter(({ id }) => untried.has(id));
  }
  expect(refused.size).toBe(300);
  expect(await database.list("SELECT count(*)::int FROM crm.lead WHERE title = 'good'")).toEqual([100]);
});

it('fault 13: a column that a user added without a default refuses new rows only', async () => {
  const { database, warehouse } = await openStage();
  await database.query('ALTER TABLE crm.lead ADD COLUMN theirs text');
  await database.tamper("UPDATE crm.lead SET theirs = 'x'");
  await database.query('ALTER TABLE crm.lead ALTER COLUMN theirs SET NOT NULL');
  const { left } = await warehouse.write('run-2', batchOf(1, { rows: renamed(['a', 'b', 'c', 'd', 'e']) }));
  expect(left.map(({ id, why }) => [id, why])).toEqual([['5', 'refused']]);
  expect(await database.list('SELECT theirs FROM crm.lead')).toEqual(['x', 'x', 'x', 'x']);
});

it('a column of theirs that fills itself keeps no row from being inserted, whatever its type', async () => {
  const { database, warehouse } = await openStage();
  await database.query(
    `CREATE DOMAIN public.region AS text NOT NULL;
     ALTER TABLE crm.lead ADD COLUMN region public.region DEFAULT 'north', ADD COLUMN loud text GENERATED ALWAYS AS (upper(title)) STORED`,
  );
  const rows = [...renamed(['a']), version(5, { title: 'e', cf_tags: ['x', 'y'], cf_amount: 0.1 })];
  expect((await warehouse.write('run-2', batchOf(1, { rows }))).left).toEqual([]);
  expect(
    await database.list(
      "SELECT concat_ws(' ', loud, region, cf_tags, cf_amount) FROM crm.lead WHERE id IN (1, 5) ORDER BY id",
    ),
  ).toEqual(['A north', 'E north {x,y} 0.1']);
});

const triggerSql = (body: string, when: string) => `
  CREATE FUNCTION public.theirs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
  CREATE ${when} ON crm.lead FOR EACH ROW EXECUTE FUNCTION public.theirs()`;

it('fault 15: a row of which a trigger makes something else is reported with its columns', async () => {
  const { database, warehouse } = await openStage();
  await database.query(
    triggerSql('NEW.title := upper(NEW.title); RETURN NEW;', 'TRIGGER loud BEFORE INSERT OR UPDATE'),
  );
  const { left, added } = await warehouse.write(
    'run-2',
    batchOf(1, { rows: renamed(['a', 'B', 'c', 'D', 'e']) }),
  );
  expect(left.map(({ id, why }) => [id, why])).toEqual([
    ['1', 'rewritten'],
    ['3', 'rewritten'],
    ['5', 'rewritten'],
  ]);
  expect(left[0]?.words).toContain('title');
  expect(added).toEqual({ lead: 1 });
  const filled = await warehouse.fill('run-3', 2, leads, [version(9, { title: 'z' }, noon(2))]);
  expect(filled.left).toMatchObject([{ id: '9', why: 'rewritten' }]);
});

it('a trigger that keeps rows from being written or deleted is reported', async () => {
  const { database, warehouse } = await openStage();
  await database.query(triggerSql('RETURN NULL;', 'TRIGGER stubborn BEFORE INSERT OR UPDATE OR DELETE'));
  const rows = [version(1, { title: 'a' }, noon(2)), version(5, { title: 'e' }, noon(2))];
  const reply = await warehouse.write('run-2', batchOf(1, { rows, gone: [{ id: '2', at: noon(2) }] }));
  expect(reply.added).toEqual({ lead: 0 });
  expect(reply.left.map(({ id, why }) => [id, why])).toEqual(['1', '5', '2'].map((id) => [id, 'rewritten']));
});

it('a trigger that fails refuses its row alone, whatever it fails with', async () => {
  const { database, warehouse } = await openStage();
  const body = `IF NEW.title = 'raise' THEN RAISE EXCEPTION 'no such title'; END IF;
    IF NEW.title = 'broken' THEN PERFORM 1 FROM public.not_there; END IF; RETURN NEW;`;
  await database.query(triggerSql(body, 'TRIGGER picky BEFORE UPDATE'));
  const { left } = await warehouse.write(
    'run-2',
    batchOf(1, { rows: renamed(['a', 'raise', 'broken', 'd']) }),
  );
  expect(left.map(({ id, words }) => [id, words])).toEqual([
    ['2', 'no such title'],
    ['3', expect.stringContaining('not_there')],
  ]);
});

it('a constraint that is checked at the commit refuses its row alone as well', async () => {
  const { database, warehouse } = await openStage();
  const body =
    "IF NEW.title = 'bad' THEN RAISE EXCEPTION 'not this one' USING ERRCODE = '23514'; END IF; RETURN NULL;";
  await database.query(
    `CREATE FUNCTION public.theirs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
     CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON crm.lead DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION public.theirs()`,
  );
  const reply = await warehouse.write('run-2', batchOf(1, { rows: renamed(['a', 'bad', 'c', 'd']) }));
  expect(reply).toMatchObject({ run: 2, left: [{ id: '2', why: 'refused', words: 'not this one' }] });
  expect(await database.list('SELECT title FROM crm.lead ORDER BY id')).toEqual(['a', 'old', 'c', 'd']);
});

it('a row that a foreign key of theirs holds stays, with its history, and says which', async () => {
  const { database, warehouse } = await openStage();
  await database.query(
    `CREATE TABLE public.visits (lead_id bigint CONSTRAINT visit_of REFERENCES crm.lead);
     INSERT INTO public.visits VALUES (2)`,
  );
  const gone = ['1', '2', '3'].map((id) => ({ id, at: noon(2) }));
  const { left, added } = await warehouse.write('run-2', batchOf(1, { gone }));
  expect(added).toEqual({ lead: -2 });
  expect(left).toEqual([
    { entity: 'lead', id: '2', why: 'refused', words: expect.stringContaining('visits') },
  ]);
  expect(await database.list('SELECT id FROM crm_sync.lead_past ORDER BY id')).toEqual(['1', '3']);
});

it('a login other than the one that the guards were made for blames no row', async () => {
  const { database } = await openStage();
  const other = `${database.role}_other`;
  await database.query(
    `DROP ROLE IF EXISTS ${other}; CREATE ROLE ${other} LOGIN PASSWORD 'other' IN ROLE ${database.role}`,
  );
  const url = new URL(database.url);
  url.username = other;
  url.password = 'other';
  const warehouse = database.open({ url: url.href });
  await expect(warehouse.write('run-2', batchOf(1, { rows: renamed(['a']) }))).rejects.toMatchObject({
    code: 'WAREHOUSE_FORBIDDEN',
  });
});
