import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import type { Question } from '../../src/sheet/plans/plan.ts';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import type { ObservedTab, RowStep } from '../../src/sheet/port/table.ts';
import { createAnswers } from '../../src/sheet/questions/answers.ts';
import { planQuestionRows } from '../../src/sheet/questions/question-rows.ts';
import { questionTab } from '../../src/sheet/questions/question-tab.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { appendStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

const layout: Layout = [...sheetLayout, questionTab('Conflicts')];

let sheet: SandboxSheet;
let writes = 0;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

const asked = (id: number, crm = `CRM ${id}`): Question => ({
  scope: `conflict:lead-${id}:title`,
  cells: { what: textCell('Choose CRM or Sheet.'), crm: textCell(crm), table: textCell(`Sheet ${id}`) },
});

async function readQuestions(): Promise<Extract<ObservedTab, { state: 'read' }>> {
  const { question } = (await sheet.table.read(layout)).tabs;
  if (question?.state !== 'read') throw new Error(question?.reason ?? 'There is no tab of questions.');
  return question;
}

/** What a cycle does with these questions; the person acts between its read and its write. */
async function cycle(questions: readonly Question[], ...meanwhile: PersonActionInput[]): Promise<void> {
  const tab = await readQuestions();
  const rules = { mayReturn: () => false, timeZone: 'UTC', now: 0, appendsMax: 100 };
  const table = planQuestionRows({ tab, questions, ...rules });
  await sheet.setFaults({ beforeNextWrite: meanwhile });
  if (table.length === 0) return;
  writes += 1;
  await writeSteps(
    sheet.table,
    table.map(({ write }) => write),
    `w${writes}`,
  );
}

/** Scopes and choices, from the top down. */
async function readRows(): Promise<[scope: string, choice: string][]> {
  const { rows } = await readQuestions();
  return rows.map(({ id, cells }) => [
    describeCell(id),
    cells['choose']?.kind === 'empty' ? '' : describeCell(cells['choose']!),
  ]);
}

/** It is looked for in some of the reads, and costs hardly any more of them. */
async function expectFoundSoon(): Promise<void> {
  const before = await sheet.countRequests();
  for (const _read of Array.from({ length: 15 })) await sheet.table.read(layout);
  expect((await sheet.table.read(layout)).tabs.question?.state).toBe('read');
  expect((await sheet.countRequests()).reads).toBeLessThanOrEqual(before.reads + 18);
}

const choose = (row: number, text: string): PersonActionInput => ({
  kind: 'edit',
  sheet: 'Conflicts',
  row,
  column: 'Choose',
  text,
});

