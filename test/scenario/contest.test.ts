import { expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { isReady } from '../../src/sync/health.ts';
import { readStatus } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { openScenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

test('a lead that an automation of the CRM and a script in the sheet both write is held with an alert, until it is approved', {
  timeout: 120_000,
}, async () => {
  const scene = await openScenario();
  const { crm, engine, log, sheet } = scene;
  const { id } = await crm.take('lead');
  const scope = `loop:lead-${id}`;
  const isHeld = () => engine.lastPlan?.holds.some(({ decision }) => decision === scope) ?? false;
  for (let round = 0; round < 6 && !isHeld(); round += 1) {
    await sheet.type('lead', id, { Title: 'SCRIPT' });
    const answered = async () => isHeld() || valueAt(await crm.find('lead', id), 'title') === 'SCRIPT';
    await until('the script’s title arrived, or nothing does', answered, { limitMs: 15_000 });
    if (isHeld()) break;
    await crm.update('lead', id, { title: 'Automation' });
    const followed = async () => isHeld() || (await scene.row('lead', id))?.['Title'] === 'Automation';
    await until('the automation’s title arrived, or nothing does', followed, { limitMs: 15_000 });
  }
  await scene.told(
    'lead',
    id,
    /^Held: Title is changed back again and again: the CRM wants “.+”, the sheet “.+”\./,
  );
  const source = `lead-${id}`;
  expect(readStatus(engine, undefined).problems).toMatchObject([{ source, code: 'RECORD_CONTESTED' }]);
  expect(isReady(healthOf(engine).read())).toBe(true);
  const alerts = () =>
    log.lines.filter(({ event, fields }) => event.startsWith('problem.') && fields['source'] === source);
  expect(alerts().map(({ event }) => event)).toEqual(['problem.began']);
  expect(JSON.stringify(alerts())).not.toContain('SCRIPT');
  const sent = scene.requests('PUT', new RegExp(`/leads/${id}$`)).length;
  await scene.cycled(3);
  expect(scene.requests('PUT', new RegExp(`/leads/${id}$`))).toHaveLength(sent);
  await scene.decide(scope, 'approve');
  await scene.settled();
  expect(alerts().map(({ event }) => event)).toEqual(['problem.began', 'problem.ended']);
});
