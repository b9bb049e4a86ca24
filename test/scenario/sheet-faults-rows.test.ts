import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
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

describe('an ID', () => {
  test('fault 33: that came with a copied row never lets the copy write to the original, and cleared makes it a new record', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    const { id } = await crm.take('lead');
    const row = await scene.position('lead', id);
    const before = valueAt(await crm.find('lead', id), 'title');
    await scene.act(
      { kind: 'copyRow', sheet: leads, row, to: row + 1, inserts: true },
      { kind: 'edit', sheet: leads, row: row + 1, column: 'Title', text: 'Made from a copy' },
    );
    await scene.told('lead', { Title: 'Made from a copy' }, /^Held: .*copy/);
    await scene.cycled(2);
    expect([updates(scene), creates(scene)]).toEqual([0, 0]);
    await scene.act({ kind: 'edit', sheet: leads, row: row + 1, column: 'ID', text: '' });
    await scene.settled();
    expect([updates(scene), creates(scene)]).toEqual([0, 1]);
    expect(valueAt(await crm.find('lead', id), 'title')).toBe(before);
  });

  test('fault 34: that was blanked comes back, and makes no new record', async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('lead');
    const row = await scene.position('lead', id);
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'ID', text: '' });
    await scene.settled();
    expect(await scene.position('lead', id)).toBe(row);
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });

  test('fault 34: that was overwritten comes back where the row shows its record, and makes no new one', async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('lead');
    const row = await scene.position('lead', id);
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'ID', text: '4711' });
    await scene.cycled(1);
    await scene.settled();
    expect(await scene.position('lead', id)).toBe(row);
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });

  test('fault 34: that was overwritten in a row that shows its record no more is held with what to do', async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('lead');
    const row = await scene.position('lead', id);
    const shown = await scene.row('lead', id);
    const columns = Object.keys(shown ?? {}).filter((header) => !['ID', 'Sync', 'Created'].includes(header));
    const put = (text: (header: string) => string) =>
      scene.act(
        ...columns.map(
          (column): PersonActionInput => ({ kind: 'edit', sheet: leads, row, column, text: text(column) }),
        ),
      );
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'ID', text: '4711' });
    await put((header) => (header === 'Title' ? 'Of nobody' : ''));
    await scene.told('lead', { ID: '4711' }, /^Held: No record of the CRM has the ID “4711”/);
    await scene.cycled(3);
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'ID', text: String(id) });
    await put((header) => shown?.[header] ?? '');
    await scene.settled();
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });

  test('fault 35: that changed places with another one is put back, and writes neither record', async () => {
    const scene = await openScenario();
    const [one, other] = [await scene.crm.take('lead'), await scene.crm.take('lead')];
    const positions = async () => [
      await scene.position('lead', one.id),
      await scene.position('lead', other.id),
    ];
    const rows = await positions();
    const put = (id: number, row = 0): PersonActionInput => ({
      kind: 'edit',
      sheet: leads,
      row,
      column: 'ID',
      text: String(id),
    });
    await scene.act(put(other.id, rows[0]), put(one.id, rows[1]));
    expect(await positions()).toEqual(rows.toReversed());
    await scene.cycled(1);
    await scene.settled();
    expect(await positions()).toEqual(rows);
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });
});

describe('somebody types', () => {
  test('fault 36: half of a new row, which waits for its required cells', async () => {
    const scene = await openScenario();
    await scene.sheet.typeRow('lead', { City: 'Porto' });
    await scene.told('lead', { City: 'Porto', Title: '' }, /^New row: fill Title/);
    expect(creates(scene)).toBe(0);
    const { rows } = (await scene.sheet.look()).lead;
    const row = rows.findIndex((cells) => cells['City'] === 'Porto' && cells['Title'] === '') + 1;
    await scene.act({ kind: 'edit', sheet: leads, row, column: 'Title', text: 'Typed at last' });
    await scene.settled();
    expect(creates(scene)).toBe(1);
  });

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

describe('a brake', () => {
  test('fault 42: stops a mass delete before anything is written, and offers to bring the rows back', async () => {
    const scene = await openScenario();
    await scene.act({ kind: 'deleteRows', sheet: leads, row: 1, count: 8 });
    await scene.cycled(3);
    expect(scene.engine.lastPlan?.brakes).toMatchObject([{ scope: 'brake:lead:emptied' }]);
    expect(deletes(scene)).toBe(0);
    await scene.decide('brake:lead:emptied', 'restore');
    await scene.settled();
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });

  test('fault 43: stops a column that was filled down, and lets go when that is undone', async () => {
    const counts = { leads: 70, opportunities: 2, tasks: 2 };
    const scene = await openScenario({ counts });
    const rows = Array.from({ length: 60 }, () => ['Filled down']);
    await scene.act({ kind: 'paste', sheet: leads, row: 1, column: 'City', rows });
    await scene.cycled(3);
    expect(scene.engine.lastPlan?.brakes).toMatchObject([{ scope: 'brake:lead:changed' }]);
    await scene.act({ kind: 'undo' });
    await scene.settled();
    expect([updates(scene), creates(scene), deletes(scene)]).toEqual([0, 0, 0]);
  });
});
