import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { newWarehouseError } from '../../src/warehouse/port/errors.ts';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

type Stage = Awaited<ReturnType<typeof openEditedEngine>>;

/** What the CRM was asked to change since then. */
const writesOf = async (stage: Stage) =>
  stage.log.lines.filter(({ event }) => event === 'record.pushed').length;

/** Takes the database back by some runs, as a backup that is restored does. */
async function loseRuns(stage: Stage, runs: number) {
  await stage.database.query(`UPDATE crm_sync.link SET run_no = run_no - ${runs}`);
  await stage.database.query('DELETE FROM crm_sync.ledger WHERE no > (SELECT run_no FROM crm_sync.link)');
}

test(
  'edits that are there again in a database that went back are told again, and not sent',
  limit,
  async () => {
    const stage = await openEditedEngine();
    const lead = await stage.crm.take('lead');
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('New by SQL')");
    await stage.decided();
    await stage.settled();
    await stage.crm.update('lead', lead.id, { title: 'Later in the CRM' });
    await stage.settled();
    const before = await writesOf(stage);
    await stage.engine.stop(5_000);
    await loseRuns(stage, 2);
    await stage.database.query("UPDATE crm_sync.edit SET state = 'new', ended_at = NULL, new_id = NULL");
    await stage.restart();
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done']);
    await stage.settled();
    expect(await writesOf(stage)).toBe(before);
    expect(stage.model.records.leads.live().filter(({ title }) => title === 'New by SQL')).toHaveLength(1);
  },
);

test('W2: values of a database that went back are no edits', limit, async () => {
  const stage = await openEditedEngine();
  const lead = await stage.crm.take('lead');
  await stage.crm.update('lead', lead.id, { title: 'Now' });
  await stage.settled();
  await stage.engine.stop(5_000);
  await loseRuns(stage, 1);
  await stage.database.query(
    "BEGIN; ALTER TABLE crm.lead DISABLE TRIGGER ALL; UPDATE crm.lead SET title = 'Long ago'; ALTER TABLE crm.lead ENABLE TRIGGER ALL; ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_capture_i; ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_capture_u; ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_capture_d; ALTER TABLE crm.lead ENABLE ALWAYS TRIGGER crm_capture_t; COMMIT",
  );
  await stage.restart();
  await stage.settled();
  expect(await writesOf(stage)).toBe(0);
});

test(
  'W4: edits on their way whose mirror is lost are decided anew, and a create of which nobody knows is asked about',
  limit,
  async () => {
    const stage = await openEditedEngine();
    const [one, two] = [await stage.crm.take('lead'), await stage.crm.take('lead')];
    // Nothing gets through: all of it stays on its way.
    const faults = [
      { kind: 'status', status: 503, method: 'PUT', times: 1_000 },
      { kind: 'status', status: 503, method: 'GET', times: 10_000 },
      { kind: 'dropAfter', method: 'POST', times: 1, delayMs: 30_000 },
    ];
    stage.model.faults.order(faultOrder.parse({ faults }));
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = ANY ($1)", [[one.id, two.id]]);
    await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('New by SQL')");
    await stage.shows(
      'SELECT state FROM crm.edit',
      (rows) => rows.length === 3 && rows.every(({ state }) => state === 'taken'),
    );
    await until('the create was sent', async () =>
      stage.mirror
        .of('warehouse')
        .readOutbox()
        .some(({ state }) => state === 'sending'),
    );
    await stage.crm.update('lead', two.id, { title: 'By the CRM' });
    await stage.database.query("UPDATE crm_sync.link SET mirror_word = 'word-1'");
    await stage.restart('word-1', (directory) => {
      rmSync(directory, { recursive: true });
      stage.model.faults.order(faultOrder.parse({ clear: true }));
    });
    const outcomes = await stage.shows('SELECT op, id, state FROM crm.edit ORDER BY op DESC, id', (rows) =>
      rows.every(({ state }) => state !== 'taken'),
    );
    const states = new Map(outcomes.map(({ id, state }) => [String(id), state]));
    expect(states.get(String(one.id))).toBe('done');
    expect(states.get(String(two.id))).toBe('lost');
    expect(states.get('-1')).toBe('held');
    await stage.editor.query('DELETE FROM crm.lead WHERE id < 0');
    await stage.settled();
    expect(
      stage.model.records.leads.live().filter(({ title }) => title === 'New by SQL').length,
    ).toBeLessThan(2);
  },
);

