import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../src/core/history.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { planUndoOf, type UndoOrder, undo } from '../../src/sync/undo.ts';
import { openThreeSides } from '../support/three-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 60_000 };

async function openUndo() {
  const stage = await openThreeSides();
  const { database, engine, link } = stage;
  const before = await stage.same();
  const [id = ''] = [...before.keys()];
  return {
    ...stage,
    before,
    id,
    key: { entity: 'lead', id } as const,
    /** The newest line of the history about what was sent to the CRM. */
    newest: (kind = 'update') =>
      link.mirror.searchJournal({ limit: 20 }).find((line) => line.side === 'crm' && line.kind === kind),
    /** Resolves once the last edit by SQL has come to this, and all three sides show the same. */
    async came(state: string) {
      await until(`the edit is ${state}`, async () => {
        const [edit] = await database.query('SELECT state FROM crm.edit ORDER BY seq DESC LIMIT 1');
        return edit?.['state'] === state;
      });
      if (state === 'done') await stage.same();
    },
    setTitle: (title: string) => database.query('UPDATE crm.lead SET title = $1 WHERE id = $2', [title, id]),
    undo: (order: UndoOrder) => undo(engine.link, order),
  };
}

test.for([
  ['line', ({ id }: HistoryEntry): UndoOrder => ({ id })],
  ['run', ({ run }: HistoryEntry): UndoOrder => ({ run })],
  ['record', ({ key }: HistoryEntry): UndoOrder => ({ key })],
  ['field', ({ key }: HistoryEntry): UndoOrder => ({ key, field: 'title' })],
] as const)(
  'what was edited by SQL is taken back by its %s: all three sides show the value before',
  limit,
  async ([, orderOf]) => {
    const stage = await openUndo();
    await stage.setTitle('By SQL');
    await stage.came('done');
    const line = stage.newest();
    expect(line).toMatchObject({
      key: stage.key,
      cause: 'edited by SQL',
      before: { title: stage.before.get(stage.id) },
      after: { title: 'By SQL' },
    });
    expect(await stage.undo(orderOf(line as HistoryEntry))).toMatchObject({
      steps: [{ key: stage.key, fields: { title: stage.before.get(stage.id) }, base: { title: 'By SQL' } }],
      refusals: [],
    });
    expect(await stage.same()).toEqual(stage.before);
    expect(stage.newest()).toMatchObject({ key: stage.key, cause: 'taken back' });
    // The row's own edit is over, and the next one has the value before as its base.
    await stage.setTitle('By SQL again');
    await stage.came('done');
    const edits = await stage.database.query('SELECT state, changed FROM crm.edit ORDER BY seq');
    expect(edits).toEqual([
      { state: 'done', changed: { title: [stage.before.get(stage.id), 'By SQL'] } },
      { state: 'done', changed: { title: [stage.before.get(stage.id), 'By SQL again'] } },
    ]);
    expect((await stage.same()).get(stage.id)).toBe('By SQL again');
  },
);

test('a record that was created by SQL goes again from all three sides', limit, async () => {
  const stage = await openUndo();
  await stage.database.query("INSERT INTO crm.lead (title) VALUES ('Not meant')");
  await stage.came('done');
  const line = stage.newest('create');
  expect(line).toMatchObject({ cause: 'created by SQL', after: { title: 'Not meant' } });
  expect(await stage.undo({ id: line?.id })).toMatchObject({ steps: [{ kind: 'delete' }], refusals: [] });
  await until(
    'it is gone from the table',
    async () => (await stage.titles()).inTable.size === stage.before.size,
  );
  expect(await stage.same()).toEqual(stage.before);
  expect((await stage.titles()).inSheet).toEqual(stage.before);
});

test(
  'what was edited by SQL stays where it was edited again since, by SQL or in the CRM',
  limit,
  async () => {
    const stage = await openUndo();
    await stage.setTitle('By SQL');
    await stage.came('done');
    const line = stage.newest();
    await stage.setTitle('By SQL again');
    await stage.came('done');
    const refused = {
      steps: [],
      refusals: [{ key: stage.key, field: 'title', reason: 'It was edited since.' }],
    };
    expect(planUndoOf(stage.engine.link, { id: line?.id })).toEqual(refused);
    await stage.editCrm(`/leads/${stage.id}`, { title: 'In the CRM' });
    await until(
      'it is in the table',
      async () => (await stage.titles()).inTable.get(stage.id) === 'In the CRM',
    );
    expect(await stage.undo({ id: line?.id })).toEqual(refused);
    expect((await stage.same()).get(stage.id)).toBe('In the CRM');
  },
);

test('nothing of a record is taken back while the CRM refuses an edit of it by SQL', limit, async () => {
  const stage = await openUndo();
  await stage.setTitle('By SQL');
  await stage.came('done');
  const line = stage.newest();
  const fault = { kind: 'status', status: 422, method: 'PUT', times: 1 };
  stage.model.faults.order(faultOrder.parse({ faults: [fault] }));
  await stage.setTitle('Refused');
  await stage.came('refused');
  expect(await stage.undo({ id: line?.id })).toMatchObject({
    steps: [],
    refusals: [{ key: stage.key, reason: expect.stringMatching(/^The CRM refused something of it/) }],
  });
  await stage.database.query("SELECT crm.revert('lead', $1)", [stage.id]);
  await stage.came('done');
  expect(await stage.undo({ id: line?.id })).toMatchObject({ steps: [{ key: stage.key }], refusals: [] });
  expect(await stage.same()).toEqual(stage.before);
});
