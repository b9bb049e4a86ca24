import { describe, expect, test } from 'vitest';
import { currentLayout } from '../../src/sheet/layout.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

const scope = 'brake:lead:rebase';
const reasonOf = ({ engine }: LeadsStage) =>
  engine.lastPlan?.brakes.find((brake) => brake.scope === scope)?.reason;

const writes = ({ model }: LeadsStage) => model.requests().filter(({ method }) => method !== 'GET').length;

/** As `init --adopt` does it. */
const adopt = ({ link }: LeadsStage) => link.table.layOut(currentLayout(link), 'create', { adopt: true });

const putCopyInPlace = ({ editSheet }: LeadsStage) =>
  editSheet(
    { kind: 'deleteTab', sheet: 'Leads' },
    { kind: 'renameTab', sheet: 'Copy of Leads', title: 'Leads' },
  );

async function approve({ link, settle }: LeadsStage): Promise<void> {
  link.mirror.saveDecision({ scope, choice: 'approve', at: link.clock.now() });
  await settle();
}

const sorted = (titles: ReadonlyMap<unknown, unknown>) =>
  [...titles].toSorted(([left], [right]) => Number(left) - Number(right));

describe('S5: a copy of a tab that takes the place of its original', limit, () => {
  test('sends nothing that it shows of former times, and differences wait for a person', async () => {
    const stage = await openLeadsStage();
    const id = await stage.firstLead();
    const [, [other] = []] = [...(await stage.titles()).crm];
    await stage.editSheet({ kind: 'duplicateTab', sheet: 'Leads' });
    await stage.editCrm(`/leads/${id}`, { title: 'Changed since' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Typed since' });
    await stage.settle();
    const before = await stage.titles();
    const sent = writes(stage);
    await putCopyInPlace(stage);
    await stage.settle();
    await adopt(stage);
    await stage.settle();
    expect(reasonOf(stage)).toMatch(/^Another tab .* 3 rows are equal on both sides, 2 differ/);
    await approve(stage);
    expect(stage.engine.lastPlan?.conflicts.map(({ key }) => key.id)).toEqual([id, String(other)]);
    expect((await stage.titles()).crm).toEqual(before.crm);
    expect(writes(stage)).toBe(sent);
  });

  test('keeps what somebody typed and the CRM has not taken yet in the history', async () => {
    const stage = await openLeadsStage();
    const { engine, link } = stage;
    const id = await stage.firstLead();
    const old = (await stage.titles()).crm.get(id);
    await stage.editSheet({ kind: 'duplicateTab', sheet: 'Leads' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed since' });
    for (const _turn of Array.from({ length: 3 })) await engine.cycle();
    expect(link.mirror.readOutbox()).toMatchObject([{ fields: { title: 'Typed since' }, state: 'waiting' }]);
    await putCopyInPlace(stage);
    await adopt(stage);
    await engine.cycle();
    expect(reasonOf(stage)).toContain('5 rows are equal on both sides');
    expect(link.mirror.readOutbox()).toEqual([]);
    expect(link.mirror.searchJournal({ limit: 1 })).toMatchObject([
      { key: { entity: 'lead', id }, after: { title: old }, lost: { title: 'Typed since' } },
    ]);
  });

  test('costs no record that it does not know yet: that gets a row', async () => {
    const stage = await openLeadsStage('crm', {}, 'trash');
    await stage.editSheet({ kind: 'duplicateTab', sheet: 'Leads' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Younger' });
    await stage.settle();
    const before = await stage.titles();
    await putCopyInPlace(stage);
    await adopt(stage);
    await stage.settle();
    expect(reasonOf(stage)).toContain('1 records would get a row');
    await approve(stage);
    const after = await stage.titles();
    expect([sorted(after.crm), sorted(after.sheet)]).toEqual([sorted(before.crm), sorted(before.crm)]);
  });
});

test('S5: another spreadsheet than the one that the mirror speaks of waits for a person', limit, async () => {
  const stage = await openLeadsStage();
  const { createEngine, editSheet, link } = stage;
  await editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Of another time' });
  const engine = createEngine({ ...link, table: { ...link.table, identity: 'another' } });
  await engine.cycle();
  await engine.cycle();
  expect(engine.lastPlan).toMatchObject({
    brakes: [{ scope, reason: expect.stringContaining('4 rows are equal on both sides, 1 differ') }],
    outbox: { save: [] },
  });
});

test(
  'S5: a new tab in the place of one that was deleted is filled once a person agrees, and costs no record',
  limit,
  async () => {
    const stage = await openLeadsStage();
    const before = await stage.titles();
    await stage.editSheet({ kind: 'deleteTab', sheet: 'Leads' });
    await adopt(stage);
    await stage.settle();
    expect(reasonOf(stage)).toContain('5 records would get a row');
    await approve(stage);
    const after = await stage.titles();
    expect([sorted(after.crm), sorted(after.sheet)]).toEqual([sorted(before.crm), sorted(before.crm)]);
  },
);
