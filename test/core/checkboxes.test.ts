import { expect, it } from 'vitest';
import { recordKeyText } from '../../src/core/record.ts';
import { emptyCell } from '../../src/sheet/port/cell.ts';
import { addRecord, createWorld, leadKey } from '../support/world.ts';
import { cycle, pull } from '../support/world-daemon.ts';

it('a checkbox that comes with the row of a record is left empty, also where the CRM does not tell the field', async () => {
  const world = createWorld();
  const key = leadKey(addRecord(world, 'lead', { title: 'Acme' }));
  world.crm.set(recordKeyText(key), { key, fields: { title: 'Acme' } });
  await pull(world);
  const cells = (await cycle(world)).table.map(({ write }) => (write.kind === 'append' ? write.cells : {}));
  expect(cells).toMatchObject([{ 'custom.is_vip': emptyCell }]);
});
