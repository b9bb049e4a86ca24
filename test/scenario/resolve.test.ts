import { describe, expect, test } from 'vitest';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { listWaiting } from '../../src/sync/status.ts';
import { undo } from '../../src/sync/undo.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';
import { serve } from '../support/served.ts';

/** Asks the HTTP side of the stage's engine, as the commands do. */
async function ask({ engine }: LeadsStage) {
  const { get, post } = await serve(engine);
  return {
    answer: (order: object) => post('/api/answer', order),
    waiting: async () => (await get('/api/status')).json(),
  };
}

async function openConflict() {
  const stage = await openLeadsStage('ask');
  await stage.disagree('Of the sheet', 'Of the CRM');
  const id = await stage.firstLead();
  return { stage, id, scope: `conflict:lead-${id}:title`, ...(await ask(stage)) };
}

const bothHave = async (stage: LeadsStage, id: string, title: string) => {
  const { crm, sheet } = await stage.titles();
  expect([crm.get(id), sheet.get(id)]).toEqual([title, title]);
};

/** A colleague changes the lead in the CRM and somebody else its row, before an answer is carried out. */
async function expectAskedAnew(stage: LeadsStage, id: string): Promise<void> {
  for (const [inCrm, inSheet] of [
    ['Later in the CRM', 'Of the sheet'],
    ['Later in the CRM', 'Later in the sheet'],
  ] as const) {
    await stage.editCrm(`/leads/${id}`, { title: inCrm });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: inSheet });
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect([crm.get(id), sheet.get(id)]).toEqual([inCrm, inSheet]);
    expect(stage.engine.lastPlan?.conflicts).toMatchObject([{ crm: inCrm, table: inSheet }]);
    expect(stage.link.mirror.readDecisions()).toEqual([]);
  }
}

