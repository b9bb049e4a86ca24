import { expect, test, vi } from 'vitest';
import type { Entity } from '../../src/core/record.ts';
import { emptyAgreement, type KnownRecord } from '../../src/core/state.ts';
import { forgetRemapped } from '../../src/sheet/decide/brakes/met-anew.ts';
import { forgetFreshColumns } from '../../src/sheet/decide/rows/columns.ts';
import { indexTab, indexTable } from '../../src/sheet/decide/tab-index.ts';
import { ItemIndex } from '../../src/sheet/index/item-index.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { decideAgain } from '../../src/sheet/plans/decide-again.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import { recordTabs } from '../../src/sheet/port/layout.ts';
import type { ReadTab } from '../../src/sheet/port/table.ts';
import { gone, hit, suspect } from '../support/damages.ts';
import { leaveOf, newLead, worldOfNewLeads } from '../support/ruled-tab.ts';
import { changeRecord, createWorld, leadKey, rowOf } from '../support/world.ts';
import { inputOf, look, settle, worldWithLeads } from '../support/world-daemon.ts';

const count = 200;

const record = (entity: Entity, number: number, fields: KnownRecord['fields']): KnownRecord => ({
  key: { entity, id: String(number) },
  fields,
  firstSeenAt: 1,
  lastSeenAt: 2,
  missedSweeps: 0,
  presence: 'present',
});

test('what belongs to leads that changed is found without a look at any record that did not', async () => {
  let looks = 0;
  const owned = (number: number) => ({
    title: `Opportunity ${number}`,
    get lead_id() {
      looks += 1;
      return number;
    },
  });
  const numbers = Array.from({ length: count }, (_, number) => number + 1);
  const leads = numbers.map((number) => record('lead', number, { title: `Lead ${number}` }));
  const opportunities = numbers.map((number) => record('opportunity', number, owned(number)));
  const input = await inputOf(createWorld({}));
  const standing = new Standing();
  const updateTo = (records: readonly KnownRecord[]) =>
    standing.update({ ...input, known: { ...input.known, records } });
  updateTo([...leads, ...opportunities]);
  looks = 0;
  updateTo([...leads.map((lead) => ({ ...lead, fields: { title: 'Renamed' } })), ...opportunities]);
  expect(looks).toBe(0);
});

test('what goes with a record is found without a look at what belongs to any other', async () => {
  let looks = 0;
  const owned = (number: number): KnownRecord => ({
    ...record('opportunity', number, {
      get lead_id() {
        looks += 1;
        return number;
      },
    }),
  });
  const numbers = Array.from({ length: count }, (_, number) => number + 1);
  const leads = numbers.map((number) => record('lead', number, { title: `Lead ${number}` }));
  const input = await inputOf(createWorld({}));
  const known = { ...input.known, records: [...leads, ...numbers.map(owned)] };
  const standing = new Standing();
  standing.update({ ...input, known });
  looks = 0;
  const { cascades } = indexTable({ ...input, known }, standing);
  expect(cascades.goingWith(leadKey(7)).map(({ key }) => key)).toEqual([{ entity: 'opportunity', id: '7' }]);
  expect(cascades.isGoneWith(owned(7))).toBe(false);
  expect(looks).toBeLessThan(10);
});

test('a lead shows its contacts as they are now, without a look at those of any other lead', async () => {
  let looks = 0;
  const contact = (lead: number, name: string, lead_id = lead): KnownRecord => ({
    ...record('contact', 0, {
      lead_id,
      get full_name() {
        looks += 1;
        return name;
      },
    }),
    key: { entity: 'contact', id: `${lead}.${name}` },
  });
  const numbers = Array.from({ length: count }, (_, number) => number + 1);
  const leads = numbers.map((number) => record('lead', number, { title: `Lead ${number}` }));
  const contacts = numbers.flatMap((number) => [contact(number, 'Ada'), contact(number, 'Bob')]);
  const input = await inputOf(createWorld({}));
  const standing = new Standing();
  const textsAmong = (all: readonly KnownRecord[]) => {
    const next = { ...input, known: { ...input.known, records: [...leads, ...all] } };
    standing.update(next);
    const { contactsOf } = indexTable(next, standing);
    return [contactsOf('1'), contactsOf('2'), contactsOf('none')];
  };
  expect(textsAmong(contacts)).toEqual(['Ada, Bob', 'Ada, Bob', null]);
  const [, bob, ...others] = contacts;
  if (!bob) throw new Error('There is no contact.');
  expect(textsAmong([contact(1, 'Ann'), { ...bob, presence: 'gone' }, ...others])[0]).toBe('Ann');
  expect(textsAmong([bob, ...others])[0]).toBe('Bob');
  expect(textsAmong(others)[0]).toBe(null);
  expect(looks).toBeLessThan(20);
});

