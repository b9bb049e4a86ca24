import { describe, expect, test } from 'vitest';
import { facts } from '../../src/core/facts.ts';
import type { CustomFieldDefinition } from '../../src/crm/contract.ts';
import { seedCustomFields } from '../../src/sandbox/crm/seed-catalog.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { healthOf } from '../support/health.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { openScenario } from '../support/scenario.ts';
import { readTab } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 90_000 };

type Change = Partial<CustomFieldDefinition> | 'deleted';

/** What an administrator makes of one custom field. */
function setField({ model }: Pick<LeadsStage, 'model'>, key: string, change: Change = {}): void {
  const customFields = seedCustomFields.flatMap((field) => {
    if (field.field_key !== key) return [field];
    return change === 'deleted' ? [] : [{ ...field, ...change }];
  });
  Object.assign(model.records, { customFields });
}

const ways: readonly [string, Change, RegExp][] = [
  ['is switched off', { is_active: false }, /it is switched off in the CRM/],
  ['is deleted', 'deleted', /the CRM no longer lists it/],
  ['becomes one of a kind that nobody knows', { type: 'geo' }, /its kind in the CRM is not known here/],
];

const type = (stage: LeadsStage, column: string, text: string, row = 1) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column, text });

const readRows = ({ addresses }: LeadsStage) => readTab(addresses, 'Leads');

const firstRow = async (stage: LeadsStage) => ({ City: '', ...(await readRows(stage))[0] });

async function firstCustom(stage: LeadsStage): Promise<Record<string, unknown>> {
  const id = await stage.firstLead();
  const lead = (await stage.readCrm()).leads.find((each) => String(each.id) === id);
  return { title: lead?.title, ...lead?.custom_fields };
}

/** What stands at the header of a column. */
async function noteAt({ addresses }: LeadsStage, header: string): Promise<string> {
  const range = encodeURIComponent('Leads!1:1');
  const fields = 'sheets(data(rowData(values(formattedValue,note))))';
  const url = `${addresses.sheetsUrl}/v4/spreadsheets/${addresses.spreadsheetId}?ranges=${range}&fields=${fields}`;
  const answer = (await (await fetch(url)).json()) as {
    sheets: { data: { rowData: { values: { formattedValue?: string; note?: string }[] }[] }[] }[];
  };
  const cells = answer.sheets.flatMap(({ data }) => data).flatMap(({ rowData }) => rowData[0]?.values ?? []);
  return cells.find(({ formattedValue }) => formattedValue === header)?.note ?? '';
}

/** Cycles until nothing changes, also where something is held. */
async function settleTwice(stage: LeadsStage): Promise<void> {
  for (const _time of [1, 2]) await stage.settle();
}

test.each(ways)(
  'a custom field that %s keeps its column, whose hold, note and rows say that nothing is sent; the rest of the row is',
  limit,
  async (_, change, why) => {
    const stage = await openLeadsStage();
    const before = await firstCustom(stage);
    setField(stage, 'city', change);
    await settleTwice(stage);
    expect(await firstRow(stage)).toMatchObject({ Sync: expect.stringMatching(/^Synced/) });
    await type(stage, 'City', 'Typed');
    await type(stage, 'Title', 'Renamed');
    await settleTwice(stage);
    expect(await firstCustom(stage)).toMatchObject({ title: 'Renamed', city: before['city'] });
    expect(await firstRow(stage)).toMatchObject({ City: 'Typed', Sync: expect.stringMatching(why) });
    const held = expect.objectContaining({ entity: 'lead', reason: expect.stringMatching(why) });
    expect(stage.engine.lastPlan?.holds).toContainEqual(held);
    expect(await noteAt(stage, 'City')).toMatch(why);
    expect(await noteAt(stage, 'City')).not.toContain('Edits go to the CRM');
  },
);

describe('a custom field that is deleted', () => {
  test('goes on by itself once it is back, with what was typed meanwhile', limit, async () => {
    const stage = await openLeadsStage();
    setField(stage, 'city', 'deleted');
    await settleTwice(stage);
    await type(stage, 'City', 'Typed');
    await settleTwice(stage);
    setField(stage, 'city');
    await settleTwice(stage);
    expect(await firstCustom(stage)).toMatchObject({ city: 'Typed' });
    expect(await firstRow(stage)).toMatchObject({ City: 'Typed', Sync: expect.stringMatching(/^Synced/) });
    expect(await noteAt(stage, 'City')).toContain('Edits go to the CRM');
    expect(stage.engine.lastPlan?.holds).toEqual([]);
  });

  test('is held over a restart as well', limit, async () => {
    const stage = await openLeadsStage();
    setField(stage, 'city', 'deleted');
    await settleTwice(stage);
    const { policy } = stage.link;
    const engine = stage.createEngine({ ...stage.reopen(), policy });
    await type(stage, 'City', 'Typed');
    for (const _time of [1, 2, 3]) await engine.cycle();
    expect(await firstRow(stage)).toMatchObject({
      City: 'Typed',
      Sync: expect.stringMatching(/no longer lists it/),
    });
    expect(engine.link.mirror.readOutbox()).toEqual([]);
  });

  test(
    'asks and says nothing of rows in which nobody typed, nor of new ones, and no column is added for it',
    limit,
    async () => {
      const stage = await openLeadsStage();
      setField(stage, 'city', 'deleted');
      await settleTwice(stage);
      const last = (await readRows(stage)).length;
      await type(stage, 'Title', 'New in the sheet', last + 1);
      await settleTwice(stage);
      const rows = await readRows(stage);
      expect(rows.map(({ Sync }) => String(Sync).slice(0, 6))).toEqual(rows.map(() => 'Synced'));
      expect(stage.engine.lastPlan).toMatchObject({ brakes: [], refusals: [], questions: [] });
      await stage.editSheet({ kind: 'deleteColumns', sheet: 'Leads', column: 'City', count: 1 });
      await settleTwice(stage);
      expect(stage.engine.lastPlan?.holds).toEqual([]);
    },
  );
});

