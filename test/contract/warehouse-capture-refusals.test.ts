import { describe, expect, it } from 'vitest';
import { openEditing } from '../support/warehouse-editing.ts';

/** What an editor says, and what they are told. */
const refused = [
  ['an empty title', "UPDATE crm.lead SET title = ' ' WHERE id = 1", 'title can not be empty.'],
  ['a title of white space', "UPDATE crm.lead SET title = E'\\t\\n' WHERE id = 1", 'title can not be empty.'],
  ['no title', 'UPDATE crm.lead SET title = NULL WHERE id = 1', 'title can not be empty.'],
  [
    'a new row without what it needs',
    'INSERT INTO crm.lead (status_name) VALUES (NULL)',
    'title can not be empty.',
  ],
  [
    'too long a text',
    "UPDATE crm.lead SET title = 'eleven char' WHERE id = 1",
    'title has 11 characters; the CRM takes at most 10.',
  ],
  [
    'an unknown option',
    "UPDATE crm.lead SET cf_kind = 'red' WHERE id = 1",
    "cf_kind takes only: it's red, blue.",
  ],
  [
    'an unknown option among several',
    "UPDATE crm.lead SET cf_tags = '{a,c}' WHERE id = 1",
    'cf_tags takes only: a, b.',
  ],
  ['an unknown stage', 'UPDATE crm.opportunity SET stage_id = 99', 'The CRM has no stage 99.'],
  ['a retired stage', 'UPDATE crm.opportunity SET stage_id = 11', 'The CRM has no stage 11.'],
  ['a value below 0', 'UPDATE crm.opportunity SET value = -1', 'value can not be less than 0.'],
  ['no number', "UPDATE crm.opportunity SET value = 'NaN'", 'value must be a number.'],
  ['no value any more', 'UPDATE crm.opportunity SET value = NULL', 'value can not be empty.'],
  ['too high a value', 'UPDATE crm.opportunity SET confidence = 101', 'confidence can not be more than 100.'],
  [
    'no day',
    "UPDATE crm.opportunity SET expected_close_date = 'infinity'",
    'expected_close_date must be a day of the years 1 to 9999.',
  ],
  [
    'fault 36: an id of its own',
    "INSERT INTO crm.lead (id, title) VALUES (77, 'x')",
    'The CRM gives ids: leave id out.',
  ],
  [
    'fault 36: an id that is not given yet',
    "INSERT INTO crm.lead (id, title) VALUES (-1000, 'x')",
    'The CRM gives ids: leave id out.',
  ],
] as const;

/** What nobody may change, not even a superuser. */
const refusedToAll = [
  [
    'the CRM’s own column',
    'UPDATE crm.lead SET created_at = now() WHERE id = 1',
    'created_at is set by the CRM.',
  ],
  [
    'the daemon’s own column',
    "UPDATE crm.lead SET made_by = 'me' WHERE id = 1",
    'made_by is set by the daemon.',
  ],
  [
    'fault 36: another id',
    'UPDATE crm.lead SET id = 3 WHERE id = 1',
    'The CRM gives ids: that of a row of crm.lead does not change.',
  ],
  [
    'fault 20: TRUNCATE',
    'TRUNCATE crm.lead CASCADE',
    'crm.lead is not emptied at once: each row is a record of the CRM.',
  ],
] as const;

describe('an edit by SQL is refused at once', () => {
  it('with one sentence, and nothing of its statement is done', async () => {
    const { editor, noted } = await openEditing();
    for (const [what, sql, message] of refused) {
      const told = await editor.query(sql).then(
        () => 'taken',
        (error: { readonly code: string; readonly message: string }) => `${error.code} ${error.message}`,
      );
      expect([what, told]).toEqual([what, `23514 ${message}`]);
    }
    expect(await noted()).toEqual([]);
    const { rows } = await editor.query('SELECT title FROM crm.lead ORDER BY id');
    expect(rows).toEqual([{ title: 'one' }, { title: 'two' }]);
  });

  it('where it would change what is the CRM’s or the daemon’s, also for a superuser', async () => {
    const { admin, editor, noted } = await openEditing();
    for (const [what, sql, message] of refusedToAll) {
      expect([what, await failureOf(admin.query(sql))]).toEqual([what, `23514 ${message}`]);
      const ofEditors = sql.startsWith('TRUNCATE')
        ? '42501 permission denied for table lead'
        : `23514 ${message}`;
      expect([what, await failureOf(editor.query(sql))]).toEqual([what, ofEditors]);
    }
    expect(await noted()).toEqual([]);
  });

  it('not where a program saves a row whole, and leaves what the CRM sets as it was', async () => {
    const { editor, noted } = await openEditing();
    await editor.query(
      `UPDATE crm.lead l SET (id, title, created_at, valid_from, made_by)
         = (SELECT o.id, 'whole', o.created_at, o.valid_from, o.made_by FROM crm.lead o WHERE o.id = l.id) WHERE id = 1`,
    );
    expect(await noted()).toEqual([['U', '1', { title: ['one', 'whole'] }]]);
  });

  it('where it reaches more rows than may change at once, unless that is meant', async () => {
    const { editor, noted, writeTo } = await openEditing();
    await writeTo(
      'lead',
      "INSERT INTO crm.lead (id, title) SELECT i, 'many' FROM generate_series(100, 103) i",
    );
    const sql = "UPDATE crm.lead SET title = 'all' WHERE id >= 100";
    await expect(editor.query(sql)).rejects.toMatchObject({
      code: '23514',
      message: 'This statement reaches 4 rows of crm.lead; 3 may change at once in the CRM.',
      hint: "Was a WHERE forgotten? If it is meant: SET LOCAL crm_sync.bulk = 'on' in the same transaction.",
      table: 'lead',
    });
    await expect(editor.query('DELETE FROM crm.lead WHERE id >= 100')).rejects.toMatchObject({
      code: '23514',
    });
    expect(await noted()).toEqual([]);
    await editor.query(`BEGIN; SET LOCAL crm_sync.bulk = 'on'; ${sql}; COMMIT`);
    expect(await noted()).toHaveLength(4);
  });

  it('fault 36: where an id below 0 was used before', async () => {
    const { editor } = await openEditing();
    await editor.query("INSERT INTO crm.lead (title) VALUES ('a')");
    await editor.query('DELETE FROM crm.lead WHERE id = -1');
    expect(await failureOf(editor.query("INSERT INTO crm.lead (id, title) VALUES (-1, 'b')"))).toBe(
      '23514 The CRM gives ids: leave id out.',
    );
  });

  it('of a contact’s lead once it is there', async () => {
    const { admin, writeTo } = await openEditing();
    await writeTo(
      'contact',
      "INSERT INTO crm.contact (id, lead_id, full_name) VALUES ('00000000-0000-0000-0000-000000000001', 1, 'Ann')",
    );
    expect(await failureOf(admin.query('UPDATE crm.contact SET lead_id = 2'))).toBe(
      '23514 lead_id is set when a row is inserted, and never again.',
    );
  });

  it('in the machinery, of which an editor sees nothing', async () => {
    const { editor } = await openEditing();
    for (const sql of [
      'SELECT * FROM crm_sync.edit',
      "UPDATE crm_sync.edit SET state = 'done'",
      'SELECT * FROM crm_sync.link',
    ])
      expect(await failureOf(editor.query(sql))).toMatch(/^42501 /);
  });
});

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { readonly code: string; readonly message: string }) => `${error.code} ${error.message}`,
  );
