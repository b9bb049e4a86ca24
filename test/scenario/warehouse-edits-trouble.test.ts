import { cpSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

type Stage = Awaited<ReturnType<typeof openEditedEngine>>;

const meet = (stage: Stage, ...faults: readonly object[]) =>
  stage.model.faults.order(faultOrder.parse({ faults }));

const tasksNamed = (stage: Stage, title: string) =>
  stage.model.records.tasks.live().filter((task) => task.title === title);

test(
  'W5: a mirror that is lost decides nothing about open edits before the CRM was read',
  limit,
  async () => {
    const stage = await openEditedEngine();
    const [one, two] = [await stage.crm.take('lead'), await stage.crm.take('lead')];
    meet(stage, { kind: 'status', status: 503, method: 'PUT', times: 1_000 });
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [one.id]);
    await stage.editor.query('DELETE FROM crm.lead WHERE id = $1', [two.id]);
    await stage.shows('SELECT state FROM crm.edit', (rows) => rows.every(({ state }) => state !== 'new'));
    await stage.restart('word-1', (directory) => {
      rmSync(directory, { recursive: true });
      stage.model.faults.order(
        faultOrder.parse({
          clear: true,
          faults: [{ kind: 'slow', delayMs: 700, method: 'GET', path: '*leads*', times: 2 }],
        }),
      );
    });
    const rows = await stage.shows('SELECT op, state FROM crm.edit ORDER BY op', (all) =>
      all.every(({ state }) => state !== 'taken'),
    );
    expect(rows).toEqual([
      { op: 'D', state: 'held' },
      { op: 'U', state: 'done' },
    ]);
  },
);

test('W4: a mirror that is put back from a copy sends no create again', limit, async () => {
  const stage = await openEditedEngine();
  const copy = join(tmpdir(), `edits-copy-${process.pid}`);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  meet(stage, { kind: 'status', status: 503, method: 'POST', times: 1_000 });
  await stage.editor.query("INSERT INTO crm.task (title) VALUES ('Once')");
  await stage.shows('SELECT state FROM crm.edit', (rows) => rows.every(({ state }) => state === 'taken'));
  await stage.restart(undefined, (directory) => {
    cpSync(directory, copy, { recursive: true });
    stage.model.faults.order(faultOrder.parse({ clear: true }));
  });
  await stage.decided();
  await stage.settled();
  await stage.restart(undefined, (directory) => {
    rmSync(directory, { recursive: true });
    cpSync(copy, directory, { recursive: true });
  });
  await stage.settled();
  await stage.swept(2);
  expect(tasksNamed(stage, 'Once')).toHaveLength(1);
});

test(
  'W4: a row that is inserted, deleted and inserted again in one transaction is created once',
  limit,
  async () => {
    const stage = await openEditedEngine({ deletes: 'trash' });
    await stage.editor.query('BEGIN');
    const { rows } = await stage.editor.query("INSERT INTO crm.task (title) VALUES ('First') RETURNING id");
    await stage.editor.query('DELETE FROM crm.task WHERE id = $1', [rows[0].id]);
    await stage.editor.query("INSERT INTO crm.task (id, title) VALUES ($1, 'Second')", [rows[0].id]);
    await stage.editor.query('COMMIT');
    await stage.decided();
    await stage.settled();
    expect([tasksNamed(stage, 'First').length, tasksNamed(stage, 'Second').length]).toEqual([0, 1]);
  },
);

test(
  'a row that is changed and then deleted is deleted, and nobody is said to have edited it',
  limit,
  async () => {
    const stage = await openEditedEngine({ deletes: 'trash' });
    const task = await stage.crm.take('task');
    await stage.editor.query(
      `BEGIN; UPDATE crm.task SET title = 'x' WHERE id = ${task.id}; DELETE FROM crm.task WHERE id = ${task.id}; COMMIT`,
    );
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['superseded', 'done']);
    await stage.settled();
    expect(stage.model.records.tasks.live().map(({ id }) => id)).not.toContain(task.id);
  },
);

test('an edit whose state the database forgot is told again, and its row is written', limit, async () => {
  const stage = await openEditedEngine();
  const lead = await stage.crm.take('lead');
  await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
  await stage.decided();
  await stage.settled();
  await stage.engine.stop(5_000);
  await stage.database.query("UPDATE crm_sync.edit SET state = 'taken', ended_at = NULL");
  await stage.restart();
  await stage.shows('SELECT state FROM crm.edit', (rows) => rows.every(({ state }) => state === 'done'));
  await stage.crm.update('lead', lead.id, { title: 'Later' });
  await stage.settled();
});

