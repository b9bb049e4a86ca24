import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import type { Interception, LineAnswer } from '../support/crm-line.ts';
import { expectWorking, openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* What happens to columns, to tabs and to the spreadsheet as a whole, numbered as in docs/faults.test.ts. */

const leads = 'Leads';

/** What the daemon wrote to the CRM. */
const writes = (scene: Scenario) =>
  ['POST', 'PUT', 'DELETE'].flatMap((method) => scene.requests(method, /./)).length;

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
});

describe('the spreadsheet', () => {
  test('fault 41: is not shared any more: nothing goes to the CRM, and all goes on by itself', async () => {
    const scene = await openScenario();
    const { crm, sheetLine } = scene;
    const { id } = await crm.take('lead');
    const error = { code: 403, message: 'The caller does not have permission' };
    const headers = { 'content-type': 'application/json' };
    const refused: LineAnswer = { status: 403, headers, text: JSON.stringify({ error }) };
    const stop = sheetLine.intercept(/spreadsheets/, async () => refused);
    await crm.update('lead', id, { title: 'Not to be seen yet' });
    await scene.suffered('sheet', 1);
    expect(scene.engine.problems.list()).toMatchObject([{ source: 'sheet', code: 'SHEET_FORBIDDEN' }]);
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

  const answerShape = z.looseObject({
    sheets: z.array(
      z.looseObject({
        data: z.array(z.looseObject({ rowData: z.array(z.unknown()).optional() })).optional(),
      }),
    ),
  });

  /** The answer with so many rows of the first tab only. */
  function cutRows(text: string, count: number): string {
    const answer = answerShape.parse(JSON.parse(text));
    for (const block of answer.sheets[0]?.data ?? []) block.rowData = block.rowData?.slice(0, count);
    return JSON.stringify(answer);
  }
});

describe('a write', () => {
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
});
