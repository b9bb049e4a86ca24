import { describe, expect, it } from 'vitest';
import { type Edit, findDisorder } from '../../src/core/waiting/disorder.ts';
import { copyReason } from '../../src/sheet/decide/identity/strays.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { defaultBrakes } from '../support/policy.ts';
import { changeRecord, leadKey, recordOf, removeRecord, rowOf, type World } from '../support/world.ts';
import { cycle, settle, worldWithLeads } from '../support/world-daemon.ts';
import { scopes } from '../support/world-view.ts';

const many = Array.from({ length: 20 }, (_, index) => `Lead ${String(index + 1).padStart(2, '0')}`);
const titleOf = (world: World, id: number) => recordOf(world, leadKey(id))?.fields['title'];

/** Writes the titles of the rows in the opposite order, as a sort of that column alone does. */
function tearTitles(world: World) {
  const rows = world.sheet.lead;
  const titles = rows.map((row) => row.cells['title'] ?? emptyCell).toReversed();
  rows.forEach((row, index) => {
    row.cells['title'] = titles[index] ?? emptyCell;
  });
}

function expectUntouched(world: World, plan: Plan) {
  expect(plan.table).toEqual([]);
  expect(plan.outbox.save).toEqual([]);
  expect(many.map((_, index) => titleOf(world, index + 1))).toEqual(many);
}

