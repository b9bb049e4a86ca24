import { beforeEach, describe, expect, it } from 'vitest';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRow,
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRow,
  restart,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const scope = 'refused:lead-1';

const typeTitle = (world: World, text: string) => {
  rowOf(world, acme).cells['title'] = textCell(text);
};
const titles = (world: World) => [
  recordOf(world, acme).fields['title'],
  describeCell(rowOf(world, acme).cells['title'] ?? emptyCell),
];
const sync = (world: World) => describeCell(rowOf(world, acme).sync);
const rest = async (world: World) => {
  await cycle(world);
  return await cycle(world);
};

describe('an edit that the CRM refused', () => {
  let world: World;
  beforeEach(async () => {
    world = await worldWithLeads(['Acme', 'Beta'], { policy: { questionsTitle: 'Conflicts' } });
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    refuse(world);
    await cycle(world);
  });

  it('is asked about with what both sides have', async () => {
    const { refusals } = await cycle(world);
    expect(refusals).toMatchObject([{ entity: 'lead', id: '1', decision: scope }]);
    expect(world.sheet.question.map(({ id, cells }) => ({ id, ...cells }))).toMatchObject([
      {
        id: textCell(scope),
        what: textCell('The title is taken. Choose Retry, Revert or Ignore.'),
        field: textCell('Title'),
        crm: textCell('Acme'),
        table: textCell('Acme GmbH'),
      },
    ]);
  });

  it('is sent once more by “retry”, and asked about again when it is refused again', async () => {
    world.decisions.set(scope, 'retry');
    await cycle(world);
    expect([...world.outbox.values()]).toMatchObject([{ state: 'waiting', attempts: 0 }]);
    expect([...world.decisions]).toEqual([]);
    refuse(world);
    await cycle(world);
    expect((await cycle(world)).questions).toMatchObject([{ scope }]);
    world.decisions.set(scope, 'retry');
    await settle(world);
    expect(titles(world)).toEqual(['Acme GmbH', 'Acme GmbH']);
  });

  it('S1: makes room for the CRM’s value by “revert”, and is kept in the journal', async () => {
    world.decisions.set(scope, 'revert');
    await settle(world);
    expect([titles(world), world.outbox.size, world.decisions.size]).toEqual([['Acme', 'Acme'], 0, 0]);
    expect(journalOf(world).at(-1)).toMatchObject({
      side: 'table',
      lost: { title: 'Acme GmbH' },
      cause: 'put back, because the CRM did not take it',
    });
  });

  it('is not sent when the write of “revert” was lost', async () => {
    world.decisions.set(scope, 'revert');
    await cycle(world, 'lost');
    await push(world);
    expect(titles(world)).toEqual(['Acme', 'Acme GmbH']);
    await settle(world);
    expect([titles(world), world.decisions.size]).toEqual([['Acme', 'Acme'], 0]);
  });

  it('stays on both sides as it is by “ignore”, also over a restart', async () => {
    world.decisions.set(scope, 'ignore');
    await settle(world);
    restart(world);
    const plan = await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Acme GmbH']);
    expect([plan.questions, plan.table, world.sheet.question]).toEqual([[], [], []]);
    expect(plan.refusals).toMatchObject([{ decision: scope, isIgnored: true }]);
    expect(sync(world)).toBe('Held: ignored until it changes. The title is taken.');
  });

  it('is no longer ignored once somebody types something else', async () => {
    world.decisions.set(scope, 'ignore');
    await settle(world);
    typeTitle(world, 'Acme AG');
    await settle(world);
    expect([titles(world), world.decisions.size]).toEqual([['Acme AG', 'Acme AG'], 0]);
  });

  it('is no longer ignored once the CRM changes the field', async () => {
    world.decisions.set(scope, 'ignore');
    await settle(world);
    changeRecord(world, acme, { title: 'Acme of the CRM' });
    await settle(world);
    expect(titles(world)).toEqual(['Acme of the CRM', 'Acme of the CRM']);
    expect(world.decisions.size).toBe(0);
  });

  it('keeps no other record from being sent', async () => {
    rowOf(world, leadKey(2)).cells['title'] = textCell('Beta GmbH');
    await settle(world);
    expect(recordOf(world, leadKey(2)).fields['title']).toBe('Beta GmbH');
  });

  it('keeps no change of another field from reaching the row', async () => {
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    expect(rowOf(world, acme).cells['about.url']).toEqual(textCell('https://acme.example'));
  });
});

