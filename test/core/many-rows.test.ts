import { expect, test } from 'vitest';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { copyRow, leadKey, recordOf, removeRow, restart, rowOf } from '../support/world.ts';
import { look, settle, worldWithLeads } from '../support/world-daemon.ts';

const count = 600;
const titles = Array.from({ length: count }, (_, number) => `Lead ${number + 1}`);

test('many rows that are looked at in slices after a start are decided as all at once', async () => {
  const world = await worldWithLeads(titles);
  rowOf(world, leadKey(7)).cells['title'] = textCell('Typed');
  rowOf(world, leadKey(9)).id = emptyCell;
  rowOf(world, leadKey(11)).id = { kind: 'number', number: 12 };
  copyRow(world, leadKey(20));
  removeRow(world, leadKey(30));
  rowOf(world, leadKey(40)).isPaused = true;
  rowOf(world, leadKey(50)).sync = textCell('typed over');
  restart(world);
  // Each decision is compared with one that is made of everything.
  await look(world);
  await look(world);
  await settle(world);
  expect(recordOf(world, leadKey(7)).fields['title']).toBe('Typed');
  expect(describeCell(rowOf(world, leadKey(50)).sync)).toMatch(/^Synced/);
  const { grounded, standing } = world.trail;
  expect(grounded?.plan.table).toEqual([]);
  expect(standing.groundOf('lead').inStep.size).toBeGreaterThan(count - 10);
});
