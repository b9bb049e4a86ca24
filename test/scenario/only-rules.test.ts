import { describe, expect, it } from 'vitest';
import type { Catalog } from '../../src/core/fields/catalog.ts';
import { answerLabels } from '../../src/core/waiting/answer.ts';
import { brakeScope } from '../../src/core/waiting/brakes.ts';
import { sheetFacts } from '../../src/sheet/facts.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { sampleCatalog } from '../support/fields.ts';
import {
  approve,
  lostLead,
  many,
  newLead,
  ruleScope,
  setRule,
  titlesIn,
  waitToLeave,
  worldOfNewLeads,
} from '../support/ruled-tab.ts';
import {
  addRecord,
  addRow,
  cellFor,
  changeRecord,
  createWorld,
  leadKey,
  removeRow,
  restart,
  rowOf,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { expectNoWrites, scopes, syncOf, titles } from '../support/world-view.ts';

const dayMs = 24 * 60 * 60 * 1_000;

describe('another rule', () => {
  it('is followed at once where few rows move by it', async () => {
    const world = await worldOfNewLeads([...many(3, newLead), ...many(2, lostLead)]);
    setRule(world, { status: 'lost' });
    const plan = await settle(world);
    expect([plan.brakes, titlesIn(world).length]).toEqual([[], 5]);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Lost 1', 'Lost 2']);
  });

  it('waits for an answer where many rows would leave, and writes nothing until then', async () => {
    const world = await worldOfNewLeads([...many(8, newLead), lostLead('Lost 1')]);
    setRule(world, { status: 'lost' });
    rowOf(world, leadKey(1)).cells['title'] = textCell('Typed meanwhile');
    await pull(world);
    await cycle(world);
    const plan = await cycle(world);
    expect(scopes(plan)).toEqual([ruleScope]);
    expectNoWrites(plan);
    expect(plan.brakes[0]).toMatchObject({
      reason:
        'The rule of “Leads” or what the CRM lists for it has changed: 8 rows would leave and 1 records would come; 5 may at once. The tab is to have only status lost. Approve follows it; what leaves stays in the CRM.',
      changes: {
        count: 9,
        shown: expect.arrayContaining([
          { id: '1', what: 'leaves' },
          { id: '9', what: 'comes' },
        ]),
      },
    });
    world.clock.now += leaveAfterMs;
    restart(world);
    expectNoWrites(await cycle(world));
    approve(world, plan);
    await settle(world);
    expect(titlesIn(world)).toContain('Lost 1');
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Lost 1']);
    expect(titles(world)).toHaveLength(9);
    expect(world.mirror.readDecisions()).toEqual([]);
  });

  it('waits for an answer where many records would come, as when the rule is taken away', async () => {
    const world = await worldOfNewLeads([newLead('New 1'), ...many(8, lostLead)]);
    setRule(world, undefined);
    const plan = await settle(world);
    expect(scopes(plan)).toEqual([ruleScope]);
    approve(world, plan);
    await settle(world);
    expect(titlesIn(world)).toHaveLength(9);
    expect((await settle(world)).ruled).toEqual([]);
    expect(world.mirror.readFact(sheetFacts.only('lead'))).toBeUndefined();
  });

  it('without a condition is none, and nothing is remembered of it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    setRule(world, {});
    const plan = await settle(world);
    expect([isQuiet(plan), plan.ruled, titlesIn(world)]).toEqual([true, [], ['Acme', 'Beta']]);
    expect(world.mirror.readFact(sheetFacts.only('lead'))).toBeUndefined();
  });

  it('asks nothing more once the configuration is put back', async () => {
    const world = await worldOfNewLeads(many(8, newLead));
    setRule(world, { status: 'lost' });
    expect(scopes(await settle(world))).toEqual([ruleScope]);
    setRule(world, { status: 'new' });
    const plan = await settle(world);
    expect([plan.brakes, titlesIn(world).length]).toEqual([[], 8]);
  });

  it('is not let through by an answer that was given for another one', async () => {
    const world = await worldOfNewLeads(many(8, newLead));
    setRule(world, { status: 'lost' });
    const plan = await settle(world);
    setRule(world, { status: 'in_talks' });
    approve(world, plan);
    expect(scopes(await settle(world))).toEqual([ruleScope]);
    await waitToLeave(world);
    expect(titlesIn(world)).toHaveLength(8);
  });

  it('can be approved in the tab of the questions', async () => {
    const world = createWorld({ policy: { questionsTitle: 'Conflicts' } });
    setRule(world, { status: 'new' });
    for (const fields of many(8, newLead)) addRecord(world, 'lead', fields);
    await settle(world);
    setRule(world, { status: 'lost' });
    await settle(world);
    const question = world.sheet.question.find(({ id }) => describeCell(id) === ruleScope);
    if (!question) throw new Error('Nothing is asked in the tab.');
    question.cells['choose'] = textCell(answerLabels.approve);
    await settle(world);
    await waitToLeave(world);
    expect([titlesIn(world), world.sheet.question]).toEqual([[], []]);
  });

  it('does not stop a tab that has none but gets one while it is filled', async () => {
    const world = createWorld();
    setRule(world, { status: 'new' });
    for (const fields of [...many(20, newLead), ...many(40, lostLead)]) addRecord(world, 'lead', fields);
    const plan = await settle(world);
    expect([plan.brakes, titlesIn(world).length]).toEqual([[], 20]);
  });

  it('stops a tab of all records that gets one first', async () => {
    const world = await worldWithLeads(Array.from({ length: 8 }, (_, number) => `Lead ${number}`));
    setRule(world, { status: 'new' });
    const plan = await settle(world);
    expect([scopes(plan), titlesIn(world).length]).toEqual([[ruleScope], 8]);
  });
});