test(
  'W2: what a trigger of a user does beside a change from the CRM is put right, and never sent',
  limit,
  async () => {
    const stage = await openEditedEngine();
    const lead = await stage.crm.take('lead');
    const task = (await stage.crm.look()).tasks[0];
    await stage.database.query(
      `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE crm.task SET title = 'meddled' WHERE id = ${task?.id}; RETURN NULL; END $$`,
    );
    await stage.database.query(
      "CREATE TRIGGER meddle AFTER UPDATE ON crm.lead FOR EACH ROW WHEN (new.title = 'Now') EXECUTE FUNCTION meddle()",
    );
    await stage.crm.update('lead', lead.id, { title: 'Now' });
    const [edit] = await stage.shows('SELECT state, note FROM crm.edit', (rows) =>
      rows.some(({ state }) => state === 'void'),
    );
    expect(edit?.['note']).toContain('it is not sent');
    await stage.settled();
    expect(await writesOf(stage)).toBe(0);
  },
);

test.for([
  ['approve', 'Unlogged'],
  ['revert', 'before'],
] as const)(
  'W2: what was changed while edits were not noted is asked about: %s',
  limit,
  async ([choice, title]) => {
    const stage = await openEditedEngine();
    const lead = await stage.crm.take('lead');
    await stage.database.query('ALTER TABLE crm.lead DISABLE TRIGGER crm_capture_u');
    await stage.database.query("UPDATE crm.lead SET title = 'Unlogged' WHERE id = $1", [lead.id]);
    await stage.engine.compare();
    const scope = 'brake:lead:unlogged';
    await until('it is asked about', async () =>
      stage.engine.found.questions.some((each) => each.scope === scope),
    );
    expect(await writesOf(stage)).toBe(0);
    await stage.answer(scope, choice);
    await stage.settled();
    const wanted = title === 'before' ? lead.title : title;
    await until('it is decided', async () => stage.engine.found.questions.length === 0);
    await stage.settled();
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: wanted,
    });
  },
);

test('W4: a create is not sent before the database knows that it was taken', limit, async () => {
  let isDown = false;
  const stage = await openEditedEngine(
    {},
    {
      wrap: (warehouse) => ({
        ...warehouse,
        write: (run, batch) =>
          isDown
            ? Promise.reject(newWarehouseError('WAREHOUSE_BUSY', 'It takes no write now.'))
            : warehouse.write(run, batch),
      }),
    },
  );
  isDown = true;
  await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('New by SQL')");
  await until('its step waits', async () => stage.mirror.of('warehouse').readOutbox().length === 1);
  await stage.swept(2);
  expect(stage.mirror.of('warehouse').readOutbox()).toMatchObject([{ state: 'waiting' }]);
  expect(await writesOf(stage)).toBe(0);
  isDown = false;
  expect(await stage.decided()).toMatchObject([{ state: 'done' }]);
  await stage.settled();
});

test(
  'a row that was replaced keeps its base where the mirror is lost before that is settled',
  limit,
  async () => {
    const stage = await openEditedEngine({ conflict: 'ask' });
    const lead = await stage.crm.take('lead');
    await stage.editor.query('BEGIN');
    await stage.editor.query('DELETE FROM crm.lead WHERE id = $1', [lead.id]);
    await stage.editor.query("INSERT INTO crm.lead (id, title, status_name) VALUES ($1, 'By SQL', $2)", [
      lead.id,
      lead.status_name,
    ]);
    await stage.crm.update('lead', lead.id, { title: 'By the CRM' });
    await stage.swept(2);
    await stage.editor.query('COMMIT');
    const isAsked = (rows: Record<string, unknown>[]) =>
      rows.length === 2 && rows.every(({ state }) => state === 'conflict');
    await stage.shows('SELECT state FROM crm.edit', isAsked);
    await stage.restart('word-1', (directory) => rmSync(directory, { recursive: true }));
    await until('it is asked about again', async () => stage.engine.found.conflicts.length === 1);
    expect(stage.engine.found.conflicts).toMatchObject([
      { agreed: lead.title, crm: 'By the CRM', table: 'By SQL' },
    ]);
    await stage.editor.query("UPDATE crm.question SET answer = 'crm'");
    await stage.settled();
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['superseded', 'lost']);
  },
);
