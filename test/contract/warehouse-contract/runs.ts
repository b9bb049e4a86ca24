import { expect, it } from 'vitest';
import { contractLayout, type WarehouseContractStage } from '../../support/warehouse-contract-stage.ts';
import { batchOf, noon, version } from '../../support/warehouse-database.ts';

const leads = contractLayout.tables[0]!;

export function describeRuns(stage: () => WarehouseContractStage): void {
  it('a batch inserts, updates and deletes rows in one numbered run', async () => {
    const { warehouse } = stage();
    const rows = [version(1, { title: 'One', status_name: 'new' }), version(2, { title: 'Two' })];
    const first = await warehouse.write('run-1', batchOf(0, { table: leads, rows }));
    const second = await warehouse.write(
      'run-2',
      batchOf(1, {
        table: leads,
        rows: [version(1, { title: 'One again' }, noon(2)), version(3, { title: 'Three' })],
        gone: [
          { id: '2', at: noon(2) },
          { id: '9', at: noon(2) },
        ],
      }),
    );
    expect([first, second]).toEqual([
      { run: 1, left: [], added: { lead: 2 } },
      { run: 2, left: [], added: { lead: 0 } },
    ]);
    expect(await stage().rows('lead')).toEqual([
      { id: '1', title: 'One again', status_name: 'new' },
      { id: '3', title: 'Three' },
    ]);
    expect([await warehouse.findRun('run-2'), await warehouse.findRun('run-3')]).toEqual([2, undefined]);
    expect(await warehouse.touch([])).toBe(2);
    expect(await warehouse.meet()).toMatchObject({ isReadOnly: false, keeper: 'own', lastRun: 2 });
  });

  it('W15: a run that does not follow the last one changes nothing', async () => {
    const { warehouse } = stage();
    await warehouse.write('run-1', batchOf(0));
    await stage().open().write('run-2', batchOf(1));
    const late = batchOf(1, { table: leads, rows: [version(1, { title: 'One' })] });
    await expect(warehouse.write('run-3', late)).rejects.toMatchObject({ code: 'WAREHOUSE_WENT_BACK' });
    expect(await stage().rows('lead')).toEqual([]);
    expect(await warehouse.findRun('run-3')).toBeUndefined();
  });

  it('W12: a row that a user holds is left, and all others are written', async () => {
    const { warehouse } = stage();
    const rows = (title: string, day: number) =>
      [1, 2].map((id) => version(id, { title: `${title} ${id}` }, noon(day)));
    await warehouse.write('run-1', batchOf(0, { table: leads, rows: rows('a', 1) }));
    const release = await stage().hold('lead', '1');
    const reply = await warehouse.write('run-2', batchOf(1, { table: leads, rows: rows('b', 2) }));
    expect(reply.left).toEqual([{ entity: 'lead', id: '1', why: 'locked', words: expect.any(String) }]);
    expect((await stage().rows('lead')).map(({ title }) => title)).toEqual(['a 1', 'b 2']);
    await release();
    await warehouse.write('run-3', batchOf(2, { table: leads, rows: rows('b', 2) }));
    expect((await stage().rows('lead')).map(({ title }) => title)).toEqual(['b 1', 'b 2']);
  });

  it('questions are asked until they are asked no longer, and keep an answer until it was taken', async () => {
    const { warehouse } = stage();
    const ask = (scope: string, what = 'Which one?') => ({
      scope,
      entity: 'lead',
      id: '1',
      what,
      answers: ['crm', 'sql'],
    });
    const write = (after: number, asked: readonly ReturnType<typeof ask>[], taken: readonly string[] = []) =>
      warehouse.write(`run-${after + 1}`, { ...batchOf(after), questions: { asked, taken } });
    await write(0, [ask('a'), ask('b')]);
    await stage().answer('a', 'sql');
    const { answers } = await warehouse.readEdits(contractLayout.tables, { limit: 10, after: '0' });
    expect(answers).toEqual([{ scope: 'a', answer: 'sql' }]);
    await write(1, [ask('a'), ask('c')]);
    expect(await stage().questions()).toEqual([
      { scope: 'a', answer: 'sql' },
      { scope: 'c', answer: null },
    ]);
    await write(2, [ask('a'), ask('c')], ['a']);
    expect(await stage().questions()).toEqual([
      { scope: 'a', answer: null },
      { scope: 'c', answer: null },
    ]);
    await stage().answer('c', 'crm');
    await write(3, [ask('c', 'Which one now?')]);
    expect(await stage().questions()).toEqual([{ scope: 'c', answer: null }]);
  });

  it('a listener hears of edits and answers', async () => {
    const { warehouse } = stage();
    await warehouse.write('run-1', {
      ...batchOf(0, { table: leads, rows: [version(1, { title: 'one' })] }),
      questions: { asked: [{ scope: 'a', entity: 'lead', id: '', what: '?', answers: ['crm'] }], taken: [] },
    });
    let heard = Promise.withResolvers<void>();
    const listener = stage().openDirect();
    listener.listen(() => heard.resolve());
    // What came before is told once it listens.
    await heard.promise;
    heard = Promise.withResolvers();
    await stage().user({ kind: 'update', entity: 'lead', id: '1', values: { title: 'uno' } });
    await heard.promise;
    heard = Promise.withResolvers();
    await stage().answer('a', 'crm');
    await heard.promise;
  });
}