describe('the tab of the questions', () => {
  test('is laid out with the rest, and takes one read and one write together with the other tabs', async () => {
    await sheet.table.layOut(layout, 'create');
    expect(await sheet.readValues('Conflicts!1:1')).toMatchObject({
      values: [
        [
          'Choose',
          'What',
          'Title',
          'Field',
          'CRM has',
          'Sheet has',
          'Agreed before',
          'Sync',
          'Tab',
          'Record',
          'Since',
          'ID',
        ],
      ],
    });
    // The first read looks how large the tabs are.
    await readQuestions();
    const before = await sheet.countRequests();
    const tab = await readQuestions();
    const rules = { mayReturn: () => false, timeZone: 'UTC', now: 0, appendsMax: 100 };
    const steps = planQuestionRows({ tab, questions: [asked(1)], ...rules }).map(({ write }) => write);
    await writeSteps(sheet.table, [appendStep('1', titled('One')), ...steps]);
    expect(await sheet.countRequests()).toEqual({ reads: before.reads + 1, writes: before.writes + 1 });
    expect(await readRows()).toEqual([['conflict:lead-1:title', '']]);
  });

  test('says at its headers what stands in its own rows, which carry no record and have another Sync cell', async () => {
    await sheet.table.layOut(layout, 'create');
    const { sheets } = await sheet.readEverything();
    const tab = sheets?.find(({ properties }) => properties?.title === 'Conflicts');
    const notes = tab?.data?.[0]?.rowData?.[0]?.values?.flatMap(({ note }) => note ?? []);
    expect(notes).toEqual([
      expect.stringMatching(/^What became of your choice: Waiting, or Error/),
      expect.stringMatching(/^Names the question\./),
    ]);
  });

  test('shows what the CRM has as text, never as a formula', async () => {
    await sheet.table.layOut(layout, 'create');
    await cycle([asked(1, '=1+1')]);
    expect(await sheet.readValues('Conflicts!E2:E2', 'FORMULA')).toMatchObject({ values: [['=1+1']] });
    expect((await readQuestions()).rows[0]?.cells['crm']).toEqual(textCell('=1+1'));
  });

  test('may be missing: everything else goes on with one read of its own tabs, until init brings it', async () => {
    await sheet.table.layOut(sheetLayout, 'create');
    await sheet.table.read(layout);
    const before = await sheet.countRequests();
    const { tabs } = await sheet.table.read(layout);
    expect([tabs.lead.state, tabs.question?.state]).toEqual(['read', 'held']);
    expect((await sheet.countRequests()).reads).toBe(before.reads + 1);
    await sheet.table.layOut(layout, 'create');
    expect((await readQuestions()).rows).toEqual([]);
  });

  test('that a person protects for themselves keeps its questions with their answers, so nothing goes on before it gives them up', async () => {
    await sheet.table.layOut(layout, 'create');
    await cycle([asked(1)]);
    const leadRows = async () => {
      const { lead } = (await sheet.table.read(layout)).tabs;
      return lead.state === 'read' ? lead.rows.length : undefined;
    };
    const { sheets } = await sheet.readEverything();
    const range = {
      sheetId: sheets?.find(({ properties }) => properties?.title === 'Conflicts')?.properties?.sheetId,
    };
    await sheet.asOwner({ addProtectedRange: { protectedRange: { range, editors: { users: [] } } } });
    const { rows } = await readQuestions();
    const remove: RowStep[] = rows.map(({ id, position }) => ({
      kind: 'delete',
      entity: 'question',
      position,
      idSeen: id,
    }));
    await expect(
      writeSteps(sheet.table, [appendStep('1', titled('One')), ...remove], 'w9'),
    ).rejects.toMatchObject({ code: 'SHEET_REFUSED' });
    expect(await leadRows()).toBe(0);
    // What is only to be asked stops nothing: "status" lists it as well.
    const tab = await readQuestions();
    const rules = { mayReturn: () => true, timeZone: 'UTC', now: 0, appendsMax: 100 };
    const ask = planQuestionRows({ tab, questions: [asked(2)], ...rules }).map(({ write }) => write);
    const { refusal } = await writeSteps(sheet.table, [appendStep('1', titled('One')), ...ask], 'w9');
    expect([...(refusal?.steps ?? [])]).toEqual([1]);
    expect(await leadRows()).toBe(1);
  });

  test('that a person deletes stops nothing, and that a person renames stays the tab', async () => {
    await sheet.table.layOut(layout, 'create');
    await cycle([asked(1)]);
    await sheet.person({ kind: 'renameTab', sheet: 'Conflicts', title: 'To do' });
    expect(await readRows()).toEqual([['conflict:lead-1:title', '']]);
    await sheet.person({ kind: 'deleteTab', sheet: 'To do' });
    const { lead, question } = (await sheet.table.read(layout)).tabs;
    expect([lead.state, question]).toMatchObject(['read', { state: 'held', isAbsent: true }]);
  });

  test('that can not be read although it is there says so otherwise than one that is not there', async () => {
    await sheet.table.layOut(layout, 'create');
    await sheet.person({ kind: 'edit', sheet: 'Conflicts', row: 0, column: 15, text: 'Choose' });
    const { question } = (await sheet.table.read(layout)).tabs;
    expect(question).toEqual({
      state: 'held',
      reason: 'Columns A and P of “Conflicts” are both called “Choose”. Rename one of them.',
    });
  });

  test('that a person deleted is read again soon after they brought it back', async () => {
    await sheet.table.layOut(layout, 'create');
    await cycle([asked(1)]);
    await sheet.person({ kind: 'deleteTab', sheet: 'Conflicts' });
    for (const _read of [1, 2]) await sheet.table.read(layout);
    await sheet.person({ kind: 'undo' });
    await expectFoundSoon();
    expect(await readRows()).toEqual([['conflict:lead-1:title', '']]);
  });

  test('says that nobody can choose where the column for that is gone, until it is back', async () => {
    const said = async () => (await readQuestions()).rows.map(({ sync }) => describeCell(sync));
    await sheet.table.layOut(layout, 'create');
    await cycle([asked(1)]);
    await sheet.person({ kind: 'deleteColumns', sheet: 'Conflicts', column: 'Choose', count: 1 });
    await cycle([asked(1), asked(2)]);
    await cycle([asked(1), asked(2)]);
    const gone = expect.stringMatching(/^Error: the column “Choose” is gone/);
    expect(await said()).toEqual([gone, gone]);
    await sheet.person({ kind: 'edit', sheet: 'Conflicts', row: 0, column: 15, text: 'Choose' });
    await cycle([asked(1), asked(2)]);
    expect(await said()).toEqual(['Waiting for your choice.', 'Waiting for your choice.']);
  });

  test('that another process makes is found soon', async () => {
    await sheet.table.layOut(sheetLayout, 'create');
    for (const _read of [1, 2]) await sheet.table.read(layout);
    await sheet.openTable().layOut(layout, 'create');
    await expectFoundSoon();
  });
});

