import { describe, expect, it } from 'vitest';
import { editableLayout, openEditing } from '../support/warehouse-editing.ts';
import { layoutWith } from '../support/warehouse-layout.ts';

describe('an edit by SQL', () => {
  it('is noted with the values before, and by whom', async () => {
    const { editor, editorName, edits } = await openEditing();
    await editor.query("SET application_name = 'psql'");
    await editor.query("UPDATE crm.lead SET title = 'uno', cf_kind = 'blue' WHERE id = 1");
    expect(await edits()).toEqual([
      {
        entity: 'lead',
        id: '1',
        op: 'U',
        changed: { title: ['one', 'uno'], cf_kind: [null, 'blue'] },
        state: 'new',
        by_role: editorName,
      },
    ]);
  });

  it('of numbers and days is noted exactly', async () => {
    const { editor, noted } = await openEditing();
    await editor.query(
      "UPDATE crm.opportunity SET value = 12345678901234567890.123, expected_close_date = '2026-12-31', confidence = 0 WHERE id = 5",
    );
    expect(await noted()).toEqual([
      [
        'U',
        '5',
        {
          value: ['12.50', '12345678901234567890.123'],
          expected_close_date: ['2026-05-01', '2026-12-31'],
          confidence: [20, 0],
        },
      ],
    ]);
  });

  it('that changes nothing is none', async () => {
    const { editor, noted } = await openEditing();
    await editor.query('UPDATE crm.lead SET title = title');
    await editor.query("UPDATE crm.lead SET title = 'x' WHERE id = 99");
    await editor.query("UPDATE crm.lead SET client_ref = 'mine' WHERE id = 1");
    expect(await noted()).toEqual([]);
  });

  it('of a new row gives it an id below 0 that nobody else gets', async () => {
    const { editor, noted } = await openEditing();
    const { rows } = await editor.query("INSERT INTO crm.lead (title) VALUES ('a'), ('b') RETURNING id");
    expect(rows).toEqual([{ id: '-1' }, { id: '-2' }]);
    await editor.query("INSERT INTO crm.contact (lead_id, full_name) VALUES (-1, 'Ann')");
    expect(await noted()).toMatchObject([
      ['I', '-1', { title: 'a', status_name: null }],
      ['I', '-2', { title: 'b' }],
      ['I', expect.stringMatching(/^[\da-f-]{36}$/), { lead_id: '-1', full_name: 'Ann' }],
    ]);
  });

  it('that deletes keeps what the row had', async () => {
    const { editor, noted } = await openEditing();
    await editor.query('DELETE FROM crm.lead WHERE id = 2');
    expect(await noted()).toMatchObject([['D', '2', { title: 'two', status_name: 'new' }]]);
  });

  it('fault 37: that inserts or updates is what it came to', async () => {
    const { editor, noted } = await openEditing();
    const upsert = (id: number, ref: string) =>
      `INSERT INTO crm.lead (title, client_ref) VALUES ('n${id}', '${ref}') ON CONFLICT (client_ref) DO UPDATE SET title = excluded.title`;
    await editor.query(upsert(1, 'r'));
    await editor.query(upsert(2, 'r'));
    await editor.query(
      "UPDATE crm.lead l SET status_name = 'x' FROM (VALUES (1), (1)) v (id) WHERE l.id = v.id",
    );
    expect(await noted()).toMatchObject([
      ['I', '-1', { title: 'n1' }],
      ['U', '-1', { title: ['n1', 'n2'] }],
      ['U', '1', { status_name: ['new', 'x'] }],
    ]);
  });

  it('fault 37: that is a MERGE, or deletes and inserts in one statement, is noted as both', async () => {
    const { admin, editor, noted } = await openEditing();
    await editor.query(
      "WITH gone AS (DELETE FROM crm.lead WHERE id = 1 RETURNING title) INSERT INTO crm.lead (title) SELECT title || '!' FROM gone",
    );
    const expected: unknown[] = [
      ['I', '-1', { title: 'one!' }],
      ['D', '1', { title: 'one' }],
    ];
    const { rows } = await admin.query("SELECT current_setting('server_version_num')::int AS version");
    if (rows[0].version >= 150_000) {
      await editor.query(
        "MERGE INTO crm.lead l USING (VALUES (2, 'zwei'), (3, 'drei')) v (id, title) ON l.id = v.id WHEN MATCHED THEN UPDATE SET title = v.title WHEN NOT MATCHED THEN INSERT (title) VALUES (v.title)",
      );
      expected.push(['U', '2', { title: ['two', 'zwei'] }], ['I', '-2', { title: 'drei' }]);
    }
    const all = await noted();
    expect(all).toHaveLength(expected.length);
    for (const one of expected) expect(all).toContainEqual(expect.objectContaining(matching(one)));
  });

  it('fault 38: that deletes a row and inserts it again in one transaction keeps its id', async () => {
    const { editor, noted } = await openEditing();
    await editor.query(
      "BEGIN; DELETE FROM crm.lead WHERE id = 1; INSERT INTO crm.lead (id, title) VALUES (1, 'again'); COMMIT",
    );
    expect(await noted()).toMatchObject([
      ['D', '1', { title: 'one' }],
      ['I', '1', { title: 'again' }],
    ]);
  });

  it('fault 39: that is rolled back to a savepoint was none', async () => {
    const { editor, noted } = await openEditing();
    await editor.query(
      "BEGIN; SAVEPOINT s; UPDATE crm.lead SET title = 'x' WHERE id = 1; ROLLBACK TO s; UPDATE crm.lead SET title = 'y' WHERE id = 2; COMMIT",
    );
    expect(await noted()).toEqual([['U', '2', { title: ['two', 'y'] }]]);
  });

  it('fault 31: is there as soon as it is committed, however long an earlier one stays open', async () => {
    const { database, editor, editorName, noted } = await openEditing();
    const slow = await database.connect(editorName, 'secret');
    await slow.query("BEGIN; UPDATE crm.lead SET title = 'slow' WHERE id = 1");
    await editor.query("UPDATE crm.lead SET title = 'quick' WHERE id = 2");
    expect(await noted()).toEqual([['U', '2', { title: ['two', 'quick'] }]]);
    await slow.query('COMMIT');
    expect(await noted()).toHaveLength(2);
  });

  it('fault 19: is noted in a session that plays a replica', async () => {
    const { admin, noted } = await openEditing();
    await admin.query("SET session_replication_role = replica; UPDATE crm.lead SET title = 'x' WHERE id = 1");
    expect(await noted()).toEqual([['U', '1', { title: ['one', 'x'] }]]);
  });

  it('fault 47: is noted where an editor forges a run of the daemon', async () => {
    const { editor, noted } = await openEditing();
    await editor.query(
      "BEGIN; SET LOCAL crm_sync.run = 'forged'; SET LOCAL crm_sync.entity = 'lead'; UPDATE crm.lead SET title = 'x' WHERE id = 1; COMMIT",
    );
    expect(await noted()).toEqual([['U', '1', { title: ['one', 'x'] }]]);
  });

  it('is what a trigger of a user made of it', async () => {
    const { admin, editor, noted } = await openEditing();
    await admin.query(`
      CREATE FUNCTION public.shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.title := upper(NEW.title); RETURN NEW; END $$;
      CREATE TRIGGER shout BEFORE UPDATE ON crm.lead FOR EACH ROW EXECUTE FUNCTION public.shout()`);
    await editor.query("UPDATE crm.lead SET title = 'loud' WHERE id = 1");
    expect(await noted()).toEqual([['U', '1', { title: ['one', 'LOUD'] }]]);
  });

  it('is told to who listens, once for a transaction', async () => {
    const { daemon, editor } = await openEditing();
    const heard: string[] = [];
    daemon.on('notification', ({ channel }) => heard.push(channel));
    await daemon.query('LISTEN crm_edit');
    await editor.query(
      "BEGIN; UPDATE crm.lead SET title = 'x' WHERE id = 1; UPDATE crm.lead SET title = 'y' WHERE id = 2; COMMIT",
    );
    await daemon.query('SELECT 1');
    expect(heard).toEqual(['crm_edit']);
  });

  it('works with a column of a user whose name the machinery uses', async () => {
    const { admin, editor, noted } = await openEditing();
    await admin.query(
      'ALTER TABLE crm.lead ADD COLUMN state_of text, ADD COLUMN reached int, ADD COLUMN fault text',
    );
    await editor.query("UPDATE crm.lead SET title = 'x' WHERE id = 1");
    expect(await noted()).toEqual([['U', '1', { title: ['one', 'x'] }]]);
  });
});

