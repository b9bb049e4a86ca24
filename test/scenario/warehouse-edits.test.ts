import { describe, expect, test } from 'vitest';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

const limit = { timeout: 60_000 };

describe('edits by SQL', limit, () => {
  test('W1: a value that is changed by SQL is in the CRM, and the edit says that it is done', async () => {
    const stage = await openEditedEngine();
    const lead = await stage.crm.take('lead');
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    expect(await stage.decided()).toMatchObject([{ op: 'U', state: 'done', note: null, is_over: true }]);
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'By SQL',
    });
    await stage.settled();
    await expectWholeHistory(stage.database);
    expect(stage.mirror.of('warehouse').readAgreements()).toEqual([]);
    expect(await stage.database.query('SELECT made_by FROM crm.lead WHERE id = $1', [lead.id])).toEqual([
      { made_by: 'sql' },
    ]);
  });

  test('W4: a row that is inserted becomes one record, gets its id, and so do the rows that point to it', async () => {
    const stage = await openEditedEngine();
    const [stageId] = await stage.database.query('SELECT id FROM crm.stage ORDER BY id LIMIT 1');
    await stage.editor.query('BEGIN');
    const { rows } = await stage.editor.query(
      "INSERT INTO crm.lead (title) VALUES ('New by SQL') RETURNING id",
    );
    const lead = rows[0].id;
    expect(Number(lead)).toBeLessThan(0);
    await stage.editor.query(
      "INSERT INTO crm.opportunity (lead_id, stage_id, value, confidence, expected_close_date) VALUES ($1, $2, 5, 10, '2026-12-01')",
      [lead, stageId?.['id']],
    );
    await stage.editor.query("INSERT INTO crm.task (title, lead_id) VALUES ('Call', $1)", [lead]);
    await stage.editor.query('COMMIT');
    const outcomes = await stage.decided();
    expect(outcomes.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    await stage.settled();
    const made = stage.model.records.leads.live().filter(({ title }) => title === 'New by SQL');
    expect(made).toHaveLength(1);
    expect(outcomes[0]).toMatchObject({ id: lead, new_id: String(made[0]?.id) });
    expect(await stage.database.query('SELECT count(*)::int AS count FROM crm.lead WHERE id < 0')).toEqual([
      { count: 0 },
    ]);
    await expectWholeHistory(stage.database);
  });

  test('W5: a row that is deleted by SQL is asked about, and goes to the trash or comes back as a user says', async () => {
    const stage = await openEditedEngine();
    const [one, two] = [await stage.crm.take('lead'), await stage.crm.take('lead')];
    await stage.editor.query('DELETE FROM crm.lead WHERE id = ANY ($1)', [[one.id, two.id]]);
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['held', 'held']);
    await stage.answer(`vanished:lead-${one.id}`, 'trash');
    await stage.answer(`vanished:lead-${two.id}`, 'restore');
    await stage.shows('SELECT state FROM crm.edit ORDER BY seq', (rows) =>
      rows.every(({ state }) => state === 'done' || state === 'lost'),
    );
    await stage.settled();
    const ids = stage.model.records.leads.live().map(({ id }) => id);
    expect(ids).not.toContain(one.id);
    expect(ids).toContain(two.id);
  });

  test.for([
    ['crm', 'lost', 'By the CRM'],
    ['table', 'done', 'By SQL'],
  ] as const)(
    'where both changed a field, the rule %s says whose value stands',
    async ([conflict, state, title]) => {
      const stage = await openEditedEngine({ conflict });
      const lead = await stage.crm.take('lead');
      await stage.editor.query('BEGIN');
      await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
      await stage.crm.update('lead', lead.id, { title: 'By the CRM' });
      await stage.swept(2);
      await stage.editor.query('COMMIT');
      expect(await stage.decided()).toMatchObject([{ state }]);
      await stage.settled();
      expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({ title });
    },
  );

  test('a rule for a column goes before that for all, and one that is not edited by SQL is refused', async () => {
    const columns = {
      lead: { title: { conflict: 'table' }, 'about.url': { isReadOnly: true } },
    } as const;
    const stage = await openEditedEngine({ conflict: 'crm', columns });
    const lead = await stage.crm.take('lead');
    const update = (column: string) =>
      stage.editor.query(`UPDATE crm.lead SET ${column} = 'By SQL' WHERE id = $1`, [lead.id]);
    await expect(update('about_url')).rejects.toMatchObject({ code: '23514' });
    await stage.editor.query('BEGIN');
    await update('title');
    await update('about_description');
    await stage.crm.update('lead', lead.id, {
      title: 'By the CRM',
      meta_data: { about: { description: 'By the CRM' } },
    });
    await stage.swept(2);
    await stage.editor.query('COMMIT');
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'lost']);
    await stage.settled();
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'By SQL',
      meta_data: { about: { description: 'By the CRM' } },
    });
  });

  test('W6: over a brake nothing is sent until a user approves, and revert brings the values of the CRM back', async () => {
    const stage = await openEditedEngine({
      limits: { changesMin: 3, changesShare: 0, deletesMin: 0, deletesShare: 0 },
    });
    await stage.editor.query("UPDATE crm.lead SET about_description = 'x'");
    const scope = 'brake:lead:edited';
    await stage.shows('SELECT state FROM crm.edit', (rows) => rows.every(({ state }) => state === 'held'));
    await stage.answer(scope, 'revert');
    await stage.settled();
    expect((await stage.decided()).every(({ state }) => state === 'lost')).toBe(true);
    await stage.editor.query("UPDATE crm.lead SET about_description = 'y'");
    await stage.shows(
      'SELECT state FROM crm.edit WHERE ended_at IS NULL',
      (rows) => rows.length === 12 && rows.every(({ state }) => state === 'held'),
    );
    await stage.answer(scope, 'approve');
    await stage.shows("SELECT state FROM crm.edit WHERE state = 'done'", (rows) => rows.length === 12);
    await stage.settled();
  });
});

