import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { readStatus } from '../../src/sync/status.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* What single cells hold that is no plain value, numbered as in docs/faults.test.ts. */

const updates = (scene: Scenario) => scene.requests('PUT', /./);

describe('a formula', () => {
  test.each(['=1+1', '=1/0'])(
    'fault 47: %s is neither sent nor overwritten, and a value in its place is taken again',
    async (formula) => {
      const scene = await openScenario();
      const { crm } = scene;
      const { id } = await crm.take('opportunity');
      const row = await scene.position('opportunity', id);
      const type = (text: string) =>
        scene.act({ kind: 'edit', sheet: 'Opportunities', row, column: 'Value', text });
      await type(formula);
      await scene.told('opportunity', id, /^Error: Value/);
      await crm.update('opportunity', id, { value: 4711 });
      await scene.swept('opportunity', 1);
      await scene.cycled(2);
      const shown = (await scene.row('opportunity', id))?.['Value'];
      expect([shown === '4711', updates(scene)]).toEqual([false, []]);
      await type('815');
      await scene.settled();
      expect((await scene.row('opportunity', id))?.['Sync']).toMatch(
        /^Changed by the CRM: Value was “815”\. Synced /,
      );
    },
  );

  test('over a title stays a text that is not sent, typed or pasted, and the other edits of its row are', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    const [typed, pasted] = [await crm.take('lead'), await crm.take('lead')];
    const formula = '=HYPERLINK("https://acme.example"; "Acme")';
    const at = { sheet: 'Leads', row: await scene.position('lead', typed.id) };
    await scene.act(
      { kind: 'edit', ...at, column: 'Title', text: formula },
      { kind: 'edit', ...at, column: 'City', text: 'Porto' },
    );
    const row = await scene.position('lead', pasted.id);
    await scene.act({ kind: 'paste', sheet: 'Leads', row, column: 'Title', rows: [['=A1']] });
    for (const { id } of [typed, pasted])
      await scene.told('lead', id, /^Error: Title holds a formula\. .+ put its result there as a value/);
    await until('the city is sent', async () => updates(scene).length > 0);
    await scene.cycled(2);
    expect(valueAt(await crm.find('lead', typed.id), 'custom_fields.city')).toBe('Porto');
    for (const { id, title } of [typed, pasted])
      expect(valueAt(await crm.find('lead', id), 'title')).toBe(title);
    expect((await scene.row('lead', typed.id))?.['Title']).toBe(formula);
  });
});

test('a column of checkboxes says nothing in anybody’s name, neither as long as a table has it nor once it is plain again', async () => {
  const scene = await openScenario();
  const id = await scene.crm.create('lead', { title: 'Acme' });
  const row = await scene.told('lead', id, /^Synced/);
  const place = { columnIndex: 0, columnName: 'Newsletter' };
  const column = Object.keys(row).indexOf(place.columnName);
  const range = { sheetId: leadsId, startRowIndex: 0, endRowIndex: 10 };
  const table = { tableId: '7', range: { ...range, startColumnIndex: column, endColumnIndex: column + 1 } };
  const changeType = (columnType?: string) => ({
    updateTable: {
      table: { tableId: '7', columnProperties: [{ ...place, columnType }] },
      fields: 'columnProperties',
    },
  });
  const shown = async () => (await scene.row('lead', id))?.['Newsletter'];
  expect(await shown()).toBe('');
  for (const requests of [[{ addTable: { table } }, changeType('BOOLEAN')], [changeType()]]) {
    await changeSheet(scene, requests);
    await scene.cycled(3);
    expect([await shown(), updates(scene)]).toEqual(['FALSE', []]);
  }
});

/** The id of the first tab. */
const leadsId = 0;

/** What an owner does with tools of the spreadsheet that are no typing. */
async function changeSheet({ engine, sheetLine }: Scenario, requests: readonly object[]): Promise<void> {
  const url = `${sheetLine.baseUrl}v4/spreadsheets/${engine.link.table.identity}:batchUpdate`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ requests }) });
  expect(await answer.json()).toHaveProperty('replies');
}

test('S1: an ID cell that is pasted over with several lines while its row is written is found in the history with what stood beside it', async () => {
  const stage = await openLeadsStage();
  const { engine, link } = stage;
  const id = await stage.firstLead();
  const title = (await stage.titles()).sheet.get(id);
  await stage.editCrm(`/leads/${id}`, { title: 'Of the CRM' });
  await engine.pullAll(() => {});
  const text = `${id}\n1002`;
  await stage.setSheetFaults({
    beforeNextWrite: [{ kind: 'edit', sheet: 'Leads', row: 1, column: 'ID', text }],
  });
  await engine.cycle();
  expect(link.mirror.searchJournal({ key: { entity: 'lead', id: text } }).at(-1)).toMatchObject({
    kind: 'repair',
    before: { title },
  });
  expect(readStatus(engine, undefined).latest[0]).toMatchObject({ kind: 'repair' });
});

test('the boxes of a row that somebody inserts between others count as they are shown: one that is not ticked says no', async () => {
  const scene = await openScenario();
  const range = { sheetId: leadsId, dimension: 'ROWS', startIndex: 2, endIndex: 3 };
  await changeSheet(scene, [{ insertDimension: { range, inheritFromBefore: true } }]);
  await scene.act({ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Nova' });
  const { ID: id } = await scene.told('lead', { Title: 'Nova' }, /^Synced/);
  expect(valueAt(await scene.crm.find('lead', Number(id)), 'custom_fields')).toEqual({ newsletter: false });
});

test('a checkbox that comes with the row of a record says nothing that the CRM does not say', async () => {
  const { firstLead, link, readCrm, readSheet } = await openLeadsStage();
  const causes = link.mirror.searchJournal({ limit: 99 }).map(({ cause }) => cause);
  expect(causes).not.toContain('edited in the sheet');
  const { leads } = await readCrm();
  const lead = leads.find(({ id }) => String(id) === '1001');
  expect(await firstLead()).toBe('1001');
  expect(lead?.custom_fields).not.toHaveProperty('newsletter');
  expect((await readSheet())['Leads']?.[0]).not.toHaveProperty('Newsletter');
});

test.each(['ID', 'About'])(
  'nor does one of a row that comes while somebody moves the column %s',
  async (column) => {
    const { addresses, engine, readCrm, setSheetFaults, settle } = await openLeadsStage();
    const order = { method: 'POST', path: '/leads', body: { title: 'Nova' } };
    await fetch(`${addresses.crmUrl}__sandbox/by-hand`, { method: 'POST', body: JSON.stringify(order) });
    await engine.pullAll(() => {});
    await setSheetFaults({ beforeNextWrite: [{ kind: 'moveColumns', sheet: 'Leads', column, to: 12 }] });
    await settle();
    const { leads } = await readCrm();
    expect(leads.find(({ title }) => title === 'Nova')?.custom_fields).toEqual({});
  },
);
