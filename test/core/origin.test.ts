import { expect, it } from 'vitest';
import { claimToken } from '../../src/core/record.ts';
import { emptyAgreement, type OutboxItem, type StoredRecord } from '../../src/core/state.ts';
import { decide } from '../../src/sheet/decide/decide.ts';
import { leadKey } from '../support/world.ts';
import { inputOf, worldWithLeads } from '../support/world-daemon.ts';

it('an emptied tab is stopped although each of its many records was made from a row of it', async () => {
  const world = await worldWithLeads(['Acme']);
  const [record] = world.records.values();
  if (!record) throw new Error('Nothing is known.');
  world.sheet.lead.length = 0;
  const { known, ...input } = await inputOf(world);
  const at = world.clock.now;
  const keys = Array.from({ length: 60_000 }, (_, index) => leadKey(index + 1));
  const records = keys.map((key): StoredRecord => ({ ...record, key }));
  const agreements = keys.map((key) => ({ ...emptyAgreement(key, at), fields: record.fields }));
  const outbox = keys.map(
    ({ entity, id }): OutboxItem => ({
      key: { entity, id: claimToken(id) },
      kind: 'create',
      state: 'done',
      fields: { title: 'Acme' },
      base: {},
      notice: '',
      run: 'run',
      createdAt: at,
      dueAt: at,
      attempts: 0,
      looks: 0,
      recordId: id,
    }),
  );
  const plan = decide({ ...input, known: { ...known, agreements, outbox, records } });
  expect(plan.brakes.map(({ scope }) => scope)).toEqual(['brake:lead:emptied']);
});
