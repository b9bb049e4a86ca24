import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Entity, entities } from '../../src/core/record.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { emptyCell } from '../../src/sheet/port/cell.ts';
import { setRule } from '../support/ruled-tab.ts';
import { areAllWanted } from '../support/variants.ts';
import {
  addRecord,
  changeRecord,
  createWorld,
  nameStage,
  removeRecord,
  restart,
  type World,
  withCatalog,
} from '../support/world.ts';
import { cycle, look, pull, settle } from '../support/world-daemon.ts';

/*
 * Names change, also of contacts that leads show, so that many rows are behind and wait for their turn, while rows lose their IDs, move and
 * leave, and time passes. Each look
 * and each cycle compares what is decided with a decision from nothing.
 */

const acts = [
  ...(['name a stage', 'name a stage', 'name a user', 'name a user', 'name a lead'] as const),
  ...(['add a contact', 'name a contact', 'name a contact', 'remove a contact'] as const),
  ...(['give a status', 'give a lead', 'wipe an ID', 'wipe an ID', 'swap IDs', 'swap rows'] as const),
  ...(['empty a Sync cell', 'remove a row', 'copy a row', 'wait to leave', 'wait a day', 'restart'] as const),
  ...(['read the CRM', 'read the CRM', 'cycle', 'cycle', 'cycle', 'look'] as const),
] as const;

/** One thing that happens. Numbers choose among what is there. */
interface Act {
  readonly act: (typeof acts)[number];
  readonly which: number;
  readonly other: number;
}

const anyActs: fc.Arbitrary<Act[]> = fc.array(
  fc.record(
    { act: fc.constantFrom(...acts), which: fc.nat(11), other: fc.nat(11) },
    { noNullPrototype: true },
  ),
  { minLength: 5, maxLength: 50 },
);

const dayMs = 24 * 60 * 60 * 1_000;
const statuses = ['new', 'in_talks', 'lost'];
const titles = ['Acme', 'Bolt', 'Core'];

/** Leads and opportunities of which some are alike in all but their IDs. */
async function worldOfTwins(updatesMax: number, isRuled: boolean): Promise<World> {
  const bare = createWorld({ columns: { contacts: {} }, entities, policy: { updatesMax } });
  if (isRuled) setRule(bare, { status: ['new', 'in_talks'] });
  const world = nameUser(bare, 'Ann');
  for (const title of [...titles, ...titles])
    addRecord(world, 'lead', { title, status_name: 'new', 'custom.owner': '7' });
  for (const lead of [1, 2, 2, 3, 3, 1]) addRecord(world, 'opportunity', { lead_id: lead, stage_id: 11 });
  for (const lead_id of [1, 2, 2]) addRecord(world, 'contact', { lead_id, full_name: 'Ada' });
  await settle(world);
  return world;
}

const nameUser = (world: World, name: string): World =>
  withCatalog(world, { ...world.catalog, users: [{ id: '7', name }] });

const choose = <Item>(items: readonly Item[], which: number): Item | undefined => items[which % items.length];

function happenInSheet({ sheet }: World, { act, other, which }: Act): void {
  const rows = which % 2 === 0 ? sheet.opportunity : sheet.lead;
  const [row, next] = [choose(rows, which), choose(rows, other)];
  if (!row || !next) return;
  if (act === 'wipe an ID') row.id = emptyCell;
  if (act === 'empty a Sync cell') row.sync = emptyCell;
  if (act === 'remove a row') rows.splice(rows.indexOf(row), 1);
  if (act === 'copy a row') rows.push(structuredClone(row));
  if (act === 'swap IDs') [row.id, next.id] = [next.id, row.id];
  if (act === 'swap rows') {
    const [place, otherPlace] = [rows.indexOf(row), rows.indexOf(next)];
    [rows[place], rows[otherPlace]] = [next, row];
  }
}

function happenInCrm(world: World, { act, other, which }: Act): void {
  const chosen = (kind: Entity) =>
    choose(
      [...world.crm.values()].filter(({ key }) => key.entity === kind),
      which,
    );
  const [lead, opportunity, contact] = [chosen('lead'), chosen('opportunity'), chosen('contact')];
  if (act === 'name a lead' && lead) changeRecord(world, lead.key, { title: choose(titles, other) ?? '' });
  if (act === 'add a contact' && lead)
    addRecord(world, 'contact', { lead_id: Number(lead.key.id), full_name: choose(titles, other) ?? '' });
  if (act === 'name a contact' && contact)
    changeRecord(world, contact.key, { full_name: choose(titles, other) ?? '' });
  if (act === 'remove a contact' && contact) removeRecord(world, contact.key);
  if (act === 'give a status' && lead)
    changeRecord(world, lead.key, { status_name: choose(statuses, other) ?? 'new' });
  if (act === 'give a lead' && opportunity)
    changeRecord(world, opportunity.key, { lead_id: 1 + (other % titles.length) });
}

/** Lets one thing happen, where there is something for it to happen to. Returns the world from there on. */
async function happen(world: World, each: Act): Promise<World> {
  const { act, other } = each;
  if (act === 'name a stage') return nameStage(world, 11, `Start ${other % 3}`);
  if (act === 'name a user') return nameUser(world, `Ann ${other % 3}`);
  if (act === 'wait to leave') world.clock.now += leaveAfterMs;
  if (act === 'wait a day') world.clock.now += dayMs;
  if (act === 'restart') restart(world);
  if (act === 'read the CRM') await pull(world);
  if (act === 'look') await look(world);
  if (act === 'cycle') await cycle(world);
  happenInSheet(world, each);
  happenInCrm(world, each);
  return world;
}

test('which rows wait for their turn makes no difference to any other, whatever happens meanwhile', {
  timeout: 120_000,
}, async () => {
  let written = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      anyActs,
      async (updatesMax, isRuled, all) => {
        let world = await worldOfTwins(updatesMax, isRuled);
        for (const each of all) world = await happen(world, each);
        written += (await cycle(world)).table.length;
      },
    ),
    { numRuns: areAllWanted ? 400 : 40 },
  );
  expect(written).toBeGreaterThan(0);
});