describe('an edit on which the CRM fails', () => {
  const error = { code: 'CRM_UNKNOWN_OUTCOME', message: 'PUT /leads/1 got no clear answer.' } as const;
  const failing = async (looks: number, attempts = looks) => {
    const world = await worldWithLeads(['Acme']);
    typeTitle(world, 'Acme GmbH');
    await rest(world);
    refuse(world, { attempts, looks, error });
    return world;
  };

  it('is tried again by itself four times without a question, and then with one', async () => {
    expect((await cycle(await failing(4))).questions).toEqual([]);
    const world = await failing(5);
    expect((await cycle(world)).questions).toMatchObject([{ scope }]);
    expect([...world.outbox.values()]).toMatchObject([{ state: 'waiting' }]);
  });

  it('is no question where it mostly waited for a CRM that was away', async () => {
    expect((await cycle(await failing(1, 12))).questions).toEqual([]);
  });

  it.each(['revert', 'ignore'])('is not sent any more after “%s”', async (choice) => {
    const world = await failing(5);
    world.decisions.set(scope, choice);
    await cycle(world);
    await push(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme');
  });
});

describe('a new row that the CRM refused', () => {
  let world: World;
  let createScope: string;
  beforeEach(async () => {
    world = await worldWithLeads(['Acme']);
    addRow(world, 'lead', { title: textCell('Beta') });
    await rest(world);
    await cycle(world);
    refuse(world);
    const [question] = (await cycle(world)).questions;
    createScope = question?.scope ?? '';
  });

  it('has nothing that could be put back', async () => {
    expect((await cycle(world)).questions[0]?.cells['what']).toEqual(
      textCell('The title is taken. Choose Retry or Ignore.'),
    );
  });

  it('is created by “retry”', async () => {
    world.decisions.set(createScope, 'retry');
    await settle(world);
    expect([...world.crm.values()].map(({ fields }) => fields['title'])).toEqual(['Acme', 'Beta']);
  });

  it('stays by “ignore” until it changes', async () => {
    world.decisions.set(createScope, 'ignore');
    restart(world);
    expect(await settle(world)).toMatchObject({ questions: [], refusals: [{ isIgnored: true }] });
    world.sheet.lead[1]!.cells['title'] = textCell('Gamma');
    await settle(world);
    expect([...world.crm.values()].map(({ fields }) => fields['title'])).toEqual(['Acme', 'Gamma']);
  });
});

describe('a delete that the CRM refused', () => {
  const refusedDelete = async () => {
    const world = await worldWithLeads(['Acme', 'Beta'], { policy: { vanishedRows: 'trash' } });
    removeRow(world, acme);
    await rest(world);
    refuse(world);
    await cycle(world);
    return world;
  };
  const ids = (world: World) => [
    [...world.crm.values()].map(({ key }) => key.id),
    world.sheet.lead.map(({ id }) => describeCell(id)),
  ];

  it.each([
    ['retry', [['2'], ['2']]],
    [
      'revert',
      [
        ['1', '2'],
        ['2', '1'],
      ],
    ],
    ['ignore', [['1', '2'], ['2']]],
  ])('comes to this by “%s”: %j', async (choice, expected) => {
    const world = await refusedDelete();
    expect((await cycle(world)).questions).toMatchObject([{ scope }]);
    world.decisions.set(scope, choice);
    await settle(world);
    expect(ids(world)).toEqual(expected);
    await pull(world);
    expect((await cycle(world)).questions).toEqual([]);
  });

  it('is not sent when the write of “revert” was lost', async () => {
    const world = await refusedDelete();
    world.decisions.set(scope, 'revert');
    await cycle(world, 'lost');
    await push(world);
    await settle(world);
    expect(ids(world)).toEqual([
      ['1', '2'],
      ['2', '1'],
    ]);
  });
});
