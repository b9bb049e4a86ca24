import { beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../src/sheet/decide/decide.ts';
import { describeCell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedTab, ReadTab } from '../../src/sheet/port/table.ts';
import { emptyMemory } from '../../src/sheet/rest.ts';
import {
  changeRecord,
  decideWorld,
  inputOf,
  leadKey,
  readSheet,
  recordOf,
  removeRow,
  rowOf,
  type SheetRow,
  type World,
} from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const conflict = 'conflict:lead-1:title';
const many = Array.from({ length: 20 }, (_, index) => `Lead ${index + 1}`);

const worldThatAsks = (titles: readonly string[]) =>
  worldWithLeads(titles, { conflict: 'ask', policy: { questionsTitle: 'Conflicts' } });

/** Both sides change the title of the first lead. */
function disagree(world: World): void {
  changeRecord(world, acme, { title: 'Acme of the CRM' });
  rowOf(world, acme).cells['title'] = textCell('Acme of the sheet');
  settle(world);
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
  beforeEach(() => {
    world = worldThatAsks(['Acme', 'Beta']);
    disagree(world);
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

  it('names the column as people have renamed it, like the row does', () => {
    const table = readSheet(world);
    const lead = { ...(table.tabs.lead as ReadTab), headers: { title: 'Firm' } };
    const { questions, table: steps } = decide(inputOf(world, { ...table, tabs: { ...table.tabs, lead } }));
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
  ])('is settled by choosing “%s”, and its row goes', (choice, winner) => {
    choose(questionOf(world), choice);
    cycle(world);
    expect(scopes(world)).toEqual([]);
    settle(world);
    expect(titles(world)).toEqual([winner, winner]);
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('goes by itself when the CRM’s value is typed into the record’s row', () => {
    rowOf(world, acme).cells['title'] = textCell('Acme of the CRM');
    settle(world);
    expect(scopes(world)).toEqual([]);
  });

  it('is written once, and comes back when its row is deleted', () => {
    expect(cycle(world).table).toEqual([]);
    world.sheet.question.splice(0);
    settle(world);
    expect(scopes(world)).toEqual([conflict]);
  });

  it('keeps its row and an unanswered choice over a restart', () => {
    const [row] = questionRows(world);
    world.memory = emptyMemory;
    cycle(world);
    expect(questionRows(world)).toEqual([row]);
  });

  it('does not take an answer that was given to other values', () => {
    choose(questionOf(world), 'Sheet');
    changeRecord(world, acme, { title: 'Acme, renamed' });
    pull(world);
    cycle(world);
    expect(titles(world)).toEqual(['Acme, renamed', 'Acme of the sheet']);
    const { sync, cells } = questionOf(world);
    expect([cells['crm'], cells['choose'], describeCell(sync)]).toEqual([
      textCell('Acme, renamed'),
      undefined,
      'Waiting: this is not what it was when “Sheet” was chosen. Please look again.',
    ]);
    expect(cycle(world).table).toEqual([]);
  });

  it('is the same and takes an answer where somebody formats the numbers of its tab', () => {
    questionOf(world).cells['record'] = { kind: 'number', number: 1, shown: '1.00' };
    expect(cycle(world).table).toEqual([]);
    choose(questionOf(world), 'Sheet');
    settle(world);
    expect(titles(world)).toEqual(['Acme of the sheet', 'Acme of the sheet']);
  });

  it('is asked anew when the CRM changed after “Sheet” was taken and before it was sent', () => {
    choose(questionOf(world), 'Sheet');
    cycle(world);
    changeRecord(world, acme, { title: 'Acme, renamed' });
    settle(world);
    expect(titles(world)).toEqual(['Acme, renamed', 'Acme of the sheet']);
    expect(questionOf(world).cells['crm']).toEqual(textCell('Acme, renamed'));
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('is asked anew when somebody typed after “CRM” was taken and before it was written', () => {
    choose(questionOf(world), 'CRM');
    cycle(world, 'lost');
    rowOf(world, acme).cells['title'] = textCell('Acme, typed later');
    settle(world);
    expect(titles(world)).toEqual(['Acme of the CRM', 'Acme, typed later']);
    expect(questionOf(world).cells['table']).toEqual(textCell('Acme, typed later'));
    expect([...world.decisions.keys()]).toEqual([]);
  });

  it('tells a choice that fits another question, and takes it back when it is corrected', () => {
    choose(questionOf(world), 'Trash');
    cycle(world);
    expect(questionOf(world).sync).toEqual(
      textCell('Error: “Trash” is no answer here. Choose CRM or Sheet.'),
    );
    expect(questionOf(world).cells['choose']).toEqual(textCell('Trash'));
    expect(cycle(world).table).toEqual([]);
    questionOf(world).cells['choose'] = emptyCell;
    cycle(world);
    expect(questionOf(world).sync).toEqual(textCell('Waiting for your choice.'));
  });

  it('is not decided by copies of its row that say different things', () => {
    const copy = structuredClone(questionOf(world));
    questionRows(world).push(copy);
    choose(copy, 'CRM');
    choose(questionOf(world), 'Sheet');
    cycle(world);
    expect(copy.sync).toEqual(
      textCell('Error: Two rows of this question say “Sheet” and “CRM”. Choose CRM or Sheet.'),
    );
    choose(copy, 'Sheet');
    settle(world);
    expect([titles(world), scopes(world)]).toEqual([['Acme of the sheet', 'Acme of the sheet'], []]);
  });

  it('stands once, with the choice that was made in one of its rows', () => {
    const copy = structuredClone(questionOf(world));
    questionRows(world).push(copy, structuredClone(copy));
    choose(copy, 'Perhaps');
    cycle(world);
    expect(questionRows(world)).toEqual([copy]);
  });

  it('goes when it was decided somewhere else', () => {
    world.decisions.set(conflict, 'crm');
    settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Acme of the CRM', 'Acme of the CRM']]);
  });

  it('leaves rows alone that people wrote between the questions', () => {
    const own: SheetRow = { id: textCell('Call Ann: today'), sync: emptyCell, cells: {} };
    questionRows(world).unshift(own);
    rowOf(world, acme).cells['title'] = textCell('Acme of the CRM');
    settle(world);
    expect(questionRows(world)).toEqual([own]);
  });

  it('stays as it is while its tab of records can not be read', () => {
    world.heldTabs.set('lead', 'It has no ID column.');
    const row = structuredClone(questionRows(world)[0]);
    settle(world);
    expect(scopes(world)).toEqual([conflict, 'held:lead']);
    expect(questionRows(world)[0]).toEqual(row);
  });

  it('is answered without its tab as before', () => {
    world.heldTabs.set('question', 'There is no tab “Conflicts”.');
    expect(cycle(world).questions).toMatchObject([{ scope: conflict }]);
    expect(describeCell(rowOf(world, acme).sync)).toContain('or ask the operator to resolve.');
  });

  it('is told of where its tab is there and can not be read, because choices there come to nothing', () => {
    const tab = { state: 'held', reason: 'Cells from C3 on in “Conflicts” are merged.' } as const;
    const table = readSheet(world);
    const holdsWith = (question: ObservedTab) =>
      decide(inputOf(world, { ...table, tabs: { ...table.tabs, question } })).holds;
    expect(holdsWith(tab)).toEqual([{ entity: 'question', reason: tab.reason }]);
    expect(holdsWith({ ...tab, isAbsent: true })).toEqual([]);
  });
});

describe('two values that never were agreed, in the tab of the questions', () => {
  it('are asked as what they are, whatever the rule for conflicts', () => {
    const world = worldWithLeads(['Acme', 'Beta'], { policy: { questionsTitle: 'Conflicts' } });
    const { fields, ...agreement } = world.agreements.get('lead-1')!;
    const { title: _, ...others } = fields;
    world.agreements.set('lead-1', { ...agreement, fields: others });
    rowOf(world, acme).cells['title'] = textCell('Acme of the sheet');
    settle(world);
    const { cells } = questionOf(world);
    expect(cells['what']).toEqual(
      textCell('Title is not the same in the CRM and in the sheet, and never was. Choose CRM or Sheet.'),
    );
    expect(cells['agreed']).toBeUndefined();
    choose(questionOf(world), 'Sheet');
    settle(world);
    expect(titles(world)).toEqual(['Acme of the sheet', 'Acme of the sheet']);
  });
});

describe('a row that vanished, in the tab of the questions', () => {
  let world: World;
  beforeEach(() => {
    world = worldThatAsks(['Acme', 'Beta']);
    removeRow(world, acme);
    settle(world);
  });

  it('comes back by choosing “Restore”', () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Restore');
    settle(world);
    expect([titles(world), scopes(world)]).toEqual([['Acme', 'Acme'], []]);
  });

  it('takes its record to the trash by choosing “Trash”', () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Trash');
    settle(world);
    expect([[...world.crm.keys()], scopes(world)]).toEqual([['lead-2'], []]);
  });

  it('asks again with the CRM’s words when the CRM refuses, and takes the other answer', () => {
    choose(questionOf(world, 'vanished:lead-1'), 'Trash');
    cycle(world);
    const item = world.outbox.get('lead-1')!;
    const error = { code: 'CRM_FORBIDDEN', message: 'Bad Request' } as const;
    world.outbox.set('lead-1', { ...item, state: 'refused', error });
    cycle(world);
    const row = questionOf(world, 'refused:lead-1');
    expect(row.cells['what']).toEqual(textCell('Bad Request. Choose Retry, Revert or Ignore.'));
    choose(row, 'Revert');
    settle(world);
    expect(titles(world)).toEqual(['Acme', 'Acme']);
  });
});

describe('a brake in the tab of the questions', () => {
  const torn = 'brake:lead:torn';
  let world: World;
  beforeEach(() => {
    world = worldThatAsks(many);
    const cells = world.sheet.lead.map((row) => row.cells['title'] ?? emptyCell).toReversed();
    world.sheet.lead.forEach((row, index) => {
      row.cells['title'] = cells[index] ?? emptyCell;
    });
  });

  it('S5: is all that is written while it holds', () => {
    cycle(world);
    const { outbox, table } = cycle(world);
    expect([outbox.save, table.map(({ write }) => write.entity)]).toEqual([[], ['question']]);
    settle(world);
    expect(scopes(world)).toEqual([torn]);
    expect(questionOf(world, torn).cells['what']).toEqual(
      textCell(
        'The values of “Title” only changed places: was a part of the rows sorted? Nothing is written for “Leads” until this is undone or answered. Choose Approve.',
      ),
    );
  });

  it('lets go when it is approved there', () => {
    settle(world);
    choose(questionOf(world, torn), 'Approve');
    settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Lead 20', 'Lead 20']]);
  });

  it('goes when what tripped it is undone', () => {
    settle(world);
    world.sheet.lead.forEach((row, index) => {
      row.cells['title'] = textCell(many[index] ?? '');
    });
    settle(world);
    expect(scopes(world)).toEqual([]);
  });

  it('keeps its row, and its approval, over a restart', () => {
    settle(world);
    const rows = structuredClone(questionRows(world));
    world.memory = emptyMemory;
    cycle(world);
    expect(questionRows(world)).toEqual(rows);
    world.decisions.set(torn, 'approve');
    world.memory = emptyMemory;
    cycle(world);
    expect([...world.decisions.keys()]).toEqual([torn]);
  });

  it('is not asked while it is still being found out what an approval would do', () => {
    world.rebases.set('lead', 'The mirror is new.');
    world.isSwept = false;
    cycle(world);
    const { brakes, questions } = cycle(world);
    expect(brakes.map(({ scope }) => scope)).toContain('brake:lead:reading');
    expect(questions.map(({ scope }) => scope)).not.toContain('brake:lead:reading');
    settle(world);
    expect(scopes(world)).toContain('brake:lead:rebase');
  });

  it('keeps the questions about single records waiting behind it', () => {
    world = worldThatAsks(many);
    disagree(world);
    for (let id = 2; id <= 8; id += 1) removeRow(world, leadKey(id));
    settle(world);
    expect(scopes(world)).toEqual([conflict, 'brake:lead:vanished']);
    choose(questionOf(world), 'CRM');
    settle(world);
    expect(titles(world)).toEqual(['Acme of the CRM', 'Acme of the sheet']);
    choose(questionOf(world, 'brake:lead:vanished'), 'Restore');
    settle(world);
    expect([scopes(world), titles(world)]).toEqual([[], ['Acme of the CRM', 'Acme of the CRM']]);
  });

  it('counts in the same decision as the answers that wait behind it', () => {
    world = worldThatAsks(many);
    disagree(world);
    for (let id = 2; id <= 8; id += 1) removeRow(world, leadKey(id));
    settle(world);
    choose(questionOf(world), 'CRM');
    choose(questionOf(world, 'brake:lead:vanished'), 'Restore');
    const { answers, conflicts, settledDecisions } = decideWorld(world);
    expect(answers.map(({ scope }) => scope)).toEqual(
      expect.arrayContaining([conflict, 'brake:lead:vanished', 'vanished:lead-2', 'vanished:lead-8']),
    );
    expect([conflicts, settledDecisions]).toEqual([[], []]);
  });
});
