import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { leadKey, recordOf, rowOf, type World } from './world.ts';
import { cycle } from './world-daemon.ts';

/** The first lead, of which most tests of edits and conflicts tell. */
export const acme = leadKey(1);

/** Its title in the CRM. */
export const titleOf = (world: World) => recordOf(world, acme).fields['title'];

/** What the cells of its row show. */
export const shownTitle = (world: World) => describeCell(rowOf(world, acme).cells['title'] ?? emptyCell);
export const shownSync = (world: World, key = acme) => describeCell(rowOf(world, key).sync);

/** As if somebody had typed its title. */
export const typeTitle = (world: World, title: string) => {
  rowOf(world, acme).cells['title'] = textCell(title);
};

/** Reads the sheet twice, so that what was typed rests. */
export async function rest(world: World) {
  await cycle(world);
  return await cycle(world);
}
