import { describe, expect, test } from 'vitest';
import { readStatus } from '../../src/sync/status.ts';
import { healthOf } from '../support/health.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

type Json = Record<string, unknown>;

const limit = { timeout: 60_000 };

/** Changes the elements of what the CRM answers there, until it is told to stop. */
const changeAnswers = ({ line }: Scenario, path: RegExp, change: (record: Json) => void) =>
  line.intercept(path, async (_asked, passOn) => {
    const answer = await passOn();
    if (!answer || answer.status >= 300) return answer;
    const body = JSON.parse(answer.text) as { data: Json };
    const { items = [body.data] } = body.data as { items?: Json[] };
    for (const item of items) change(item);
    return { ...answer, text: JSON.stringify(body) };
  });

const whole = /is not a whole number\. It is left alone here until it is corrected there/;

const conditions = (scene: Scenario) => healthOf(scene.engine).read();

/** Nothing was deleted, and no row or record came or went, because of what could not be understood. */
function expectNothingGone({ engine }: Scenario): void {
  const { mirror } = engine.link;
  const kinds = mirror
    .searchJournal({ limit: 500 })
    .filter(({ kind, cause }) => kind === 'delete' || cause.includes('gone'));
  expect(kinds).toEqual([]);
  expect(mirror.readRecords().filter(({ presence }) => presence === 'gone')).toEqual([]);
}