test.each([
  ['never had a row', undefined],
  ['left its tab', { state: 'left', at: 1 } as const],
])(
  'a record that its rule leaves out, and that %s, is decided once, and again when it changes',
  async (_case, leave) => {
    const world = await worldOfNewLeads([newLead('Shown')]);
    await look(world);
    const input = await inputOf(world);
    const [[shown], [agreed]] = [input.known.records, input.known.agreements];
    if (!shown || !agreed) throw new Error('There is no lead.');
    const out = Array.from({ length: count }, (_, number) =>
      record('lead', 1_000 + number, { ...shown.fields, title: `Out ${number}`, status_name: 'lost' }),
    );
    const left = out.flatMap(({ key, fields }) => (leave ? [{ ...agreed, key, fields, leave }] : []));
    const standing = new Standing();
    const decideWith = (records: readonly KnownRecord[]) => {
      const known = { ...input.known, records, agreements: [agreed, ...left] };
      return decideAgain({ ...input, known }, standing, undefined).plan;
    };
    expect(decideWith([shown, ...out]).leftOut.lead).toBe(count);
    expect(standing.groundOf('lead').outside.size).toBe(count);
    const others = out.slice(1);
    const { leftOut, table } = decideWith([
      shown,
      record('lead', 1_000, { ...shown.fields, title: 'In' }),
      ...others,
    ]);
    expect([leftOut.lead, table.length]).toEqual([count - 1, 1]);
  },
);

test('a row that leaves is decided again once its time is up, and not before', async () => {
  const world = await worldOfNewLeads([newLead('Leaving'), newLead('Staying')]);
  changeRecord(world, leadKey(1), { status_name: 'lost' });
  await settle(world);
  const [standing, input] = [new Standing(), await inputOf(world)];
  const countLoose = (now: number) => {
    standing.update({ ...input, now });
    return standing.countLooseRows('lead');
  };
  decideAgain(input, standing, undefined);
  const leavesAt = (leaveOf(world, leadKey(1))?.at ?? 0) + leaveAfterMs;
  expect([input.now, leavesAt - 1, leavesAt].map(countLoose)).toEqual([0, 0, 1]);
});

test('a cell that shows a lead in full is understood without a look at any other lead', async () => {
  let looks = 0;
  const titled = (number: number) => ({
    get title() {
      looks += 1;
      return `Lead ${number}`;
    },
  });
  const leads = Array.from({ length: count }, (_, number) => record('lead', number + 1, titled(number + 1)));
  const input = await inputOf(createWorld({}));
  const known = { ...input.known, records: leads };
  const standing = new Standing();
  standing.update({ ...input, known });
  const { leads: names } = standing.namesFor({ ...input, known });
  looks = 0;
  expect([names.label(7), names.find('Lead 9 (#9)')]).toEqual(['Lead 7 (#7)', { kind: 'one', id: 9 }]);
  expect(looks).toBeLessThan(10);
  expect(names.find('Lead 9')).toEqual({ kind: 'one', id: 9 });
  expect(looks).toBeGreaterThan(count);
});

test('where a write damaged one row, the other rows that are in step are not decided again', async () => {
  const world = await worldWithLeads(['Acme', 'Bolt', 'Corp']);
  const [standing, input] = [new Standing(), await inputOf(world)];
  decideAgain(input, standing, undefined);
  const tab = input.table.tabs.lead;
  if (tab.state === 'held') throw new Error(tab.reason);
  const idsDecided = (suspects: readonly Suspect[]) => {
    const next = { ...input, known: { ...input.known, suspects } };
    standing.update(next);
    const table = indexTable(next, standing);
    const [layout] = recordTabs(table.input.layout);
    const { agreements } = table.groundOf('lead');
    return layout && indexTab(table, layout, tab, agreements).tab.rows.map(({ id }) => describeCell(id));
  };
  expect(idsDecided([])).toEqual([]);
  expect(idsDecided([suspect(world, hit)])).toEqual(['2']);
  // What it had may be in any row since.
  expect(idsDecided([suspect(world, { ...gone, id: emptyCell })])).toEqual(['1', '2', '3']);
});

