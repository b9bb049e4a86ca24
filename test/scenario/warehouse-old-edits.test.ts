import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../src/core/ports.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { realClock } from '../support/real-clock.ts';
import { until } from '../support/until.ts';
import { openEditedEngine } from '../support/warehouse-edits-engine.ts';

const limit = { timeout: 60_000 };

const [hourMs, dayMs] = [3_600_000, 86_400_000];

/** An engine that lets the database keep edits only as long as they are open, with a clock that a test puts on. */
async function openForgetful() {
  let aheadMs = 0;
  const clock: Clock = { ...realClock, now: () => realClock.now() + aheadMs };
  const stage = await openEditedEngine({ keepDays: 0 }, { clock });
  return {
    stage,
    pass(ms: number) {
      aheadMs += ms;
    },
    /** Changes a lead in the CRM, so that something is written. */
    async write(title: string) {
      const lead = await stage.crm.take('lead');
      await stage.crm.update('lead', lead.id, { title });
      await stage.settled();
    },
    kinds: async () => (await stage.outcomes()).map(({ op }) => op),
    edit: (title: string, id: number) =>
      stage.editor.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [title, id]),
    pushes: () => stage.log.lines.filter(({ event }) => event === 'record.pushed').length,
  };
}

test(
  'edits that are over for long go with a write, once an hour, and those that inserted a row stay',
  limit,
  async () => {
    const { edit, kinds, pass, stage, write } = await openForgetful();
    const lead = await stage.crm.take('lead');
    await edit('By SQL', lead.id);
    await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('New by SQL')");
    await stage.decided();
    await stage.settled();
    await write('One');
    expect(await kinds()).toEqual(['U', 'I']);
    pass(hourMs);
    const runs = await stage.database.query('SELECT run_no FROM crm_sync.link');
    for (let cycles = 0; cycles < 3; cycles += 1) await stage.engine.cycle();
    expect(await stage.database.query('SELECT run_no FROM crm_sync.link')).toEqual(runs);
    expect(await kinds()).toEqual(['U', 'I']);
    await write('Two');
    expect(await kinds()).toEqual(['I']);
    await edit('By SQL again', lead.id);
    await stage.decided();
    await write('Three');
    expect(await kinds()).toEqual(['I', 'U']);
  },
);

test(
  'an edit that the database keeps no longer is known when a backup brings it back as new',
  limit,
  async () => {
    const { edit, pass, pushes, stage } = await openForgetful();
    const lead = await stage.crm.take('lead');
    await edit('By SQL', lead.id);
    await stage.decided();
    await stage.settled();
    await stage.database.query('CREATE TABLE public.backup AS SELECT * FROM crm_sync.edit');
    await stage.crm.update('lead', lead.id, { title: 'Later in the CRM' });
    await stage.settled();
    pass(29 * dayMs);
    const other = await stage.crm.take('lead');
    await edit('By SQL as well', other.id);
    await stage.shows(
      'SELECT state FROM crm.edit',
      (rows) => rows.length === 1 && rows[0]?.['state'] === 'done',
    );
    const before = pushes();
    await stage.database.query(
      "INSERT INTO crm_sync.edit OVERRIDING SYSTEM VALUE SELECT * FROM public.backup; UPDATE crm_sync.edit SET state = 'new', ended_at = NULL WHERE seq IN (SELECT seq FROM public.backup); NOTIFY crm_edit",
    );
    expect(await stage.decided()).toMatchObject([{ state: 'done' }, { state: 'done' }]);
    await stage.settled();
    expect(pushes()).toBe(before);
    expect(stage.model.records.leads.live().find(({ id }) => id === lead.id)?.title).toBe('Later in the CRM');
  },
);

test(
  'W4: a create that a mirror which was put back holds open is not sent again where the database keeps its edit no longer',
  limit,
  async () => {
    const { pass, stage } = await openForgetful();
    const copy = mkdtempSync(join(tmpdir(), 'crm-sheet-sync-copy-'));
    onTestFinished(() => rmSync(copy, { recursive: true }));
    const fault = { kind: 'status', status: 429, method: 'POST', times: 1_000 };
    stage.model.faults.order(faultOrder.parse({ faults: [fault] }));
    await stage.editor.query("INSERT INTO crm.lead (title) VALUES ('New by SQL')");
    await stage.shows('SELECT state FROM crm.edit', ([first]) => first?.['state'] === 'taken');
    await stage.restart('word-1', (directory) => cpSync(directory, copy, { recursive: true }));
    stage.model.faults.order(faultOrder.parse({ clear: true }));
    await stage.decided();
    await stage.settled();
    await stage.engine.stop(5_000);
    await stage.database.query('DELETE FROM crm_sync.edit');
    pass(dayMs);
    await stage.restart('word-1', (directory) => cpSync(copy, directory, { recursive: true }));
    await stage.compared();
    await stage.settled();
    await until('no step is left', async () => stage.mirror.of('warehouse').readOutbox().length === 0);
    expect(stage.model.records.leads.live().filter(({ title }) => title === 'New by SQL')).toHaveLength(1);
  },
);
