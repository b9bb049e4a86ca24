import { expect, test } from 'vitest';
import type { Answer } from '../../src/core/waiting/answer.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { createRandom } from '../../src/sandbox/crm/random.ts';
import { answer } from '../../src/sync/answers.ts';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

const seeds = (process.env['EDIT_SEEDS'] ?? '1 2 3').split(' ').map(Number);
const steps = Number(process.env['EDIT_STEPS'] ?? 60);

type Stage = Awaited<ReturnType<typeof openEditedEngine>>;

/** What users and trouble do, each by chance. */
function actsOf(stage: Stage, chance: ReturnType<typeof createRandom>) {
  const inserted: string[] = [];
  let count = 0;
  const word = () => {
    count += 1;
    return `value ${count}`;
  };
  const anyRow = async (entity: string): Promise<string | undefined> => {
    const { rows } = await stage.editor.query(`SELECT id::text FROM crm.${entity} ORDER BY id`);
    return rows.length === 0 ? undefined : rows[chance.integer(0, rows.length - 1)].id;
  };
  const query = (sql: string, values: unknown[] = []) => stage.editor.query(sql, values);
  const inTransaction = async (work: () => Promise<unknown>) => {
    await query('BEGIN');
    try {
      await work();
      await query('COMMIT');
    } catch (error) {
      await query('ROLLBACK');
      throw error;
    }
  };
  const acts: Record<string, () => Promise<unknown>> = {
    async updateLead() {
      await query('UPDATE crm.lead SET title = $2 WHERE id = $1', [await anyRow('lead'), word()]);
    },
    async updateSame() {
      const id = await anyRow('lead');
      await query('UPDATE crm.lead SET about_description = $2 WHERE id = $1', [id, word()]);
      await query('UPDATE crm.lead SET about_description = $2 WHERE id = $1', [id, word()]);
    },
    async updateTask() {
      await query('UPDATE crm.task SET title = $2, due_date = $3 WHERE id = $1', [
        await anyRow('task'),
        word(),
        `2026-12-${String(chance.integer(10, 28))}`,
      ]);
    },
    async saveWholeRow() {
      const id = await anyRow('opportunity');
      await query(
        'UPDATE crm.opportunity SET note = $2, value = value, confidence = confidence WHERE id = $1',
        [id, word()],
      );
    },
    async replaceRow() {
      const id = await anyRow('lead');
      if (id === undefined || id.startsWith('-')) return;
      await inTransaction(async () => {
        const { rows } = await query(
          'DELETE FROM crm.lead WHERE id = $1 RETURNING title, status_name, about_url, about_description',
          [id],
        );
        for (const row of rows)
          await query(
            'INSERT INTO crm.lead (id, title, status_name, about_url, about_description) VALUES ($1, $2, $3, $4, $5)',
            [id, word(), row.status_name, row.about_url, row.about_description],
          );
      });
    },
    async insertTree() {
      const title = word();
      inserted.push(title);
      await inTransaction(async () => {
        const { rows } = await query('INSERT INTO crm.lead (title) VALUES ($1) RETURNING id', [title]);
        const task = word();
        inserted.push(task);
        await query('INSERT INTO crm.task (title, lead_id) VALUES ($1, $2)', [task, rows[0].id]);
      });
    },
    async insertAndChange() {
      const title = word();
      inserted.push(title);
      const { rows } = await query('INSERT INTO crm.lead (title) VALUES ($1) RETURNING id', [title]);
      await query('UPDATE crm.lead SET about_description = $2 WHERE id = $1', [rows[0].id, word()]);
    },
    async deleteRow() {
      await query('DELETE FROM crm.task WHERE id = $1', [await anyRow('task')]);
    },
    async rolledBack() {
      await query('BEGIN');
      await query('UPDATE crm.lead SET title = $1', [word()]);
      await query('ROLLBACK');
    },
    async crmEdits() {
      const [lead] = [stage.model.records.leads.live()].map((all) => all[chance.integer(0, all.length - 1)]);
      if (lead) await stage.crm.update('lead', lead.id, { title: word() });
    },
    async crmTrashes() {
      const all = stage.model.records.tasks.live();
      const task = all[chance.integer(0, all.length - 1)];
      if (task && all.length > 4) await stage.crm.trash('task', task.id);
    },
    async crmMakes() {
      await stage.crm.create('lead', { title: word() });
    },
    async loses() {
      const kinds = ['dropBefore', 'dropAfter', 'slow'] as const;
      const methods = ['POST', 'PUT', 'DELETE'] as const;
      const fault = { kind: kinds[chance.integer(0, 2)], method: methods[chance.integer(0, 2)], delayMs: 30 };
      stage.model.faults.order(faultOrder.parse({ faults: [fault] }));
    },
    async passes() {
      await stage.swept(1);
    },
    async restarts() {
      await stage.startAnew();
    },
    async cutsConnections() {
      await stage.database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-sheet-sync'",
      );
    },
  };
  return { acts, inserted };
}