describe('one odd record among others', limit, () => {
  test('numbers that come as texts are those numbers, and all is kept the same', async () => {
    const scene = await openScenario();
    const asText = (record: Json) => {
      for (const [name, value] of Object.entries(record))
        if (typeof value === 'number') record[name] = name === 'value' ? value.toFixed(2) : String(value);
    };
    changeAnswers(scene, /^GET \/(opportunities|tasks|leads)(\?|\/\d+$)/, asText);
    const { crm, sheet } = scene;
    const [deal, task] = [await crm.take('opportunity'), await crm.take('task')];
    await crm.update('opportunity', deal.id, { value: 1250 });
    await sheet.type('task', task.id, { Status: 'Completed' });
    await scene.settled();
    expect(await scene.row('opportunity', deal.id)).toMatchObject({ Sync: expect.stringMatching(/^Synced/) });
    expect(await crm.find('task', task.id)).toMatchObject({ status: 3 });
    expect([scene.engine.problems.list(), scene.engine.lastPlan?.holds]).toEqual([[], []]);
  });

  test('a field that cannot be understood is held and named by its record; all else is followed both ways', async () => {
    const scene = await openScenario();
    const { crm, engine, sheet } = scene;
    const [odd, other] = [await crm.take('opportunity'), await crm.take('opportunity')];
    const repair = changeAnswers(scene, /^GET \/opportunities(\?|\/\d+$)/, (record) => {
      if (record['id'] === odd.id) record['confidence'] = 33.3;
    });
    await scene.told('opportunity', odd.id, whole);
    await crm.update('opportunity', other.id, { note: 'Of the CRM' });
    await sheet.type('opportunity', other.id, { Confidence: '70' });
    await sheet.type('opportunity', odd.id, { Value: '4711', Confidence: '55' });
    await until(
      'what is typed beside it is sent',
      async () => (await crm.find('opportunity', odd.id))?.['value'] === 4711,
    );
    await until(
      'others are sent',
      async () => (await crm.find('opportunity', other.id))?.['confidence'] === 70,
    );
    await until(
      'others are shown',
      async () => (await scene.row('opportunity', other.id))?.['Note'] === 'Of the CRM',
    );
    expect(await scene.told('opportunity', odd.id, /What was typed is not sent/)).toMatchObject({
      Confidence: '55',
    });
    expect((await crm.find('opportunity', odd.id))?.['confidence']).not.toBe(55);
    // Not while something of the record is being sent.
    await until('it is held', async () => readStatus(engine, undefined).holds.length > 0);
    expect(readStatus(engine, undefined).holds).toMatchObject([
      { entity: 'opportunity', id: String(odd.id), reason: expect.stringMatching(whole) },
    ]);
    expect(conditions(scene)).toMatchObject([
      {
        name: 'HELD',
        makes: 'degraded',
        words: expect.stringContaining(`opportunity ${odd.id}: What the CRM has for Confidence`),
      },
    ]);
    expect(engine.problems.list()).toEqual([]);
    repair();
    await scene.settled();
    expect(await crm.find('opportunity', odd.id)).toMatchObject({ confidence: 55 });
    expect(readStatus(engine, undefined).holds).toEqual([]);
    expectNothingGone(scene);
  });

  test('a record without an id that can be used is said, is no missing one, and keeps no other from being followed', async () => {
    const scene = await openScenario();
    const { crm, engine, sheet } = scene;
    const [odd, other] = [await crm.take('task'), await crm.take('task')];
    const repair = changeAnswers(scene, /^GET \/tasks\?/, (record) => {
      if (record['id'] === odd.id) record['id'] = { odd: true };
    });
    await scene.stopped(/GET \/tasks, page 1, element \d+: its id is not a whole number/);
    await scene.swept('task', 4);
    await crm.update('task', other.id, { title: 'Renamed in the CRM' });
    await sheet.type('task', odd.id, { Title: 'Renamed in the sheet' });
    await until(
      'others are shown',
      async () => (await scene.row('task', other.id))?.['Title'] === 'Renamed in the CRM',
    );
    await until(
      'its own row is sent',
      async () => (await crm.find('task', odd.id))?.['title'] === 'Renamed in the sheet',
    );
    expect(conditions(scene)).toMatchObject([
      { name: 'HELD', words: expect.not.stringContaining('CRM_BASE_URL') },
    ]);
    expectNothingGone(scene);
    repair();
    await scene.settled();
    await until('nothing is held any more', async () => engine.lastPlan?.holds.length === 0);
  });

  test('a record that is deleted is seen although another one of its list has no id', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    const [odd, gone] = [await crm.take('task'), await crm.take('task')];
    changeAnswers(scene, /^GET \/tasks\?/, (record) => {
      if (record['id'] === odd.id) delete record['id'];
    });
    await crm.trash('task', gone.id);
    await until('its row is gone', async () => (await scene.row('task', gone.id)) === undefined);
    expect(await scene.row('task', odd.id)).toBeDefined();
  });

  test('S3: a create of which nobody knows the outcome is not sent again while its record may be one without an id', async () => {
    const scene = await openScenario();
    const { engine } = scene;
    scene.setFaults({ faults: [{ kind: 'dropAfter', method: 'POST', path: '/leads' }] });
    const repair = changeAnswers(scene, /^GET \/leads\?/, (record) => {
      if (record['title'] === 'Made once') record['id'] = 'odd';
    });
    await scene.sheet.typeRow('lead', { Title: 'Made once' });
    await scene.waits(({ state }) => state === 'unknown');
    await scene.swept('lead', 6);
    expect(scene.requests('POST', /^\/leads$/)).toHaveLength(1);
    repair();
    await scene.settled();
    expect(scene.requests('POST', /^\/leads$/)).toHaveLength(1);
    expect(engine.link.mirror.readOutbox().filter(({ state }) => state !== 'done')).toEqual([]);
  });

  test('an odd stage keeps the name that it had, and everything else of the catalog is read', async () => {
    const scene = await openScenario();
    const { crm, model } = scene;
    const [pipeline] = model.records.pipelines;
    const [stage, next] = pipeline?.stages ?? [];
    const repair = scene.line.intercept(/^GET \/pipelines$/, async (_asked, passOn) => {
      const answer = await passOn();
      return answer && { ...answer, text: answer.text.replace(`"name":"${stage?.name}"`, '"name":null') };
    });
    const deal = await crm.take('opportunity');
    await crm.update('opportunity', deal.id, { stage_id: stage?.id });
    Object.assign(next ?? {}, { name: 'Renamed' });
    await scene.resync();
    await scene.stopped(/GET \/pipelines, pipeline \d+, stage \d+: its name cannot be understood/);
    expect(await scene.row('opportunity', deal.id)).toMatchObject({
      Stage: `${pipeline?.name} / ${stage?.name}`,
    });
    await crm.update('opportunity', deal.id, { stage_id: next?.id });
    await until(
      'the new name is shown',
      async () => (await scene.row('opportunity', deal.id))?.['Stage'] === `${pipeline?.name} / Renamed`,
    );
    repair();
    await scene.resync();
    await scene.settled();
  });
});
