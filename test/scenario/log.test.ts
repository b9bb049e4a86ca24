import { expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openScenario } from '../support/scenario.ts';

test('each record that is written is one line of the log, with its run and the names of fields, never a value', async () => {
  const scene = await openScenario();
  const [typed, changed, missed] = [
    await scene.crm.take('lead'),
    await scene.crm.take('lead'),
    await scene.crm.take('lead'),
  ];
  const before = scene.log.lines.length;
  const title = 'Priscilla of Testford';
  await scene.sheet.type('lead', typed.id, { Title: title });
  await scene.crm.update('lead', changed.id, { title });
  await scene.settled();
  await scene.act({
    kind: 'deleteRows',
    sheet: 'Leads',
    row: await scene.position('lead', missed.id),
  });
  await scene.decide(`vanished:lead-${missed.id}`, 'restore');
  await scene.settled();
  const told = scene.log.lines.slice(before).filter(({ level }) => level === 'info');
  const about = (event: string) => told.filter((line) => line.event === event).map(({ fields }) => fields);
  const run = expect.stringMatching(/^\w+$/);
  expect(about('record.pushed')).toEqual([
    { run, record: `lead-${typed.id}`, kind: 'update', fields: ['title'] },
  ]);
  expect(about('row.written')).toContainEqual({
    run,
    record: `lead-${changed.id}`,
    kind: 'update',
    fields: ['title'],
  });
  const scope = `vanished:lead-${missed.id}`;
  expect([about('question.asked'), about('question.ended')]).toEqual([[{ scope }], [{ scope }]]);
  expect(JSON.stringify(scene.log.lines)).not.toContain(title);
  expect(valueAt(await scene.crm.find('lead', typed.id), 'title')).toBe(title);
});

test('a fill is counted in the log, not told row by row', async () => {
  const scene = await openScenario({ counts: { leads: 60, opportunities: 0, tasks: 0 } });
  const events = scene.log.lines.map(({ event }) => event);
  expect(events).toContain('sheet.written');
  expect(events).not.toContain('row.written');
});
