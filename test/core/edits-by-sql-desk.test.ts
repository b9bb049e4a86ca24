import { describe, expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { advance } from '../../src/core/outbox.ts';
import { finishAtOnce } from '../../src/core/slices.ts';
import { emptyAgreement } from '../../src/core/state.ts';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { EditDesk } from '../../src/warehouse/edits/desk.ts';
import { WarehouseEdits } from '../../src/warehouse/edits/edits.ts';
import type { WarehouseLink } from '../../src/warehouse/link.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { editTerms } from '../support/warehouse-edits-engine.ts';
import { layoutWith } from '../support/warehouse-layout.ts';

const key = { entity: 'lead', id: '7' } as const;

let count = 0;

function editOf(kind: TakenEdit['kind'], parts: Partial<TakenEdit> = {}): TakenEdit {
  count += 1;
  const given = { editId: `edit-${count}`, key, row: key.id, kind, before: {}, after: {}, ended: {} };
  return { ...given, by: 'u', at: 1, state: 'taken', note: '', isMeant: false, isTold: true, ...parts };
}

/** A mirror that knows the leads 7, 8 and 9 with the title A. */
function openDesk(terms: Partial<typeof editTerms> = {}) {
  const { mirror } = openMirrorInMemory();
  mirror.setFollowers(['warehouse']);
  const own = mirror.of('warehouse');
  const save = (id: string, title: string | null) =>
    own.saveRecord(
      {
        key: { entity: 'lead', id },
        fields: { title },
        firstSeenAt: 1,
        lastSeenAt: 1,
        missedSweeps: 0,
        presence: 'present',
        observedAt: 1,
      },
      'created',
    );
  for (const id of ['7', '8', '9']) save(id, 'A');
  let words = 0;
  const newWord = () => {
    words += 1;
    return `word-${words}`;
  };
  const link = { clock: { now: () => 10, monotonicMs: () => 10 }, entities: ['lead'], mirror: own, newWord };
  const take = (...edits: TakenEdit[]) => {
    for (const edit of edits) own.edits.save(edit);
  };
  const desk = new EditDesk(link as unknown as WarehouseLink, { ...editTerms, ...terms });
  const decide = () => {
    finishAtOnce(desk.decide(emptyCatalog));
    return desk.decided;
  };
  return { decide, link, mirror: own, save, take };
}

const update = (id: string, before: string | null, after: string | null) =>
  editOf('update', { key: { ...key, id }, row: id, before: { title: before }, after: { title: after } });

const limits = { changesMin: 1, changesShare: 0, deletesMin: 5, deletesShare: 0 };

describe('what a user takes back at a brake', () => {
  test('is not sent, although it waited to be sent before', () => {
    const { decide, mirror, take } = openDesk({ limits });
    take(update('7', 'A', 'B'));
    decide();
    expect(mirror.readOutbox()).toHaveLength(1);
    take(update('8', 'A', 'B'));
    expect(decide().brakes).toHaveLength(1);
    mirror.saveDecision({ scope: 'brake:lead:edited', choice: 'revert', at: 9 });
    decide();
    expect(mirror.edits.readOpen()).toEqual([]);
    expect([mirror.readOutbox(), mirror.readAgreements()]).toEqual([[], []]);
  });

  test('is taken back after the CRM has answered where it is on its way, with what was written since', () => {
    const { decide, mirror, save, take } = openDesk({ limits });
    const [one, two, three] = [update('7', 'A', 'B'), update('7', 'B', 'C'), update('8', 'A', 'B')];
    take(one);
    decide();
    const item = mirror.findOutboxItem(key)!;
    mirror.saveOutboxItem(advance(item, 'sent', { at: 10 }));
    take(two, three);
    expect(decide().brakes).toHaveLength(1);
    mirror.saveDecision({ scope: 'brake:lead:edited', choice: 'revert', at: 9 });
    decide();
    expect(decide().brakes).toEqual([]);
    expect(mirror.readOutbox().map(({ state }) => state)).toEqual(['sending']);
    mirror.dropOutboxItem(key);
    mirror.saveAgreement({ ...mirror.findAgreement(key)!, fields: { title: 'B' } });
    save('7', 'B');
    decide();
    expect([mirror.readOutbox(), mirror.edits.readOpen()]).toEqual([[], []]);
    const states = [one, two, three].map(({ editId }) => mirror.edits.find(editId)?.state);
    expect(states).toEqual(['done', 'superseded', 'lost']);
  });

  test('row by row counts no more', () => {
    const { decide, mirror, take } = openDesk({ limits });
    take(update('7', 'A', 'B'), update('8', 'A', 'B'));
    expect(decide().brakes).toHaveLength(1);
    take(editOf('revert'));
    expect(decide().brakes).toEqual([]);
    expect(mirror.readOutbox().map((item) => item.key.id)).toEqual(['8']);
  });
});

describe('where the agreed value is an empty one', () => {
  test('what is written after that is an edit of it', () => {
    const { decide, mirror, save, take } = openDesk();
    take(update('7', 'A', null), update('7', null, 'B'));
    save('7', null);
    mirror.saveAgreement({ ...emptyAgreement(key, 1), fields: { title: null } });
    expect(decide().conflicts).toEqual([]);
    expect(mirror.readOutbox()[0]?.fields).toEqual({ title: 'B' });
  });

  test('an answer for the value of SQL counts until it is sent', () => {
    const { decide, mirror, save, take } = openDesk({ conflict: 'ask' });
    take(update('7', 'A', 'B'));
    save('7', null);
    expect(decide().conflicts).toHaveLength(1);
    const values = JSON.stringify({ crm: null, table: 'B' });
    mirror.saveDecision(decisionOf('conflict:lead-7:title', 'sheet', 9, values));
    for (let time = 0; time < 2; time += 1) expect(decide().conflicts).toEqual([]);
    expect(mirror.readOutbox()).toMatchObject([{ fields: { title: 'B' }, base: { title: null } }]);
  });
});

test('an answer about a record counts no more once its edits are over', () => {
  const { decide, mirror, take } = openDesk();
  take(editOf('delete', { before: { title: 'A' } }));
  decide();
  mirror.saveDecision({ scope: 'vanished:lead-7', choice: 'trash', at: 9 });
  decide();
  take(editOf('revert'));
  decide();
  take(editOf('delete', { before: { title: 'A' } }));
  expect(decide().holds).toHaveLength(1);
  expect(mirror.readOutbox()).toEqual([]);
});

test('what was edited in a new row is an edit of its record, where the database alone knows that it was made', async () => {
  const { link, mirror, take } = openDesk();
  const token = { entity: 'lead', id: 'new-1' } as const;
  take(
    editOf('insert', { editId: 'made', key: token, row: '-1', after: { title: 'A' } }),
    editOf('update', {
      editId: 'since',
      key: token,
      row: '-1',
      before: { title: 'A' },
      after: { title: 'B' },
    }),
  );
  const database = {
    readEdits: async () => ({ rows: [], answers: [], lastRun: 0 }),
    readEnded: async () => [{ editId: 'made', state: 'done', note: '', newId: '7' }],
  };
  const edits = new WarehouseEdits({ ...link, database, editing: editTerms } as unknown as WarehouseLink);
  await edits.take(layoutWith());
  expect(mirror.edits.readOpen()).toMatchObject([{ editId: 'since', key }]);
});
