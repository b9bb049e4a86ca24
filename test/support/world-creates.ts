import type { OutboxItem } from '../../src/core/state.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
import type { SheetRow, World } from './world.ts';
import { cycle, pull } from './world-daemon.ts';

export const creates = (world: World) => [...world.outbox.values()].filter(({ kind }) => kind === 'create');

/** Lets a new row be claimed and its create be put into the outbox, without sending it. */
export async function claim(world: World, row: SheetRow): Promise<OutboxItem> {
  await pull(world);
  await cycle(world);
  await cycle(world);
  await cycle(world);
  const item = world.outbox.get(`lead-${describeCell(row.id)}`);
  if (!item) throw new Error('The row was not claimed.');
  return item;
}

/** As if the CRM had not said whether it made the record, and another one may be it. */
export const leaveToPerson = (world: World, item: OutboxItem): void => {
  const error = { code: 'CRM_UNKNOWN_OUTCOME', message: 'Lead 9 may be it.' } as const;
  setItem(world, item, { state: 'review', sentAt: world.clock.now, error });
};

/** Lets something have happened to a create. */
export const setItem = (world: World, item: OutboxItem, more: Partial<OutboxItem>) =>
  world.outbox.set(`lead-${item.key.id}`, { ...item, ...more });
