import { describe, expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { readStatus } from '../../src/sync/status.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* What single cells hold that is no plain value, numbered as in docs/faults.test.ts. */

const updates = (scene: Scenario) => scene.requests('PUT', /./);

describe('a formula', () => {
  test.each(['=1+1', '=1/0', '=NA()'])(
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

describe('a smart chip', () => {
  test.each(['placeholder', 'shown'] as const)(
    'that a person puts into a cell is neither sent nor overwritten, and a text in its place is taken (reads as %s)',
    async (chipText) => {
      const scene = await openScenario();
      const { crm } = scene;
      const { id, title } = await crm.take('lead');
      const { origin } = new URL(scene.gridUrl);
      const chosen = JSON.stringify({ '*': { chipText } });
      await fetch(`${origin}/__sandbox/choices`, { method: 'POST', body: chosen });
      const at = { sheet: 'Leads', row: await scene.position('lead', id) };
      const chips = [{ email: 'ada@example.com' }];
      await scene.act(
        { kind: 'insertChips', ...at, column: 'Title', chips },
        { kind: 'insertChips', ...at, column: 40, chips },
      );
      await scene.told('lead', id, /^Error: Title holds a smart chip\./);
      await crm.update('lead', id, { title: 'Renamed in the CRM', custom_fields: { city: 'Porto' } });
      await scene.swept('lead', 1);
      await scene.cycled(2);
      expect([(await scene.row('lead', id))?.['Title'], updates(scene)]).toEqual(['ada@example.com', []]);
      expect((await scene.row('lead', id))?.['City']).toBe('Porto');
      await scene.act({ kind: 'edit', ...at, column: 'Title', text: `${title} again` });
      await until('it is settled in the row', async () =>
        /Synced|Conflict/.test((await scene.row('lead', id))?.['Sync'] ?? ''),
      );
    },
  );
});

const lookalikes = ['007', '+49 30 123456', '12345678901234567890', '1e21', 'TRUE', '1-2', '=1+1'];

/** Letters and accents apart, spaces that do not break or have no width, an emoji of several parts, right to left. */
const unicodeForms = [
  'Cafe\u0301 Zu\u0308rich',
  'A\u00a0B\u200bC',
  '\u{1f469}\u200d\u{1f4bb}\u{1f1ea}\u{1f1f8}',
  '\u05e9\u05dc\u05d5\u05dd \u200fabc',
];

describe('a text', () => {
  test('fault 48: too long for a cell is shown cut, stays whole in the CRM, and stops no other row', async () => {
    const scene = await openScenario();
    const { crm, sheet } = scene;
    const [long, other] = [await crm.take('task'), await crm.take('task')];
    const text = 'x'.repeat(50_001);
    await crm.update('task', long.id, { description: text });
    await crm.update('task', other.id, { description: 'Short enough' });
    await scene.told('task', { ID: String(other.id), Description: 'Short enough' }, /^Synced/);
    const shown = (await scene.row('task', long.id))?.['Description'] ?? '';
    expect([shown.length, shown.endsWith('(cut: too long for a cell)')]).toEqual([50_000, true]);
    await sheet.type('task', long.id, { Title: 'Edited beside it' });
    await scene.told('task', { ID: String(long.id), Title: 'Edited beside it' }, /^Synced/);
    await sheet.type('task', long.id, { Description: `Edited ${shown}` });
    await scene.told(
      'task',
      long.id,
      /longer than a cell can hold\. Undo the change here, and edit it in the CRM/,
    );
    expect(valueAt(await crm.find('task', long.id), 'description')).toBe(text);
  });

  test.each([
    ['fault 51: that looks like a number, a date or a formula', lookalikes],
    ['fault 52: in any form of Unicode', unicodeForms],
  ])('%s goes to the sheet and back without a change', async (_, titles) => {
    const scene = await openScenario();
    const { crm, line, sheet } = scene;
    const sent: unknown[] = [];
    line.intercept(/^PUT/, (asked, passOn) => {
      sent.push(JSON.parse(asked.body));
      return passOn();
    });
    const ids = new Map<string, number>();
    for (const title of titles) {
      const { id } = await crm.take('lead');
      ids.set(title, id);
      await crm.update('lead', id, { title });
    }
    await scene.settled();
    for (const id of ids.values()) await sheet.type('lead', id, { City: 'Porto' });
    await scene.settled();
    const { rows } = (await sheet.look()).lead;
    for (const [title, id] of ids) {
      expect(rows.find((row) => row['ID'] === id)?.['Title']).toBe(title);
      expect(valueAt(await crm.find('lead', id), 'title')).toBe(title);
    }
    expect(sent).toHaveLength(titles.length);
    for (const body of sent) expect(body).not.toHaveProperty('title');
  });
});

describe('what people see differently', () => {
  test('fault 49: hidden rows and filters change nothing, and merged cells stop their tab alone', async () => {
    const scene = await openScenario();
    const { crm } = scene;
    await changeSheet(scene, [
      { setBasicFilter: { filter: { range: { sheetId: leadsId } } } },
      {
        updateDimensionProperties: {
          range: { sheetId: leadsId, dimension: 'ROWS', startIndex: 1, endIndex: 9 },
          properties: { hiddenByUser: true },
          fields: 'hiddenByUser',
        },
      },
    ]);
    const { id } = await crm.take('lead');
    await crm.update('lead', id, { title: 'Written into a hidden row' });
    await scene.settled();
    const range = {
      sheetId: leadsId,
      startRowIndex: 1,
      endRowIndex: 3,
      startColumnIndex: 0,
      endColumnIndex: 2,
    };
    await changeSheet(scene, [{ mergeCells: { range, mergeType: 'MERGE_ALL' } }]);
    await scene.stopped(/merged\. Unmerge them/);
    const task = await crm.take('task');
    await crm.update('task', task.id, { title: 'Goes on' });
    await scene.told('task', { ID: String(task.id), Title: 'Goes on' }, /^Synced/);
    expect(updates(scene)).toEqual([]);
  });

  test('fault 50: another locale and time zone of the spreadsheet change no value of the CRM', async () => {
    const scene = await openScenario();
    const properties = { locale: 'de_DE', timeZone: 'Europe/Berlin' };
    await changeSheet(scene, [{ updateSpreadsheetProperties: { properties, fields: 'locale,timeZone' } }]);
    await scene.swept('task', 1);
    await scene.cycled(4);
    expect(updates(scene)).toEqual([]);
    const { id } = await scene.crm.take('opportunity');
    await scene.sheet.type('opportunity', id, { 'Expected close': '2027-04-03' });
    await until('it arrives', async () => updates(scene).length > 0);
    const changed = await scene.crm.find('opportunity', id);
    expect(valueAt(changed, 'expected_close_date')).toBe('2027-04-03');
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
