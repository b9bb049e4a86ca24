import { expect, it } from 'vitest';
import { contractLayout, type WarehouseContractStage } from '../../support/warehouse-contract-stage.ts';
import { batchOf, noon, version } from '../../support/warehouse-database.ts';

const tableOf = (wanted: string) => contractLayout.tables.find(({ entity }) => entity === wanted)!;
const [leads, opportunities] = [tableOf('lead'), tableOf('opportunity')];

const everyPage = { limit: 100, after: '0' };

export function describeEdits(stage: () => WarehouseContractStage): void {
  const read = (limit = 100) => stage().warehouse.readEdits(contractLayout.tables, { ...everyPage, limit });
  const editIds = async () => (await read()).rows.flatMap(({ edits }) => edits.map(({ editId }) => editId));
  const update = (id: string, values: Record<string, string | null>) =>
    stage().user({ kind: 'update', entity: 'lead', id, values });
  const fillIn = () =>
    stage().warehouse.write(
      'run-1',
      batchOf(
        0,
        { table: leads, rows: [version(1, { title: 'one', cf_tags: ['a'] }), version(2, { title: 'two' })] },
        { table: opportunities, rows: [version(5, { lead_id: 1, value: 12.5 })] },
      ),
    );

  it('what the daemon writes and fills is no edit', async () => {
    await fillIn();
    const rows = Array.from({ length: 50 }, (_, index) => version(100 + index, { title: 'filled' }));
    await stage().warehouse.fill('run-2', 1, leads, rows);
    const batch = {
      table: leads,
      rows: [version(1, { title: 'next' }, noon(2))],
      gone: [{ id: '2', at: noon(2) }],
    };
    await stage().warehouse.write('run-3', batchOf(2, batch));
    expect(await read()).toEqual({ rows: [], lastRun: 3, answers: [] });
  });

  it('edits are read with the rows that they made, in the form of values', async () => {
    await fillIn();
    await update('1', { title: 'uno' });
    await stage().user(
      { kind: 'update', entity: 'opportunity', id: '5', values: { value: 3.1, note: 'n', confidence: 7 } },
      { kind: 'delete', entity: 'lead', id: '2' },
      { kind: 'insert', entity: 'lead', values: { title: 'new' } },
    );
    const { lastRun, rows } = await read();
    expect(lastRun).toBe(1);
    expect(rows).toMatchObject([
      {
        entity: 'lead',
        id: '1',
        values: { title: 'uno', cf_tags: ['a'], status_name: null },
        edits: [{ kind: 'update', state: 'new', before: { title: 'one' }, after: { title: 'uno' } }],
      },
      { entity: 'lead', id: '2', edits: [{ kind: 'delete', before: { title: 'two' }, after: {} }] },
      {
        entity: 'lead',
        id: '-1',
        values: { title: 'new' },
        edits: [{ kind: 'insert', before: {}, after: { title: 'new' } }],
      },
      {
        entity: 'opportunity',
        id: '5',
        edits: [
          {
            before: { value: 12.5, note: null, confidence: null },
            after: { value: 3.1, note: 'n', confidence: 7 },
          },
        ],
      },
    ]);
    expect(rows[1]).not.toHaveProperty('values');
  });

  it('a statement that changes nothing, or finds no row, is no edit', async () => {
    await fillIn();
    await update('1', { title: 'one' });
    await update('77', { title: 'nobody' });
    await stage().user({ kind: 'delete', entity: 'lead', id: '77' });
    expect((await read()).rows).toEqual([]);
  });

  it('an edit that fails takes those of its transaction along', async () => {
    await fillIn();
    await expect(
      stage().user(
        { kind: 'update', entity: 'lead', id: '1', values: { title: 'uno' } },
        { kind: 'revert', entity: 'lead', id: '2' },
      ),
    ).rejects.toThrow('No edit of lead 2 is open');
  });

  it('a row that is deleted and inserted again with its id has both edits', async () => {
    await fillIn();
    await stage().user(
      { kind: 'delete', entity: 'lead', id: '1' },
      { kind: 'insert', entity: 'lead', id: '1', values: { title: 'again' } },
    );
    expect((await read()).rows).toMatchObject([
      { id: '1', values: { title: 'again', cf_tags: null }, edits: [{ kind: 'delete' }, { kind: 'insert' }] },
    ]);
  });

  it('a row comes with all of its open edits, and those that were edited first come first', async () => {
    await fillIn();
    await update('2', { title: 'b' });
    const known = await editIds();
    const outcomes = [{ editId: known[0] ?? '', state: 'taken' as const }];
    await stage().warehouse.write('run-2', { ...batchOf(1), edits: { known, outcomes, renames: [] } });
    await update('1', { title: 'a' });
    await update('2', { title: 'c' });
    const first = await read(1);
    expect(first.rows.map(({ id }) => id)).toEqual(['1']);
    const next = await stage().warehouse.readEdits(contractLayout.tables, {
      limit: 1,
      after: first.next ?? '',
    });
    expect(next.rows.map(({ id }) => id)).toEqual(['2']);
    expect((await read()).rows).toMatchObject([
      {
        id: '2',
        edits: [
          { state: 'taken', after: { title: 'b' } },
          { state: 'new', after: { title: 'c' } },
        ],
      },
      { id: '1', edits: [{ state: 'new' }] },
    ]);
  });

  it('those that are open and not new are read where all are asked for', async () => {
    await fillIn();
    await update('1', { title: 'a' });
    await update('2', { title: 'b' });
    const known = await editIds();
    const [one = '', two = ''] = known;
    const outcomes = [
      { editId: one, state: 'held' as const, note: 'It waits.' },
      { editId: two, state: 'done' as const },
    ];
    await stage().warehouse.write('run-2', { ...batchOf(1), edits: { known, outcomes, renames: [] } });
    expect((await read()).rows).toEqual([]);
    const all = await stage().warehouse.readEdits(contractLayout.tables, { ...everyPage, isAll: true });
    expect(all.rows).toMatchObject([{ id: '1', edits: [{ editId: one, state: 'held' }] }]);
    expect(await stage().warehouse.readEnded([one, two, '00000000-0000-0000-0000-000000000000'])).toEqual([
      { editId: two, state: 'done', note: '', newId: undefined },
    ]);
  });

  it('a row that was edited meanwhile is left, and one whose edits are known is written', async () => {
    await fillIn();
    await update('1', { title: 'mine' });
    await stage().user({ kind: 'delete', entity: 'lead', id: '2' });
    const rows = [
      version(1, { status_name: 'won' }, noon(2)),
      version(2, { title: 'two' }, noon(2)),
      version(3, { title: 'three' }),
    ];
    const first = await stage().warehouse.write('run-2', batchOf(1, { table: leads, rows }));
    const why = { entity: 'lead', why: 'edited', words: 'A user edited the row meanwhile.' };
    expect(first).toEqual({
      run: 2,
      added: { lead: 1 },
      left: [
        { ...why, id: '1' },
        { ...why, id: '2' },
      ],
    });
    const known = await editIds();
    await update('1', { title: 'mine again' });
    const second = await stage().warehouse.write('run-3', {
      ...batchOf(2, { table: leads, rows }),
      edits: { known, outcomes: [], renames: [] },
    });
    expect(second.left).toEqual([{ ...why, id: '1' }]);
    await stage().warehouse.write('run-4', {
      ...batchOf(3, { table: leads, rows }),
      edits: { known: await editIds(), outcomes: [], renames: [] },
    });
    expect(await stage().rows('lead')).toEqual([
      { id: '1', title: 'mine again', cf_tags: ['a'], status_name: 'won' },
      { id: '2', title: 'two' },
      { id: '3', title: 'three' },
    ]);
  });

  it('what came of edits is noted, and those that go on stay open', async () => {
    await fillIn();
    for (const title of ['a', 'b', 'c']) await update('1', { title });
    const [one = '', two = '', three = ''] = await editIds();
    const outcomes = [
      { editId: one, state: 'superseded' },
      { editId: two, state: 'lost', note: 'The CRM has “x”.' },
      { editId: three, state: 'taken' },
    ] as const;
    await stage().warehouse.write('run-2', { ...batchOf(1), edits: { known: [], outcomes, renames: [] } });
    const seen = { kind: 'update', note: '', newId: undefined };
    expect(await stage().outcomes()).toEqual([
      { ...seen, state: 'superseded', isOver: true },
      { ...seen, state: 'lost', note: 'The CRM has “x”.', isOver: true },
      { ...seen, state: 'taken', isOver: false },
    ]);
    await stage().warehouse.write('run-3', {
      ...batchOf(2),
      edits: { known: [], outcomes: [{ editId: three, state: 'done', newId: '77' }], renames: [] },
    });
    expect((await stage().outcomes()).at(-1)).toEqual({ ...seen, state: 'done', newId: '77', isOver: true });
  });

  it('edits that have been over for long are deleted, so many at once, and inserts stay longer', async () => {
    await fillIn();
    for (const title of ['a', 'b', 'c', 'd']) await update('1', { title });
    await stage().user({ kind: 'insert', entity: 'lead', values: { title: 'new' } });
    const [open = '', ...others] = await editIds();
    const outcomesOf = (ids: readonly string[]) => ids.map((editId) => ({ editId, state: 'done' as const }));
    const end = (run: string, after: number, ids: readonly string[]) =>
      stage().warehouse.write(run, {
        ...batchOf(after),
        edits: { known: [], outcomes: outcomesOf(ids), renames: [] },
      });
    const forget = async (run: string, after: number) => {
      const oldEdits = { days: 9, insertDays: 19, limit: 1 };
      return (await stage().warehouse.write(run, { ...batchOf(after), oldEdits })).forgotten;
    };
    expect((await end('run-2', 1, others.slice(0, 1))).forgotten).toBeUndefined();
    await stage().age(1);
    await end('run-3', 2, others.slice(1));
    await stage().age(9);
    expect(await forget('run-4', 3)).toBe(1);
    await stage().age(1);
    expect(await forget('run-5', 4)).toBe(1);
    expect(await forget('run-6', 5)).toBe(1);
    expect(await forget('run-7', 6)).toBe(0);
    const { rows } = await stage().warehouse.readEdits(contractLayout.tables, { ...everyPage, isAll: true });
    expect(rows).toMatchObject([{ id: '1', edits: [{ editId: open }] }]);
    expect(await stage().outcomes()).toMatchObject([{ kind: 'update', isOver: false }, { kind: 'insert' }]);
    await stage().age(10);
    expect(await forget('run-8', 7)).toBe(1);
    expect(await stage().outcomes()).toMatchObject([{ isOver: false }]);
  });

  describeRenames(stage, editIds);
}