test('what is known of a tab that is not there is not gathered for each decision', async () => {
  const input = await inputOf(await worldWithLeads(['Acme']));
  const contacts = Array.from({ length: count }, (_, number) => record('contact', number, { lead_id: 1 }));
  const known = { ...input.known, records: [...input.known.records, ...contacts] };
  const picks = vi.spyOn(ItemIndex.prototype, 'pick');
  const standing = new Standing();
  decideAgain({ ...input, known }, standing, undefined);
  standing.rowless();
  const picked = picks.mock.calls.map(([entity], call) => [entity, picks.mock.results[call]?.value.length]);
  picks.mockRestore();
  expect(picked).toContainEqual(['lead', 1]);
  expect(picked).not.toContainEqual(['contact', count]);
});

test('a row that stays for what users wrote beside it is in step once it said so', async () => {
  const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
  rowOf(world, leadKey(1)).own = { Notes: textCell('call back') };
  changeRecord(world, leadKey(1), { status_name: 'lost' });
  await settle(world);
  expect(describeCell(rowOf(world, leadKey(1)).sync)).toMatch(/no longer fits this tab/);
  expect(world.trail.standing.countLooseRows('lead')).toBe(0);
  delete rowOf(world, leadKey(1)).own;
  await settle(world);
  expect(describeCell(rowOf(world, leadKey(1)).sync)).toMatch(/leaves this tab/);
});

test('while a brake waits for an answer, and nothing changes, no row is looked at', async () => {
  const world = await worldWithLeads(Array.from({ length: 600 }, (_, number) => `Lead ${number + 1}`));
  for (let number = 1; number <= 500; number += 1)
    rowOf(world, leadKey(number)).cells['title'] = textCell('Same');
  await look(world);
  await look(world);
  const looks = vi.spyOn(world.trail.standing, 'noteInStep');
  await look(world);
  expect([world.trail.standing.countLooseRows('lead') > 250, looks.mock.calls.length]).toEqual([true, 0]);
});

test('a column that is new leaves what is agreed as it is where nothing is agreed about it', () => {
  const agreements = new Map([['1', { ...emptyAgreement(leadKey(1), 0), fields: { title: 'Acme' } }]]);
  const row = { position: 1, id: textCell('1'), sync: emptyCell, cells: { title: textCell('Acme') } };
  const tab = { state: 'read', rows: [row], fields: new Set(['title', 'about.url']), hasSync: true } as const;
  const withFresh = (name: string) => forgetFreshColumns({ ...tab, fresh: new Set([name]) }, agreements);
  expect(withFresh('about.url')).toBe(agreements);
  expect(withFresh('title')).toBe(agreements);
});

test('a column that is off leaves what is agreed as it is once it was forgotten', () => {
  const agreements = new Map([['1', { ...emptyAgreement(leadKey(1), 0), fields: { title: 'Acme' } }]]);
  const withOff = (name: string) => forgetRemapped(agreements, { moved: {}, off: [name] }, false);
  expect(withOff('about.url')).toBe(agreements);
  expect(withOff('title').get('1')?.fields).toEqual({});
});

test('whether a column that is missing was ever there is not looked for in all agreements again', async () => {
  const titles = Array.from({ length: 50 }, (_, number) => `Lead ${number + 1}`);
  const input = await inputOf(await worldWithLeads(titles));
  const { lead } = input.table.tabs;
  if (lead.state === 'held') throw new Error(lead.reason);
  let looks = 0;
  const agreements = input.known.agreements.map((agreement) => ({
    ...agreement,
    fields: Object.defineProperty({ ...agreement.fields }, 'about.url', {
      get() {
        looks += 1;
        return undefined;
      },
    }),
  }));
  const tab = { ...lead, fields: lead.fields.difference(new Set(['about.url'])), headers: {} };
  const standing = new Standing();
  const decideRows = (rows: ReadTab['rows']) => {
    looks = 0;
    const table = { ...input.table, tabs: { ...input.table.tabs, lead: { ...tab, rows } } };
    const known = { ...input.known, agreements };
    return decideAgain({ ...input, known, table }, standing, undefined).plan.holds;
  };
  const lacking = [{ isOffer: true, reason: expect.stringContaining('no column') }];
  const rows = lead.rows.map((row) => {
    const { 'about.url': _gone, ...cells } = row.cells;
    return { ...row, cells };
  });
  expect(decideRows(rows)).toMatchObject(lacking);
  const [first, ...others] = rows;
  const edited = first && { ...first, cells: { ...first.cells, title: textCell('Edited') } };
  expect(decideRows(edited ? [edited, ...others] : [])).toMatchObject(lacking);
  expect(looks).toBeLessThan(titles.length);
});
