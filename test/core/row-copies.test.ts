import { describe, expect, it } from 'vitest';
import { isQuiet, type Plan } from '../../src/sheet/plans/plan.ts';
import { comparePlans } from '../../src/sheet/plans/plan-difference.ts';
import { booleanCell, describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRow,
  changeRecord,
  copyRow,
  leadKey,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, decideWorld, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);
const heldPositions = (plan: Plan) => plan.holds.map(({ position }) => position);

/** Reads the sheet twice, so that what was typed rests. */
async function rest(world: World): Promise<Plan> {
  await cycle(world);
  return await cycle(world);
}

function typeTitle(row: SheetRow, title: string) {
  row.cells['title'] = textCell(title);
}

function clearId(row: SheetRow) {
  row.id = emptyCell;
}

describe('a copied row', () => {
  it('fault 33: is held and never writes to the original, even when it was edited', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme Copy');
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([{ entity: 'lead', id: '1', position: 3 }]);
    expect(syncOf(copy)).toBe(
      'Held: This row is a copy: its ID stands in another row too. Clear the ID of the copy to make it a new record, or delete the copy.',
    );
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('above the original is the one that is held', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme Copy');
    world.sheet.lead.unshift(world.sheet.lead.pop()!);
    expect(heldPositions(await settle(world))).toEqual([1]);
  });

  it('is told from the original where a table fills a column with checkboxes of which nobody has ticked any', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    world.boxedFields.add('custom.is_vip');
    for (const { cells } of world.sheet.lead) cells['custom.is_vip'] = booleanCell(false);
    typeTitle(copyRow(world, acme), 'Acme Copy');
    expect(heldPositions(await settle(world))).toEqual([3]);
  });

  it('stays the copy when the original is edited and sorted below it, and the edit goes to the record', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    await settle(world);
    typeTitle(rowOf(world, acme), 'Acme GmbH');
    world.sheet.lead.reverse();
    expect(heldPositions(await settle(world))).toEqual([1]);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta']);
    expect(syncOf(copy)).toMatch(/^Held: This row is a copy/);
  });

  it('of a row whose edit waits is told from it by what was decided, wherever both stand', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    typeTitle(rowOf(world, acme), 'Acme GmbH');
    await rest(world);
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme AG');
    world.sheet.lead.reverse();
    expect(heldPositions(await settle(world))).toEqual([1]);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta']);
  });

  it('that can not be told from its original is held with it, and neither is written from', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme Copy');
    typeTitle(rowOf(world, acme), 'Acme GmbH');
    const plan = await settle(world);
    expect(heldPositions(plan)).toEqual([1, 3]);
    expect(syncOf(copy)).toMatch(
      /^Held: Several rows have the ID 1, and none shows what was last known of it\./,
    );
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    copy.id = emptyCell;
    await settle(world);
    expect(titles(world)).toEqual(['Acme GmbH', 'Beta', 'Acme Copy']);
  });

  it('takes the place of an original that was deleted when it shows what that had', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    copyRow(world, acme);
    await settle(world);
    removeRow(world, acme);
    const plan = await settle(world);
    expect([plan.holds, syncOf(rowOf(world, acme))]).toEqual([[], expect.stringMatching(/^Synced /)]);
  });

  it('that was edited does not take the place of an original that was deleted until a person says so', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    await settle(world);
    removeRow(world, acme);
    typeTitle(copy, 'Gamma');
    await settle(world);
    expect(syncOf(copy)).toMatch(/^Held: This row is a copy of record 1, whose own row is gone\./);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    copy.sync = emptyCell;
    await settle(world);
    expect(titles(world)).toEqual(['Gamma', 'Beta']);
  });

  it.each<[what: string, text: string, follow: (copy: SheetRow) => void, made: readonly string[]]>([
    ['cleared its Sync cell', 'Acme', (copy) => Object.assign(copy, { sync: emptyCell }), ['Acme', 'Beta']],
    ['changed it and cleared its ID', 'Gamma', clearId, ['Acme', 'Beta', 'Gamma']],
  ])(
    'that looks like a record whose row was deleted is what its Sync cell says, once somebody %s',
    async (_what, title, follow, made) => {
      const world = await worldWithLeads(['Acme', 'Beta']);
      const copy = copyRow(world, acme);
      await settle(world);
      removeRow(world, acme);
      copy.cells['about.url'] = textCell('https://acme.example');
      const [hold] = (await settle(world)).holds;
      expect([hold?.decision, syncOf(copy)]).toEqual([
        undefined,
        'Held: This row is a copy of record 1, whose own row is gone. Clear its Sync cell to make it the row of record 1, or change the row to make it a new record.',
      ]);
      typeTitle(copy, title);
      await settle(world);
      follow(copy);
      await settle(world);
      expect([titles(world), syncOf(copy)]).toEqual([made, expect.stringMatching(/^Synced /)]);
    },
  );

  it('that looks like a record that lost its row is what its Sync cell says, once somebody changed it and cleared its ID', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const row = rowOf(world, acme);
    row.id = rowOf(world, leadKey(2)).id;
    row.cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(syncOf(row)).toMatch(
      /looks like record 1, and may be its row\. Put 1 into the ID cell, or change the row and clear the ID to make it a new record\.$/,
    );
    typeTitle(row, 'Gamma');
    clearId(row);
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Gamma']);
  });

  it('S2: is told from the original by what it shows where the words that say so reached the original', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const [original, other] = [rowOf(world, acme), rowOf(world, leadKey(2))];
    other.id = original.id;
    other.cells['about.url'] = textCell('https://beta.example');
    await settle(world);
    expect(syncOf(other)).toMatch(/^Held: This row is a copy: .+, and it looks like record 2/);
    [original.sync, other.sync] = [other.sync, original.sync];
    await settle(world);
    expect(syncOf(other)).toMatch(/^Held: This row is a copy: .+, and it looks like record 2/);
    expect(syncOf(original)).toMatch(/^Synced /);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('that was retyped leaves the original its ID, also when that was wiped meanwhile', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const original = rowOf(world, acme);
    const copy = copyRow(world, acme);
    await settle(world);
    typeTitle(copy, 'Gamma');
    original.id = emptyCell;
    await settle(world);
    expect([describeCell(original.id), syncOf(copy)]).toEqual([
      '1',
      expect.stringMatching(/^Held: This row is a copy: its ID stands in another row too/),
    ]);
    original.id = emptyCell;
    original.cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(syncOf(original)).toMatch(/^Held: This looks like record 1, and may be its row/);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('whose ID is cleared becomes a record of its own', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    await settle(world);
    copy.id = emptyCell;
    typeTitle(copy, 'Acme Copy');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Acme Copy']);
    expect(isQuiet(await settle(world))).toBe(true);
  });

  it('S3: of a claimed row makes no second record', async () => {
    const world = await worldWithLeads([]);
    await pull(world);
    addRow(world, 'lead', { title: textCell('Acme') });
    await rest(world);
    world.sheet.lead.push(structuredClone(world.sheet.lead[0]!), structuredClone(world.sheet.lead[0]!));
    await settle(world);
    expect(titles(world)).toEqual(['Acme']);
    expect(world.sheet.lead.map(({ id }) => id.kind)).toEqual(['number', 'text', 'text']);
    expect(world.sheet.lead.slice(1).map(syncOf)).toEqual([
      expect.stringMatching(/^Held: This row is a copy/),
      expect.stringMatching(/^Held: This row is a copy/),
    ]);
  });
});