describe('S5: over the brake nothing is written', () => {
  it('when one column was sorted without the rest', async () => {
    const world = await worldWithLeads(many);
    tearTitles(world);
    const plan = await settle(world);
    expect(scopes(plan)).toEqual(['brake:lead:torn']);
    expectUntouched(world, plan);
  });

  it('when a column of three titles was sorted without the rest, of which one reads as a formula', async () => {
    const world = await worldWithLeads(['=1+1', 'Acme', 'Beta']);
    const [one, two, three] = world.sheet.lead.map(({ cells }) => cells['title'] ?? emptyCell);
    const turned = [two, three, one];
    world.sheet.lead.forEach((row, index) => {
      row.cells['title'] = turned[index] ?? emptyCell;
    });
    expect(scopes(await settle(world))).toEqual(['brake:lead:torn']);
    expect([1, 2, 3].map((id) => titleOf(world, id))).toEqual(['=1+1', 'Acme', 'Beta']);
  });

  it('when one column was sorted without the rest while an edit of it waits', async () => {
    const world = await worldWithLeads([...many, 'Waits']);
    rowOf(world, leadKey(21)).cells['title'] = textCell('Refused');
    await cycle(world);
    await cycle(world);
    expect(world.outbox.size).toBe(1);
    tearTitles(world);
    await cycle(world);
    expect(scopes(await cycle(world))).toEqual(['brake:lead:torn']);
    expect(world.outbox.size).toBe(1);
  });

  it('when one column was sorted without the rest, however many other edits of it wait', () => {
    const edit = (id: string, before: string, after: string): Edit => ({ id, field: 'title', before, after });
    const torn = [edit('1', 'A', 'C'), edit('2', 'B', 'A'), edit('3', 'C', 'B')];
    const others = ['4', '5', '6', '7'].map((id) => edit(id, `old ${id}`, `new ${id}`));
    expect(findDisorder([...torn, ...others], 20, defaultBrakes, String).map(({ kind }) => kind)).toEqual([
      'torn',
    ]);
  });

  it('when one column was sorted without the rest, and what two rows lost stands in rows that have none', () => {
    const edit = (id: string, before: string, after: string): Edit => ({ id, field: 'title', before, after });
    const torn = [edit('1', 'A', 'C'), edit('2', 'B', 'D'), edit('3', 'E', 'B')];
    const lost = ['C', 'D'].map((before) => ({ id: before, field: 'title', before }));
    const kinds = (...rest: readonly (typeof lost)[]) =>
      findDisorder(torn, 20, defaultBrakes, String, ...rest).map(({ kind }) => kind);
    expect(kinds(lost)).toEqual(['torn']);
    expect(kinds()).toEqual([]);
  });

  it('when one long column was sorted without the rest, although nobody can compare each of its cells with each', () => {
    const titles = Array.from({ length: 60_000 }, (_, index) => `Task ${index}`);
    const torn = titles.map((before, index): Edit => {
      const after = titles.at(-1 - index) ?? null;
      return { id: String(index), field: 'title', before, after };
    });
    expect(findDisorder(torn, 100_000, defaultBrakes, String).map(({ kind }) => kind)).toContain('torn');
  });

  it('when one column was sorted without the rest by what writes an accent in another way', () => {
    const edit = (id: string, before: string, after: string): Edit => ({ id, field: 'title', before, after });
    const torn = [edit('1', 'Caf\u00e9', 'Bar'), edit('2', 'Bar', 'Inn'), edit('3', 'Inn', 'Cafe\u0301')];
    expect(findDisorder(torn, 20, defaultBrakes, String).map(({ kind }) => kind)).toEqual(['torn']);
  });

  it('when one column was sorted without the rest and one of its records is gone', async () => {
    const world = await worldWithLeads(many);
    removeRecord(world, leadKey(2));
    const rows = [1, 2, 19].map((id) => rowOf(world, leadKey(id)));
    const [first, second, third] = rows.map((row) => row.cells['title'] ?? emptyCell);
    for (const [index, title] of [second, third, first].entries())
      Object.assign(rows[index]?.cells ?? {}, { title });
    expect(scopes(await settle(world))).toEqual(['brake:lead:torn']);
    expect(titleOf(world, 1)).toBe('Lead 01');
  });

  it('when one column was sorted without the rest and the CRM emptied what one row lost', async () => {
    const world = await worldWithLeads(many);
    const urls = ['a.example', 'b.example', 'c.example', 'd.example'];
    for (const [index, url] of urls.entries()) changeRecord(world, leadKey(index + 1), { 'about.url': url });
    await settle(world);
    changeRecord(world, leadKey(4), { 'about.url': null });
    for (const [index, url] of ['d.example', 'a.example', 'b.example', ''].entries())
      rowOf(world, leadKey(index + 1)).cells['about.url'] = url === '' ? emptyCell : textCell(url);
    expect(scopes(await settle(world))).toEqual(['brake:lead:torn']);
    expect(recordOf(world, leadKey(1))?.fields['about.url']).toBe('a.example');
  });

  it('when one column was sorted without the rest and the only row of one of its records is marked as a copy', async () => {
    const world = await worldWithLeads(many);
    const rows = [1, 2, 3, 4].map((id) => rowOf(world, leadKey(id)));
    const titles = rows.map((row) => row.cells['title'] ?? emptyCell);
    for (const [index, row] of rows.entries()) row.cells['title'] = titles[3 - index] ?? emptyCell;
    rowOf(world, leadKey(4)).sync = textCell(`Held: ${copyReason}`);
    expect(scopes(await settle(world))).toEqual(['brake:lead:torn']);
    expect(titleOf(world, 1)).toBe('Lead 01');
  });

  it('when the ID column was sorted without the rest', async () => {
    const world = await worldWithLeads(many);
    const ids = world.sheet.lead.map((row) => row.id).toReversed();
    world.sheet.lead.forEach((row, index) => {
      row.id = ids[index] ?? emptyCell;
    });
    const plan = await settle(world);
    expect(scopes(plan)).toContain('brake:lead:torn');
    expectUntouched(world, plan);
  });

  it('and it goes on by itself when the sort is undone', async () => {
    const world = await worldWithLeads(many);
    tearTitles(world);
    await settle(world);
    tearTitles(world);
    expect((await settle(world)).brakes).toEqual([]);
  });

  it('unless a person approves', async () => {
    const world = await worldWithLeads(many);
    tearTitles(world);
    await settle(world);
    world.decisions.set('brake:lead:torn', 'approve');
    await settle(world);
    expect(titleOf(world, 1)).toBe('Lead 20');
  });

  it('S2: where a person approves, for the rows that they saw alone: two whose values change places later are held', async () => {
    const world = await worldWithLeads([...many, 'Last but one', 'Last']);
    tearTitles({ ...world, sheet: { ...world.sheet, lead: world.sheet.lead.slice(0, 20) } });
    await settle(world);
    world.decisions.set('brake:lead:torn', 'approve');
    await cycle(world);
    expect(world.outbox.size).toBe(20);
    const [one, other] = [rowOf(world, leadKey(21)), rowOf(world, leadKey(22))];
    [one.cells, other.cells] = [other.cells, one.cells];
    await cycle(world);
    const { brakes, holds } = await cycle(world);
    expect([brakes, holds.map(({ decision }) => decision)]).toEqual([[], ['swap:lead-21', 'swap:lead-22']]);
    await settle(world);
    expect([1, 20, 21, 22].map((id) => titleOf(world, id))).toEqual([
      'Lead 20',
      'Lead 01',
      'Last but one',
      'Last',
    ]);
    expect([...world.decisions]).toEqual([]);
  });

  it('S2: where a person approves, for the rows of the columns that were named alone: two others whose values changed places behind the brake are held', async () => {
    const world = await worldWithLeads([...many, 'Last but one', 'Last']);
    for (let id = 1; id <= 4; id += 1) changeRecord(world, leadKey(id), { 'about.url': `${id}.example` });
    await settle(world);
    for (let id = 1; id <= 4; id += 1)
      rowOf(world, leadKey(id)).cells['about.url'] = textCell(`${(id % 4) + 1}.example`);
    const [one, other] = [rowOf(world, leadKey(21)), rowOf(world, leadKey(22))];
    [one.cells, other.cells] = [other.cells, one.cells];
    expect((await settle(world)).brakes).toMatchObject([{ scope: 'brake:lead:torn', changes: { count: 4 } }]);
    world.decisions.set('brake:lead:torn', 'approve');
    const { brakes, holds } = await settle(world);
    expect([brakes, holds.map(({ decision }) => decision)]).toEqual([[], ['swap:lead-21', 'swap:lead-22']]);
    expect([21, 22].map((id) => titleOf(world, id))).toEqual(['Last but one', 'Last']);
    expect(recordOf(world, leadKey(1))?.fields['about.url']).toBe('2.example');
  });
});

