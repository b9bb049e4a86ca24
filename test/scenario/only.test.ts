import { describe, expect, it } from 'vitest';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import {
  leaveOf,
  lostLead,
  newLead,
  setRule,
  statusCell,
  titlesIn,
  waitToLeave,
  worldOfNewLeads,
} from '../support/ruled-tab.ts';
import {
  addRecord,
  addRow,
  changeRecord,
  createWorld,
  journalOf,
  leadKey,
  recordOf,
  removeRecord,
  removeRow,
  restart,
  rowOf,
  type World,
} from '../support/world.ts';
import { cycle, pull, push, settle } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

const acme = leadKey(1);

describe('a tab that has some of the records alone', () => {
  it('gets a row for each that fits, and none for the others, of which nothing waits', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta'), newLead('Coda')]);
    expect(titlesIn(world)).toEqual(['Acme', 'Coda']);
    const plan = await settle(world);
    expect([isQuiet(plan), plan.leftOut.lead, plan.holds]).toEqual([true, 1, []]);
  });

  it('creates a record from a row that is typed there once all others have left', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    await settle(world);
    addRow(world, 'lead', { title: textCell('Beta'), status_name: statusCell(world, 'new') });
    const plan = await settle(world);
    expect([titles(world), plan.questions]).toEqual([['Acme', 'Beta'], []]);
  });

  it('gets back the row of a record that left by its age once the clock is set back', async () => {
    const daysMs = (days: number) => days * 24 * 60 * 60 * 1_000;
    const world = await worldOfNewLeads([], { only: { updatedWithinDays: 2 } });
    const { now } = world.clock;
    const at = (time: number) => new Date(time).toISOString();
    addRecord(world, 'lead', { title: 'Acme', updated_at: at(now) });
    addRecord(world, 'lead', { title: 'Beta', updated_at: at(now + daysMs(30)) });
    await settle(world);
    world.clock.now += daysMs(3);
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Beta']);
    await settle(world);
    world.clock.now = now + daysMs(1);
    rowOf(world, leadKey(2)).cells['title'] = textCell('Beta AG');
    await settle(world);
    expect(titlesIn(world)).toEqual(['Beta AG', 'Acme']);
  });

  it('gets the row of a record that fits from now on', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), lostLead('Beta')]);
    changeRecord(world, leadKey(2), { status_name: 'new' });
    await settle(world);
    expect(titlesIn(world)).toEqual(['Acme', 'Beta']);
  });

  it('keeps the row of a record that fits no longer for five minutes, and says so', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    expect(syncOf(rowOf(world, acme))).toMatch(
      /^(Changed.*\. )?Synced .*, leaves this tab: Status is “lost”/,
    );
    await waitToLeave(world, leaveAfterMs - 60_000);
    expect(titlesIn(world)).toEqual(['Acme', 'Beta']);
    await waitToLeave(world, 60_000);
    expect(titlesIn(world)).toEqual(['Beta']);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
    expect(world.mirror.readOutbox()).toEqual([]);
  });

  it('keeps a line in the history of a row that left', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    expect(journalOf(world).at(-1)).toMatchObject({
      key: acme,
      kind: 'delete',
      side: 'table',
      before: { title: 'Acme', status_name: 'lost' },
      cause: 'left the tab, and stays in the CRM: Status is “lost”',
    });
  });

  it('S3: adds no second row of a record that fits again while its own has just lost its ID', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    rowOf(world, acme).id = emptyCell;
    changeRecord(world, acme, { status_name: 'new' });
    await settle(world);
    expect(titlesIn(world)).toEqual(['Acme', 'Beta']);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('counts the five minutes over a restart', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    const { at = 0 } = leaveOf(world, acme) ?? {};
    world.clock.now = at + leaveAfterMs - 60_000;
    restart(world);
    await settle(world);
    expect(titlesIn(world)).toEqual(['Acme']);
    world.clock.now = at + leaveAfterMs;
    await settle(world);
    expect(titlesIn(world)).toEqual([]);
  });

  it('counts the five minutes anew once the record or the row changes', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world, leaveAfterMs - 60_000);
    changeRecord(world, acme, { 'about.url': 'https://acme.example' });
    await settle(world);
    await waitToLeave(world, leaveAfterMs - 60_000);
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await settle(world);
    expect(recordOf(world, acme).fields['title']).toBe('Acme GmbH');
    await waitToLeave(world, leaveAfterMs - 60_000);
    expect(titlesIn(world)).toEqual(['Acme GmbH']);
    await waitToLeave(world, 60_000);
    expect(titlesIn(world)).toEqual([]);
  });

  describe.each(['with', 'without'])('%s the column Sync', (column) => {
    async function worldWithLeaving() {
      const world = await worldOfNewLeads([newLead('Acme')]);
      if (column === 'without') world.hiddenFields.add('Sync');
      changeRecord(world, acme, { status_name: 'lost' });
      await settle(world);
      return world;
    }

    async function expectToLeaveAfterAll(world: World) {
      expect(titlesIn(world)).toEqual(['Acme GmbH']);
      await waitToLeave(world, leaveAfterMs - 60_000);
      expect(titlesIn(world)).toEqual(['Acme GmbH']);
      await waitToLeave(world, 60_000);
      expect(titlesIn(world)).toEqual([]);
    }

    it('counts them anew where the record changes in the moment in which its row was to go', async () => {
      const world = await worldWithLeaving();
      changeRecord(world, acme, { title: 'Acme GmbH' });
      await waitToLeave(world);
      await expectToLeaveAfterAll(world);
    });

    it('counts them anew where both sides change alike in that moment', async () => {
      const world = await worldWithLeaving();
      changeRecord(world, acme, { title: 'Acme GmbH' });
      rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
      await waitToLeave(world);
      await expectToLeaveAfterAll(world);
    });
  });

  it('keeps a row that fits again before its time is up', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    changeRecord(world, acme, { status_name: 'new' });
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual(['Acme']);
    expect(leaveOf(world, acme)).toBeUndefined();
    expect(syncOf(rowOf(world, acme))).not.toMatch(/leaves/);
  });

  it('sends the edit of a row that fits no longer by it, and then lets the row go', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    rowOf(world, acme).cells['status_name'] = statusCell(world, 'lost');
    await cycle(world);
    await cycle(world);
    expect(syncOf(rowOf(world, acme))).toBe('Pending: waiting to be sent to the CRM');
    await settle(world);
    expect(recordOf(world, acme).fields['status_name']).toBe('lost');
    expect(syncOf(rowOf(world, acme))).toMatch(/leaves this tab: Status is “lost”/);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual([]);
    expect(recordOf(world, acme).fields).toMatchObject({ title: 'Acme', status_name: 'lost' });
  });

  it('creates a new row that does not fit, and says so before it goes', async () => {
    const world = await worldOfNewLeads([]);
    const row = addRow(world, 'lead', { title: textCell('Delta'), status_name: statusCell(world, 'lost') });
    await settle(world);
    expect(titles(world)).toEqual(['Delta']);
    expect(syncOf(row)).toMatch(/^Synced .*, leaves this tab: Status is “lost”$/);
    await waitToLeave(world);
    expect([titlesIn(world), titles(world)]).toEqual([[], ['Delta']]);
  });

  it('never lets a row go while an edit of it waits, a user has to decide, or it is paused', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta'), newLead('Coda')], {
      conflict: 'ask',
    });
    for (const id of [1, 2, 3]) changeRecord(world, leadKey(id), { status_name: 'lost' });
    rowOf(world, leadKey(1)).cells['title'] = textCell('Acme GmbH');
    changeRecord(world, leadKey(1), { title: 'Acme AG' });
    rowOf(world, leadKey(2)).cells['title'] = emptyCell;
    rowOf(world, leadKey(3)).isPaused = true;
    await settle(world);
    await waitToLeave(world);
    await waitToLeave(world);
    expect(world.sheet.lead.map(syncOf)).toEqual([
      expect.stringMatching(/^Conflict: /),
      expect.stringMatching(/^Error: /),
      expect.stringMatching(/^Held: paused /),
    ]);
    // A row that was paused says first that it leaves.
    delete rowOf(world, leadKey(3)).isPaused;
    await settle(world);
    expect(syncOf(rowOf(world, leadKey(3)))).toMatch(/leaves this tab/);
  });

  it('lets a row go that was to go when the reply to its delete was lost', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    world.clock.now += leaveAfterMs;
    await cycle(world, 'unanswered');
    expect(leaveOf(world, acme)?.state).toBe('moving');
    restart(world);
    const plan = await settle(world);
    expect(titlesIn(world)).toEqual(['Beta']);
    expect([leaveOf(world, acme)?.state, plan.questions, titles(world)]).toEqual([
      'left',
      [],
      ['Acme', 'Beta'],
    ]);
  });
});

