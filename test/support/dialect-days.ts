import { expect } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import type { ListedEntity } from '../../src/core/record.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { dialects } from './dialects.ts';
import { expectLimitKept, openScenario, type Scenario } from './scenario.ts';

/** Something that people do, and what has to be seen of it once both sides are at rest. */
type Deed = (day: Scenario) => Promise<() => Promise<void>>;

/** Sees what the CRM holds at paths like `custom_fields.city`; nothing there is `null`. */
async function expectHeld(
  { crm }: Scenario,
  entity: ListedEntity,
  id: number,
  held: Readonly<Record<string, unknown>>,
): Promise<void> {
  const record = await crm.find(entity, id);
  const found = Object.fromEntries(Object.keys(held).map((path) => [path, valueAt(record, path) ?? null]));
  expect(found).toEqual(held);
}

const editInTheSheet: Deed = async (day) => {
  const { crm, sheet } = day;
  const [lead, deal, task] = [await crm.take('lead'), await crm.take('opportunity'), await crm.take('task')];
  await sheet.type('lead', lead.id, { Title: '007', City: 'Łódź', About: 'Met at the fair' });
  await sheet.type('opportunity', deal.id, { Value: '1234.5', Stage: 'Erstgespräch' });
  await sheet.type('task', task.id, { Status: 'In review', Due: '2027-02-28' });
  return async () => {
    await expectHeld(day, 'lead', lead.id, {
      title: '007',
      'custom_fields.city': 'Łódź',
      'meta_data.about.description': 'Met at the fair',
      'meta_data.about.url': valueAt(lead, 'meta_data.about.url') ?? null,
    });
    await expectHeld(day, 'opportunity', deal.id, { value: 1234.5, stage_id: 31 });
    await expectHeld(day, 'task', task.id, { status: 4, due_date: '2027-02-28' });
  };
};

const editInTheCrm: Deed = async (day) => {
  const { crm } = day;
  const [lead, deal, task] = [await crm.take('lead'), await crm.take('opportunity'), await crm.take('task')];
  const custom_fields = { services: ['SEO'], yearly_budget: null };
  await crm.update('lead', lead.id, { title: '=1+1', custom_fields });
  await crm.update('opportunity', deal.id, { stage_id: 22, note: 'Signed' });
  await crm.update('task', task.id, { priority: 3, due_date: null });
  return async () => {
    const shown = { Title: '=1+1', Services: 'SEO', 'Yearly budget (€)': '' };
    expect(await day.row('lead', lead.id)).toMatchObject(shown);
    const stage = 'Upsell & renewals / Offer / terms';
    expect(await day.row('opportunity', deal.id)).toMatchObject({ Stage: stage, Note: 'Signed' });
    expect(await day.row('task', task.id)).toMatchObject({ Priority: 'High', Due: '' });
  };
};

const typeNewRows: Deed = async ({ crm, sheet }) => {
  const lead = await crm.take('lead');
  const before = await crm.look();
  await sheet.typeRow('lead', { Title: 'Typed GmbH', Phone: '+49 40 555 0101', About: 'New' });
  await sheet.typeRow('opportunity', {
    Lead: `${valueAt(lead, 'title')} (#${lead.id})`,
    Stage: 'New business / Negotiation',
    Value: '4200',
    Note: 'Typed note',
  });
  await sheet.typeRow('task', { Title: 'Typed task', Priority: 'Low', Description: 'Typed words' });
  return async () => {
    const { leads, opportunities, tasks } = await crm.look();
    const about = { description: 'New' };
    const custom_fields = { phone: '+49 40 555 0101' };
    expect(leads.slice(before.leads.length)).toMatchObject([
      { title: 'Typed GmbH', meta_data: { about }, custom_fields },
    ]);
    expect(opportunities.slice(before.opportunities.length)).toMatchObject([
      { lead_id: lead.id, stage_id: 13, value: 4200, note: 'Typed note' },
    ]);
    expect(tasks.slice(before.tasks.length)).toMatchObject([
      { title: 'Typed task', priority: 1, description: 'Typed words' },
    ]);
  };
};

const createInTheCrm: Deed = async (day) => {
  const { crm } = day;
  const lead = await crm.create('lead', { title: '+49 30 12345', status_name: 'contacted' });
  const deal = await crm.create('opportunity', { lead_id: lead, stage_id: 14, value: 900 });
  const task = await crm.create('task', { title: 'Made in the CRM', lead_id: lead });
  return async () => {
    const leadName = `+49 30 12345 (#${lead})`;
    expect(await day.row('lead', lead)).toMatchObject({ Title: '+49 30 12345', Status: 'Contacted' });
    const stage = 'New business / Won';
    expect(await day.row('opportunity', deal)).toMatchObject({ Lead: leadName, Stage: stage });
    expect(await day.row('task', task)).toMatchObject({ Title: 'Made in the CRM', Lead: leadName });
  };
};

