import { describe, expect, test } from 'vitest';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { ColumnPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

type Columns = Readonly<Record<string, ColumnPolicy>>;

const withColumns = ({ policy }: LeadsStage['link'], columns: Columns) => ({
  ...policy,
  tabs: { ...policy.tabs, lead: { ...policy.tabs.lead, columns } },
});

/** An engine as after a restart with these rules for the columns of leads. */
const restart = ({ createEngine, link }: LeadsStage, columns: Columns): SheetEngine =>
  createEngine({ ...link, policy: withColumns(link, columns) });

/** Enough cycles for whatever is typed to rest. */
async function cycle(engine: SheetEngine): Promise<SheetEngine> {
  for (const _turn of [1, 2, 3]) await engine.cycle();
  return engine;
}

const scopes = ({ lastPlan }: SheetEngine) => lastPlan?.brakes.map(({ scope }) => scope);

const titles = async ({ readCrm }: LeadsStage) => (await readCrm()).leads.map(({ title }) => title);

describe('a configuration that puts a column under a header of somebody', limit, () => {
  /** Somebody has notes of their own in a column “Name”. */
  async function openWithNotes(): Promise<LeadsStage> {
    const stage = await openLeadsStage();
    await stage.editSheet(
      { kind: 'insertColumns', sheet: 'Leads', column: 2 },
      { kind: 'edit', sheet: 'Leads', row: 0, column: 2, text: 'Name' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 2, text: 'call back' },
      { kind: 'edit', sheet: 'Leads', row: 3, column: 2, text: 'is on holiday' },
    );
    return stage;
  }

  test('S5: fault 75: writes nothing on either side before a person agrees, and shows what it found there', async () => {
    const stage = await openWithNotes();
    const before = [await stage.readSheet(), await titles(stage)];
    const engine = await cycle(restart(stage, { title: { header: 'Name' } }));
    expect(scopes(engine)).toEqual(['brake:lead:columns']);
    const [brake] = engine.lastPlan?.brakes ?? [];
    expect(brake?.reason).toContain('title stood under its own header and is to stand under “Name”. 2 cells');
    expect(brake?.changes.shown.map(({ field, after }) => [field, after])).toEqual([
      ['title', 'call back'],
      ['title', 'is on holiday'],
    ]);
    expect([await stage.readSheet(), await titles(stage)]).toEqual(before);
    expect(stage.link.mirror.readOutbox()).toEqual([]);
  });

  test('is met anew with manual writes by the first plan that is applied after a person agreed', async () => {
    const { link, ...stage } = await openWithNotes();
    const engine = restart({ ...stage, link: { ...link, isManual: true } }, { title: { header: 'Name' } });
    await cycle(engine);
    link.mirror.saveDecision({ scope: 'brake:lead:columns', choice: 'approve', at: link.clock.now() });
    await cycle(engine);
    expect(await engine.apply((await engine.plan()).run)).toEqual([]);
    await cycle(engine);
    expect([scopes(engine), engine.lastPlan?.conflicts.length, link.mirror.readDecisions()]).toEqual([
      [],
      2,
      [],
    ]);
  });

  test('fault 75: goes on where it was as soon as the configuration is as before', async () => {
    const stage = await openWithNotes();
    const before = [await stage.readSheet(), await titles(stage)];
    await cycle(restart(stage, { title: { header: 'Name' } }));
    const engine = await cycle(restart(stage, {}));
    expect([scopes(engine), await stage.readSheet(), await titles(stage)]).toEqual([[], ...before]);
  });
});

describe('a column that is added in the configuration', limit, () => {
  test('fault 75: is filled without asking, and what somebody has there already waits where it differs', async () => {
    const off: Columns = { 'about.description': { direction: 'off' } };
    const stage = await openLeadsStage();
    await cycle(restart(stage, off));
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 1,
      column: 'About',
      text: 'Typed while it was off',
    });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 2, column: 'About', text: '' });
    await cycle(restart(stage, off));
    const engine = restart(stage, {});
    await engine.link.table.layOut(currentLayout(engine.link), 'refresh');
    await cycle(engine);
    expect(scopes(engine)).toEqual([]);
    expect(engine.lastPlan?.conflicts).toMatchObject([{ table: 'Typed while it was off' }]);
    const { leads } = await stage.readCrm();
    const { Leads = [] } = await stage.readSheet();
    const about = (id: unknown) =>
      leads.find((lead) => lead.id === id)?.meta_data?.about?.description ?? undefined;
    expect(Leads.slice(1).map(({ About }) => About)).toEqual(Leads.slice(1).map(({ ID }) => about(ID)));
  });
});

describe('a column that was off', limit, () => {
  test('S1: asks about what somebody wrote there meanwhile, also where the CRM has what it set of itself when it created the record', async () => {
    const stage = await openLeadsStage();
    const off = restart(stage, { status_name: { direction: 'off' } });
    const type = (column: string, text: string) =>
      stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column, text });
    await type('Title', 'Acme');
    await cycle(off);
    const [item] = off.link.mirror.readOutbox();
    expect(await pushRecord(off.link, item!.key)).toBe('written');
    await cycle(off);
    await type('Status', 'Contacted');
    const engine = restart(stage, {});
    await engine.link.table.layOut(currentLayout(engine.link), 'refresh');
    await cycle(engine);
    await cycle(engine);
    expect(engine.lastPlan?.conflicts).toMatchObject([{ field: 'status_name', table: 'contacted' }]);
    expect(engine.link.mirror.readOutbox().filter(({ kind }) => kind === 'update')).toEqual([]);
  });
});

describe('a column whose direction the configuration changes', limit, () => {
  test.each<[string, Columns, Columns]>([
    ['was off before', { title: { direction: 'off' } }, {}],
    ['came from the CRM alone before', { title: { direction: 'toTable' } }, {}],
    ['goes one way from now on', {}, { title: { direction: 'toTable' } }],
  ])('asks nothing of rows that show in it what the CRM has, where it %s', async (_, before, after) => {
    const stage = await openLeadsStage();
    await cycle(restart(stage, before));
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
    const engine = await cycle(restart(stage, after));
    for (const scope of scopes(engine) ?? [])
      stage.link.mirror.saveDecision({ scope, choice: 'approve', at: stage.link.clock.now() });
    await cycle(engine);
    expect(engine.lastPlan).toMatchObject({ brakes: [], holds: [] });
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 3,
      column: 'Website',
      text: 'https://a.example',
    });
    await cycle(engine);
    expect(stage.link.mirror.readOutbox().map(({ fields }) => fields)).toContainEqual({
      'about.url': 'https://a.example',
    });
  });
});
