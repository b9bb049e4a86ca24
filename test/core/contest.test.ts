import { beforeEach, describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../src/core/state.ts';
import { findContest } from '../../src/core/waiting/contest.ts';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  changeRecord,
  journalOf,
  leadKey,
  recordOf,
  removeRow,
  rowOf,
  type World,
} from '../support/world.ts';
import { settle, worldWithLeads } from '../support/world-daemon.ts';

const acme = leadKey(1);
const scope = 'loop:lead-1';
const typeTitle = (world: World, text: string) => {
  rowOf(world, acme).cells['title'] = textCell(text);
};
const crmTitle = (world: World) => recordOf(world, acme).fields['title'];

/** An automation of the CRM wants one title, a script in the sheet another; each puts its own back as soon as it sees the other's. */
async function fight(world: World, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    typeTitle(world, 'ACME');
    await settle(world);
    if (crmTitle(world) === 'ACME') changeRecord(world, acme, { title: 'Acme' });
    await settle(world);
  }
}

const writesOf = (world: World) => journalOf(world).filter(({ key }) => key.id === '1').length;

describe('a record over which both sides fight', () => {
  let world: World;
  beforeEach(async () => {
    world = await worldWithLeads(['Acme', 'Beta']);
    await fight(world, 10);
  });

  it('S7: is written no more after the sixth time within an hour', async () => {
    const lines = writesOf(world);
    await fight(world, 3);
    expect(writesOf(world)).toBe(lines);
    // The row itself was one write.
    expect(lines).toBeLessThanOrEqual(1 + 6);
  });

  it('is held, and says who wants what', async () => {
    const { holds, outbox } = await settle(world);
    expect(outbox.save).toEqual([]);
    expect(holds).toMatchObject([{ id: '1', decision: scope }]);
    expect(holds[0]?.reason).toMatch(
      /^Title is changed back again and again: the CRM wants “A.*”, the sheet “A.*”\./,
    );
  });

  it('keeps no other record from being written', async () => {
    rowOf(world, leadKey(2)).cells['title'] = textCell('Beta GmbH');
    await settle(world);
    expect(recordOf(world, leadKey(2)).fields['title']).toBe('Beta GmbH');
  });

  it('goes on when a person approves it', async () => {
    world.decisions.set(scope, 'approve');
    expect((await settle(world)).holds).toEqual([]);
    typeTitle(world, 'Agreed');
    await settle(world);
    expect(crmTitle(world)).toBe('Agreed');
  });

  it('is held again after as many writes when the fight goes on, as often as it is approved', async () => {
    for (let approvals = 1; approvals <= 3; approvals += 1) {
      world.decisions.set(scope, 'approve');
      expect((await settle(world)).holds).toEqual([]);
      const lines = writesOf(world);
      await fight(world, 10);
      expect((await settle(world)).holds).toMatchObject([{ decision: scope }]);
      expect(writesOf(world) - lines).toBeLessThanOrEqual(1 + 6);
      expect(world.decisions.size).toBe(0);
    }
  });

  it('may be edited a few times after it was approved', async () => {
    world.decisions.set(scope, 'approve');
    await settle(world);
    for (const title of ['One', 'Two', 'Three']) {
      typeTitle(world, title);
      expect((await settle(world)).holds).toEqual([]);
      expect(crmTitle(world)).toBe(title);
    }
  });

  it('goes on by itself when it had an hour of rest, and is held again when the fight does', async () => {
    world.clock.now += 60 * 60 * 1_000;
    expect((await settle(world)).holds).toEqual([]);
    typeTitle(world, 'Agreed');
    await settle(world);
    expect(crmTitle(world)).toBe('Agreed');
    await fight(world, 10);
    expect((await settle(world)).holds).toMatchObject([{ decision: scope }]);
  });
});