describe('between our read and our write', () => {
  const [first, second, third] = [asked(1), asked(2), asked(3)];

  beforeEach(async () => {
    await sheet.table.layOut(layout, 'create');
    await cycle([first, second, third]);
    await sheet.person(choose(1, 'Sheet'));
  });

  /** What is true of every answer, whatever happened: it stands beside the question it was given to. */
  const expectTrueChoices = async () => {
    for (const [scope, choice] of await readRows()) {
      if (choice !== '') expect([scope, choice]).toEqual([first.scope, 'Sheet']);
    }
  };

  test.each<[string, PersonActionInput[]]>([
    ['rows are sorted', [{ kind: 'sort', sheet: 'Conflicts', column: 'ID', descending: true }]],
    ['a row is inserted above', [{ kind: 'insertRows', sheet: 'Conflicts', row: 1 }]],
    ['a row is deleted', [{ kind: 'deleteRows', sheet: 'Conflicts', row: 1 }]],
    ['a row is moved', [{ kind: 'moveRows', sheet: 'Conflicts', row: 3, to: 1 }]],
    ['columns move', [{ kind: 'moveColumns', sheet: 'Conflicts', column: 'Choose', to: 2 }]],
    [
      'a row of a person’s own is typed below',
      [{ kind: 'edit', sheet: 'Conflicts', row: 4, column: 'What', text: 'Mine' }],
    ],
  ])(
    '%s: every choice stands beside its own question, and the next cycles put the rest right',
    async (_, actions) => {
      const now = [first, asked(3, 'Changed'), asked(4)];
      await cycle(now, ...actions);
      await expectTrueChoices();
      await cycle(now);
      await cycle(now);
      await expectTrueChoices();
      const rows = await readRows();
      const own = rows.filter(([scope]) => scope !== '(empty)');
      expect(own.map(([scope]) => scope).toSorted()).toEqual(now.map(({ scope }) => scope));
      const before = await sheet.countRequests();
      await cycle(now);
      expect(await sheet.countRequests()).toEqual({ reads: before.reads + 1, writes: before.writes });
    },
  );

  test('a choice that is made then stays where it was made, and is read the next time', async () => {
    const now = [first, second, asked(3, 'Changed')];
    await cycle(now, choose(2, 'CRM'));
    const answers = createAnswers([], await readQuestions(), 7);
    const chosen = now.flatMap((question) => answers.choose(question.scope, () => question)?.decision ?? []);
    expect(chosen).toEqual([
      { scope: first.scope, choice: 'table', at: 7 },
      { scope: second.scope, choice: 'crm', at: 7 },
    ]);
  });

  test('a choice for a question that changed its words goes with it', async () => {
    await cycle([first, second, asked(3, 'Changed')], choose(3, 'CRM'));
    expect(await readRows()).toEqual([
      [first.scope, 'Sheet'],
      [second.scope, ''],
      [third.scope, ''],
    ]);
  });
});
