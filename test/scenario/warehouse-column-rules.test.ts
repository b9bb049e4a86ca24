import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

/** Starts the daemon anew, with what the configuration says by now. */
async function restart(stage: Awaited<ReturnType<typeof openEditedEngine>>) {
  await stage.restart();
  await until('a cycle is over', async () => stage.side.report);
}

const refusal = {
  code: '23514',
  message: 'about_url is not edited by SQL, as the configuration says: edit it in the CRM.',
};

describe('a column that the configuration keeps from SQL', limit, () => {
  test('refuses edits in one sentence as long as the configuration says so', async () => {
    const rule = { isReadOnly: false };
    const stage = await openEditedEngine({ columns: { lead: { 'about.url': rule } } });
    const lead = await stage.crm.take('lead');
    const update = (url: string) =>
      stage.editor.query('UPDATE crm.lead SET about_url = $2 WHERE id = $1', [lead.id, url]);
    await update('https://one.example');
    expect(await stage.decided()).toMatchObject([{ state: 'done' }]);

    rule.isReadOnly = true;
    await restart(stage);
    await expect(update('https://two.example')).rejects.toMatchObject(refusal);
    await expect(
      stage.editor.query("INSERT INTO crm.lead (title, about_url) VALUES ('New', 'https://two.example')"),
    ).rejects.toMatchObject(refusal);
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done']);

    rule.isReadOnly = false;
    await restart(stage);
    await update('https://three.example');
    expect((await stage.decided()).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    await stage.settled();
  });

  test('W1: lets through what was written before', async () => {
    const rule = { isReadOnly: false };
    const stage = await openEditedEngine({ columns: { lead: { title: rule } } });
    const lead = await stage.crm.take('lead');
    await stage.editor.query('BEGIN');
    await stage.editor.query("UPDATE crm.lead SET title = 'By SQL' WHERE id = $1", [lead.id]);
    rule.isReadOnly = true;
    await restart(stage);
    await stage.editor.query('COMMIT');
    expect(await stage.decided()).toMatchObject([{ state: 'done' }]);
    await stage.settled();
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'By SQL',
    });
  });

  test('W5: is edited in the CRM, which a delete by SQL does not beat', async () => {
    const stage = await openEditedEngine({
      deletes: 'trash',
      columns: { lead: { 'about.description': { isReadOnly: true } } },
    });
    const lead = await stage.crm.take('lead');
    await stage.editor.query('BEGIN');
    await stage.editor.query('DELETE FROM crm.lead WHERE id = $1', [lead.id]);
    await stage.crm.update('lead', lead.id, { meta_data: { about: { description: 'By the CRM' } } });
    await stage.swept(2);
    await stage.editor.query('COMMIT');
    expect(await stage.decided()).toMatchObject([
      { op: 'D', state: 'lost', note: 'It was edited in the CRM since: a delete does not beat an edit.' },
    ]);
    await stage.settled();
    expect(stage.model.records.leads.live().map(({ id }) => id)).toContain(lead.id);
  });

  test('keeps its value where a row is deleted and inserted again in one transaction', async () => {
    const stage = await openEditedEngine({ columns: { lead: { 'about.url': { isReadOnly: true } } } });
    const lead = await stage.crm.take('lead');
    const about = { url: 'https://kept.example' };
    await stage.crm.update('lead', lead.id, { meta_data: { about } });
    await stage.settled();
    await stage.editor.query('BEGIN');
    await stage.editor.query('DELETE FROM crm.lead WHERE id = $1', [lead.id]);
    await stage.editor.query("INSERT INTO crm.lead (id, title) VALUES ($1, 'Again')", [lead.id]);
    await stage.editor.query('COMMIT');
    await stage.decided();
    await stage.settled();
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)).toMatchObject({
      title: 'Again',
      meta_data: { about },
    });
  });

  test('refuses a new row where no record can be without it', async () => {
    const stage = await openEditedEngine({ columns: { lead: { title: { isReadOnly: true } } } });
    await expect(
      stage.editor.query("INSERT INTO crm.lead (about_url) VALUES ('https://new.example')"),
    ).rejects.toMatchObject({
      code: '23514',
      message:
        'A new record needs title, which the configuration does not take from SQL: set the direction of its column to both, or add the record in the CRM.',
    });
  });
});
