import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';

/* What people do to rows while the daemon reads and writes, numbered as in docs/faults.test.ts. */

const leads = 'Leads';

const updates = (scene: Scenario) => scene.requests('PUT', /^\/leads\//).length;
const creates = (scene: Scenario) => scene.requests('POST', /^\/leads$/).length;
const deletes = (scene: Scenario) => scene.requests('DELETE', /^\/leads\//).length;

/** Three leads are renamed in the CRM while somebody does this between our read and our write. */
async function renameWhile(scene: Scenario, ...actions: PersonActionInput[]): Promise<void> {
  const { crm } = scene;
  await scene.setSheetFaults({ beforeNextWrite: actions });
  for (const _lead of Array.from({ length: 3 })) {
    const { id } = await crm.take('lead');
    await crm.update('lead', id, { title: `Renamed ${id}` });
  }
}

describe('between our read and our write', () => {
  test.each<[string, PersonActionInput]>([
    ['fault 31: rows are sorted', { kind: 'sort', sheet: leads, column: 'Title', descending: true }],
    ['fault 32: a row is inserted above', { kind: 'insertRows', sheet: leads, row: 1 }],
    ['fault 32: a row is moved', { kind: 'moveRows', sheet: leads, row: 1, to: 7 }],
  ])('%s: every value ends on its record, and nothing goes to the CRM', async (_, action) => {
    const scene = await openScenario();
    await renameWhile(scene, action);
    await scene.settled();
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });

  test('fault 32: a row is deleted: every value ends on its record, and the deletion waits for a person', async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('lead');
    const row = await scene.position('lead', id);
    await renameWhile(scene, { kind: 'deleteRows', sheet: leads, row });
    await scene.decide(`vanished:lead-${id}`, 'restore');
    await scene.settled();
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });
});

describe('somebody types', () => {
  test('fault 37: into a cell while our write to it is on its way: theirs wins, ours stands in the journal', async () => {
    const scene = await openScenario();
    const { crm, sheetLine } = scene;
    const { id } = await crm.take('lead');
    const row = await scene.position('lead', id);
    const stop = sheetLine.intercept(/:batchUpdate/, async ({ body }, passOn) => {
      const answer = await passOn();
      if (body.includes('Written by us')) {
        stop();
        await scene.act({ kind: 'edit', sheet: leads, row, column: 'Title', text: 'Typed meanwhile' });
      }
      return answer;
    });
    await crm.update('lead', id, { title: 'Written by us' });
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe('Typed meanwhile');
    const journal = scene.engine.link.mirror
      .searchJournal({ limit: 50 })
      .filter(({ key }) => key.id === String(id));
    expect(journal.map(({ side, after }) => [side, after['title']]).slice(0, 2)).toEqual([
      ['crm', 'Typed meanwhile'],
      ['table', 'Written by us'],
    ]);
  });

  test('fault 44: and takes it back after it was sent: two ordinary edits, and no echo', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    const { id, ...before } = await crm.take('lead');
    const row = await scene.position('lead', id);
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'Title', text: 'Meant for a moment' });
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe('Meant for a moment');
    await scene.act({ kind: 'undo' });
    await scene.settled();
    await scene.cycled(3);
    expect(valueAt(await crm.find('lead', id), 'title')).toBe(valueAt(before, 'title'));
    expect(updates(scene)).toBe(2);
  });
});
