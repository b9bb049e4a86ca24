import { expect, test } from 'vitest';
import { describeCell } from '../../src/sheet/port/cell.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

test('a new row that may be any of many newcomers says at most a dozen of them, and what to do', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const { clock, mirror } = link;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Acme' });
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const item = mirror.readOutbox().find(({ kind }) => kind === 'create');
  mirror.saveOutboxItem({ ...item!, state: 'unknown', sentAt: clock.now() });
  const at = clock.now() + 1;
  const times = { observedAt: at, firstSeenAt: at, lastSeenAt: at, missedSweeps: 0 };
  for (let id = 200_001; id <= 200_200; id += 1) {
    const key = { entity: 'lead', id: String(id) } as const;
    mirror.saveRecord({ key, fields: { title: `Imported ${id}` }, presence: 'present', ...times });
  }
  await pushRecord(link, item!.key);
  const { table } = await engine.cycle();
  const told = table.flatMap(({ write }) =>
    'sync' in write && write.sync ? [describeCell(write.sync)] : [],
  );
  expect(told).toContainEqual(
    expect.stringMatching(
      /, and 200001, .* and 188 more may be it\. Put that ID in place of the token if it is, or clear the token to create a new record\.$/,
    ),
  );
});

test('S2: a new row is not taken for the record of another one that says the same and more', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const { clock, mirror } = link;
  const type = (row: number, column: string, text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column, text });
  await type(6, 'Title', 'Acme');
  await type(7, 'Title', 'Acme');
  await type(7, 'Status', 'Contacted');
  for (const _turn of [1, 2, 3]) await engine.cycle();
  const items = mirror.readOutbox().filter(({ kind }) => kind === 'create');
  const sentAt = clock.now();
  for (const item of items) mirror.saveOutboxItem({ ...item, state: 'unknown', sentAt });
  const key = { entity: 'lead', id: '200001' } as const;
  const at = sentAt + 1;
  const times = { observedAt: at, firstSeenAt: at, lastSeenAt: at, missedSweeps: 0 };
  const fields = { title: 'Acme', status_name: 'contacted' };
  mirror.saveRecord({ key, fields, presence: 'present', ...times });
  for (const item of items) await pushRecord(link, item.key);
  const made = mirror.readOutbox().flatMap(({ fields: sent, recordId }) => (recordId ? [sent] : []));
  expect(made).toEqual([fields]);
});
