import { expect, test } from 'vitest';
import { openScenario } from '../support/scenario.ts';

test('a column that was deleted and typed anew is filled, and empties nothing in the CRM', async () => {
  const scene = await openScenario();
  const person = (kind: 'deleteColumns') => ({ kind, sheet: 'Leads', column: 'About', count: 1 }) as const;
  await scene.act(person('deleteColumns'));
  await scene.cycled(2);
  expect(scene.engine.lastPlan?.holds.map(({ reason }) => reason).join()).toContain(
    '“About” of “Leads” is gone',
  );
  await scene.act({ kind: 'edit', sheet: 'Leads', row: 0, column: 20, text: 'About' });
  await scene.settled();
  expect(scene.requests('PUT', /./)).toEqual([]);
  expect(scene.engine.lastPlan?.holds).toEqual([]);
});