/** The CRM wins where both changed one field, the loser stays readable, and the other fields come together. */
const editTheSameOnBothSides: Deed = async (day) => {
  const { crm, engine, sheet } = day;
  const { id } = await crm.take('lead');
  await sheet.type('lead', id, { Title: 'Said in the sheet', City: 'Porto' });
  await crm.update('lead', id, { title: 'Said in the CRM', custom_fields: { source: 'Website' } });
  return async () => {
    await expectHeld(day, 'lead', id, {
      title: 'Said in the CRM',
      'custom_fields.city': 'Porto',
      'custom_fields.source': 'Website',
    });
    const entries = engine.link.mirror
      .searchJournal({ limit: 500 })
      .filter(({ key }) => key.id === String(id));
    expect(entries.map(({ lost }) => lost['title'])).toContain('Said in the sheet');
  };
};

const typeWhatTheCrmRefuses: Deed = async (day) => {
  const { crm, sheet } = day;
  const { id } = await crm.take('lead');
  const url = 'https://www.example.com/corrected';
  await sheet.type('lead', id, { Website: 'no address' });
  await day.told('lead', id, /^Error: The CRM does not accept this Website: /);
  await sheet.type('lead', id, { Website: url });
  return async () => {
    await expectHeld(day, 'lead', id, { 'meta_data.about.url': url });
    expect((await day.row('lead', id))?.['Sync']).toMatch(/^Synced /);
  };
};

/** What hangs on a lead goes with it. */
const trashInTheCrm: Deed = async (day) => {
  const { crm } = day;
  const { id } = await crm.take('lead');
  const task = await crm.create('task', { title: 'Hangs on the lead', lead_id: id });
  await day.settled();
  await crm.trash('lead', id);
  return async () => {
    expect([await day.row('lead', id), await day.row('task', task)]).toEqual([undefined, undefined]);
  };
};

const deleteARow: Deed = async (day) => {
  const { crm, sheet } = day;
  const { id } = await crm.take('task');
  const before = await crm.find('task', id);
  await sheet.deleteRow('task', id);
  await day.decide(`vanished:task-${id}`, 'restore');
  return async () => expect(await crm.find('task', id)).toEqual(before);
};

const meetARateRefusal: Deed = async (day) => {
  const { crm, engine, sheet } = day;
  const { id } = await crm.take('opportunity');
  day.setFaults({ faults: [{ kind: 'rateLimited', method: 'PUT' }] });
  await sheet.type('opportunity', id, { Confidence: '45' });
  return async () => {
    await expectHeld(day, 'opportunity', id, { confidence: 45 });
    expect(day.requests('PUT', new RegExp(`/opportunities/${id}$`)).map(({ status }) => status)).toEqual([
      429, 200,
    ]);
    expect(engine.problems.list()).toEqual([]);
  };
};

async function happen(day: Scenario, ...deeds: readonly Deed[]): Promise<void> {
  const checks: (() => Promise<void>)[] = [];
  for (const deed of deeds) checks.push(await deed(day));
  await day.settled();
  for (const check of checks) await check();
}

/** Leads fill one page, tasks a little more than one where there are pages. */
const countsFor = ({ leadAndTaskLimitMax = 100, leadAndTaskPaging }: Partial<CrmChoices>) => ({
  leads: 20,
  opportunities: 10,
  tasks: leadAndTaskPaging ? 30 : leadAndTaskLimitMax + 2,
});

/** A day of work on both sides of a CRM that answers like this. Fails where the sides do not come out the same. */
export async function spendADay(choices: Partial<CrmChoices>): Promise<void> {
  const day = await openScenario({ choices, counts: countsFor(choices) });
  await happen(day, editInTheSheet, editInTheCrm, typeNewRows, editTheSameOnBothSides);
  await happen(day, trashInTheCrm, deleteARow, typeWhatTheCrmRefuses, createInTheCrm);
  await day.resync();
  expect(await day.resync()).toMatchObject({ state: 'done', tableSteps: 0, crmWrites: 0, waiting: 0 });
  await happen(day, meetARateRefusal);
  expectLimitKept(day);
}

type Dialect = readonly [name: string, choices: Partial<CrmChoices>];

const all = Object.entries<Partial<CrmChoices>>(dialects);
const differsIn =
  (...names: (keyof CrmChoices)[]) =>
  ([, choices]: Dialect) =>
    names.some((name) => name in choices);
const isPaging = differsIn('leadAndTaskLimitMax', 'leadAndTaskPaging');
const isListing = differsIn('listShape', 'listFacts', 'leadAndTaskLimitMax', 'leadAndTaskPaging');
const others = all.filter((dialect) => !isListing(dialect));

/** Each way of listing joined with one of the other things in which CRMs differ: one real service may be all of it. */
const days = all.filter(isListing).map((dialect, index): Dialect => {
  const [other, further] = others[index % others.length] ?? dialect;
  return [`${dialect[0]}; ${other}`, { ...further, ...dialect[1] }];
});

/** Days with CRMs that differ in how they cut lists into pages, and with CRMs that differ in how they write them. */
export const pagingDays = days.filter(isPaging);
export const shapeDays = days.filter((dialect) => !isPaging(dialect));
