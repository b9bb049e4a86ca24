import { expect, test } from 'vitest';
import { SheetSide } from '../../src/sheet/side.ts';
import { Engine } from '../../src/sync/engine.ts';
import { listProgress } from '../../src/sync/progress.ts';
import type { Side } from '../../src/sync/side.ts';
import { readStatus } from '../../src/sync/status.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import { ToySide } from '../support/toy-side.ts';

const leadsInCrm = 120;

/** A spreadsheet that is laid out and whose tab of leads is to have the new ones alone. */
async function openRuledStage() {
  const stage = await openLinkStage({ leads: leadsInCrm, opportunities: 2, tasks: 0 });
  const { policy } = stage.link;
  const lead = { ...policy.tabs.lead, only: { status: 'New' } };
  const link = { ...stage.link, policy: { ...policy, tabs: { ...policy.tabs, lead } } };
  await stage.layOut(link);
  return { stage, link };
}

/** Runs a ruled sheet, and another side beside it, until the tab of leads has the records that fit. */
async function openFilled({ link, stage }: Awaited<ReturnType<typeof openRuledStage>>, ...others: Side[]) {
  const sheet = new SheetSide(link);
  const engine = new Engine(link, [sheet, ...others]);
  await engine.pullAll(() => {});
  await sheet.cycle();
  await sheet.cycle();
  return { engine, fitting: await countFitting(stage) };
}

async function countFitting(stage: LinkStage): Promise<number> {
  const { leads } = await stage.readCrm();
  return leads.filter(({ status_name: status }) => status === 'new').length;
}

const leadsOf = (engine: Engine) => {
  const status = readStatus(engine, undefined);
  return { leads: status.entities[0], progress: listProgress(status, []), status };
};

test('the fill of a side that shows all is shown to its end beside a tab that has some of the records', async () => {
  const ruled = await openRuledStage();
  const toy = new ToySide(ruled.link);
  const { engine, fitting } = await openFilled(ruled, toy);
  expect(fitting).toBeGreaterThan(5);
  expect(fitting).toBeLessThan(leadsInCrm - 20);
  const look = (lead: number) => {
    toy.countRows = () => ({ lead });
    const { leads, progress } = leadsOf(engine);
    return { leads, shown: progress.map(({ done, total }) => [done, total]) };
  };
  for (const rows of [0, fitting, leadsInCrm - 20]) expect(look(rows).shown).toEqual([[rows, leadsInCrm]]);
  const { leads, shown } = look(leadsInCrm);
  expect(shown).toEqual([]);
  expect(leads).toMatchObject({
    rows: { sheet: fitting, toy: leadsInCrm },
    recordsLeftOut: leadsInCrm - fitting,
    recordsInTable: fitting,
    recordsWanted: fitting,
  });
});

test('a tab that a brake stops goes on to say how many records have no row by its rule, also after a restart', async () => {
  const ruled = await openRuledStage();
  const { engine, fitting } = await openFilled(ruled);
  await ruled.stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 1, count: fitting });
  for (const each of [engine, new Engine(ruled.link, [new SheetSide(ruled.link)])]) {
    await each.cycle();
    await each.cycle();
    const { leads, status } = leadsOf(each);
    expect(status.brakes).toMatchObject([{ entity: 'lead' }]);
    expect(leads).toMatchObject({ recordsLeftOut: leadsInCrm - fitting, recordsWanted: fitting });
  }
});

test('a tab that has its part of the records is not shown as being filled after a restart, before it is looked at', async () => {
  const ruled = await openRuledStage();
  const { fitting } = await openFilled(ruled);
  const engine = new Engine(ruled.link, [new SheetSide(ruled.link)]);
  const { leads, progress } = leadsOf(engine);
  expect(progress).toEqual([]);
  expect(leads).toMatchObject({ recordsInTable: fitting, recordsWanted: fitting });
});

test('a tab that cannot be read goes on to say how many records have no row by its rule', async () => {
  const ruled = await openRuledStage();
  const { engine, fitting } = await openFilled(ruled);
  await ruled.stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 0, column: 3, text: 'Title' });
  await engine.cycle();
  const { leads, status } = leadsOf(engine);
  expect(status.holds).toMatchObject([{ entity: 'lead' }]);
  expect(leads).toMatchObject({ recordsLeftOut: leadsInCrm - fitting, recordsWanted: fitting });
});
