import { expect, it } from 'vitest';
import { claimToken, recordKeyText } from '../../src/core/record.ts';
import { decide } from '../../src/sheet/decide/decide.ts';
import { inputOf, leadKey, readSheet } from '../support/world.ts';
import { settle, worldWithLeads } from '../support/world-daemon.ts';

it('an emptied tab is stopped although each of its many records was made from a row of it', () => {
  const world = worldWithLeads(['Acme']);
  const [first] = [...world.agreements.values()];
  if (!first) throw new Error('Nothing is agreed.');
  settle(world);
  for (let id = 2; id <= 60_000; id += 1) {
    const key = leadKey(id);
    const record = world.records.get(recordKeyText(leadKey(1)));
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
      createdAt: world.now,
      dueAt: world.now,
      attempts: 0,
      looks: 0,
      recordId: key.id,
    });
  }
  world.sheet.lead.length = 0;
  const input = inputOf(world, readSheet(world));
  const plan = decide({ ...input, isRestless: () => false, wasMissing: () => true });
  expect(plan.brakes.map(({ scope }) => scope)).toEqual(['brake:lead:emptied']);
});
