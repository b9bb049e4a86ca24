import { expect, test } from 'vitest';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { listProgress } from '../../src/sync/progress.ts';
import { readStatus } from '../../src/sync/status.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';
import { findRow } from '../support/two-sides.ts';

/** A filled spreadsheet of Google whose tab of leads has the new ones alone, with a clock that a test sets. */
async function openRuledStage() {
  const stage = await openLinkStage({ leads: 60, opportunities: 2, tasks: 0 });
  const { clock, policy } = stage.link;
  const time = { shiftMs: 0 };
  const lead = { ...policy.tabs.lead, only: { status: 'New' } };
  const engine = await stage.fill({
    policy: { ...policy, tabs: { ...policy.tabs, lead } },
    clock: { ...clock, now: () => clock.now() + time.shiftMs },
  });
  return { stage, engine, time };
}

const look = async (engine: SheetEngine) => {
  await engine.pullAll(() => {});
  for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
};

const leadsIn = async (stage: LinkStage) => (await stage.readSheet())['Leads'] ?? [];

test('a tab with a rule is full once it has the records that fit', async () => {
  const { engine, stage } = await openRuledStage();
  const { leads } = await stage.readCrm();
  const fitting = leads.filter(({ status_name: status }) => status === 'new');
  expect(Math.min(fitting.length, leads.length - fitting.length)).toBeGreaterThan(5);
  const status = readStatus(engine, undefined);
  expect(status.entities[0]).toMatchObject({
    recordsInCrm: leads.length,
    recordsInTable: fitting.length,
    recordsLeftOut: leads.length - fitting.length,
  });
  // As many rows are missing as a progress is told of, and none of them is to come.
  expect(listProgress(status, [])).toEqual([]);
});

test('a plan shows what moves by another rule before that is followed', async () => {
  const { engine, stage } = await openRuledStage();
  const { policy } = engine.link;
  const lead = { ...policy.tabs.lead, only: { status: 'Qualified' } };
  const changed = {
    ...policy,
    tabs: { ...policy.tabs, lead },
    brakes: { ...policy.brakes, deletesMin: 1_000 },
  };
  const { table } = await stage.createEngine({ ...engine.link, policy: changed }).plan();
  const shown = Object.groupBy(table, ({ write }) => write.kind);
  const { leads } = await stage.readCrm();
  const withStatus = (name: string) => leads.filter(({ status_name: status }) => status === name).length;
  expect([shown.append?.length, shown.set?.length]).toEqual([withStatus('qualified'), withStatus('new')]);
});

test('a tab with a rule that was filled by hand before anything was applied is asked about', async () => {
  const stage = await openLinkStage({ leads: 6, opportunities: 1, tasks: 0 });
  const { policy } = stage.link;
  const lead = { ...policy.tabs.lead, only: { status: ['New', 'Contacted', 'Qualified'] } };
  const link = { ...stage.link, isManual: true, policy: { ...policy, tabs: { ...policy.tabs, lead } } };
  await stage.layOut(link);
  const engine = stage.createEngine(link);
  await look(engine);
  for (const row of [1, 2, 3])
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text: `Lead ${row}` });
  await look(engine);
  expect((await engine.plan()).brakes).toMatchObject([{ scope: 'brake:lead:first' }]);
});

test('a row leaves a spreadsheet of Google while its record stays, and comes back once that fits again', async () => {
  const { engine, stage, time } = await openRuledStage();
  const [first] = await leadsIn(stage);
  const id = String(first?.['ID']);
  await stage.editCrm(`/leads/${id}`, { status_name: 'qualified' });
  await look(engine);
  const rowOf = () => findRow(stage.addresses, 'lead', { ID: id });
  expect((await rowOf())?.['Sync']).toMatch(/Synced .*, leaves this tab: Status is “Qualified”$/);
  time.shiftMs = leaveAfterMs;
  await look(engine);
  expect(await rowOf()).toBeUndefined();
  expect((await stage.readCrm()).leads.map((lead) => String(lead.id))).toContain(id);
  expect(engine.link.mirror.searchJournal({ limit: 1 })).toMatchObject([
    { key: { entity: 'lead', id }, cause: 'left the tab, and stays in the CRM: Status is “Qualified”' },
  ]);
  await stage.editCrm(`/leads/${id}`, { status_name: 'new' });
  await look(engine);
  expect((await rowOf())?.['Status']).toBe('New');
});

test('the dropdowns of leads offer those too that have no row in their own tab', async () => {
  const stage = await openLinkStage({ leads: 12, opportunities: 2, tasks: 0 });
  const { policy, table } = stage.link;
  const offered: (readonly string[])[] = [];
  const { offerLeads } = table;
  table.offerLeads = (names, before) => {
    offered.push(names);
    return offerLeads.call(table, names, before);
  };
  const lead = { ...policy.tabs.lead, only: { status: 'New' } };
  await stage.fill({ policy: { ...policy, tabs: { ...policy.tabs, lead } } });
  const { leads } = await stage.readCrm();
  expect((await leadsIn(stage)).length).toBeLessThan(leads.length);
  const names = leads.map(({ id, title }) => `${title} (#${id})`);
  expect(offered.map((each) => each.toSorted())).toEqual([names.toSorted()]);
});
