import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { openScenario } from '../support/scenario.ts';

const users = { 9001: 'Mara Stein', 9003: 'Ewa Zielińska' };

/** A refusal costs no request: what was written before is all that was written. */
const writesTo = (scene: Awaited<ReturnType<typeof openScenario>>) => scene.requests('PUT', /./).length;

describe('users by name', () => {
  test('a name that is typed in place of an id reaches the CRM as the id, and the cell shows the name', async () => {
    const scene = await openScenario({ crm: { users } });
    const { crm, sheet } = scene;
    const { id } = await crm.take('lead');
    await sheet.type('lead', id, { 'Account manager': 'ewa zielińska', Team: 'Mara Stein; 9004' });
    await scene.settled();
    const lead = await crm.find('lead', id);
    expect(valueAt(lead, 'custom_fields.account_manager')).toBe('9003');
    expect(valueAt(lead, 'custom_fields.team')).toEqual(['9001', '9004']);
    expect(await scene.row('lead', id)).toMatchObject({
      'Account manager': 'Ewa Zielińska',
      Team: 'Mara Stein, 9004',
    });
  });

  test('an unknown name costs no request, and an id that the CRM refuses is refused in its words', async () => {
    const scene = await openScenario({ crm: { users } });
    const { crm, sheet } = scene;
    const { id } = await crm.take('lead');
    const before = writesTo(scene);
    await sheet.type('lead', id, { 'Account manager': 'Ewa Zielinska' });
    await scene.told(
      'lead',
      id,
      /^Error: Nobody is called “Ewa Zielinska”\. Did you mean Ewa Zielińska \(9003\)\?$/,
    );
    expect(writesTo(scene)).toBe(before);
    await sheet.type('lead', id, { 'Account manager': '9999' });
    await scene.told('lead', id, /^Error: The CRM does not accept this Account manager: Unknown user id/);
  });
});

test('names that change in the configuration between two runs send nothing to the CRM, and every row shows them', async () => {
  const stage = await openLinkStage({ leads: 12, opportunities: 0, tasks: 0 });
  const run = async (named: Readonly<Record<string, string>>) => {
    const link = stage.reopen({ users: named });
    await stage.layOut(link);
    const engine = stage.createEngine(link);
    for (const _turn of [1, 2, 3, 4]) {
      await engine.pullAll(() => {});
      await engine.cycle();
    }
    expect(link.mirror.readOutbox()).toEqual([]);
    expect([engine.lastPlan?.refusals, engine.lastPlan?.brakes]).toEqual([[], []]);
    const { Leads = [] } = await stage.readSheet();
    return Leads.map((row) => [row['Account manager'], row['Team']]);
  };
  const { leads } = await stage.readCrm();
  const shownAs = (named: Readonly<Record<string, string>>) =>
    leads.map(({ custom_fields: fields }) => {
      const [manager, team] = [fields?.['account_manager'], fields?.['team']].map((value) =>
        [value ?? []].flat().map((id) => named[String(id)] ?? id),
      );
      return [manager, team].map((names) => names?.join(', ') || undefined);
    });
  for (const named of [{}, users, { 9001: 'Mara Stein-Wolf', 9002: 'João' }, {}])
    expect(new Set(await run(named))).toEqual(new Set(shownAs(named)));
  expect(stage.model.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
});

describe('leads and tasks by title', () => {
  test('a parent task by its title reaches the CRM as its id, and an unknown title is refused with what may be meant', async () => {
    const scene = await openScenario();
    const { crm, sheet } = scene;
    const [parent, child] = [await crm.take('task'), await crm.take('task', (task) => !task.parent_task_id)];
    await crm.update('task', parent.id, { title: 'Quarterly review' });
    await scene.settled();
    const before = writesTo(scene);
    await sheet.type('task', child.id, { 'Parent task': 'Quarterly revue' });
    const shown = `Quarterly review (#${parent.id})`;
    const { Sync } = await scene.told('task', child.id, /^Error: No task is called/);
    expect(Sync).toBe(`Error: No task is called “Quarterly revue”. Did you mean ${shown}?`);
    expect(writesTo(scene)).toBe(before);
    await sheet.type('task', child.id, { 'Parent task': 'quarterly review' });
    await scene.settled();
    expect(valueAt(await crm.find('task', child.id), 'parent_task_id')).toBe(parent.id);
    expect(await scene.row('task', child.id)).toMatchObject({ 'Parent task': shown });
  });
});