describe('a custom field that comes back', () => {
  test('as one of another kind: what it showed before goes, and nothing of it is sent', limit, async () => {
    const stage = await openLeadsStage();
    const { leads } = await stage.readCrm();
    for (const { id } of leads) await stage.editCrm(`/leads/${id}`, { custom_fields: { city: 'Porto' } });
    await settleTwice(stage);
    setField(stage, 'city', 'deleted');
    await settleTwice(stage);
    for (const lead of stage.model.records.leads.live())
      stage.model.records.leads.replace({ ...lead, custom_fields: {} });
    setField(stage, 'city', { type: 'number' });
    await settleTwice(stage);
    expect(await firstRow(stage)).toMatchObject({ City: '' });
    expect(stage.engine.lastPlan).toMatchObject({ refusals: [], conflicts: [] });
    await type(stage, 'City', '12');
    await settleTwice(stage);
    expect(await firstCustom(stage)).toMatchObject({ city: 12 });
  });

  test('with other options: the row goes on with the ones of now', limit, async () => {
    const stage = await openLeadsStage();
    const id = await stage.firstLead();
    await stage.editCrm(`/leads/${id}`, { custom_fields: { source: 'Website' } });
    await settleTwice(stage);
    setField(stage, 'source', { is_active: false });
    await settleTwice(stage);
    const options = [
      { id: 2, name: 'Website' },
      { id: 9, name: 'Podcast' },
    ];
    setField(stage, 'source', { options });
    await settleTwice(stage);
    expect(await firstRow(stage)).toMatchObject({ Source: 'Website' });
    await type(stage, 'Source', 'Podcast');
    await settleTwice(stage);
    expect(await firstCustom(stage)).toMatchObject({ source: 'Podcast' });
  });
});

test(
  'where the CRM refuses a field that it does not have any more, the catalog is read at once, and the rest is sent',
  limit,
  async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('lead');
    setField(scene, 'city', 'deleted');
    await scene.sheet.type('lead', id, { City: 'Typed', Title: 'Renamed' });
    await scene.told('lead', id, /City is left alone, because the CRM no longer lists it/);
    await until(
      'the title is sent',
      async () => (await scene.crm.find('lead', id))?.['title'] === 'Renamed',
      {
        limitMs: 15_000,
      },
    );
    const { conditions } = { conditions: healthOf(scene.engine).read() };
    expect(conditions.map(({ name }) => name)).toContain('HELD');
    setField(scene, 'city');
    await scene.resync();
    await scene.settled();
  },
);

test(
  'the last custom field of all that is deleted is held too, once the CRM has said so twice',
  limit,
  async () => {
    const stage = await openLeadsStage();
    Object.assign(stage.model.records, { customFields: [] });
    await settleTwice(stage);
    await type(stage, 'City', 'Typed');
    await settleTwice(stage);
    expect(await firstRow(stage)).toMatchObject({
      Sync: expect.stringMatching(/the CRM no longer lists it/),
    });
  },
);

/** A link whose leads were all read as empty of one field, and half of them of another, which is then switched off. */
async function openEmptied() {
  const { link, model } = await openLinkStage({ leads: 300, opportunities: 0, tasks: 0 });
  const { mirror } = link;
  await pullCatalog(link, 'newest');
  const seen = {
    observedAt: 1,
    firstSeenAt: 1,
    lastSeenAt: 1,
    missedSweeps: 0,
    presence: 'present',
  } as const;
  for (let id = 1; id <= 300; id += 1) {
    const fields = { 'custom.city': id % 2 === 0 ? null : 'Porto', 'custom.source': null };
    mirror.saveRecord({ key: { entity: 'lead', id: String(id) }, fields, ...seen });
  }
  setField({ model }, 'city', { is_active: false });
  const found = () => new Set(mirror.readRecords('lead').map(({ fields }) => JSON.stringify(fields)));
  return { found, link, model };
}

const forgotten = new Set(['{"custom.source":null}', '{"custom.city":"Porto","custom.source":null}']);

test('a field that is switched off has no lead empty that was read so before that was known', async () => {
  const { found, link } = await openEmptied();
  await pullCatalog(link, 'newest');
  expect(found()).toEqual(forgotten);
});

test('where a kill interrupts that, it goes on before the field is known to be back', async () => {
  const { found, link, model } = await openEmptied();
  const sleep = () => Promise.reject(new Error('killed'));
  await expect(pullCatalog({ ...link, clock: { ...link.clock, sleep } }, 'newest')).rejects.toThrow('killed');
  expect(found()).not.toEqual(forgotten);
  setField({ model }, 'city');
  const readCatalog = async () => {
    expect(found()).toEqual(forgotten);
    return link.crm.readCatalog('newest');
  };
  await pullCatalog({ ...link, crm: { ...link.crm, readCatalog } }, 'newest');
  expect(link.mirror.readFact(facts.emptiedFields)).toBeUndefined();
  expect.assertions(4);
});