describe('a row whose own columns hold something', () => {
  it('stays, and says that it fits no longer', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    rowOf(world, acme).own = { Notes: textCell('call in spring') };
    await settle(world);
    await waitToLeave(world);
    expect(syncOf(rowOf(world, acme))).toMatch(
      /Synced .*, no longer fits this tab: Status is “lost”\. It stays for what is in columns of your own/,
    );
    delete rowOf(world, acme).own;
    await settle(world);
    expect(titlesIn(world)).toEqual(['Acme']);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual([]);
  });

  it('leaves where nothing but a formula is there', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    rowOf(world, acme).own = { Age: { kind: 'formula', formula: '=TODAY()-F2' } };
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    expect(titlesIn(world)).toEqual([]);
  });

  it('stays when a note is written in the moment in which it goes', async () => {
    const world = await worldOfNewLeads([newLead('Acme')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    world.clock.now += leaveAfterMs;
    world.tabs.beforeNextWrite = () => {
      rowOf(world, acme).own = { Notes: textCell('call in spring') };
    };
    await settle(world);
    expect(rowOf(world, acme).own).toEqual({ Notes: textCell('call in spring') });
    expect(syncOf(rowOf(world, acme))).toMatch(/no longer fits this tab/);
  });
});

describe('the absence of a record that does not fit', () => {
  it.each(['ask', 'trash', 'restore'] as const)('is no delete where the rule is %s', async (vanishedRows) => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')], { policy: { vanishedRows } });
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    removeRow(world, acme);
    const plan = await settle(world);
    expect([titles(world), titlesIn(world), plan.questions]).toEqual([['Acme', 'Beta'], ['Beta'], []]);
    expect(journalOf(world).at(-1)).toMatchObject({ key: acme, side: 'table', kind: 'delete' });
  });

  it('is no delete either where the record stops fitting while its delete waits', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')], {
      policy: { vanishedRows: 'trash' },
    });
    removeRow(world, acme);
    await cycle(world);
    await cycle(world);
    expect(world.mirror.readOutbox()).toMatchObject([{ kind: 'delete' }]);
    setRule(world, { status: 'in_talks' });
    await cycle(world);
    await push(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it('ends with a row once the record fits again', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')], {
      policy: { vanishedRows: 'trash' },
    });
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    changeRecord(world, acme, { status_name: 'new', title: 'Acme GmbH' });
    const plan = await settle(world);
    expect([titlesIn(world), titles(world)]).toEqual([
      ['Beta', 'Acme GmbH'],
      ['Acme GmbH', 'Beta'],
    ]);
    expect([plan.questions, leaveOf(world, acme)]).toEqual([[], undefined]);
    removeRow(world, acme);
    await settle(world);
    expect(titles(world)).toEqual(['Beta']);
  });

  it.each(['lost', 'unanswered'] as const)(
    'stays no delete while the row that is to come back is %s',
    async (outcome) => {
      const world = createWorld({ policy: { vanishedRows: 'trash' } });
      setRule(world, { lead: { status: 'new' } }, 'task');
      addRecord(world, 'lead', newLead('Acme'));
      for (const title of ['Call', 'Write'])
        addRecord(world, 'task', { title, lead_id: title === 'Call' ? 1 : 4 });
      addRecord(world, 'lead', newLead('Beta'));
      await settle(world);
      const [lead] = [...world.crm.values()];
      if (!lead) throw new Error('The CRM has no lead.');
      changeRecord(world, lead.key, { status_name: 'lost' });
      await settle(world);
      await waitToLeave(world);
      changeRecord(world, lead.key, { status_name: 'new' });
      await pull(world);
      await cycle(world, outcome);
      restart(world);
      await settle(world);
      expect(titles(world)).toEqual(['Acme', 'Call', 'Write', 'Beta']);
      expect(titlesIn(world, 'task')).toContain('Call');
    },
  );

  it('is forgotten with the record', async () => {
    const world = await worldOfNewLeads([newLead('Acme'), newLead('Beta')]);
    changeRecord(world, acme, { status_name: 'lost' });
    await settle(world);
    await waitToLeave(world);
    removeRecord(world, acme);
    await settle(world);
    expect(world.mirror.findAgreement(acme)).toBeUndefined();
  });
});
