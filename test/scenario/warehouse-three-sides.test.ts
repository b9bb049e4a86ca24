import { expect, test } from 'vitest';
import { answer } from '../../src/sync/answers.ts';
import { openThreeSides } from '../support/three-sides.ts';
import { findPosition } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 60_000 };

const orders = ['the sheet first', 'SQL first', 'at once'] as const;
const policies = ['crm', 'table', 'ask'] as const;

test.for(policies.flatMap((policy) => orders.map((order) => [policy, order] as const)))(
  'W7: fault 48: sheet and SQL change one field within a second: with the rule %s, %s, all three end the same, and both values are accounted for',
  limit,
  async ([conflict, order]) => {
    const stage = await openThreeSides({ conflict });
    const known = await stage.same();
    const [id = ''] = [...known.keys()];
    const [before] = [known.get(id)];
    const place = await findPosition(stage.addresses, 'lead', id);
    const inSheet = () =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: place, column: 'Title', text: 'Of the sheet' });
    const bySql = () => stage.database.query("UPDATE crm.lead SET title = 'Of SQL' WHERE id = $1", [id]);
    if (order === 'the sheet first') await inSheet().then(bySql);
    else if (order === 'SQL first') await bySql().then(inSheet);
    else await Promise.all([inSheet(), bySql()]);
    await until('both edits were seen', async () => {
      const [edit] = await stage.database.query('SELECT state FROM crm.edit');
      const { inCrm } = await stage.titles();
      return edit?.['state'] !== 'new' && edit?.['state'] !== 'taken' && inCrm.get(id) !== before;
    });
    for (const { answers, scope } of stage.engine.found.questions) {
      expect(answers).toContain('crm');
      answer(stage.engine, [scope], 'crm');
    }
    const title = (await stage.same()).get(id);
    expect(['Of the sheet', 'Of SQL']).toContain(title);
    const lines = JSON.stringify(stage.link.mirror.searchJournal({ key: { entity: 'lead', id } }));
    for (const value of ['Of the sheet', 'Of SQL']) expect(lines).toContain(value);
    const [edit] = await stage.database.query('SELECT state FROM crm.edit');
    expect(edit?.['state']).toBe(title === 'Of SQL' ? 'done' : edit?.['state'] === 'done' ? 'done' : 'lost');
  },
);