describe('a conflict', () => {
  test('is listed with what both sides have and had, and since when', async () => {
    const { id, scope, waiting } = await openConflict();
    expect(await waiting()).toMatchObject({
      waiting: [
        {
          scope,
          what: 'Title was changed in the CRM and in the sheet. Choose CRM or Sheet.',
          answers: ['crm', 'sheet'],
          about: { tab: 'Leads', record: id, field: 'Title', crm: 'Of the CRM', table: 'Of the sheet' },
          since: expect.any(Number),
        },
      ],
    });
  });

  test.each([
    [{ answer: 'crm' }, 'Of the CRM'],
    [{ answer: 'sheet' }, 'Of the sheet'],
    [{ text: 'Of nobody' }, 'Of nobody'],
  ])('is settled on both sides with %o', async (settlement, winner) => {
    const { id, answer, scope, stage, waiting } = await openConflict();
    expect(await answer({ question: scope, ...settlement })).toMatchObject({ status: 200 });
    await stage.settle();
    await bothHave(stage, id, winner);
    expect(await waiting()).toMatchObject({ waiting: [] });
    expect(stage.link.mirror.readDecisions()).toEqual([]);
  });

  test('that is settled with the value both sides once had gets it on both sides', async () => {
    const stage = await openLeadsStage('ask');
    const id = await stage.firstLead();
    const agreed = String((await stage.titles()).crm.get(id));
    await stage.disagree('Of the sheet', 'Of the CRM');
    const { answer } = await ask(stage);
    await answer({ question: `conflict:lead-${id}:title`, text: agreed });
    await stage.settle();
    await bothHave(stage, id, agreed);
  });

  test('whose value gets no answer when it is written to the sheet is settled with it all the same', async () => {
    const { id, answer, scope, stage } = await openConflict();
    await answer({ question: scope, text: 'Of nobody' });
    await stage.setSheetFaults({ failures: [{ kind: 'cut', when: 'after' }] });
    await expect(stage.engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    await stage.settle();
    await bothHave(stage, id, 'Of nobody');
  });

  test('is asked anew when a person takes the chosen value out of the row again, because the CRM refused it', async () => {
    const { id, answer, scope, stage } = await openConflict();
    const { engine, link } = stage;
    const key = { entity: 'lead', id } as const;
    await answer({ question: scope, text: 'Of nobody' });
    await engine.cycle();
    for (const _read of [1, 2]) await engine.cycle();
    stage.setCrmFaults({ faults: [{ kind: 'status', method: 'PUT', status: 400, times: 1 }] });
    await pushRecord(link, key);
    expect(link.mirror.findOutboxItem(key)).toMatchObject({
      state: 'refused',
      fields: { title: 'Of nobody' },
    });
    await engine.cycle();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Of the sheet' });
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect([crm.get(id), sheet.get(id)]).toEqual(['Of the CRM', 'Of the sheet']);
    expect(engine.lastPlan?.conflicts).toMatchObject([{ crm: 'Of the CRM', table: 'Of the sheet' }]);
  });

  test('is asked anew when the row changed after a value was chosen for it', async () => {
    const { id, answer, scope, stage } = await openConflict();
    await answer({ question: scope, text: 'Of nobody' });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Later' });
    await stage.settle();
    const { crm, sheet } = await stage.titles();
    expect([crm.get(id), sheet.get(id)]).toEqual(['Of the CRM', 'Later']);
    expect(stage.engine.lastPlan?.conflicts).toMatchObject([{ crm: 'Of the CRM', table: 'Later' }]);
  });

  test.each([
    ['what the sheet has', { text: 'Of the sheet' }],
    ['the sheet', { answer: 'sheet' }],
    ['the CRM', { answer: 'crm' }],
  ])('is asked anew when somebody changed a side after %s was chosen for it', async (_name, settlement) => {
    const { id, answer, scope, stage } = await openConflict();
    await answer({ question: scope, ...settlement });
    await expectAskedAnew(stage, id);
  });

  test.each(['sheet', 'crm'])(
    'is asked anew when somebody changed a side after it was approved with “%s”',
    async (choice) => {
      const { answer, id, scope, stage } = await openConflict();
      expect(await answer({ question: scope, answer: choice })).toMatchObject({
        status: 200,
        body: { answered: [{ scope }], left: [] },
      });
      await expectAskedAnew(stage, id);
    },
  );

  test('that was answered by an earlier version, which noted the side alone, is settled with that', async () => {
    const { id, scope, stage } = await openConflict();
    stage.link.mirror.saveDecision({ scope, choice: 'table', at: stage.link.clock.now() });
    await stage.settle();
    await bothHave(stage, id, 'Of the sheet');
  });

  test('refuses a value that its field does not take, and says what it takes', async () => {
    const { answer, scope, stage } = await openConflict();
    expect(await answer({ question: scope, text: '' })).toEqual({
      status: 422,
      body: { error: 'Title can not be empty. Put “Of the CRM” back, or type another value.' },
    });
    expect(stage.link.mirror.readDecisions()).toEqual([]);
  });

  test('is offered the longest text that a cell holds, in any script, and says what its field takes', async () => {
    const { answer, scope } = await openConflict();
    const error = 'Title is 50000 characters long; the CRM takes at most 200.';
    expect(await answer({ question: scope, text: '字'.repeat(50_000) })).toEqual({
      status: 422,
      body: { error },
    });
  });

  test('is not settled by anything but one clear order, and the refusal is one sentence', async () => {
    const { answer, scope, stage } = await openConflict();
    const question = scope;
    for (const order of [
      {},
      [],
      { question },
      { question, answer: 'nobody' },
      { question, answer: 'crm', text: '' },
    ])
      expect(await answer(order)).toEqual({
        status: 400,
        body: {
          error: expect.stringContaining('or a text, or all with crm, sheet, retry, revert, ignore.'),
        },
      });
    expect(await answer({ all: 'crm', question: scope })).toMatchObject({ status: 400 });
    expect(stage.link.mirror.readDecisions()).toEqual([]);
  });

  test('is not settled by who was shown other values than both sides have by now', async () => {
    const { id, answer, scope, stage } = await openConflict();
    const [{ about, what } = {}] = listWaiting(stage.engine);
    await stage.editCrm(`/leads/${id}`, { title: 'Later in the CRM' });
    await stage.settle();
    for (const settlement of [{ text: 'Of nobody' }, { answer: 'sheet' }])
      expect(await answer({ question: scope, ...settlement, seen: { what, about } })).toMatchObject({
        status: 409,
        body: {
          error: expect.stringContaining('This has changed since it was shown, and nothing was done.'),
        },
      });
    expect(stage.link.mirror.readDecisions()).toEqual([]);
    const [shown] = listWaiting(stage.engine);
    const seen = { what: shown?.what, about: shown?.about };
    expect(await answer({ question: scope, text: 'Of nobody', seen })).toMatchObject({ status: 200 });
    await stage.settle();
    await bothHave(stage, id, 'Of nobody');
  });

  test('that does not wait is refused with those that do', async () => {
    const { answer, scope } = await openConflict();
    expect(await answer({ question: 'conflict:lead-0:title', answer: 'crm' })).toEqual({
      status: 404,
      body: { error: `Nothing waits under conflict:lead-0:title. Waiting: ${scope}.` },
    });
  });
});

test('of all conflicts that are settled at once one is asked anew that changed after that', async () => {
  const { id, answer, stage } = await openConflict();
  await answer({ all: 'sheet' });
  await expectAskedAnew(stage, id);
});

test('all conflicts are settled at once', async () => {
  const { id, answer, scope, stage } = await openConflict();
  expect((await answer({ all: 'sheet' })).body).toMatchObject({ answered: [{ scope }], left: [] });
  await stage.settle();
  await bothHave(stage, id, 'Of the sheet');
});

describe('what lost a conflict', () => {
  test.each([
    ['crm', 'Of the CRM', 'Of the sheet', 'conflict: the CRM wins'],
    ['table', 'Of the sheet', 'Of the CRM', 'conflict: the sheet wins'],
  ] as const)(
    'stands in the history where the %s wins by rule, and undo puts it on both sides',
    async (rule, winner, loser, cause) => {
      const stage = await openLeadsStage(rule);
      const id = await stage.firstLead();
      await stage.disagree('Of the sheet', 'Of the CRM');
      await bothHave(stage, id, winner);
      const [line] = stage.link.mirror
        .searchJournal({ key: { entity: 'lead', id }, limit: 10 })
        .filter(({ lost }) => lost['title'] !== undefined);
      expect(line).toMatchObject({ lost: { title: loser }, after: { title: winner }, cause });
      await undo(stage.link, { id: line?.id });
      await stage.settle();
      await bothHave(stage, id, loser);
    },
  );

  test.each([
    ['table', 'Of the sheet'],
    ['crm', 'Of the CRM'],
  ])('to a third value can be taken back from the %s', async (side, loser) => {
    const { id, answer, scope, stage } = await openConflict();
    await answer({ question: scope, text: 'Of nobody' });
    await stage.settle();
    const line = stage.link.mirror
      .searchJournal({ key: { entity: 'lead', id }, limit: 10 })
      .find((entry) => entry.side === side && entry.lost['title'] === loser);
    expect(line).toMatchObject({ after: { title: 'Of nobody' } });
    await undo(stage.link, { id: line?.id });
    await stage.settle();
    await bothHave(stage, id, loser);
  });
});
