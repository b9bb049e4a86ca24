import { describe, expect, it } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRow } from '../support/world.ts';
import { inputOf, worldWithLeads } from '../support/world-daemon.ts';

describe('rows of records that are missing', () => {
  it('are known again by their title among many that people pasted, however many records lack theirs', async () => {
    const lost = 500;
    const world = await worldWithLeads(Array.from({ length: lost }, (_, index) => `Lead ${index}`));
    for (const row of world.sheet.lead) {
      row.id = emptyCell;
      row.cells['about.url'] = textCell('https://typed.example');
    }
    for (let index = 0; index < 3_000; index += 1) addRow(world, 'lead', { title: textCell(`New ${index}`) });
    for (const scope of ['emptied', 'vanished', 'changed'])
      world.decisions.set(`brake:lead:${scope}`, 'approve');
    const input = await inputOf(world);
    const plan = decide(input);
    expect(plan.brakes).toEqual([]);
    const held = plan.holds.filter(({ position }) => position !== undefined);
    expect(held.map(({ position, reason }) => [position, reason.includes(`record ${position},`)])).toEqual(
      Array.from({ length: lost }, (_, index) => [index + 1, true]),
    );
  });
});
