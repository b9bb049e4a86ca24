import { onTestFinished, test } from 'vitest';
import { workInCrm } from '../../src/cli/check/crm-person.ts';
import { openDatabase } from '../support/postgres.ts';
import { openStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';
import { findDifferences } from '../support/warehouse-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

/** Where a write is held until its daemon is killed, in SQL that holds it there and SQL that lets it go on. */
const places = {
  'before its first row': {
    hold: 'BEGIN; SELECT FROM crm_sync.link FOR UPDATE',
    release: 'ROLLBACK',
  },
  'in its commit': {
    hold: 'SELECT pg_advisory_lock(1)',
    release: 'SELECT pg_advisory_unlock(1)',
  },
} as const;

const waitAtCommit = `
  CREATE FUNCTION public.wait_at_commit() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
  BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER waits AFTER UPDATE ON crm.lead DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION public.wait_at_commit()`;

const findHeld = `
  SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND application_name = 'crm-sheet-sync' AND wait_event_type = 'Lock'`;

test('W9: a write whose daemon is killed by signal, before its first row or in its commit, is done once', {
  timeout: 120_000,
}, async () => {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const stage = await openStage({
    counts: { leads: 60, opportunities: 10, tasks: 10 },
    environment: { WAREHOUSE_URL: database.url },
  });
  const person = workInCrm(new URL(stage.addresses.crmUrl).origin);
  const findWrong = () => findDifferences(database, person);
  const shown = () =>
    until('the tables show what the CRM has', async () => (await findWrong()).length === 0, {
      describe: async () => (await findWrong()).slice(0, 5).join('\n'),
    });
  let daemon = await stage.startDaemon();
  await shown();
  await database.query(waitAtCommit);
  const user = await database.connect();
  const { leads } = await person.look();
  for (const [place, { hold, release }] of Object.entries(places)) {
    await user.query(hold);
    for (const { id } of leads.slice(0, 20)) await stage.editCrm(`/leads/${id}`, { title: `Held ${place}` });
    await until('the write is held', async () => (await database.query(findHeld)).length > 0);
    await daemon.kill();
    await user.query(release);
    daemon = await stage.startDaemon();
    await shown();
  }
  await expectWholeHistory(database);
});
