import { beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedTab, ReadTab } from '../../src/sheet/port/table.ts';
import {
  changeRecord,
  leadKey,
  recordOf,
  removeRow,
  restart,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import {
  beginSweeps,
  cycle,
  decideWorld,
  inputOf,
  pull,
  readSheet,
  rebase,
  settle,
  worldWithLeads,
} from '../support/world-daemon.ts';

const acme = leadKey(1);
const conflict = 'conflict:lead-1:title';
const many = Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`);

const worldThatAsks = async (titles: readonly string[]) =>
  await worldWithLeads(titles, { conflict: 'ask', policy: { questionsTitle: 'Conflicts' } });

/** Both sides change the title of the first lead. */
async function disagree(world: World): Promise<void> {
  changeRecord(world, acme, { title: 'Acme of the CRM' });
  rowOf(world, acme).cells['title'] = textCell('Acme of the sheet');
  await settle(world);
}

const questionRows = (world: World): SheetRow[] => world.sheet.question;
const scopes = (world: World) => questionRows(world).map(({ id }) => describeCell(id));
const questionOf = (world: World, scope = conflict): SheetRow => {
  const row = questionRows(world).find(({ id }) => describeCell(id) === scope);
  if (!row) throw new Error(`There is no row of ${scope}, only of ${scopes(world).join(', ')}.`);
  return row;
};
const choose = (row: SheetRow, text: string) => {
  row.cells['choose'] = textCell(text);
};
const titles = (world: World) => [
  recordOf(world, acme).fields['title'],
  describeCell(rowOf(world, acme).cells['title'] ?? emptyCell),
];

describe('a conflict in the tab of the questions', () => {
  let world: World;
  beforeEach(async () => {
    world = await worldThatAsks(['Acme', 'Beta']);
    await disagree(world);
  });

  it('says what both sides have and had, and how to answer', () => {
    const { id, sync, cells } = questionOf(world);
    expect([id, sync]).toEqual([textCell(conflict), textCell('Waiting for your choice.')]);
    expect(cells).toEqual({
      what: textCell('Title was changed in the CRM and in the sheet. Choose CRM or Sheet.'),
      tab: textCell('Leads'),
      record: numberCell(1),
      title: textCell('Acme of the CRM'),
      field: textCell('Title'),
      crm: textCell('Acme of the CRM'),
      table: textCell('Acme of the sheet'),
      agreed: textCell('Acme'),
      since: { kind: 'number', number: expect.any(Number) },
    });
    expect(describeCell(rowOf(world, acme).sync)).toBe(
      'Conflict: the CRM has “Acme of the CRM” for Title. Choose in the tab “Conflicts”, or type it here to accept it.',
    );
  });

  it('names the column as people have renamed it, like the row does', async () => {
    const table = await readSheet(world);
    const lead = { ...(table.tabs.lead as ReadTab), headers: { title: 'Firm' } };
    const { questions, table: steps } = decide(
      await inputOf(world, { ...table, tabs: { ...table.tabs, lead } }),
    );
    expect(questions).toMatchObject([
      {
        scope: conflict,
        cells: {
          what: textCell('Firm was changed in the CRM and in the sheet. Choose CRM or Sheet.'),
          field: textCell('Firm'),
        },
      },
    ]);
    const [row] = steps.filter(({ write }) => write.entity === 'lead');
    expect(row?.write).toMatchObject({ sync: { text: expect.stringContaining('for Firm.') } });
  });

  it.each([
    ['CRM', 'Acme of the CRM'],
    [' sheet ', 'Acme of the sheet'],
  ])('is settled by choosing “%s”, and its row goes', async (choice, winner) => {
    choose(questionOf(world), choice);
    await cycle(world);
    expect(scopes(world)).toEqual([]);
    await settle(world);
    expect(titles(world)).toEqual([winner, winner]);
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('goes by itself when the CRM’s value is typed into the record’s row', async () => {
    rowOf(world, acme).cells['title'] = textCell('Acme of the CRM');
    await settle(world);
    expect(scopes(world)).toEqual([]);
  });

  it('is written once, and comes back when its row is deleted', async () => {
    expect((await cycle(world)).table).toEqual([]);
    world.sheet.question.splice(0);
    await settle(world);
    expect(scopes(world)).toEqual([conflict]);
  });

  it('keeps its row and an unanswered choice over a restart', async () => {
    const [row] = questionRows(world);
    restart(world);
    await cycle(world);
    expect(questionRows(world)).toEqual([row]);
  });

  it('does not take an answer that was given to other values', async () => {
    choose(questionOf(world), 'Sheet');
    changeRecord(world, acme, { title: 'Acme, renamed' });
    await pull(world);
    await cycle(world);
    expect(titles(world)).toEqual(['Acme, renamed', 'Acme of the sheet']);
    const { sync, cells } = questionOf(world);
    expect([cells['crm'], cells['choose'], describeCell(sync)]).toEqual([
      textCell('Acme, renamed'),
      undefined,
      'Waiting: this is not what it was when “Sheet” was chosen. Please look again.',
    ]);
    expect((await cycle(world)).table).toEqual([]);
  });

  it('is the same and takes an answer where somebody formats the numbers of its tab', async () => {
    questionOf(world).cells['record'] = { kind: 'number', number: 1, shown: '1.00' };
    expect((await cycle(world)).table).toEqual([]);
    choose(questionOf(world), 'Sheet');
    await settle(world);
    expect(titles(world)).toEqual(['Acme of the sheet', 'Acme of the sheet']);
  });

  it('is asked anew when the CRM changed after “Sheet” was taken and before it was sent', async () => {
    choose(questionOf(world), 'Sheet');
    await cycle(world);
    changeRecord(world, acme, { title: 'Acme, renamed' });
    await settle(world);
    expect(titles(world)).toEqual(['Acme, renamed', 'Acme of the sheet']);
    expect(questionOf(world).cells['crm']).toEqual(textCell('Acme, renamed'));
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('is asked anew when somebody typed after “CRM” was taken and before it was written', async () => {
    choose(questionOf(world), 'CRM');
    await cycle(world, 'lost');
    rowOf(world, acme).cells['title'] = textCell('Acme, typed later');
    await settle(world);
    expect(titles(world)).toEqual(['Acme of the CRM', 'Acme, typed later']);
    expect(questionOf(world).cells['table']).toEqual(textCell('Acme, typed later'));
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('tells a choice that fits another question, and takes it back when it is corrected', async () => {
    choose(questionOf(world), 'Trash');
    await cycle(world);
    expect(questionOf(world).sync).toEqual(
      textCell('Error: “Trash” is no answer here. Choose CRM or Sheet.'),
    );
    expect(questionOf(world).cells['choose']).toEqual(textCell('Trash'));
    expect((await cycle(world)).table).toEqual([]);
    questionOf(world).cells['choose'] = emptyCell;
    await cycle(world);
    expect(questionOf(world).sync).toEqual(textCell('Waiting for your choice.'));
  });

  it('is not decided by copies of its row that say different things', async () => {
    const copy = structuredClone(questionOf(world));
    questionRows(world).push(copy);
    choose(copy, 'CRM');
    choose(questionOf(world), 'Sheet');
    await cycle(world);
    expect(copy.sync).toEqual(
      textCell('Error: Two rows of this question say “Sheet” and “CRM”. Choose CRM or Sheet.'),
    );
    choose(copy, 'Sheet');
    await settle(world);
    expect([titles(world), scopes(world)]).toEqual([['Acme of the sheet', 'Acme of the sheet'], []]);
  });

  it('stands once, with the choice that was made in one of its rows', async () => {
    const copy = structuredClone(questionOf(world));
    questionRows(world).push(copy, structuredClone(copy));
    choose(copy, 'Perhaps');
    await cycle(world);
    expect(questionRows(world)).toEqual([copy]);
  });

  it('goes when it was decided somewhere else', async () => {
    world.decisions.set(conflict, 'crm');
    await settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Acme of the CRM', 'Acme of the CRM']]);
  });

  it('leaves rows alone that people wrote between the questions', async () => {
    const own: SheetRow = { id: textCell('Call Ann: today'), sync: emptyCell, cells: {} };
    questionRows(world).unshift(own);
    rowOf(world, acme).cells['title'] = textCell('Acme of the CRM');
    await settle(world);
    expect(questionRows(world)).toEqual([own]);
  });

  it('stays as it is while its tab of records can not be read', async () => {
    world.heldTabs.set('lead', 'It has no ID column.');
    const row = structuredClone(questionRows(world)[0]);
    await settle(world);
    expect(scopes(world)).toEqual([conflict, 'held:lead']);
    expect(questionRows(world)[0]).toEqual(row);
  });

  it('is answered without its tab as before', async () => {
    world.heldTabs.set('question', 'There is no tab “Conflicts”.');
    expect((await cycle(world)).questions).toMatchObject([{ scope: conflict }]);
    expect(describeCell(rowOf(world, acme).sync)).toContain('or ask the operator to resolve.');
  });

  it('is told of where its tab is there and can not be read, because choices there come to nothing', async () => {
    const tab = { state: 'held', reason: 'Cells from C3 on in “Conflicts” are merged.' } as const;
    const table = await readSheet(world);
    const holdsWith = async (question: ObservedTab) =>
      decide(await inputOf(world, { ...table, tabs: { ...table.tabs, question } })).holds;
    expect(await holdsWith(tab)).toEqual([{ entity: 'question', reason: tab.reason }]);
    expect(await holdsWith({ ...tab, isAbsent: true })).toEqual([]);
  });
});

describe('two values that never were agreed, in the tab of the questions', () => {
  it('are asked as what they are, whatever the rule for conflicts', async () => {
    const world = await worldWithLeads(['Acme', 'Beta'], { policy: { questionsTitle: 'Conflicts' } });
    const { fields, ...agreement } = world.agreements.get('lead-1')!;
    const { title: _, ...others } = fields;
    world.agreements.set('lead-1', { ...agreement, fields: others });
    rowOf(world, acme).cells['title'] = textCell('Acme of the sheet');
    await settle(world);
    const { cells } = questionOf(world);
    expect(cells['what']).toEqual(
      textCell('Title is not the same in the CRM and in the sheet, and never was. Choose CRM or Sheet.'),
    );
    expect(cells['agreed']).toBeUndefined();
    choose(questionOf(world), 'Sheet');
    await settle(world);
    expect(titles(world)).toEqual(['Acme of the sheet', 'Acme of the sheet']);
  });
});

describe('a row that vanished, in the tab of the questions', () => {
  let world: World;
  beforeEach(async () => {
    world = await worldThatAsks(['Acme', 'Beta']);
    removeRow(world, acme);
    await settle(world);
  });

  it('comes back by choosing “Restore”', async () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Restore');
    await settle(world);
    expect([titles(world), scopes(world)]).toEqual([['Acme', 'Acme'], []]);
  });

  it('takes its record to the trash by choosing “Trash”', async () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Trash');
    await settle(world);
    expect([[...world.crm.keys()], scopes(world)]).toEqual([['lead-2'], []]);
  });

  it('asks again with the CRM’s words when the CRM refuses, and takes the other answer', async () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Trash');
    await cycle(world);
    const item = world.outbox.get('lead-1')!;
    const error = { code: 'CRM_FORBIDDEN', message: 'Bad Request' } as const;
    world.outbox.set('lead-1', { ...item, state: 'refused', error });
    await cycle(world);
    const row = questionOf(world, 'refused:lead-1');
    expect(row.cells['what']).toEqual(textCell('Bad Request. Choose Retry, Revert or Ignore.'));
    choose(row, 'Revert');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Acme']);
  });
});

describe('a brake in the tab of the questions', () => {
  const torn = 'brake:lead:torn';
  let world: World;
  beforeEach(async () => {
    world = await worldThatAsks(many);
    const cells = world.sheet.lead.map((row) => row.cells['title'] ?? emptyCell).toReversed();
    world.sheet.lead.forEach((row, index) => {
      row.cells['title'] = cells[index] ?? emptyCell;
    });
  });

  it('S5: is all that is written while it holds', async () => {
    await cycle(world);
    const { outbox, table } = await cycle(world);
    expect([outbox.save, table.map(({ write }) => write.entity)]).toEqual([[], ['question']]);
    await settle(world);
    expect(scopes(world)).toEqual([torn]);
    expect(questionOf(world, torn).cells['what']).toEqual(
      textCell(
        'The values of “Title” only changed places: was a part of the rows sorted? Nothing is written for “Leads” until this is undone or answered. Choose Approve.',
      ),
    );
  });

  it('lets go when it is approved there', async () => {
    await settle(world);
    choose(questionOf(world, torn), 'Approve');
    await settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Lead 20', 'Lead 20']]);
  });

  it('goes when what tripped it is undone', async () => {
    await settle(world);
    world.sheet.lead.forEach((row, index) => {
      row.cells['title'] = textCell(many[index] ?? '');
    });
    await settle(world);
    expect(scopes(world)).toEqual([]);
  });

  it('keeps its row, and its approval, over a restart', async () => {
    await settle(world);
    const rows = structuredClone(questionRows(world));
    restart(world);
    await cycle(world);
    expect(questionRows(world)).toEqual(rows);
    world.decisions.set(torn, 'approve');
    restart(world);
    await cycle(world);
    expect([...world.decisions.keys()]).toEqual([torn]);
  });

  it('is not asked while it is still being found out what an approval would do', async () => {
    rebase(world, 'The mirror is new.');
    beginSweeps(world);
    await cycle(world);
    const { brakes, questions } = await cycle(world);
    expect(brakes.map(({ scope }) => scope)).toContain('brake:lead:reading');
    expect(questions.map(({ scope }) => scope)).not.toContain('brake:lead:reading');
    await settle(world);
    expect(scopes(world)).toContain('brake:lead:rebase');
  });

  it('keeps the questions about single records waiting behind it', async () => {
    world = await worldThatAsks(many);
    await disagree(world);
    for (let id = 2; id <= 8; id += 1) removeRow(world, leadKey(id));
    await settle(world);
    expect(scopes(world)).toEqual([conflict, 'brake:lead:vanished']);
    choose(questionOf(world), 'CRM');
    await settle(world);
    expect(titles(world)).toEqual(['Acme of the CRM', 'Acme of the sheet']);
    choose(questionOf(world, 'brake:lead:vanished'), 'Restore');
    await settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Acme of the CRM', 'Acme of the CRM']]);
  });

  it('counts in the same decision as the answers that wait behind it', async () => {
    world = await worldThatAsks(many);
    await disagree(world);
    for (let id = 2; id <= 8; id += 1) removeRow(world, leadKey(id));
    await settle(world);
    choose(questionOf(world), 'CRM');
    choose(questionOf(world, 'brake:lead:vanished'), 'Restore');
    const { answers, conflicts, settledDecisions } = await decideWorld(world);
    expect(answers.map(({ scope }) => scope)).toEqual(
      expect.arrayContaining([conflict, 'brake:lead:vanished', 'vanished:lead-2', 'vanished:lead-8']),
    );
    expect([conflicts, settledDecisions]).toEqual([[], []]);
  });
});
