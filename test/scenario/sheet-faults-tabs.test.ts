import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import type { Interception, LineAnswer } from '../support/crm-line.ts';
import { expectWorking, openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* What happens to columns, to tabs and to the spreadsheet as a whole, numbered as in docs/faults.test.ts. */

const leads = 'Leads';

/** What the daemon wrote to the CRM. */
const writes = (scene: Scenario) =>
  ['POST', 'PUT', 'DELETE'].flatMap((method) => scene.requests(method, /./)).length;

describe('a column', () => {
  test.each<[string, PersonActionInput, PersonActionInput]>([
    [
      'fault 38: whose header is rewritten',
      { kind: 'renameHeader', sheet: leads, column: 'City', text: 'Our own words' },
      { kind: 'renameHeader', sheet: leads, column: 'Our own words', text: 'City' },
    ],
    [
      'fault 38: that is moved',
      { kind: 'moveColumns', sheet: leads, column: 'City', to: 1 },
      { kind: 'undo' },
    ],
    ['fault 39: that is deleted', { kind: 'deleteColumns', sheet: leads, column: 'City' }, { kind: 'undo' }],
  ])('%s blanks nothing in the CRM, and goes on when it is put right', async (_, spoil, mend) => {
    const scene = await openScenario();
    await scene.act(spoil);
    await scene.cycled(4);
    expect(writes(scene)).toBe(0);
    await scene.act(mend);
    await expectWorking(scene);
  });
});

describe('a tab', () => {
  test('fault 40: that is deleted is held and costs no record; the others go on', async () => {
    const scene = await openScenario();
    const { id } = await scene.crm.take('task');
    await scene.act({ kind: 'deleteTab', sheet: leads });
    await scene.stopped(/“Leads” was deleted/);
    await scene.sheet.type('task', id, { Description: 'Typed meanwhile' });
    await until('the edit of a task arrives', async () => writes(scene) > 0);
    await scene.cycled(3);
    expect(valueAt(await scene.crm.find('task', id), 'description')).toBe('Typed meanwhile');
    expect(writes(scene)).toBe(1);
  });

  test('fault 40: that is renamed stays the same tab', async () => {
    const scene = await openScenario();
    await scene.act({ kind: 'renameTab', sheet: leads, title: 'Our customers' });
    await scene.cycled(3);
    const { id } = await scene.crm.take('lead');
    await scene.crm.update('lead', id, { title: 'Renamed in the CRM' });
    await scene.swept('lead', 1);
    await scene.cycled(2);
    await scene.act({ kind: 'renameTab', sheet: 'Our customers', title: leads });
    await scene.settled();
    expect(writes(scene)).toBe(0);
  });

  test('fault 40: that is duplicated stays the only one: edits in the copy go nowhere', async () => {
    const scene = await openScenario();
    await scene.act(
      { kind: 'duplicateTab', sheet: leads, title: 'Leads, a copy' },
      { kind: 'edit', sheet: 'Leads, a copy', row: 1, column: 'Title', text: 'Typed into the copy' },
    );
    await scene.cycled(4);
    expect(writes(scene)).toBe(0);
    await expectWorking(scene);
  });
});

describe('the spreadsheet', () => {
  const google =
    (status: number, message: string): Interception =>
    async (): Promise<LineAnswer> => ({
      status,
      headers: { 'content-type': 'application/json' },
      text: JSON.stringify({ error: { code: status, message } }),
    });

  test.each<[string, Interception, string]>([
    ['is deleted or was never shared', google(404, 'Requested entity was not found.'), 'SHEET_NOT_FOUND'],
    ['is not shared any more', google(403, 'The caller does not have permission'), 'SHEET_FORBIDDEN'],
    ['has no requests left in this minute', google(429, 'Quota exceeded'), 'SHEET_LIMITED'],
  ])('fault 41: %s: nothing goes to the CRM, and all goes on by itself', async (_, answer, code) => {
    const scene = await openScenario();
    const { crm, sheetLine } = scene;
    const { id } = await crm.take('lead');
    const stop = sheetLine.intercept(/spreadsheets/, answer);
    await crm.update('lead', id, { title: 'Not to be seen yet' });
    await scene.suffered('sheet', 1);
    expect(scene.engine.problems.list()).toMatchObject([{ source: 'sheet', code }]);
    stop();
    await scene.settled();
    expect(writes(scene)).toBe(0);
    await expectWorking(scene);
  });

  test('fault 46: a read brings a part of the rows only: nobody takes the others for deleted', async () => {
    const scene = await openScenario();
    const { engine, sheetLine } = scene;
    const cut: Interception = async (_asked, passOn) => {
      const answer = await passOn();
      return answer && { ...answer, text: cutRows(answer.text, 3) };
    };
    const stop = sheetLine.intercept(/^GET .*spreadsheets/, cut);
    await scene.stopped(/gone from the sheet/);
    await scene.cycled(3);
    // What waits is told in a tab of its own, which no record can be lost from.
    expect(engine.lastPlan?.table.filter(({ write }) => write.entity !== 'question')).toEqual([]);
    stop();
    await scene.settled();
    expect(writes(scene)).toBe(0);
    await expectWorking(scene);
  });

  test('fault 45: rows come without their empty ends: what they lack is empty, and no row is gone', async () => {
    const scene = await openScenario();
    const { engine, sheetLine } = scene;
    const stop = sheetLine.intercept(/^GET .*spreadsheets/, async (_asked, passOn) => {
      const answer = await passOn();
      return answer && { ...answer, text: trimRows(answer.text) };
    });
    await scene.cycled(3);
    expect(engine.lastPlan).toMatchObject({ table: [], holds: [], brakes: [], restlessRows: 0 });
    expect(writes(scene)).toBe(0);
    await expectWorking(scene);
    stop();
    await scene.settled();
  });

  const answerShape = z.looseObject({
    sheets: z.array(
      z.looseObject({
        data: z.array(z.looseObject({ rowData: z.array(z.unknown()).optional() })).optional(),
      }),
    ),
  });

  const rowShape = z.looseObject({ values: z.array(z.looseObject({})).optional() });
  const isEmpty = (cell: object) => !('userEnteredValue' in cell || 'effectiveValue' in cell);

  /** The answer without the empty cells at the ends of rows, whatever their format, and without rows that have no other. */
  function trimRows(text: string): string {
    const answer = answerShape.parse(JSON.parse(text));
    for (const block of answer.sheets.flatMap(({ data = [] }) => data)) {
      const rows = (block.rowData ?? []).map((row) => {
        const { values = [], ...rest } = rowShape.parse(row);
        return { ...rest, values: values.slice(0, values.findLastIndex((cell) => !isEmpty(cell)) + 1) };
      });
      block.rowData = rows.slice(0, rows.findLastIndex(({ values }) => values.length > 0) + 1);
    }
    return JSON.stringify(answer);
  }

  /** The answer with so many rows of the first tab only. */
  function cutRows(text: string, count: number): string {
    const answer = answerShape.parse(JSON.parse(text));
    for (const block of answer.sheets[0]?.data ?? []) block.rowData = block.rowData?.slice(0, count);
    return JSON.stringify(answer);
  }
});

describe('a write', () => {
  test.each(['unavailable', 'cut'] as const)(
    'fault 53: whose answer is lost (%s) has appended its row once, and is not repeated',
    async (kind) => {
      const scene = await openScenario();
      await scene.setSheetFaults({ failures: [{ kind, when: 'after' }] });
      const id = await scene.crm.create('lead', { title: 'Appended once' });
      await scene.settled();
      const { rows } = (await scene.sheet.look()).lead;
      expect(rows.filter((row) => row['ID'] === id)).toHaveLength(1);
      expect(writes(scene)).toBe(0);
    },
  );

  test('fault 54: that a collaborator alters as it lands counts as their edit', async () => {
    const scene = await openScenario();
    const { crm, sheetLine } = scene;
    const { id } = await crm.take('lead');
    sheetLine.intercept(/:batchUpdate/, (asked, passOn) =>
      passOn({ body: asked.body.replace('"Written by us"', '"Altered by them"') }),
    );
    await crm.update('lead', id, { title: 'Written by us' });
    await scene.settled();
    expect(valueAt(await crm.find('lead', id), 'title')).toBe('Altered by them');
  });

  test('fault 55: of an automation through the API is an edit like any other, and comes to rest', async () => {
    const scene = await openScenario();
    const { crm, engine, sheetLine } = scene;
    const { id } = await crm.take('lead');
    const row = (await scene.position('lead', id)) + 1;
    const column = 'ABCDEFGHIJ'[Object.keys((await scene.row('lead', id)) ?? {}).indexOf('Title')];
    for (const title of ['Written by an automation', 'And written again']) {
      const range = `Leads!${column}${row}`;
      const url = `${sheetLine.baseUrl}v4/spreadsheets/${engine.link.table.identity}/values/${range}`;
      const values = JSON.stringify({ values: [[title]] });
      await fetch(`${url}?valueInputOption=RAW`, { method: 'PUT', body: values });
      await scene.settled();
      expect(valueAt(await crm.find('lead', id), 'title')).toBe(title);
    }
    expect(writes(scene)).toBe(2);
  });
});