/** Rows that were inserted get the ids of their records. */
function describeRenames(stage: () => WarehouseContractStage, editIds: () => Promise<string[]>): void {
  const insertTree = async () => {
    await stage().warehouse.write('run-1', batchOf(0));
    await stage().user({ kind: 'insert', entity: 'lead', values: { title: 'new' } });
    const values = { lead_id: -1, value: 1, stage_id: null };
    await stage().warehouse.write('run-2', batchOf(1, { table: opportunities, rows: [version(5, values)] }));
  };
  const rename = async (run: string, after: number) => {
    const known = await editIds();
    const editId = known[0] ?? '';
    return stage().warehouse.write(run, {
      ...batchOf(
        after,
        { table: leads, rows: [version(70, { title: 'of the CRM' })] },
        { table: opportunities },
      ),
      edits: {
        known,
        outcomes: [{ editId, state: 'done', newId: '70' }],
        renames: [{ editId, entity: 'lead', from: '-1', to: '70' }],
      },
    });
  };

  it('a row that was inserted gets the id of its record, and so do the rows and edits that point to it', async () => {
    await insertTree();
    const reply = await rename('run-3', 2);
    expect(reply).toMatchObject({ left: [], added: { lead: 0 } });
    expect(await stage().rows('lead')).toEqual([{ id: '70', title: 'of the CRM' }]);
    expect(await stage().rows('opportunity')).toMatchObject([{ id: '5', lead_id: 70 }]);
    expect(await stage().outcomes()).toMatchObject([{ state: 'done', newId: '70', isOver: true }]);
  });

  it('a row that was edited meanwhile, or is held, keeps its id, and nothing is told', async () => {
    await insertTree();
    const release = await stage().hold('lead', '-1');
    const held = await rename('run-3', 2);
    expect(held.left).toMatchObject([
      { entity: 'lead', id: '-1', why: 'locked' },
      { entity: 'lead', id: '70', why: 'locked' },
    ]);
    await release();
    const known = await editIds();
    await stage().user({ kind: 'update', entity: 'lead', id: '-1', values: { title: 'newer' } });
    const editId = known[0] ?? '';
    const edited = await stage().warehouse.write('run-4', {
      ...batchOf(3, { table: leads }, { table: opportunities }),
      edits: {
        known,
        outcomes: [{ editId, state: 'done', newId: '70' }],
        renames: [{ editId, entity: 'lead', from: '-1', to: '70' }],
      },
    });
    expect(edited.left).toMatchObject([{ entity: 'lead', id: '-1', why: 'edited' }]);
    expect(await stage().outcomes()).toMatchObject([
      { state: 'new', isOver: false },
      { state: 'new', isOver: false },
    ]);
    await rename('run-5', 4);
    expect(await stage().rows('lead')).toMatchObject([{ id: '70' }]);
    const { rows } = await stage().warehouse.readEdits(contractLayout.tables, everyPage);
    expect(rows).toMatchObject([{ id: '70', edits: [{ kind: 'update', after: { title: 'newer' } }] }]);
  });
}
