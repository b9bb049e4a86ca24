import { expect, test, vi } from 'vitest';
import type { HistoryEntry } from '../../src/core/history.ts';
import { absorb } from '../../src/core/reading/observe.ts';
import { entities } from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { beginRebase } from '../../src/sheet/rebase.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { takeAccount } from '../../src/sync/reading/account.ts';
import { planUndoOf, undo } from '../../src/sync/undo.ts';
import { openLeadsStage } from '../support/leads-stage.ts';
import { serve } from '../support/served.ts';

/** The line of the history about the record that was created last from the sheet. */
const createdLine = ({ mirror }: SheetLink) =>
  mirror.searchJournal({ limit: 9 }).find(({ kind, side }) => kind === 'create' && side === 'crm');

test('what was done to a contact is not said to be taken back while contacts are switched off: nothing of it would be sent', async () => {
  const { link } = await openLeadsStage();
  const { clock, mirror } = link;
  const key = { entity: 'contact', id: '1001.1' } as const;
  const seen = { ...key, fields: { full_name: 'Wrong' }, at: clock.now() };
  mirror.saveRecord(absorb(undefined, seen, { now: clock.now(), lagMs: 0 }));
  const [before, after] = [{ full_name: 'Ada' }, { full_name: 'Wrong' }];
  const line = {
    at: clock.now(),
    run: 'run',
    key,
    kind: 'update',
    side: 'crm',
    lost: {},
    cause: '',
  } as const;
  mirror.appendJournal([{ ...line, before, after }]);
  expect(await undo(link, { key })).toEqual({
    steps: [],
    refusals: [{ key, reason: expect.stringMatching(/^Contacts are switched off/) }],
  });
  expect(mirror.readOutbox()).toEqual([]);
  const allOn = { ...link, entities };
  expect(await undo(allOn, { key })).toMatchObject({ steps: [{ key, fields: before }], refusals: [] });
});

test('S2: what was done in another account is not taken back in the record that has its id now', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const { clock, mirror } = link;
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  await settle();
  mirror.transaction(() => {
    beginRebase(mirror, 'The key opens another account.', { now: clock.now(), newWord: 'word' });
    takeAccount(link);
  });
  const meet = (fields: Fields) => {
    const seen = { ...key, fields, at: clock.now() };
    mirror.saveRecord(absorb(mirror.findRecord(key), seen, { now: clock.now(), lagMs: 0 }));
  };
  meet({ title: 'Typed' });
  expect(await undo(link, { key })).toEqual({
    steps: [],
    refusals: [{ key, reason: 'It was done in another account of the CRM.' }],
  });
  const [before, after] = [{ title: 'Typed' }, { title: 'Typed again' }];
  meet(after);
  const line = { at: 0, run: 'run', key, kind: 'update', side: 'crm', lost: {}, cause: '' } as const;
  mirror.appendJournal([{ ...line, before, after }]);
  expect(planUndoOf(link, { key })).toMatchObject({ steps: [{ key, fields: before }], refusals: [] });
});

test('a run that was taken back is undone on both sides, and what was edited since stays', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const before = await stage.titles();
  const pasted = ['Wrong 1', 'Wrong 2', 'Wrong 3'].map((title) => [title]);
  await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows: pasted });
  await settle();
  const [{ run } = { run: '' }] = link.mirror.searchJournal({ field: 'title', limit: 1 });
  const wrong = await stage.titles();
  expect(link.mirror.searchJournal({ run, limit: 10 })).toHaveLength(3);
  const edited = [...wrong.crm].find(([, title]) => title === 'Wrong 2')?.[0];
  await stage.editCrm(`/leads/${edited}`, { title: 'Right' });
  await settle();
  const { refusals, steps } = await undo(link, { run });
  expect(steps).toHaveLength(2);
  expect(refusals).toMatchObject([{ key: { id: edited }, field: 'title' }]);
  await settle();
  const after = await stage.titles();
  expect(after.crm).toEqual(
    new Map([...before.crm].map(([id, title]) => [id, id === edited ? 'Right' : title])),
  );
  expect(after.sheet).toEqual(after.crm);
});

test('a record that was created in the sheet goes again from both sides', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const before = await stage.titles();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Not meant' });
  await settle();
  expect((await stage.titles()).crm.size).toBe(6);
  await undo(link, { id: createdLine(link)?.id });
  await settle();
  const after = await stage.titles();
  expect(after).toEqual(before);
});

