import { expect, test } from 'vitest';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

type Stage = Awaited<ReturnType<typeof openEditedEngine>>;

const meet = (stage: Stage, ...faults: readonly object[]) =>
  stage.model.faults.order(faultOrder.parse({ faults }));

/** A lead with an opportunity and two tasks, all in one transaction. */
async function insertTree({ database, editor }: Stage) {
  const [stage] = await database.query('SELECT id FROM crm.stage ORDER BY id LIMIT 1');
  await editor.query('BEGIN');
  const { rows } = await editor.query("INSERT INTO crm.lead (title) VALUES ('Whole') RETURNING id");
  const lead = rows[0].id;
  await editor.query(
    "INSERT INTO crm.opportunity (lead_id, stage_id, value, confidence, expected_close_date) VALUES ($1, $2, 5, 10, '2026-12-01')",
    [lead, stage?.['id']],
  );
  const task = await editor.query(
    "INSERT INTO crm.task (title, lead_id) VALUES ('Whole 1', $1) RETURNING id",
    [lead],
  );
  await editor.query("INSERT INTO crm.task (title, lead_id, parent_task_id) VALUES ('Whole 2', $1, $2)", [
    lead,
    task.rows[0].id,
  ]);
  await editor.query('COMMIT');
  return String(lead);
}

const countOf = (stage: Stage, title: string) =>
  [...stage.model.records.leads.live(), ...stage.model.records.tasks.live()].filter(
    (record) => record.title === title,
  ).length;

test(
  'fault 40: what is inserted below a lead waits until that is created, and goes on once a refused one is corrected',
  limit,
  async () => {
    const stage = await openEditedEngine();
    meet(stage, { kind: 'status', status: 422, method: 'POST', path: '/leads' });
    const lead = await insertTree(stage);
    const rows = await stage.shows(
      'SELECT entity, state, note FROM crm.edit ORDER BY seq',
      (all) => all[0]?.['state'] === 'refused' && all.slice(1).every(({ state }) => state === 'taken'),
    );
    expect(rows.slice(1).map(({ note }) => note)).toEqual([
      expect.stringContaining(`waits for its lead ${lead}`),
      expect.stringContaining(`waits for its lead ${lead}`),
      expect.stringContaining('It waits for its'),
    ]);
    await stage.editor.query("UPDATE crm.lead SET title = 'Whole again' WHERE id = $1", [lead]);
    await stage.decided();
    await stage.settled();
    expect(['Whole', 'Whole again', 'Whole 1', 'Whole 2'].map((title) => countOf(stage, title))).toEqual([
      0, 1, 1, 1,
    ]);
  },
);

test(
  'fault 40: a lead of which nobody knows whether it was created is found, and what is below it follows once',
  limit,
  async () => {
    const stage = await openEditedEngine();
    meet(stage, { kind: 'dropAfter', method: 'POST', path: '/leads' });
    await insertTree(stage);
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
    await stage.settled();
    expect(['Whole', 'Whole 1', 'Whole 2'].map((title) => countOf(stage, title))).toEqual([1, 1, 1]);
  },
);

test.for([
  ['updated', "UPDATE crm.lead SET title = 'Changed' WHERE title = 'In flight'", [0, 1], ['done', 'done']],
  ['deleted', "DELETE FROM crm.lead WHERE title = 'In flight'", [0, 0], ['done', 'done']],
] as const)(
  'fault 41: a row that is %s while its create is on its way is created once, and then so',
  limit,
  async ([, sql, counts, states]) => {
    const stage = await openEditedEngine({ deletes: 'trash' });
    meet(stage, { kind: 'slow', delayMs: 700, method: 'POST', path: '/leads' });
    await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('In flight')");
    await until('it is on its way', async () =>
      stage.mirror
        .of('warehouse')
        .readOutbox()
        .some(({ state }) => state === 'sending'),
    );
    await stage.editor.query(sql);
    expect((await stage.decided()).map(({ state }) => state)).toEqual(states);
    await stage.settled();
    expect(['In flight', 'Changed'].map((title) => countOf(stage, title))).toEqual(counts);
  },
);

test(
  'fault 43: an edit is found although the connection was cut on which it was to be told',
  limit,
  async () => {
    const stage = await openEditedEngine();
    const lead = await stage.crm.take('lead');
    await stage.database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-sheet-sync' AND query LIKE 'LISTEN%'",
    );
    await stage.editor.query("UPDATE crm.lead SET title = 'Unheard' WHERE id = $1", [lead.id]);
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done']);
    expect(countOf(stage, 'Unheard')).toBe(1);
  },
);

test(
  'fault 32: all rows changed by one statement are refused at once, and where that is meant wait for a user',
  limit,
  async () => {
    const counts = { leads: 300, opportunities: 0, tasks: 0 };
    const stage = await openEditedEngine({}, { counts });
    const everything = "UPDATE crm.lead SET about_description = 'x'";
    await expect(stage.editor.query(everything)).rejects.toThrow(
      'This statement reaches 300 rows of crm.lead; 100 may change at once in the CRM.',
    );
    await stage.editor.query(`BEGIN; SET LOCAL crm_sync.bulk = 'on'; ${everything}; COMMIT`);
    await stage.shows(
      'SELECT state FROM crm.edit',
      (rows) => rows.length === 300 && rows.every(({ state }) => state === 'held'),
    );
    expect(stage.model.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
    await stage.editor.query("UPDATE crm.question SET answer = 'revert'");
    await stage.settled();
    expect(stage.model.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
  },
);