describe('work that people do', () => {
  it('three renamed rows are no disorder', async () => {
    const world = await worldWithLeads(many);
    for (const id of [1, 2, 3]) rowOf(world, leadKey(id)).cells['title'] = textCell(`New ${id}`);
    await settle(world);
    expect([1, 2, 3].map((id) => titleOf(world, id))).toEqual(['New 1', 'New 2', 'New 3']);
  });

  it('rows that somebody still types in are not judged yet', async () => {
    const world = await worldWithLeads(many);
    tearTitles(world);
    expect((await cycle(world)).brakes).toEqual([]);
  });
});

describe('the limits', () => {
  const edits = (count: number, after: (index: number) => Edit['after']): Edit[] =>
    Array.from({ length: count }, (_, index) => ({
      id: String(index),
      field: 'title',
      before: `Old ${index}`,
      after: after(index),
    }));
  /** Every other row shows what the rows between had. */
  const exchanges = (count: number): Edit[] =>
    edits(count, (index) => `Old ${(index + 1) % 2}`).map((edit, index) => ({
      ...edit,
      before: `Old ${index % 2}`,
    }));
  /** Each row in one of three columns. */
  const scattered = (count: number): Edit[] =>
    edits(count, (index) => `New ${index}`).map((edit, index) => ({ ...edit, field: `field ${index % 3}` }));
  const kinds = (found: Edit[], agreed: number) =>
    findDisorder(found, agreed, defaultBrakes, String).map(({ kind }) => kind);

  it.each<[string, Edit[], number, string[]]>([
    ['50 of 60 rows may change', scattered(50), 60, []],
    ['51 of 60 rows may not', scattered(51), 60, ['changed']],
    ['a fifth of 1,000 rows may change', edits(200, (index) => `New ${index}`), 1000, []],
    ['more than a fifth may not', edits(201, (index) => `New ${index}`), 1000, ['changed']],
    ['five cells of a column may be emptied', edits(5, () => null), 20, []],
    ['six may not', edits(6, () => null), 20, ['blanked']],
    ['two values that changed places are an edit', edits(2, (index) => `Old ${1 - index}`), 20, []],
    ['three are a torn column', edits(3, (index) => `Old ${(index + 1) % 3}`), 20, ['torn']],
    ['two values that changed places in four rows are edits', exchanges(4), 20, []],
    ['in six rows they are a torn column', exchanges(6), 20, ['torn']],
    ['one value in many rows is no torn column', edits(9, () => 'Old 1'), 20, []],
    ['twenty cells of a column may be filled', edits(20, () => 'Same'), 40, []],
    ['twenty-one may not', edits(21, () => 'Same'), 40, ['column']],
    ['nearly a third of the cells of 100 rows may', edits(30, () => 'Same'), 100, []],
    ['more may not', edits(31, () => 'Same'), 100, ['column']],
    ['all of twenty rows may change', edits(20, (index) => `New ${index}`), 20, []],
    ['all of twenty-one may not', edits(21, (index) => `New ${index}`), 21, ['changed']],
    ['nor if each changed in another column', scattered(21), 21, ['changed']],
    ['that some of them did is no reason to stop', scattered(21), 22, []],
  ])('%s', (_name, found, agreed, expected) => {
    expect(kinds(found, agreed)).toEqual(expected);
  });
});
