import { expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import type { Crm } from '../../src/core/ports.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { beginRebase } from '../../src/sheet/rebase.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { undo } from '../../src/sync/undo.ts';
import { withCrm } from '../support/changed-crm.ts';
import { openLeadsStage } from '../support/leads-stage.ts';

/** The line of the history about the record that was created last from the sheet. */
const createdLine = ({ mirror }: SheetLink) =>
  mirror.searchJournal({ limit: 9 }).find(({ kind, side }) => kind === 'create' && side === 'crm');

/** An update that leaves and fails. */
const leaveAndFail =
  (error: SyncError): Crm['updateRecord'] =>
  async (_key, _fields, _known, sending) => {
    sending?.begin();
    throw error;
  };

test('what the CRM does not let be taken back stays on both sides, and the history says why', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const id = await stage.firstLead();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  await settle();
  const [before] = link.mirror.searchJournal({ field: 'title', limit: 1 });
  await undo(link, { id: before?.id });
  const refusing = withCrm(link, {
    updateRecord: leaveAndFail(new SyncError('CRM_REFUSED', 'title: No such title.')),
  });
  await pushRecord(refusing, { entity: 'lead', id });
  await settle();
  expect(link.mirror.searchJournal({ limit: 1 })).toMatchObject([
    {
      key: { id },
      side: 'crm',
      before: { title: 'Typed' },
      after: { title: 'Typed' },
      lost: before?.before,
      cause: 'not taken back: The CRM does not accept this Title: No such title.',
    },
  ]);
  const after = await stage.titles();
  expect(after.crm.get(id)).toBe('Typed');
  expect(after.sheet).toEqual(after.crm);
});

test('what the CRM fails on again and again is not taken back for ever, and what people type into its row goes on to the CRM', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const type = (text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await type('Typed');
  await settle();
  const [before] = link.mirror.searchJournal({ field: 'title', limit: 1 });
  await undo(link, { id: before?.id });
  const failing = withCrm(link, {
    updateRecord: leaveAndFail(new SyncError('CRM_UNKNOWN_OUTCOME', 'It answered 500.')),
  });
  for (const _attempt of Array.from({ length: 5 })) {
    const item = link.mirror.findOutboxItem(key);
    expect(item?.isUndo).toBe(true);
    if (item) link.mirror.saveOutboxItem({ ...item, dueAt: 0 });
    await pushRecord(failing, key);
  }
  expect(link.mirror.searchJournal({ key, limit: 2 }).map(({ cause }) => cause)).toEqual([
    'not taken back: The CRM fails on this change again and again.',
    'sent to the CRM, which did not say whether it took it',
  ]);
  await type('Typed later');
  await settle();
  expect((await stage.titles()).crm.get(key.id)).toBe('Typed later');
});

test('what waits to be taken back while the CRM is away is not given up for one unclear answer when it is back', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const key = { entity: 'lead', id: await stage.firstLead() } as const;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  await settle();
  const [before] = link.mirror.searchJournal({ field: 'title', limit: 1 });
  await undo(link, { id: before?.id });
  const failWith = async (code: 'CRM_UNKNOWN_OUTCOME' | 'CRM_UNREACHABLE') => {
    const item = link.mirror.findOutboxItem(key);
    if (item) link.mirror.saveOutboxItem({ ...item, dueAt: 0 });
    const failure = new SyncError(code, 'It answered 502.');
    const getRecord: Crm['getRecord'] = (...asked) =>
      code === 'CRM_UNREACHABLE' ? Promise.reject(failure) : link.crm.getRecord(...asked);
    await pushRecord(withCrm(link, { getRecord, updateRecord: leaveAndFail(failure) }), key);
  };
  await failWith('CRM_UNKNOWN_OUTCOME');
  for (const _attempt of Array.from({ length: 9 })) await failWith('CRM_UNREACHABLE');
  await failWith('CRM_UNKNOWN_OUTCOME');
  expect(link.mirror.findOutboxItem(key)).toMatchObject({ isUndo: true, state: 'waiting' });
  const waiting = link.mirror.findOutboxItem(key);
  if (waiting) link.mirror.saveOutboxItem({ ...waiting, dueAt: 0 });
  await pushRecord(link, key);
  await settle();
  const after = await stage.titles();
  expect(after.crm.get(key.id)).toBe(before?.before['title']);
  expect(after.sheet).toEqual(after.crm);
});

test('a record that the key may not delete stays, and what people type into its row goes on to the CRM', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  const type = (text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text });
  await type('A new row');
  await settle();
  const { id, key } = createdLine(link) ?? {};
  if (!key) throw new Error('The row was not sent.');
  await undo(link, { id });
  const forbidden = new SyncError('CRM_FORBIDDEN', 'The key lacks the scope delete:leads.');
  const restricted = withCrm(link, {
    deleteRecord: () => Promise.reject(forbidden),
  });
  await pushRecord(restricted, key);
  expect(link.mirror.searchJournal({ key, limit: 1 })).toMatchObject([
    { cause: 'not taken back: The key lacks the scope delete:leads.' },
  ]);
  await type('Typed later');
  await settle();
  expect((await stage.titles()).crm.get(key.id)).toBe('Typed later');
});

test('what was to be taken back when its mirror is found to be of another time stands in the history as not taken back', async () => {
  const stage = await openLeadsStage();
  const { link, settle } = stage;
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
  await settle();
  const { clock, mirror } = link;
  const [before] = mirror.searchJournal({ field: 'title', limit: 1 });
  await undo(link, { id: before?.id });
  const chance = { now: clock.now(), newWord: 'word' };
  mirror.transaction(() => beginRebase(mirror, 'The mirror is a copy.', chance));
  expect(mirror.readOutbox()).toEqual([]);
  expect(mirror.searchJournal({ limit: 1 })).toMatchObject([
    { key: before?.key, cause: 'not taken back: Its record is gone, or the rows are other ones since.' },
  ]);
});