describe('what the daemon writes', () => {
  it('is no edit', async () => {
    const { noted, writeTo } = await openEditing();
    await writeTo('lead', "UPDATE crm.lead SET title = 'from the CRM'; DELETE FROM crm.lead WHERE id = 2");
    expect(await noted()).toEqual([]);
  });

  it('has side effects, by triggers and foreign keys of users, that are noted as such and refused for nothing', async () => {
    const { admin, edits, writeTo } = await openEditing();
    await admin.query(`
      ALTER TABLE crm.opportunity ADD FOREIGN KEY (lead_id) REFERENCES crm.lead ON DELETE CASCADE;
      CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE crm.task SET title = ''; UPDATE crm.lead SET status_name = 'x'; RETURN NULL; END $$;
      CREATE TRIGGER follow AFTER DELETE ON crm.lead FOR EACH STATEMENT EXECUTE FUNCTION public.follow()`);
    await writeTo('task', "INSERT INTO crm.task (id, title) VALUES (7, 'seven')");
    await writeTo('lead', 'DELETE FROM crm.lead WHERE id = 1');
    expect(await edits()).toMatchObject([
      { entity: 'task', id: '7', op: 'U', state: 'side_effect', changed: { title: ['seven', ''] } },
      { entity: 'lead', id: '2', op: 'U', state: 'side_effect' },
      { entity: 'opportunity', id: '5', op: 'D', state: 'side_effect' },
    ]);
  });
});