it('a fight that goes on after it was approved in the tab of the questions can be approved there again', async () => {
  const world = await worldWithLeads(['Acme', 'Beta'], { policy: { questionsTitle: 'Conflicts' } });
  for (let approvals = 1; approvals <= 3; approvals += 1) {
    await fight(world, 10);
    const question = world.sheet.question.find(({ id }) => describeCell(id) === scope);
    if (!question) throw new Error('Nobody is asked about the fight.');
    question.cells['choose'] = textCell('Approve');
    expect((await settle(world)).holds).toEqual([]);
    expect(world.sheet.question).toEqual([]);
  }
});

it('a script that writes over what the CRM alone may set is answered six times an hour', async () => {
  const world = await worldWithLeads(['Acme'], { columns: { title: { direction: 'toTable' } } });
  for (let round = 0; round < 10; round += 1) {
    typeTitle(world, `Stamp ${round}`);
    await settle(world);
  }
  const reason = expect.stringMatching(/the CRM wants “Acme”, the sheet “Stamp \d”\./);
  expect((await settle(world)).holds).toMatchObject([{ decision: scope, reason }]);
  expect(journalOf(world).length).toBeLessThanOrEqual(1 + 6);
});

it('a row that is deleted again and again comes back six times an hour', async () => {
  const world = await worldWithLeads(['Acme', 'Beta', 'Gamma'], { policy: { vanishedRows: 'restore' } });
  for (let round = 0; round < 10; round += 1) {
    if (world.sheet.lead.some(({ id }) => id.kind === 'number' && id.number === 1)) removeRow(world, acme);
    await settle(world);
  }
  expect((await settle(world)).holds).toMatchObject([{ decision: scope }]);
});

it('somebody who changes a field ten times within an hour is not held', async () => {
  const world = await worldWithLeads(['Acme']);
  for (let round = 0; round < 10; round += 1) {
    typeTitle(world, `Title ${round}`);
    expect((await settle(world)).holds).toEqual([]);
  }
  expect(crmTitle(world)).toBe('Title 9');
});

it('somebody who works on ten fields of a record within an hour is not held', async () => {
  const world = await worldWithLeads(['Acme']);
  for (let round = 0; round < 5; round += 1) {
    rowOf(world, acme).cells['about.url'] = textCell(`https://example.com/${round}`);
    await settle(world);
    changeRecord(world, acme, { 'about.description': `Round ${round}` });
    expect((await settle(world)).holds).toEqual([]);
  }
});

describe('the journal tells a fight', () => {
  const line = (side: JournalEntry['side'], title: string, cause = 'edited in the sheet'): JournalEntry => ({
    at: 0,
    run: 'run',
    key: acme,
    kind: 'update',
    side,
    before: { title: 'Before' },
    after: { title },
    lost: {},
    cause,
  });
  const turns = (count: number, cause?: string) =>
    Array.from({ length: count }, (_, index) =>
      line(index % 2 === 0 ? 'crm' : 'table', `Title ${index}`, cause),
    );

  it('and tells what the sheet wants where the CRM makes something else of it each time', () => {
    const sent = { ...line('crm', 'before'), before: { title: 'before' }, lost: { title: 'BEFORE' } };
    const lines = turns(6).concat(sent);
    expect(findContest(lines)).toMatchObject({ field: 'title', crm: 'before', table: 'BEFORE' });
  });

  it.each([
    ['five turns', turns(5), undefined],
    ['six turns', turns(6), { field: 'title', crm: 'Title 5', table: 'Before', since: 0 }],
    ['six turns that took something back', turns(6, 'taken back'), undefined],
    ['six that could not be taken back', turns(6, 'not taken back: No.'), undefined],
    [
      'ten values of one side',
      Array.from({ length: 10 }, (_, index) => line('crm', `Title ${index}`)),
      undefined,
    ],
    [
      'six times the same value',
      Array.from({ length: 6 }, () => line('crm', 'Same')),
      { field: 'title', crm: 'Before', table: 'Same', since: 0 },
    ],
    ['six values found equal', Array.from({ length: 6 }, () => line('both', 'Same')), undefined],
  ])('from %s', (_name, lines, expected) => {
    expect(findContest(lines)).toEqual(expected);
  });
});
