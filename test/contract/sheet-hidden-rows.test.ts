import { expect, onTestFinished, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { hearSheet } from '../support/sheet-line.ts';
import {
  appendStep,
  deleteStep,
  setStep,
  sheetLayout,
  textIn,
  titled,
  writeSteps,
} from '../support/table-steps.ts';

let sheet: SandboxSheet;

/** What Google may do with a copy of a row that a filter hides; nobody has said which. */
const answers = ['skipAndTile', 'nothing', 'copied', 'refused'] as const;

/** Beside what the emulator does itself: a Google that refuses every copy in a filtered tab, with the number of the request or without. */
const allAnswers = [...answers, 'every copy refused', 'every copy refused, and which not said'] as const;

/** Three rows with an ID, and one that a person has added. */
async function openFilled(answer: (typeof allAnswers)[number]): Promise<{ table: Table }> {
  const hiddenRowCopy = answers.find((each) => each === answer);
  sheet = await openSandboxSheet(hiddenRowCopy ? { choices: { '*': { hiddenRowCopy } } } : {});
  await sheet.fill('1', '2', '3');
  await sheet.person(
    { kind: 'edit', sheet: 'Leads', row: 4, column: 'Title', text: 'Fresh' },
    ...['w1', 'w2', 'w3', 'w4'].map(
      (text, index): PersonActionInput => ({
        kind: 'edit',
        sheet: 'Leads',
        row: index + 1,
        column: 'Website',
        text,
      }),
    ),
  );
  const heard = await hearSheet(sheet);
  onTestFinished(async () => {
    await heard[Symbol.asyncDispose]();
    await sheet.close();
  });
  if (!hiddenRowCopy)
    heard.intercept(async ({ body, url }, passOn) => {
      if (!url.includes(':batchUpdate')) return passOn();
      const { requests } = JSON.parse(body) as { requests: object[] };
      const at = requests.findIndex((request) => 'copyPaste' in request);
      const which = answer.includes('not said') ? '' : `Invalid requests[${at}].copyPaste: `;
      const error = { code: 400, message: `${which}It can not be done.`, status: 'INVALID_ARGUMENT' };
      const headers = { 'content-type': 'application/json' };
      return at < 0 ? passOn() : { status: 400, headers, text: JSON.stringify({ error }) };
    });
  return heard;
}

const writes = {
  set: {
    row: 2,
    step: setStep(2, textCell('2'), titled('Written')),
    after: [
      ['1', 'Title 1'],
      ['2', 'Written'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
    ],
  },
  delete: {
    row: 2,
    step: deleteStep(2, '2'),
    after: [
      ['1', 'Title 1'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
    ],
  },
  append: {
    row: 2,
    step: appendStep('5', titled('Written')),
    after: [
      ['1', 'Title 1'],
      ['2', 'Title 2'],
      ['3', 'Title 3'],
      ['', 'Fresh'],
      ['5', 'Written'],
    ],
  },
  claim: {
    row: 4,
    step: { ...setStep(4, emptyCell, {}), id: textCell('new-4') },
    after: [
      ['1', 'Title 1'],
      ['2', 'Title 2'],
      ['3', 'Title 3'],
      ['new-4', 'Fresh'],
    ],
  },
} as const;

const filters = [
  'no filter',
  'a filter that hides another row',
  'a filter that hides it',
  'a filter that hides it since then',
] as const;

const cases = allAnswers.flatMap((answer) =>
  filters.flatMap((filter) =>
    Object.keys(writes).map((kind) => [kind as keyof typeof writes, filter, answer] as const),
  ),
);

test.each(cases)(
  'S2: the %s of a row is done in one cycle, with %s, where the answer to copies is %s',
  async (kind, filter, answer) => {
    const { table } = await openFilled(answer);
    const { after, row, step } = writes[kind];
    const hidden = filter.includes('another') ? 3 : row;
    const shown = ['w1', 'w2', 'w3', 'w4'].filter((_, index) => index + 1 !== hidden);
    const action: PersonActionInput = { kind: 'filter', sheet: 'Leads', column: 'Website', shown };
    if (filter.includes('since')) await sheet.setFaults({ beforeNextWrite: [action] });
    else if (filter !== 'no filter') await sheet.person(action);
    await table.read(sheetLayout);
    const reply = await writeSteps(table, [step, appendStep('6', titled('Also'))]);
    expect(reply).not.toHaveProperty('refusal');
    const { rows } = await sheet.readTab();
    expect(rows.map(({ id, cells }) => [textIn(id), textIn(cells['title'])])).toEqual([
      ...after,
      ['6', 'Also'],
    ]);
    expect([...reply.done.keys()].toSorted()).toEqual([0, 1]);
    expect([...reply.undone, ...reply.escalated]).toEqual([]);
  },
);

test('a refusal that no copy caused is one, and nothing is sent again for it', async () => {
  sheet = await openSandboxSheet();
  onTestFinished(() => sheet.close());
  await sheet.fill('1', '2');
  const { sheetId } = (await sheet.readEverything()).sheets?.[0]?.properties ?? {};
  await sheet.asOwner({
    addProtectedRange: { protectedRange: { range: { sheetId, startRowIndex: 1, endRowIndex: 2 } } },
  });
  await sheet.readTab();
  const { writes: before } = await sheet.countRequests();
  const reply = await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('No'))]);
  expect(reply.refusal?.error.message).toContain('protected');
  expect((await sheet.countRequests()).writes).toBe(before + 1);
});