describe('the offer to make a copy a new record', () => {
  const offerOf = (plan: Plan): string => plan.holds.find(({ decision }) => decision)?.decision ?? 'none';

  it('is taken by an answer, and the copy becomes a record of its own', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme Copy');
    const offer = offerOf(await settle(world));
    expect(offer).toMatch(/^copy:lead-1:/);
    world.decisions.set(offer, 'new');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Acme Copy']);
    expect([[...world.decisions], isQuiet(await settle(world))]).toEqual([[], true]);
  });

  it('is no other plan each time it is decided, although its ID is: else no plan with it could be applied', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    typeTitle(copyRow(world, acme), 'Acme Copy');
    const [hold] = (await settle(world)).holds;
    world.decisions.set(hold?.decision ?? '', 'new');
    const [shown, applied] = [await decideWorld(world), await decideWorld(world)];
    expect(shown.table).toMatchObject([{ creates: { title: 'Acme Copy' } }]);
    expect(comparePlans(shown, applied)).toEqual([]);
  });

  it('stays the same when rows are sorted, and is another one when the copy is edited', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    const offer = offerOf(await settle(world));
    world.sheet.lead.reverse();
    expect(offerOf(await settle(world))).toBe(offer);
    typeTitle(copy, 'Acme Copy');
    expect(offerOf(await settle(world))).not.toBe(offer);
  });

  it('is made once the copy is not paused any more, which it says until then', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    rowOf(world, acme).isPaused = true;
    const copy = copyRow(world, acme);
    typeTitle(copy, 'Acme Copy');
    expect(offerOf(await settle(world))).toBe('none');
    expect(syncOf(copy)).toBe(
      'Held: This row is a copy, and paused by its cell in “Pause”. Untick or clear that to go on.',
    );
    delete copy.isPaused;
    world.decisions.set(offerOf(await settle(world)), 'new');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Acme Copy']);
  });

  it('waits for what a new record needs', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    copy.cells['title'] = emptyCell;
    world.decisions.set(offerOf(await settle(world)), 'new');
    await settle(world);
    expect(syncOf(copy)).toBe('Held: This row is a copy, and can not become a new record yet. Fill Title.');
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });
});

describe('an edit in the CRM', () => {
  it('reaches the original and not its copy', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const copy = copyRow(world, acme);
    await settle(world);
    changeRecord(world, acme, { title: 'Acme GmbH' });
    await settle(world);
    expect(rowOf(world, acme).cells['title']).toEqual(textCell('Acme GmbH'));
    expect(copy.cells['title']).toEqual(textCell('Acme'));
  });
});
