import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../support/postgres.ts';
import { type Fate, openPostgresLine } from '../support/postgres-line.ts';
import { until } from '../support/until.ts';
import { editTerms } from '../support/warehouse-edits-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';
import { openTroubled } from '../support/warehouse-trouble.ts';

/** The long tests cut 200 times. */
const cutsGoal = Number(process.env['COMMIT_CUTS'] ?? 40);

const ofCommit: readonly Fate[] = ['cut', 'cutReply', 'cut', 'cutReply', 'cutReply', 'pass'];
const ofOthers: readonly Fate[] = ['cut', ...Array<Fate>(29).fill('pass')];

/** A link whose rows are edited by SQL, on a line that is cut at random. */
async function openCut() {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const line = await openPostgresLine(database.url);
  onTestFinished(() => line[Symbol.asyncDispose]());
  const many = { deletesMin: 1_000, deletesShare: 1 };
  const { stage } = await openTroubled({
    database,
    url: line.through(database.url),
    link: { backoff: { firstMs: 1, maxMs: 5 } },
    terms: {
      limits: many,
      editing: { ...editTerms, deletes: 'trash', limits: { ...many, changesMin: 1_000, changesShare: 1 } },
    },
  });
  let [cuts, seed] = [0, 11];
  const pick = (fates: readonly Fate[]): Fate => {
    seed = (seed * 48_271) % 2_147_483_647;
    return fates[seed % fates.length] ?? 'pass';
  };
  line.intercept((sql): Fate => {
    if (cuts >= cutsGoal || sql.startsWith('LISTEN')) return 'pass';
    const fate = pick(sql === 'COMMIT' ? ofCommit : ofOthers);
    if (fate !== 'pass') cuts += 1;
    return fate;
  });
  const user = await database.connect();
  const told = new Set<string>();
  user.on('notification', ({ payload = '' }) => told.add(payload));
  await user.query('LISTEN crm_outcome');
  return {
    stage,
    user,
    told,
    cuts: () => cuts,
    sent: (method: string) => stage.model.requests().filter((each) => each.method === method).length,
    /** Resolves once it is so. The daemon waits a second after each cycle that fails, and the test does not. */
    cycled: (what: string, isSo: () => Promise<boolean>) =>
      until(
        what,
        async () => {
          await stage.engine.cycle().catch(() => undefined);
          return isSo();
        },
        {
          limitMs: 60_000,
          describe: async () =>
            JSON.stringify([
              await stage.database.query('SELECT op, id, state, note FROM crm.edit WHERE ended_at IS NULL'),
              stage.engine.listProblems(),
              cuts,
            ]),
        },
      ),
  };
}

test('W1: cut again and again at random, the daemon sends each edit by SQL once, and tells what came of each', {
  timeout: 600_000,
}, async () => {
  const { cuts, cycled, sent, stage, told, user } = await openCut();
  const [lead] = stage.model.records.leads.live();
  const before = { PUT: sent('PUT'), POST: sent('POST'), DELETE: sent('DELETE') };
  let rounds = 0;
  while (cuts() < cutsGoal) {
    rounds += 1;
    await user.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [`By SQL ${rounds}`, lead?.id]);
    await user.query('INSERT INTO crm.lead (title) VALUES ($1)', [`New ${rounds}`]);
    await user.query('DELETE FROM crm.lead WHERE title = $1', [`New ${rounds - 1}`]);
    await cycled('the update was sent', async () => sent('PUT') === before.PUT + rounds);
    // An edit that was taken a second time would meet another value now.
    await stage.crm.update('lead', lead?.id ?? 0, { title: `By the CRM ${rounds}` });
    await cycled('every edit is over', async () => {
      const { rows } = await user.query('SELECT FROM crm.edit WHERE ended_at IS NULL');
      return rows.length === 0;
    });
  }
  await stage.settled();
  const count = {
    PUT: sent('PUT') - before.PUT,
    POST: sent('POST') - before.POST,
    DELETE: sent('DELETE') - before.DELETE,
  };
  expect(count).toEqual({ PUT: rounds, POST: rounds, DELETE: rounds - 1 });
  const edits = await stage.database.query(
    'SELECT edit_id::text, op, state, new_id FROM crm.edit ORDER BY seq',
  );
  expect(edits.filter(({ state }) => state !== 'done')).toEqual([]);
  expect(edits.filter(({ new_id, op }) => (op === 'I') !== (new_id !== null))).toEqual([]);
  expect(edits).toHaveLength(3 * rounds - 1);
  await user.query('SELECT 1');
  expect(edits.filter(({ edit_id }) => !told.has(String(edit_id)))).toEqual([]);
  expect(await stage.database.query('SELECT id FROM crm.lead WHERE id < 0')).toEqual([]);
  const titles = stage.model.records.leads.live().map(({ title }) => title);
  expect(titles.filter((title) => title?.startsWith('New '))).toEqual([`New ${rounds}`]);
  await expectWholeHistory(stage.database);
  const { tables } = await stage.compare();
  expect(tables.filter(({ different, extra, missing }) => different + extra + missing > 0)).toEqual([]);
  expect(cuts()).toBe(cutsGoal);
  expect(stage.log.lines.filter(({ event }) => event === 'warehouse.went-back')).toEqual([]);
});