describe('questions about edits', limit, () => {
  test('a conflict is asked about in the database, and an answer there settles it', async () => {
    const stage = await openEditedEngine({ conflict: 'ask' });
    const lead = await stage.crm.take('lead');
    await stage.editor.query('BEGIN');
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    await stage.crm.update('lead', lead.id, { title: 'By the CRM' });
    await stage.swept(2);
    await stage.editor.query('COMMIT');
    const [question] = await stage.shows('SELECT * FROM crm.question', (rows) => rows.length === 1);
    expect(question).toMatchObject({
      scope: `conflict:lead-${lead.id}:title`,
      entity: 'lead',
      id: String(lead.id),
      answers: ['crm', 'sql'],
    });
    expect(question?.['what']).toContain('The CRM has “By the CRM”, SQL “By SQL”.');
    await expect(stage.editor.query("UPDATE crm.question SET answer = 'maybe'")).rejects.toThrow(
      /one_of_the_answers/,
    );
    await stage.editor.query("UPDATE crm.question SET answer = 'sql'");
    await stage.shows('SELECT state FROM crm.edit', (rows) => rows.every(({ state }) => state === 'done'));
    await stage.settled();
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'By SQL',
    });
    await stage.shows('SELECT * FROM crm.question', (rows) => rows.length === 0);
  });

  test('what the CRM refuses stays in its row with its words, is listed as different, and is corrected or taken back', async () => {
    const stage = await openEditedEngine();
    const [one, two] = [await stage.crm.take('opportunity'), await stage.crm.take('opportunity')];
    const refused = (rows: Record<string, unknown>[]) => rows.some(({ state }) => state === 'refused');
    for (const { id } of [one, two])
      await stage.editor.query('UPDATE crm.opportunity SET lead_id = 999999 WHERE id = $1', [id]);
    await stage.shows(
      'SELECT * FROM crm.unsynced',
      (rows) => rows.length === 2 && rows.every((row) => refused([row])),
    );
    const [shown] = await stage.database.query('SELECT lead_id::int FROM crm.opportunity WHERE id = $1', [
      one.id,
    ]);
    expect(shown).toEqual({ lead_id: 999_999 });
    await stage.editor.query('UPDATE crm.opportunity SET lead_id = $2 WHERE id = $1', [one.id, one.lead_id]);
    await stage.editor.query("SELECT crm.revert('opportunity', $1)", [String(two.id)]);
    await stage.shows('SELECT * FROM crm.unsynced', (rows) => rows.length === 0);
    await stage.settled();
    expect((await stage.outcomes()).map(({ op, state }) => [op, state])).toEqual([
      ['U', 'superseded'],
      ['U', 'superseded'],
      ['U', 'void'],
      ['R', 'done'],
    ]);
    await expect(stage.editor.query("SELECT crm.revert('opportunity', '1')")).rejects.toThrow(
      'No edit of opportunity 1 is open',
    );
  });
});
