import { describe, expect, test } from 'vitest';
import { seedCustomFields } from '../../src/sandbox/crm/seed-catalog.ts';
import { tableLayout } from '../../src/sheet/tab-columns.ts';
import { resync } from '../../src/sync/resync.ts';
import { readStatus } from '../../src/sync/status.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { SheetEngine } from '../support/sheet-engine.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** What an administrator makes of the custom fields: names by key. A key that the CRM does not have yet is a new field of texts. */
function nameFields({ model }: LeadsStage, names: Readonly<Record<string, string>>): void {
  const known = seedCustomFields.map((field) => ({ ...field, name: names[field.field_key] ?? field.name }));
  const isKnown = (key: string) => known.some(({ field_key }) => field_key === key);
  const added = Object.entries(names).filter(([key]) => !isKnown(key));
  const plain = { type: 'text' as const, options: null, is_active: true };
  const customFields = [
    ...known,
    ...added.map(([field_key, name], at) => ({ id: 900 + at, name, field_key, order: 90 + at, ...plain })),
  ];
  Object.assign(model.records, { customFields });
}

const fieldsOf = async ({ readCrm }: LeadsStage) =>
  (await readCrm()).leads.map(({ id, custom_fields }) => [String(id), custom_fields] as const);

/** Rows by the ID of their lead. */
const columnOf = async ({ readSheet }: LeadsStage, header: string) => {
  const { Leads = [] } = await readSheet();
  return Object.fromEntries(Leads.map((row) => [row['ID'], row[header] ?? '']));
};

const valuesOf = async (stage: LeadsStage, key: string) =>
  Object.fromEntries((await fieldsOf(stage)).map(([id, fields]) => [id, fields?.[key] ?? '']));

const offers = ({ engine }: LeadsStage) =>
  engine.lastPlan?.holds.filter(({ isOffer }) => isOffer).map(({ reason }) => reason) ?? [];

const type = (stage: LeadsStage, column: string, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column, text });

/** A column of somebody's own behind all others, with a text in every row. */
async function addOwnColumn(stage: LeadsStage, header: string): Promise<Record<string, string>> {
  const texts = ['north', 'south', 'east', 'west', 'sea'];
  const rows = [header, ...texts].map((text) => [text]);
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 0, column: 20, rows });
  return (await columnOf(stage, header)) as Record<string, string>;
}

/** Cycles with what the CRM calls its fields now, and the layout that follows each of them. */
async function settleOften(stage: LeadsStage): Promise<void> {
  for (const _time of [1, 2]) await stage.settle();
}