test.for(seeds)(
  'W1 W3 W4 W7: whatever users and trouble do, every edit comes to something, and all show the same (seed %i)',
  { timeout: 120_000 },
  async (seed) => {
    const stage = await openEditedEngine(
      { deletes: 'trash' },
      // Whoever trashes tasks here means it.
      { terms: { limits: { deletesMin: 1_000, deletesShare: 1 } } },
    );
    const chance = createRandom(seed);
    const { acts, inserted } = actsOf(stage, chance);
    const names = Object.keys(acts);
    const done: string[] = [];
    for (let step = 0; step < steps; step += 1) {
      const name = names[chance.integer(0, names.length - 1)] ?? '';
      done.push(name);
      await acts[name]?.();
    }
    stage.model.faults.order(faultOrder.parse({ clear: true }));
    const describe = async () =>
      JSON.stringify(
        {
          open: (await stage.outcomes()).filter(({ is_over }) => !is_over),
          waiting: stage.engine.found.questions,
          outbox: stage.mirror.readAllSteps(),
          edits: stage.mirror.of('warehouse').edits.readOpen(),
          problems: stage.engine.listProblems().map(({ message }) => message),
        },
        null,
        1,
      );
    await until(
      'every edit is over',
      async () => {
        for (const { answers, scope } of stage.engine.found.questions) {
          const wanted: Answer[] = ['approve', 'trash', 'crm', 'retry'];
          const title = stage.mirror
            .of('warehouse')
            .readOutbox()
            .find(({ key }) => scope.endsWith(`${key.entity}-${key.id}`))?.fields['title'];
          const isThere = [...stage.model.records.leads.live(), ...stage.model.records.tasks.live()].some(
            (record) => record.title === title,
          );
          if (isThere && scope.startsWith('refused:') && scope.includes('new-')) {
            await stage.editor.query('DELETE FROM crm.lead WHERE title = $1 AND id < 0', [title]);
            await stage.editor.query('DELETE FROM crm.task WHERE title = $1 AND id < 0', [title]);
            continue;
          }
          const choice = wanted.find((each) => answers.includes(each));
          if (choice) answer(stage.engine, [scope], choice);
        }
        return (await stage.outcomes()).every(({ is_over }) => is_over);
      },
      { limitMs: 30_000, describe },
    );
    await stage.settled();
    expect(stage.mirror.readAllSteps(), done.join(' ')).toEqual([]);
    expect(stage.mirror.of('warehouse').readAgreements()).toEqual([]);
    const titles = [...stage.model.records.leads.live(), ...stage.model.records.tasks.live()].map(
      ({ title }) => title,
    );
    const texts = JSON.stringify([
      stage.model.records.leads.live(),
      stage.model.records.tasks.live(),
      stage.model.records.opportunities.live(),
    ]);
    const values = texts.match(/"value \d+"/g) ?? [];
    expect(values.length).toBe(new Set(values).size);
    for (const title of inserted)
      expect(titles.filter((each) => each === title).length, title).toBeLessThan(2);
    await expectWholeHistory(stage.database);
    const compared = await stage.compare();
    expect(compared.tables.map(({ different, extra, missing }) => different + extra + missing)).toEqual([
      0, 0, 0,
    ]);
  },
);
