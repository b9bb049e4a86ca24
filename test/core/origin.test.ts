import { expect, it } from 'vitest';
import { claimToken, recordKeyText } from '../../src/core/record.ts';
import { leadKey } from '../support/world.ts';
import { inputOf, settle, worldWithLeads } from '../support/world-daemon.ts';

it('an emptied tab is stopped although each of its many records was made from a row of it', async () => {
  const world = await worldWithLeads(['Acme']);
  const [first] = [...world.agreements.values()];
  if (!first) throw new Error('Nothing is agreed.');
  await settle(world);
  const record = world.records.get(recordKeyText(leadKey(1)));
  for (let id = 2; id <= 60_000; id += 1) {
    const key = leadKey(id);
    if (record) world.records.set(recordKeyText(key), { ...record, key });
    world.agreements.set(recordKeyText(key), { ...first, key });
    const token = { entity: 'lead', id: claimToken(String(id)) } as const;
    world.outbox.set(recordKeyText(token), {
      key: token,
      kind: 'create',
      state: 'done',
      fields: { title: 'Acme' },
      base: {},
      notice: '',
      run: 'run',
      createdAt: world.clock.now,
      dueAt: world.clock.now,
      attempts: 0,
      looks: 0,
      recordId: key.id,
    });
  }
  world.sheet.lead.length = 0;
  const input = await inputOf(world);
  const plan = decide({ ...input, isRestless: () => false, wasMissing: () => true });
  expect(plan.brakes.map(({ scope }) => scope)).toEqual(['brake:lead:emptied']);
});