test(
  'W12: a row that a user holds keeps no other row waiting for its id, and gets all of its values afterwards',
  limit,
  async () => {
    const stage = await openEditedEngine();
    meet(stage, { kind: 'slow', delayMs: 400, method: 'POST' });
    await stage.editor.query("INSERT INTO crm.task (title) VALUES ('Held')");
    await stage.editor.query('BEGIN');
    await stage.editor.query("SELECT FROM crm.task WHERE title = 'Held' FOR UPDATE");
    await until('it is created', async () => tasksNamed(stage, 'Held').length === 1);
    const lead = await stage.crm.take('lead');
    await stage.crm.update('lead', lead.id, { title: 'Meanwhile' });
    await stage.shows(
      `SELECT title FROM crm.lead WHERE id = ${lead.id}`,
      ([row]) => row?.['title'] === 'Meanwhile',
    );
    await stage.editor.query('COMMIT');
    await stage.settled();
    expect(
      await stage.database.query(
        "SELECT made_by, status IS NULL AS lacks_status FROM crm.task WHERE title = 'Held'",
      ),
    ).toEqual([{ made_by: 'sql', lacks_status: false }]);
  },
);

test('what is changed in a new row counts against what the CRM made of it', limit, async () => {
  const stage = await openEditedEngine();
  meet(stage, { kind: 'slow', delayMs: 400, method: 'POST' });
  await stage.editor.query("INSERT INTO crm.task (title) VALUES ('Defaults')");
  await stage.editor.query('BEGIN');
  await stage.editor.query(
    "UPDATE crm.task SET priority = (SELECT max(id) FROM crm.task_priority) WHERE title = 'Defaults'",
  );
  await until('it is created', async () => tasksNamed(stage, 'Defaults').length === 1);
  await stage.swept(1);
  await stage.editor.query('COMMIT');
  expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done']);
  await stage.settled();
});

test('an edit of a new row is taken back although its record is there by then', limit, async () => {
  const stage = await openEditedEngine();
  meet(stage, { kind: 'slow', delayMs: 400, method: 'POST' });
  const { rows } = await stage.editor.query("INSERT INTO crm.task (title) VALUES ('Reverted') RETURNING id");
  await until('it is on its way', async () =>
    stage.mirror
      .of('warehouse')
      .readOutbox()
      .some(({ state }) => state === 'sending'),
  );
  await stage.editor.query("SELECT crm.revert('task', $1)", [String(rows[0].id)]);
  expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done']);
  await stage.settled();
  expect(stage.mirror.of('warehouse').readAgreements()).toEqual([]);
});

test('W6: single edits in small steps pass no brake that they would not pass at once', limit, async () => {
  const stage = await openEditedEngine({
    limits: { changesMin: 3, changesShare: 0, deletesMin: 0, deletesShare: 0 },
  });
  meet(stage, { kind: 'status', status: 503, method: 'PUT', times: 1_000 });
  const ids = (await stage.database.query('SELECT id FROM crm.lead ORDER BY id LIMIT 6')).map(({ id }) => id);
  for (const [place, id] of ids.entries()) {
    await stage.editor.query("UPDATE crm.lead SET title = 'x' WHERE id = $1", [id]);
    await stage.shows(
      'SELECT state FROM crm.edit',
      (rows) => rows.length === place + 1 && rows.every(({ state }) => state !== 'new'),
    );
  }
  // It counts those that came since, as they are taken over.
  await expect
    .poll(() => stage.engine.found.brakes.map(({ reason }) => reason))
    .toEqual([expect.stringMatching(/^6 of 12 rows/)]);
});

test('an answer that was given while the daemon was down counts once it is up', limit, async () => {
  const stage = await openEditedEngine();
  const task = await stage.crm.take('task');
  await stage.editor.query('DELETE FROM crm.task WHERE id = $1', [task.id]);
  await stage.shows('SELECT scope FROM crm.question', (rows) => rows.length === 1);
  await stage.engine.stop(5_000);
  await stage.editor.query("UPDATE crm.question SET answer = 'trash'");
  await stage.restart();
  await stage.settled();
  expect((await stage.decided()).map(({ state }) => state)).toEqual(['done']);
  expect(stage.model.records.tasks.live().map(({ id }) => id)).not.toContain(task.id);
});

test(
  'an answer to a conflict counts until it is sent, however often it is decided meanwhile',
  limit,
  async () => {
    const stage = await openEditedEngine({ conflict: 'ask' });
    const lead = await stage.crm.take('lead');
    const fault = { kind: 'status', status: 503, method: 'PUT', times: 1_000 };
    stage.model.faults.order(faultOrder.parse({ faults: [fault] }));
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    await stage.crm.update('lead', lead.id, { title: 'By the CRM' });
    await stage.shows('SELECT scope FROM crm.question', (rows) => rows.length === 1);
    await stage.editor.query("UPDATE crm.question SET answer = 'sql'");
    await stage.shows('SELECT scope FROM crm.question', (rows) => rows.length === 0);
    // Another edit has all of them decided about anew.
    const other = await stage.crm.take('lead');
    await stage.editor.query("UPDATE crm.lead SET title = 'Another' WHERE id = $1", [other.id]);
    await stage.shows("SELECT FROM crm.edit WHERE state = 'taken'", (rows) => rows.length === 2);
    stage.model.faults.order(faultOrder.parse({ clear: true }));
    await stage.settled();
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done']);
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'By SQL',
    });
  },
);