test.each([
  ['one field', 'title'],
  ['all', undefined],
])('%s of a record that came from the CRM goes back to what it was then', async (_, field) => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const before = await stage.titles();
  const id = await stage.firstLead();
  for (const text of ['Wrong', 'Worse']) {
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });
    await settle();
  }
  expect((await stage.titles()).crm.get(id)).toBe('Worse');
  expect(await undo(link, { key: { entity: 'lead', id }, field })).toMatchObject({ refusals: [] });
  await settle();
  expect(await stage.titles()).toEqual(before);
});

test('S4: a record that was created in the sheet stays for as long as it has what a colleague added to it', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const before = await stage.titles();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Not meant' });
  await settle();
  const order = { id: createdLine(link)?.id };
  const [lead] = [...(await stage.titles()).crm.keys()].filter((id) => !before.crm.has(id));
  const body = JSON.stringify({ title: 'Call them', lead_id: Number(lead) });
  stage.model.applyByHand(Date.now(), { method: 'POST', path: '/tasks', body });
  await settle();
  for (const take of [planUndoOf, undo]) {
    expect(await take(link, order)).toMatchObject({
      steps: [],
      refusals: [{ key: { id: lead }, reason: expect.stringMatching(/^1 task would go with it\./) }],
    });
  }
  await settle();
  const { tasks } = await stage.readCrm();
  expect(tasks).toMatchObject([{ title: 'Call them' }]);
  expect((await stage.titles()).crm.has(lead)).toBe(true);
  await stage.removeInCrm(`/tasks/${tasks[0]?.id}`);
  await settle();
  await settle();
  expect(await undo(link, order)).toMatchObject({ refusals: [] });
  await settle();
  expect(await stage.titles()).toEqual(before);
});

test.each([
  ['in the CRM', 'description', 'Met at the fair'],
  ['in the sheet', 'url', 'https://acme.example'],
])(
  'S4: a record that was created in the sheet stays when somebody filled in more of it %s',
  async (place, name, text) => {
    const stage = await openLeadsStage();
    const { link, settle } = stage;
    const before = await stage.titles();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Meant after all' });
    await settle();
    const [lead] = [...(await stage.titles()).crm.keys()].filter((id) => !before.crm.has(id));
    if (place === 'in the CRM')
      await stage.editCrm(`/leads/${lead}`, { meta_data: { about: { [name]: text } } });
    else await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Website', text });
    await settle();
    expect(await undo(link, { id: createdLine(link)?.id })).toMatchObject({
      steps: [],
      refusals: [
        { key: { id: lead }, field: `about.${name}`, reason: 'It was not created with this value.' },
      ],
    });
    await settle();
    expect((await stage.titles()).crm.has(lead)).toBe(true);
  },
);

test.each([
  ['line', ({ id }: HistoryEntry) => ({ id })],
  ['run', ({ run }: HistoryEntry) => ({ run })],
])(
  'a task goes again by its %s with what the CRM set of itself, unless that was changed',
  async (_, orderOf) => {
    const stage = await openLeadsStage();
    const { link, settle } = stage;
    const create = async (row: number, text: string) => {
      await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row, column: 'Title', text });
      await settle();
      const line = createdLine(link);
      if (!line) throw new Error('Nothing was created.');
      return line;
    };
    const [slip, meant] = [await create(1, 'A slip'), await create(2, 'Meant')];
    await stage.editCrm(`/tasks/${meant.key.id}`, { priority: 3 });
    await settle();
    expect(await undo(link, orderOf(meant))).toMatchObject({ steps: [], refusals: [{ field: 'priority' }] });
    expect(await undo(link, orderOf(slip))).toMatchObject({ steps: [{ kind: 'delete' }], refusals: [] });
    await settle();
    expect((await stage.readCrm()).tasks).toMatchObject([{ title: 'Meant' }]);
  },
);

test.each(['yesterday', '2026-02-30', '2026-11-20T08:00'])(
  'who asks for the history since %s is told how a time is written',
  async (since) => {
    const { engine } = await openLeadsStage();
    const { get } = await serve(engine);
    const answer = await get(`/api/history?since=${since}`);
    expect(await answer.text()).toContain(
      'since: must be a day or a time with its zone, like 2026-11-20 or 2026-11-20T08:00:00Z; the command takes',
    );
  },
);