describe('the brakes of a tab with a rule', () => {
  it('count what leaves by the rule apart from what users deleted', async () => {
    const world = await worldOfNewLeads(many(12, newLead));
    for (let id = 1; id <= 9; id += 1) changeRecord(world, leadKey(id), { status_name: 'lost' });
    await settle(world);
    for (const id of [10, 11]) removeRow(world, leadKey(id));
    const plan = await settle(world);
    expect(plan.brakes).toEqual([]);
    expect(plan.questions.map(({ scope: asked }) => asked)).toEqual(['vanished:lead-10', 'vanished:lead-11']);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['New 12']);
  });

  it('know how few rows are left once others left', async () => {
    const world = await worldOfNewLeads(many(16, newLead));
    for (let id = 1; id <= 10; id += 1) changeRecord(world, leadKey(id), { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    for (let id = 11; id <= 16; id += 1) removeRow(world, leadKey(id));
    const plan = await settle(world);
    expect(plan.brakes).toMatchObject([
      { reason: expect.stringMatching(/^All 6 rows are gone from the sheet\./) },
    ]);
  });
});

/** The catalog with another label for a status. */
const relabelled = (catalog: Catalog, name: string, label: string): Catalog => ({
  ...catalog,
  leadStatuses: catalog.leadStatuses.map((status) => (status.name === name ? { ...status, label } : status)),
});

describe('the names in a rule', () => {
  it('may be labels, in any letters, or ids', async () => {
    for (const status of ['New lead', 'NEW LEAD', 'new', ['new', 'In talks']]) {
      const world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta')], { only: { status } });
      expect(titlesIn(world)).toEqual(['Acme']);
    }
  });

  it('follow a rename, also where another thing is called so afterwards', async () => {
    let world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta')], { only: { status: 'New lead' } });
    world = withCatalog(world, relabelled(world.catalog, 'new', 'Fresh'));
    await settle(world);
    world = withCatalog(world, relabelled(world.catalog, 'lost', 'New lead'));
    restart(world);
    const plan = await settle(world);
    await waitToLeave(world);
    expect([titlesIn(world), plan.brakes, plan.holds]).toEqual([['Acme'], [], []]);
  });

  it('that the CRM does not have hold the tab with what to do, and nothing comes or goes', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    setRule(world, { status: ['new', 'nwe'], 'custom.tier': 'Golden' });
    addRecord(world, 'lead', newLead('Coda'));
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([
      {
        entity: 'lead',
        reason: expect.stringMatching(
          /^The rule “only” of “Leads” cannot be followed\. status: .*“nwe”.*custom\.tier: .*“Golden”.*Until then no record gets a row here/s,
        ),
      },
    ]);
    rowOf(world, leadKey(1)).cells['title'] = textCell('Acme GmbH');
    await settle(world);
    await waitToLeave(world);
    expect([titlesIn(world), titles(world)]).toEqual([
      ['Acme GmbH', 'Beta'],
      ['Acme GmbH', 'Beta', 'Coda'],
    ]);
  });

  it('follow the new name of an option, whichever of records and catalog has it first', async () => {
    const tiers = (first: string): Catalog => ({
      ...sampleCatalog,
      customFields: sampleCatalog.customFields.map((field) =>
        field.key === 'tier' ? { ...field, options: [first, 'Silver'], optionIds: [1, 2] } : field,
      ),
    });
    for (const isCatalogFirst of [true, false]) {
      let world = withCatalog(createWorld(), tiers('Gold'));
      setRule(world, { 'custom.tier': 'Gold' });
      addRecord(world, 'lead', { title: 'Acme', 'custom.tier': 'Gold' });
      addRecord(world, 'lead', { title: 'Beta', 'custom.tier': 'Silver' });
      await settle(world);
      if (isCatalogFirst) world = withCatalog(world, tiers('Platinum'));
      else changeRecord(world, leadKey(1), { 'custom.tier': 'Platinum' });
      await settle(world);
      await waitToLeave(world);
      if (isCatalogFirst) changeRecord(world, leadKey(1), { 'custom.tier': 'Platinum' });
      else world = withCatalog(world, tiers('Platinum'));
      const plan = await settle(world);
      await waitToLeave(world);
      expect([titlesIn(world), plan.holds, plan.brakes]).toEqual([['Acme'], [], []]);
    }
  });

  it('tell a name of a user from an id by what records have', async () => {
    const world = createWorld();
    setRule(world, { owner: 'Ana' });
    addRecord(world, 'lead', { title: 'Acme', 'custom.owner': 'u1' });
    const plan = await settle(world);
    expect(plan.holds).toMatchObject([
      { reason: expect.stringMatching(/owner: “Ana” is not the id of a user\. .* u1\./) },
    ]);
    setRule(world, { owner: 'u1' });
    expect((await settle(world)).holds).toEqual([]);
    expect(titlesIn(world)).toEqual(['Acme']);
  });

  it('that the CRM no longer has leave the rule from before in force', async () => {
    let world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta')], {
      only: { status: ['new', 'In talks'] },
    });
    const { leadStatuses } = sampleCatalog;
    world = withCatalog(world, {
      ...sampleCatalog,
      leadStatuses: leadStatuses.filter(({ name }) => name !== 'in_talks'),
    });
    addRecord(world, 'lead', newLead('Coda'));
    const plan = await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Acme', 'Coda']);
    expect(plan.holds).toMatchObject([
      { reason: expect.stringMatching(/“In talks”.*Until then the tab goes by the rule from before\./) },
    ]);
  });
});