describe('what an administrator of the CRM does to custom fields', limit, () => {
  test('a field is renamed and a new one gets its name: the column keeps its field, and the new one is offered', async () => {
    const stage = await openLeadsStage();
    const cities = await columnOf(stage, 'City');
    const before = await fieldsOf(stage);
    nameFields(stage, { city: 'City (old)', city_2: 'City' });
    await settleOften(stage);
    expect([await columnOf(stage, 'City'), await fieldsOf(stage)]).toEqual([cities, before]);
    expect(offers(stage).join()).toMatch(/no column for the CRM's field “City”. Column \w+ is called so/);
    const told = readStatus(stage.engine, undefined).entities.find(({ entity }) => entity === 'lead');
    expect(told).toMatchObject({ held: 0 });
    await type(stage, 'City', 'Porto');
    await settleOften(stage);
    const lead = await stage.firstLead();
    expect(await valuesOf(stage, 'city')).toEqual({ ...cities, [lead]: 'Porto' });
    expect(Object.values(await valuesOf(stage, 'city_2')).join('')).toBe('');
  });

  test('a field is new: that its column is offered is nothing that a resync has left undone', async () => {
    const stage = await openLeadsStage();
    nameFields(stage, { town: 'Town' });
    await settleOften(stage);
    expect(offers(stage)).toHaveLength(1);
    expect(await resync(stage.engine, () => {})).toMatchObject({ tableSteps: 0, crmWrites: 0, waiting: 0 });
  });

  test('a new mirror that does not know the fields yet compares nothing, and disowns no column', async () => {
    const { link } = await openLeadsStage();
    const engine = new SheetEngine({ ...link, mirror: openMirrorInMemory().mirror });
    const { holds, table } = await engine.cycle();
    expect([table, new Set(holds.map(({ reason }) => reason))]).toEqual([
      [],
      new Set([expect.stringContaining('custom fields of the CRM were not read yet')]),
    ]);
    await engine.pullAll(() => undefined);
    const { brakes, holds: left } = await engine.cycle();
    expect(brakes.map(({ scope }) => scope)).toContain('brake:lead:rebase');
    expect(left).toEqual([]);
  });

  test('a field that had a column is not new, also while nothing of it is agreed because the column went', async () => {
    const { link } = await openLeadsStage();
    const isCityNew = () =>
      tableLayout(link).some(({ columns }) =>
        columns.some(({ field, isNew }) => field === 'custom.city' && isNew),
      );
    expect(isCityNew()).toBe(false);
    for (const agreement of link.mirror.readAgreements()) {
      const { 'custom.city': _gone, ...fields } = agreement.fields;
      link.mirror.saveAgreement({ ...agreement, fields, offered: {} });
    }
    expect(isCityNew()).toBe(false);
  });

  test('the new field gets a column as soon as somebody gives the old one its new name', async () => {
    const stage = await openLeadsStage();
    const cities = await columnOf(stage, 'City');
    const lead = await stage.firstLead();
    nameFields(stage, { city: 'City (old)', city_2: 'City' });
    await stage.editCrm(`/leads/${lead}`, { custom_fields: { city_2: 'Lagos' } });
    await settleOften(stage);
    const add = () => stage.link.table.layOut(tableLayout(stage.link), 'create', { addColumns: true });
    expect((await add()).offered.join()).toContain('give it another header, then run init --add-columns');
    expect(Object.values(await columnOf(stage, 'City'))).toEqual(Object.values(cities));
    await stage.editSheet({ kind: 'renameHeader', sheet: 'Leads', column: 'City', text: 'City (old)' });
    expect((await add()).offered).toEqual([]);
    await settleOften(stage);
    expect(await columnOf(stage, 'City (old)')).toEqual(cities);
    expect((await columnOf(stage, 'City'))[lead]).toBe('Lagos');
    await type(stage, 'City', 'Faro');
    await settleOften(stage);
    expect([await valuesOf(stage, 'city'), (await valuesOf(stage, 'city_2'))[lead]]).toEqual([
      cities,
      'Faro',
    ]);
    expect(offers(stage)).toEqual([]);
  });

  test('a column that was added for a new field stays its own where somebody types there before a plan was applied', async () => {
    const stage = await openLeadsStage('crm', { isManual: true });
    const { engine, link } = stage;
    const fillRows = async () => engine.apply((await engine.plan()).run);
    for (const _turn of [1, 2]) await fillRows();
    nameFields(stage, { region: 'Region' });
    for (const { id } of (await stage.readCrm()).leads)
      await stage.editCrm(`/leads/${id}`, { custom_fields: { region: `Region ${id}` } });
    await engine.pullAll(() => {});
    await link.table.layOut(tableLayout(link), 'create', { addColumns: true });
    await engine.cycle();
    await type(stage, 'Region', 'Typed');
    for (const _turn of [1, 2]) await engine.cycle();
    expect(offers(stage)).toEqual([]);
    expect(engine.lastPlan?.conflicts).toMatchObject([{ field: 'custom.region', table: 'Typed' }]);
  });

  test('two fields swap their names: each keeps its column', async () => {
    const stage = await openLeadsStage();
    const [cities, phones] = [await columnOf(stage, 'City'), await columnOf(stage, 'Phone')];
    const before = await fieldsOf(stage);
    nameFields(stage, { city: 'Phone', phone: 'City' });
    await settleOften(stage);
    expect([await columnOf(stage, 'City'), await columnOf(stage, 'Phone')]).toEqual([cities, phones]);
    expect(await fieldsOf(stage)).toEqual(before);
    await type(stage, 'City', 'Porto');
    await settleOften(stage);
    expect(await valuesOf(stage, 'city')).toEqual({ ...cities, [await stage.firstLead()]: 'Porto' });
    expect(await valuesOf(stage, 'phone')).toEqual(phones);
  });

  test('a field gets the name of a column of people: that stays theirs, and the field stays where it was', async () => {
    const stage = await openLeadsStage();
    const [regions, cities] = [await addOwnColumn(stage, 'Region'), await columnOf(stage, 'City')];
    const before = await fieldsOf(stage);
    nameFields(stage, { city: 'Region' });
    await settleOften(stage);
    expect([await columnOf(stage, 'Region'), await columnOf(stage, 'City')]).toEqual([regions, cities]);
    expect([await fieldsOf(stage), stage.engine.lastPlan?.holds]).toEqual([before, []]);
  });

  test('a new field is called like a column of people: that stays theirs, until the configuration names it', async () => {
    const stage = await openLeadsStage();
    const regions = await addOwnColumn(stage, 'Region');
    const before = await fieldsOf(stage);
    nameFields(stage, { region: 'Region' });
    await settleOften(stage);
    expect([await columnOf(stage, 'Region'), await fieldsOf(stage)]).toEqual([regions, before]);
    expect(offers(stage).join()).toMatch(/no column for the CRM's field “Region”. Column U is called so/);
    const { policy } = stage.link;
    const lead = { ...policy.tabs.lead, columns: { 'custom.region': { header: 'Region' } } };
    const engine = stage.createEngine({
      ...stage.link,
      policy: { ...policy, tabs: { ...policy.tabs, lead } },
    });
    for (const _turn of [1, 2, 3]) await engine.cycle();
    const waiting = engine.link.mirror.readOutbox().map(({ fields }) => fields['custom.region']);
    expect(waiting.toSorted()).toEqual(Object.values(regions).toSorted());
  });

  test('a field of days is made anew as one of numbers: the days go from its column, and nobody has to mend a row', async () => {
    const stage = await openLeadsStage();
    const { leads } = await stage.readCrm();
    const setAll = async (day: string | null) => {
      for (const { id } of leads)
        await stage.editCrm(`/leads/${id}`, { custom_fields: { first_contact: day } });
    };
    await setAll('2026-12-11');
    await settleOften(stage);
    expect(new Set(Object.values(await columnOf(stage, 'First contact'))).size).toBe(1);
    const customFields = seedCustomFields.map((field) =>
      field.field_key === 'first_contact' ? { ...field, type: 'number' } : field,
    );
    await setAll(null);
    Object.assign(stage.model.records, { customFields });
    await settleOften(stage);
    expect(stage.engine.lastPlan).toMatchObject({ brakes: [], refusals: [] });
    expect(Object.values(await columnOf(stage, 'First contact')).join('')).toBe('');
  });

  test('a field of amounts is made one of texts: the amounts that the CRM still has stay as people formatted them', async () => {
    const stage = await openLeadsStage();
    const { leads } = await stage.readCrm();
    for (const { id } of leads)
      await stage.editCrm(`/leads/${id}`, { custom_fields: { yearly_budget: 1250.5 } });
    await settleOften(stage);
    const [{ columns } = { columns: [] }] = tableLayout(stage.link);
    // The ID and the Sync cell come first.
    const column = 2 + columns.findIndex(({ field }) => field === 'custom.yearly_budget');
    const range = { startRow: 1, endRow: 6, startColumn: column, endColumn: column + 1 };
    await stage.editSheet({ kind: 'formatNumbers', sheet: 'Leads', range, pattern: '#,##0.00' });
    const customFields = seedCustomFields.map((field) =>
      field.field_key === 'yearly_budget' ? { ...field, type: 'text' } : field,
    );
    Object.assign(stage.model.records, { customFields });
    await settleOften(stage);
    expect(stage.engine.lastPlan).toMatchObject({ holds: [], refusals: [] });
    expect(new Set(Object.values(await valuesOf(stage, 'yearly_budget')))).toEqual(new Set([1250.5]));
  });
});