test('a run is taken back as a whole, however many records it changed', async () => {
  const { link } = await openLeadsStage();
  const line = {
    at: 0,
    run: 'large',
    kind: 'update',
    side: 'crm',
    lost: {},
    cause: 'edited in the sheet',
  } as const;
  const lines = Array.from({ length: 10_001 }, (_, index) => ({
    ...line,
    key: { entity: 'task', id: String(index) } as const,
    before: { title: 'A' },
    after: { title: 'B' },
  }));
  link.mirror.appendJournal(lines);
  expect((await undo(link, { run: 'large' })).refusals).toHaveLength(lines.length);
});

test('many values and records that are taken back at once go from the sheet as well, and no brake asks about them', async () => {
  const stage = await openLeadsStage();
  const { engine, link, settle } = stage;
  const rows = Array.from({ length: 6 }, (_, index) => index);
  const paste = async (column: string, textOf: (index: number) => string) => {
    const texts = rows.map((index) => [textOf(index)]);
    await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 6, column, rows: texts });
    await settle();
  };
  const before = await stage.titles();
  await paste('Title', (index) => `Not meant ${index}`);
  const created = link.mirror
    .searchJournal({})
    .find(({ kind, side }) => kind === 'create' && side === 'crm')?.run;
  await paste('Website', (index) => `https://not-meant-${index}.example`);
  const [filled] = link.mirror.searchJournal({ field: 'about.url', limit: 1 });
  for (const run of [filled?.run, created]) {
    const { refusals, steps } = await undo(link, { run });
    expect({ refusals, steps: steps.length }).toEqual({ refusals: [], steps: rows.length });
    for (const { key } of steps) await pushRecord(link, key);
    await engine.cycle();
    expect(engine.lastPlan?.brakes).toEqual([]);
    await settle();
  }
  expect(await stage.titles()).toEqual(before);
});

test.each([
  ['a value', 1],
  ['a record', 6],
])(
  'S4: %s that a colleague edits before it is taken back stays, and the history says why',
  async (_, row) => {
    const stage = await openLeadsStage();
    const { link, settle } = stage;
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text: 'Typed' });
    await settle();
    const line = link.mirror
      .searchJournal({ limit: 9 })
      .find(({ side, cause }) => side === 'crm' && / in the sheet$/.test(cause));
    expect(await undo(link, { id: line?.id })).toMatchObject({ refusals: [] });
    await stage.editCrm(`/leads/${line?.key.id}`, { title: 'Edited' });
    await settle();
    expect((await stage.titles()).crm.get(line?.key.id)).toBe('Edited');
    expect(link.mirror.searchJournal({ key: line?.key, limit: 9 }).map(({ cause }) => cause)).toContain(
      'not taken back: It was edited in the CRM since.',
    );
  },
);

test('what the CRM wrote in its own way is known by both spellings, and goes back', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const { crm } = link;
  const before = await stage.titles();
  const lower = (fields: Fields): Fields => ({ ...fields, title: String(fields['title']).toLowerCase() });
  const [create, update] = [crm.createRecord.bind(crm), crm.updateRecord.bind(crm)];
  const spies = [
    vi
      .spyOn(crm, 'createRecord')
      .mockImplementation((entity, fields, ...rest) => create(entity, lower(fields), ...rest)),
    vi
      .spyOn(crm, 'updateRecord')
      .mockImplementation((key, fields, ...rest) => update(key, lower(fields), ...rest)),
  ];
  for (const row of [1, 6]) {
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text: 'TYPED' });
    await settle();
  }
  for (const spy of spies) spy.mockRestore();
  const lines = link.mirror.searchJournal({ field: 'title', limit: 9 });
  const ofCrm = lines.filter(({ side }) => side === 'crm').slice(0, 2);
  expect(ofCrm).toMatchObject([
    { kind: 'create', after: { title: 'typed' }, lost: { title: 'TYPED' } },
    { kind: 'update', after: { title: 'typed' }, lost: { title: 'TYPED' } },
  ]);
  for (const { id } of ofCrm) expect(await undo(link, { id })).toMatchObject({ refusals: [] });
  await settle();
  expect(await stage.titles()).toEqual(before);
});