describe('a rule by age', () => {
  const at = (world: World, days: number) => new Date(world.clock.now - days * dayMs).toISOString();

  it('lets a row go by time alone, and brings it back with the next change in the CRM', async () => {
    const world = createWorld();
    setRule(world, { updatedWithinDays: 30 });
    addRecord(world, 'lead', { title: 'Acme', updated_at: at(world, 29) });
    addRecord(world, 'lead', { title: 'Beta', updated_at: at(world, 31) });
    await settle(world);
    expect(titlesIn(world)).toEqual(['Acme']);
    world.clock.now += dayMs;
    await settle(world);
    expect(syncOf(rowOf(world, leadKey(1)))).toMatch(
      /leaves this tab: it was not updated in the CRM for 30 days/,
    );
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual([]);
    changeRecord(world, leadKey(2), { updated_at: at(world, 0) });
    await settle(world);
    expect(titlesIn(world)).toEqual(['Beta']);
  });

  it('moves nothing of which the CRM does not say when it was changed', async () => {
    const world = await worldWithLeads(['Acme']);
    setRule(world, { updatedWithinDays: 30 });
    addRecord(world, 'lead', { title: 'Beta' });
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Acme']);
  });
});

describe('a rule by what belongs to a record', () => {
  it('keeps opportunities by their pipeline, and asks when stages change hands', async () => {
    let world = createWorld();
    setRule(world, { 'stage.pipeline': 'Sales' }, 'opportunity');
    addRecord(world, 'lead', { title: 'Acme' });
    for (let number = 0; number < 8; number += 1)
      addRecord(world, 'opportunity', { lead_id: 1, stage_id: number < 7 ? 11 : 21 });
    await settle(world);
    expect(world.sheet.opportunity).toHaveLength(7);
    const [sales, partners, twins] = sampleCatalog.pipelines;
    if (!sales || !partners || !twins) throw new Error('The catalog has three pipelines.');
    const moved = {
      ...partners,
      stages: [...partners.stages, ...sales.stages.filter(({ id }) => id === 11)],
    };
    const left = { ...sales, name: 'Selling', stages: sales.stages.filter(({ id }) => id !== 11) };
    world = withCatalog(world, { ...world.catalog, pipelines: [left, moved, twins] });
    const plan = await settle(world);
    expect(scopes(plan)).toEqual([brakeScope('opportunity', 'only')]);
    world = withCatalog(world, {
      ...world.catalog,
      pipelines: [{ ...sales, name: 'Selling' }, partners, twins],
    });
    const after = await settle(world);
    expect([after.brakes, after.holds]).toEqual([[], []]);
    expect(world.sheet.opportunity).toHaveLength(7);
  });

  it('keeps tasks by their lead, and by the owner of that', async () => {
    const world = createWorld();
    setRule(world, { lead: { status: 'new', owner: ['u1', 'u2'] } }, 'task');
    addRecord(world, 'lead', { title: 'Acme', status_name: 'new', 'custom.owner': 'u1' });
    addRecord(world, 'lead', { title: 'Beta', status_name: 'new', 'custom.owner': 'u3' });
    addRecord(world, 'task', { title: 'Call', lead_id: 1 });
    addRecord(world, 'task', { title: 'Write', lead_id: 2 });
    addRecord(world, 'task', { title: 'Wait', lead_id: null });
    await settle(world);
    expect([titlesIn(world, 'task'), titlesIn(world)]).toEqual([['Call'], ['Acme', 'Beta']]);
    changeRecord(world, leadKey(1), { 'custom.owner': 'u4' });
    changeRecord(world, leadKey(2), { 'custom.owner': 'u2' });
    await settle(world);
    expect(titlesIn(world, 'task')).toEqual(['Call', 'Write']);
    expect(world.sheet.task.map(syncOf)[0]).toMatch(/leaves this tab: of its lead, Owner is “u4”/);
    await waitToLeave(world);
    expect([titlesIn(world, 'task'), titles(world)]).toEqual([
      ['Write'],
      ['Acme', 'Beta', 'Call', 'Write', 'Wait'],
    ]);
  });

  it('lets rows name leads that have no row in their own tab', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta')]);
    addRow(world, 'task', { title: textCell('Call'), lead_id: textCell('Beta') });
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta', 'Call']);
    expect(world.sheet.task.map(({ cells }) => describeCell(cells['lead_id'] ?? textCell('')))).toEqual([
      'Beta (#2)',
    ]);
    expect(cellFor(world, 'task', 'lead_id', 2)).toEqual(textCell('Beta (#2)'));
  });
});