describe('what people see of open edits', () => {
  it('is the list of them, with what came of each', async () => {
    const { editor, edits } = await openEditing();
    await editor.query("UPDATE crm.lead SET title = 'x' WHERE id = 1");
    const { rows } = await editor.query('SELECT entity, id, op, changed, state, by_role FROM crm.edit');
    expect(rows).toEqual(await edits());
  });

  it('is not in the history before the CRM has it', async () => {
    const { admin, editor } = await openEditing();
    const history = async (table: string, columns: string) =>
      (await editor.query(`SELECT ${columns} FROM crm.${table}_history ORDER BY id`)).rows;
    const leads = 'id, title, status_name, cf_tags, valid_from';
    const opportunities = 'id, stage_id, value::text, expected_close_date::text';
    const before = [await history('lead', leads), await history('opportunity', opportunities)];
    await editor.query("UPDATE crm.lead SET title = 'x', cf_tags = '{a}' WHERE id = 1");
    await editor.query("UPDATE crm.lead SET title = 'y', status_name = NULL WHERE id = 1");
    await editor.query("INSERT INTO crm.lead (title) VALUES ('new')");
    await editor.query("UPDATE crm.opportunity SET value = 3, expected_close_date = '2027-01-01'");
    await editor.query('DELETE FROM crm.lead WHERE id = 2; DELETE FROM crm.opportunity');
    expect([await history('lead', leads), await history('opportunity', opportunities)]).toEqual(before);
    await admin.query("UPDATE crm_sync.edit SET state = 'done', ended_at = now()");
    expect((await history('lead', 'id, title, status_name')).filter(({ id }) => Number(id) > 0)).toEqual([
      { id: '1', title: 'y', status_name: null },
    ]);
  });

  it('is not in the history of a row that was edited first and then deleted', async () => {
    const { editor } = await openEditing();
    await editor.query('UPDATE crm.opportunity SET value = 3; DELETE FROM crm.opportunity');
    const { rows } = await editor.query('SELECT id, value::text FROM crm.opportunity_history');
    expect(rows).toEqual([{ id: '5', value: '12.50' }]);
  });
});

describe('laying out for edits', () => {
  it('finds nothing wrong with what it made, and does nothing the second time', async () => {
    const { layOut } = await openEditing();
    expect(await layOut(editableLayout())).toEqual([]);
    expect(await layOut(editableLayout())).toEqual([]);
  });

  it.each([
    ['fault 16: dropped', 'DROP TRIGGER crm_capture_u ON crm.lead'],
    ['fault 17: switched off', 'ALTER TABLE crm.lead DISABLE TRIGGER crm_capture_u'],
    [
      'fault 18: replaced',
      "CREATE OR REPLACE FUNCTION crm_sync.capture_lead() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ],
  ])('puts back what notes edits, and says so, where it was %s', async (_, sql) => {
    const { admin, editor, layOut, noted } = await openEditing();
    await admin.query(sql);
    await editor.query("UPDATE crm.lead SET title = 'unseen' WHERE id = 1");
    expect(await noted()).toEqual([]);
    expect(await layOut(editableLayout())).toMatchObject([{ entity: 'lead', isHarmless: true, isGap: true }]);
    expect(await layOut(editableLayout())).toEqual([]);
    await editor.query("UPDATE crm.lead SET title = 'seen' WHERE id = 1");
    expect(await noted()).toHaveLength(1);
  });

  it('is taken back where edits are no longer wanted, and done again', async () => {
    const { editor, layOut, noted } = await openEditing();
    expect(
      await layOut(layoutWith(editableLayout().tables[0]!.columns.filter(({ isCustom }) => isCustom))),
    ).toEqual([]);
    const edit = () => editor.query("UPDATE crm.lead SET title = 'x' WHERE id = 1");
    await expect(edit()).rejects.toMatchObject({
      code: '42501',
      message: expect.stringContaining('not switched on'),
    });
    expect(await layOut(editableLayout())).toEqual([]);
    await edit();
    await editor.query("INSERT INTO crm.lead (title) VALUES ('new')");
    expect(await noted()).toMatchObject([
      ['U', '1', {}],
      ['I', '-1', {}],
    ]);
  });
});

/** Of a noted edit, with more in its values than is said. */
const matching = (edit: unknown): Record<string, unknown> => {
  const [op, id, changed] = edit as [string, string, object];
  return { 0: op, 1: id, 2: expect.objectContaining(changed) };
};
