import { describe, expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { lateLandingMs, type OpenWrite } from '../../src/core/open-write.ts';
import { emptyAgreement, type JournalEntry } from '../../src/core/state.ts';
import { beginWrite, recoverWrites, sendWrite } from '../../src/sheet/apply.ts';
import { readPending, readVoidClaims } from '../../src/sheet/damages.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import type { TableStep } from '../../src/sheet/plans/plan.ts';
import { emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import type { Damage, Suspect } from '../../src/sheet/port/damage.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { KeepReceipt, Table } from '../../src/sheet/port/port.ts';
import type { SetStep, WriteResult } from '../../src/sheet/port/table.ts';
import { beginRebase, readWrites, rebaseRows } from '../../src/sheet/rebase.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { lead } from '../support/mirror-directory.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const nothing: WriteResult = { done: new Map(), undone: [], escalated: [], pending: [], isOver: true };
const done = (...numbers: number[]): Pick<WriteResult, 'done'> => ({
  done: new Map(numbers.map((number) => [number, { edited: [] }])),
});

const damage: Damage = {
  entity: 'lead',
  kind: 'overwritten',
  id: textCell('9'),
  cells: { title: { written: textCell('New'), before: textCell('Of 9') } },
  own: { Mine: { written: emptyCell, before: textCell('Call back') } },
};
const inQuestions: Damage = { ...damage, entity: 'question' };

const run = 'w1';
const occasion = { now: 7, newWord: 'other' };

const set = (change: Partial<SetStep> = {}): SetStep => ({
  kind: 'set',
  entity: 'lead',
  position: 1,
  idSeen: textCell('1'),
  cells: {},
  ...change,
});

/** A new title for lead 1, and a claim of the row below. */
const [titleStep, claimStep]: readonly TableStep[] = [
  { write: set(), key: lead('1'), offers: { title: 'New', note: 'Noted' }, notice: 'Changed' },
  {
    write: set({ position: 2, idSeen: emptyCell, id: textCell('new-a-b') }),
    key: lead('new-a-b'),
    offers: {},
    notice: '',
    creates: { title: 'Mine' },
  },
];
const steps = [titleStep, claimStep] as [TableStep, TableStep];

/** A mirror beside a table that says this of each write. */
function openWrites(...results: (Partial<WriteResult> | undefined | SyncError)[]) {
  const { mirror } = openMirrorInMemory();
  const clock = createManualClock();
  const tally = { undoneWrites: 0, escalatedWrites: 0 };
  const asked: { receipt: string; mayLand?: boolean }[] = [];
  const adapter = { keepBefore: (_keep: KeepReceipt): void => {} };
  const answer = (keep: KeepReceipt) => {
    adapter.keepBefore(keep);
    const result = results.shift();
    if (result instanceof SyncError) throw result;
    return result && { ...nothing, ...result };
  };
  const table: Pick<Table, 'prepare' | 'write' | 'recover'> = {
    prepare: (planned, of, open) => `${of}: ${planned.length} steps beside ${open.join(', ') || 'nothing'}`,
    async write(receipt, keep) {
      asked.push({ receipt });
      return answer(keep) ?? nothing;
    },
    async recover(receipt, keep, mayLand) {
      asked.push({ receipt, mayLand });
      return answer(keep);
    },
  };
  const link = { clock, log: createRecordingLog(), mirror, table } as unknown as SheetLink;
  mirror.saveAgreement({ ...emptyAgreement(lead('1'), 1), offered: { title: 'New', note: 'Noted' } });
  const begin = (written: readonly TableStep[] = steps, of = run): OpenWrite =>
    mirror.transaction(() => beginWrite(link, { at: clock.now(), run: of }, written));
  return {
    adapter,
    asked,
    begin,
    clock,
    link,
    mirror,
    tally,
    agreed: () => mirror.findAgreement(lead('1')),
    recover: () => recoverWrites(link, tally),
    send: (open = begin()) => sendWrite(link, open, tally),
    suspects: () => mirror.readSuspects().map(({ id, state }) => [id, state]),
    voids: () => [...readVoidClaims(mirror)],
  };
}

const noReply = () => newSheetError('SHEET_UNREACHABLE', 'No reply.');

describe('a write to the table', () => {
  test('is durable with what follows from its steps before it is sent', async () => {
    const { asked, begin, clock, mirror, send } = openWrites(noReply());
    const first = begin([titleStep as TableStep], 'w0');
    const open = begin();
    await expect(send(open)).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
    expect(open).toMatchObject({ id: run, tokens: ['new-a-b'], damage: [] });
    expect(open.receipt).toBe(`w1: 2 steps beside ${first.receipt}`);
    expect(open.confirms).toMatchObject([
      [0, { offers: { title: 'New' } }],
      [1, { creates: { title: 'Mine' } }],
    ]);
    expect(asked).toEqual([{ receipt: open.receipt }]);
    expect(readWrites(mirror)).toEqual(['w0', run]);
    expect(mirror.readOpenWrites().at(-1)).toEqual({ ...open, settlesAt: clock.now() + lateLandingMs });
  });

  test('dates what it agreed on by when that was decided, as the Sync cell does', async () => {
    const { agreed, begin, clock, send } = openWrites(done(0, 1));
    const open = begin();
    await clock.advance(60_000);
    await send(open);
    expect(agreed()?.changedAt).toBe(open.at);
  });

  test('dates nothing later than now where the clock was set back meanwhile', async () => {
    const { agreed, begin, clock, send } = openWrites(done(0, 1));
    const open = begin();
    clock.setWallClock(clock.now() - 60_000);
    await send(open);
    expect(agreed()?.changedAt).toBe(clock.now());
  });

  test('dates it by its end where something else was agreed meanwhile', async () => {
    const { agreed, begin, clock, mirror, send } = openWrites(done(0, 1));
    const open = begin();
    await clock.advance(30_000);
    mirror.saveAgreement({ ...emptyAgreement(lead('1'), clock.now()), offered: { title: 'New' } });
    await clock.advance(30_000);
    await send(open);
    expect(agreed()?.changedAt).toBe(clock.now());
  });

  test('of which all is done agrees on what it offered, and is over', async () => {
    const { agreed, mirror, send, voids } = openWrites(done(0, 1));
    expect(await send()).toEqual({ done: new Set([0, 1]), undoneSteps: 0 });
    expect(agreed()).toMatchObject({
      fields: { title: 'New', note: 'Noted' },
      offered: {},
      notice: 'Changed',
    });
    expect([mirror.readOpenWrites(), voids()]).toEqual([[], []]);
  });

  test('does not agree on a field that a user edited at that moment, and is to be planned again', async () => {
    const { agreed, send } = openWrites({
      done: new Map([
        [0, { edited: ['title'] }],
        [1, { edited: [] }],
      ]),
    });
    expect(await send()).toMatchObject({ undoneSteps: 1 });
    expect(agreed()?.fields).toEqual({ note: 'Noted' });
  });

  test('that deleted a row leaves in the history what the row had in columns of users', async () => {
    const journal: JournalEntry = {
      at: 1,
      run,
      key: lead('1'),
      kind: 'delete',
      side: 'table',
      before: { title: 'Old' },
      after: {},
      lost: { note: 'Typed' },
      cause: 'deleted in the CRM',
    };
    const write = { kind: 'delete', entity: 'lead', position: 1, idSeen: textCell('1') } as const;
    const end = { edited: [], own: { Mine: textCell('Call back') } };
    const { agreed, begin, mirror, send } = openWrites({ done: new Map([[0, end]]) });
    await send(begin([{ write, key: lead('1'), offers: {}, notice: '', journal, forgets: true }]));
    expect(mirror.searchJournal({ limit: 5 })).toEqual([
      { id: 1, ...journal, lost: { Mine: 'Call back', note: 'Typed' } },
    ]);
    expect(agreed()).toBeUndefined();
  });

  test('that gives back what was there ends the suspect', async () => {
    const { begin, mirror, send } = openWrites(done(0));
    const suspect: Suspect = { id: 'w0.0', at: 1, damage, state: 'escalated', clearReads: 0 };
    for (const id of ['w0.0', 'w0.1']) mirror.saveSuspect({ ...suspect, id });
    await send(begin([{ write: set(), closes: 'w0.0' }]));
    expect(mirror.readSuspects().map(({ id }) => id)).toEqual(['w0.1']);
  });

  test('that met moved rows leaves what was undone and what was not as suspects and in the history, and is to be planned again', async () => {
    const other = { ...damage, id: textCell('8') };
    const { agreed, mirror, send, suspects, tally } = openWrites({
      ...done(1),
      undone: [damage, inQuestions],
      escalated: [other],
    });
    expect(await send()).toEqual({ done: new Set([1]), undoneSteps: 1 });
    expect(suspects()).toEqual([
      ['w1.0', 'undone'],
      ['w1.1', 'escalated'],
    ]);
    const there = { before: { title: 'Of 9', Mine: 'Call back' }, after: { title: 'New' } };
    expect(mirror.searchJournal({ limit: 5 })).toMatchObject([
      { kind: 'repair', side: 'table', run, key: lead('8'), ...there, cause: expect.stringContaining('not') },
      {
        kind: 'repair',
        side: 'table',
        run,
        key: lead('9'),
        ...there,
        cause: expect.stringContaining('undone'),
      },
    ]);
    expect(agreed()).toMatchObject({ fields: {}, offered: { title: 'New' } });
    expect(tally).toMatchObject({ undoneWrites: 2, escalatedWrites: 1 });
  });

  test('S3: makes the token of a claim void that is not done once it is over', async () => {
    const { send, voids } = openWrites(done(0));
    await send();
    expect(voids()).toEqual(['new-a-b']);
  });

  test('leaves the token of a create alone that is under way', async () => {
    const { begin, link, mirror } = openWrites();
    mirror.saveOutboxItem({
      key: lead('new-a-b'),
      kind: 'create',
      state: 'review',
      fields: {},
      base: {},
      notice: '',
      run: 'w0',
      createdAt: link.clock.now(),
      dueAt: 0,
      attempts: 1,
      looks: 0,
    });
    expect(begin().tokens).toEqual([]);
  });

  test('that is refused in part plans nothing of that again at once, and makes no token void that is nowhere', async () => {
    const error = newSheetError('SHEET_REFUSED', 'Protected.');
    const { mirror, send, voids } = openWrites({ ...done(0), refusal: { error, steps: new Set([1]) } });
    expect(await send()).toEqual({ done: new Set([0]), undoneSteps: 0, refusal: error });
    expect([mirror.readOpenWrites(), voids()]).toEqual([[], []]);
  });
});

describe('a write without a reply', () => {
  test('stays open while it may land, and what it claims may not be created', async () => {
    const { asked, clock, mirror, recover, send } = openWrites(noReply(), undefined);
    await expect(send()).rejects.toThrow('No reply.');
    await clock.advance(lateLandingMs - 1);
    expect(await recover()).toEqual([]);
    expect(asked.at(-1)).toMatchObject({ mayLand: true });
    expect(mirror.readOpenWrites()).toMatchObject([{ tokens: ['new-a-b'] }]);
  });

  test('never landed if nothing is found of it when it cannot land any longer', async () => {
    const { agreed, asked, clock, mirror, recover, send, voids } = openWrites(noReply(), undefined);
    await expect(send()).rejects.toThrow('No reply.');
    await clock.advance(lateLandingMs);
    expect(await recover()).toEqual([]);
    expect(asked.at(-1)).toMatchObject({ mayLand: false });
    expect([mirror.readOpenWrites(), voids()]).toEqual([[], ['new-a-b']]);
    expect(agreed()).toMatchObject({ fields: {}, offered: { title: 'New' } });
  });

  test('never landed if it was limited, whatever the time', async () => {
    const limited = newSheetError('SHEET_LIMITED', 'Too many requests.');
    const { asked, mirror, recover, send } = openWrites(limited, undefined);
    await expect(send()).rejects.toThrow('Too many requests.');
    expect(await recover()).toEqual([]);
    expect(asked.at(-1)).toMatchObject({ mayLand: false });
    expect(mirror.readOpenWrites()).toEqual([]);
  });

  test('is confirmed when it is found to have landed, and what was read before it counts no longer', async () => {
    const { agreed, mirror, recover, send } = openWrites(noReply(), done(0, 1));
    await expect(send()).rejects.toThrow('No reply.');
    expect(await recover()).toHaveLength(1);
    expect(agreed()?.fields).toMatchObject({ title: 'New' });
    expect(mirror.readOpenWrites()).toEqual([]);
    expect(await recover()).toEqual([]);
  });

  test('of which a part has landed keeps the consequences of the rest, and is no news twice', async () => {
    const part = { ...done(1), isOver: false };
    const { mirror, recover, send } = openWrites(noReply(), part, part, part);
    await expect(send()).rejects.toThrow('No reply.');
    expect(await recover()).toHaveLength(1);
    expect(mirror.readOpenWrites()).toMatchObject([{ confirms: [[0, {}]], tokens: [] }]);
    expect([await recover(), await recover()]).toEqual([[], []]);
  });
});

test('what is left of a write takes the place of its receipt together with what is confirmed', async () => {
  const rest = { ...done(1), isOver: false, rest: 'of step 0' };
  const { asked, mirror, recover, send } = openWrites(noReply(), rest, done(0));
  await expect(send()).rejects.toThrow('No reply.');
  await recover();
  expect(mirror.readOpenWrites()).toMatchObject([{ receipt: 'of step 0', confirms: [[0, {}]] }]);
  await recover();
  expect(asked.at(-1)).toMatchObject({ receipt: 'of step 0' });
});

describe('what a write did to another row and is being undone without a reply', () => {
  const pending = { pending: [damage], isOver: false };
  const keep = (receipt: string) => (save: KeepReceipt) => save(receipt, [damage]);

  test('is kept before it is sent, and suspect until it is over', async () => {
    const { adapter, clock, mirror, recover, send, suspects } = openWrites(pending, pending, {
      undone: [damage],
    });
    adapter.keepBefore = keep('with the inverse');
    expect(await send()).toMatchObject({ undoneSteps: 2 });
    const [open] = mirror.readOpenWrites();
    expect(open).toMatchObject({ receipt: 'with the inverse', damage: [damage] });
    expect(readPending(mirror.readOpenWrites())).toMatchObject([{ id: 'w1.p0', state: 'pending', damage }]);
    await clock.advance(1_000);
    expect(await recover()).toEqual([]);
    // Nothing was sent since, so that nothing has more time.
    expect(mirror.readOpenWrites()).toEqual([open]);
    expect(await recover()).toHaveLength(1);
    expect([mirror.readOpenWrites(), suspects()]).toEqual([[], [['w1.0', 'undone']]]);
  });

  test('may land for three minutes from when the inverse was sent', async () => {
    const { adapter, asked, begin, clock, mirror, recover } = openWrites(pending, pending);
    begin();
    await clock.advance(lateLandingMs - 1);
    adapter.keepBefore = keep('with the inverse');
    await recover();
    expect(mirror.readOpenWrites()).toMatchObject([{ settlesAt: clock.now() + lateLandingMs }]);
    await clock.advance(1_000);
    await recover();
    expect(asked).toMatchObject([{ mayLand: true }, { receipt: 'with the inverse', mayLand: true }]);
  });

  test('gets numbers of its own where more of the same write becomes known later', async () => {
    const { recover, send, suspects } = openWrites(
      { undone: [damage, damage], isOver: false },
      { escalated: [damage] },
    );
    await send();
    await recover();
    expect(suspects()).toEqual([
      ['w1.0', 'undone'],
      ['w1.1', 'undone'],
      ['w1.2', 'escalated'],
    ]);
  });

  test('is escalated by a rebase, which forgets the write and keeps all suspects', async () => {
    const { mirror, send, suspects } = openWrites({ ...pending, escalated: [damage] });
    await send();
    mirror.transaction(() => beginRebase(mirror, 'The mirror is a copy.', occasion));
    expect(suspects()).toEqual([
      ['w1.0', 'escalated'],
      ['w1.1', 'escalated'],
    ]);
    expect(mirror.readOpenWrites()).toEqual([]);
    expect(mirror.searchJournal({ limit: 5 })).toHaveLength(2);
  });

  test('is left to settle by itself where another tab takes the place of its tab, whose suspects are over', async () => {
    const ofTask = { ...damage, entity: 'task' } as const;
    const { mirror, send, suspects } = openWrites({ ...pending, escalated: [damage, ofTask] });
    await send();
    mirror.transaction(() => rebaseRows(mirror, 'lead', 'Another tab.', occasion));
    expect(suspects()).toEqual([['w1.1', 'escalated']]);
    expect(mirror.readOpenWrites()).toMatchObject([{ id: run, damage: [damage] }]);
  });
});

test('void claims are forgotten after a month', async () => {
  const { begin, clock, send, voids } = openWrites(done(0), done(0));
  await send();
  await clock.advance(31 * 24 * 60 * 60 * 1_000);
  const [title, claim] = steps;
  const later = { ...claim, write: set({ id: textCell('new-c-d') }), key: lead('new-c-d') };
  await send(begin([title, later], 'w2'));
  expect(voids()).toEqual(['new-c-d']);
});
