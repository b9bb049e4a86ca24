import { describe, expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { advance } from '../../src/core/outbox.ts';
import type { Decision } from '../../src/core/state.ts';
import { decisionOf } from '../../src/core/waiting/answer.ts';
import { sliceMax } from '../../src/warehouse/edits/turns.ts';
import { editOf, openDesk, retitle } from '../support/edit-desk.ts';

const numbers = (count: number, first = 1): string[] =>
  Array.from({ length: count }, (_, place) => String(first + place));

const many = numbers(600);
const unbraked = { limits: { changesMin: 5_000, changesShare: 0, deletesMin: 5_000, deletesShare: 0 } };

/** A desk with edits of many leads that wait to be pushed. */
function openBusyDesk() {
  const stage = openDesk(unbraked, many);
  stage.take(...many.map((id) => retitle(id, 'A', 'B')));
  const woken = stage.woken();
  // What a decision changes itself is looked at once more.
  stage.decide();
  return { ...stage, firstWoken: woken };
}

describe('with many edits open', () => {
  test('nothing is looked at and nothing is written where nothing changed', () => {
    const { desk, lookedAt, mirror } = openBusyDesk();
    const [before, changes] = [desk.decided, mirror.countChanges()];
    expect(lookedAt()).toEqual([]);
    expect([desk.decided, mirror.countChanges()]).toEqual([before, changes]);
    expect(desk.decided).toBe(before);
  });

  test.for<[string, (stage: ReturnType<typeof openBusyDesk>) => void]>([
    ['a new edit', ({ take }) => take(retitle('7', 'B', 'C'))],
    ['another value in the CRM', ({ save }) => save('7', 'Z')],
    [
      'its step',
      ({ mirror }) => {
        const item = mirror.findOutboxItem({ entity: 'lead', id: '7' })!;
        mirror.saveOutboxItem(advance(item, 'sent', { at: 10 }));
      },
    ],
    ['what is agreed', ({ mirror }) => mirror.dropAgreement({ entity: 'lead', id: '7' })],
    [
      'an answer about it',
      ({ mirror }) => mirror.saveDecision({ scope: 'refused:lead-7', choice: 'retry', at: 9 }),
    ],
  ])('only the record is decided about again of which something changed: %s', ([, change]) => {
    const stage = openBusyDesk();
    change(stage);
    expect(stage.lookedAt()).toEqual(['7']);
  });

  test('a record that was merely seen again is not decided about again', () => {
    const { lookedAt, mirror } = openBusyDesk();
    const record = mirror.findRecord({ entity: 'lead', id: '7' })!;
    mirror.saveRecord({ ...record, observedAt: 2, lastSeenAt: 2 });
    lookedAt();
    mirror.saveRecord({ ...record, observedAt: 2, lastSeenAt: 3 });
    expect(lookedAt()).toEqual([]);
  });

  test('the queue is woken once for each step, and for a new one alone', () => {
    const { firstWoken, take, woken } = openBusyDesk();
    expect(firstWoken).toEqual(many);
    expect(woken()).toEqual([]);
    take(retitle('7', 'B', 'C'));
    expect(woken()).toEqual(['7']);
    expect(woken()).toEqual([]);
  });

  test('the queue is woken for steps that were stopped and are no longer', () => {
    const { desk, woken } = openBusyDesk();
    expect([woken(new Set(['lead'] as const)), desk.isStopped('lead')]).toEqual([[], true]);
    expect(woken()).toEqual(many);
    expect(desk.isStopped('lead')).toBe(false);
  });

  test('all are decided about anew with another catalog, and after a decision that did not end', () => {
    const { desk, lookedAt, take } = openBusyDesk();
    const catalog = { ...emptyCatalog };
    expect(lookedAt(catalog)).toHaveLength(many.length);
    take(...many.map((id) => retitle(id, 'B', 'C')));
    desk.decide(catalog).next();
    expect(lookedAt(catalog)).toHaveLength(many.length);
  });
});

describe('a decision about many edits', () => {
  test('lets others have their turn between slices, and each keeps what it came to', () => {
    const { desk, mirror, take } = openDesk(unbraked, many);
    take(...many.map((id) => retitle(id, 'A', 'B')));
    const kept: number[] = [];
    for (const _ of desk.decide(emptyCatalog))
      kept.push(mirror.transaction(() => mirror.readOutbox().length));
    expect(kept).toEqual([sliceMax, 2 * sliceMax]);
    expect(mirror.readOutbox()).toHaveLength(many.length);
  });

  test('that fails in the middle is made anew: no edit is lost, and no step is made twice', () => {
    const { desk, link, mirror, take, woken } = openDesk(unbraked, many);
    take(...many.map((id) => retitle(id, 'A', 'B')));
    const { transaction } = link.mirror;
    let calls = 0;
    link.mirror.transaction = (work) =>
      transaction(() => {
        const result = work();
        calls += 1;
        if (calls === 2) throw new Error('The disk is full.');
        return result;
      });
    expect(() => [...desk.decide(emptyCatalog)]).toThrow('The disk is full.');
    const before = mirror.readOutbox();
    expect(before).toHaveLength(sliceMax);
    expect(woken()).toEqual(many);
    expect(mirror.readOutbox().slice(0, sliceMax)).toEqual(before);
    expect(mirror.readOutbox()).toHaveLength(many.length);
  });

  test('sees what a user answers between two slices', () => {
    const stage = openDesk({ ...unbraked, deletes: 'ask' }, many);
    stage.take(
      ...many.map((id) => editOf('delete', { key: { entity: 'lead', id }, before: { title: 'A' } })),
    );
    stage.decide();
    const answer = (id: string): Decision => ({ scope: `vanished:lead-${id}`, choice: 'restore', at: 9 });
    stage.mirror.saveDecision(answer('1'));
    for (const id of many.slice(1, sliceMax + 1)) stage.save(id, 'B');
    let turns = 0;
    for (const _ of stage.desk.decide(emptyCatalog)) {
      if (turns === 0) stage.mirror.saveDecision(answer('600'));
      turns += 1;
    }
    stage.decide();
    expect(stage.mirror.edits.findOpen({ entity: 'lead', id: '600' })).toEqual([]);
    expect(stage.mirror.readDecisions()).toEqual([]);
  });
});

describe('what a decision went by beside the record itself', () => {
  const token = { entity: 'lead', id: 'new-made' } as const;
  const insert = editOf('insert', { editId: 'made', key: token, row: '-1', after: { title: 'A' } });
  const below = editOf('insert', {
    editId: 'below',
    key: { entity: 'task', id: 'new-below' },
    row: '-2',
    after: { title: 'Call', lead_id: -1 },
  });

  test('is the insert that a row waits for: once that has a record, the row is decided about', () => {
    const { decide, mirror, take } = openDesk(unbraked);
    take(insert, below);
    for (let time = 0; time < 2; time += 1) decide();
    expect(mirror.edits.find('below')?.note).toMatch('It waits for its lead -1');
    const item = mirror.findOutboxItem(token)!;
    mirror.saveOutboxItem(advance(advance(item, 'sent', { at: 10 }), 'created', { recordId: '7' }));
    decide();
    expect(mirror.edits.find('below')?.note).not.toMatch('It waits for its lead -1');
  });

  test('is which lists were read: once they were, a record that is not there is gone', () => {
    const { decide, mirror, take } = openDesk(unbraked);
    take(retitle('99', 'A', 'B'));
    for (let time = 0; time < 2; time += 1) decide();
    expect(mirror.edits.readOpen()).toHaveLength(1);
    const sweep = { entity: 'lead', startedAt: 1, finishedAt: 2, pages: 1, records: 3 } as const;
    mirror.saveSweep({ ...sweep, isComplete: true });
    decide();
    expect(mirror.edits.readOpen()).toEqual([]);
  });

  test('is what goes to the trash with the record: a question says how much by now', () => {
    const { decide, mirror, take } = openDesk({ ...unbraked, deletes: 'ask' });
    take(editOf('delete', { before: { title: 'A' } }));
    expect(decide().holds[0]?.reason).not.toMatch('1 task');
    mirror.saveRecord({
      ...mirror.findRecord({ entity: 'lead', id: '7' })!,
      key: { entity: 'task', id: '1' },
      fields: { lead_id: 7 },
    });
    expect(decide().holds[0]?.reason).toMatch('1 task');
  });
});

describe('a brake over many edits', () => {
  const limits = { changesMin: 10, changesShare: 0, deletesMin: 10, deletesShare: 0 };
  const openBraked = () => {
    const stage = openDesk({ limits }, numbers(2_000));
    stage.take(...many.map((id) => retitle(id, 'A', 'B')));
    const [brake] = stage.decide().brakes;
    stage.mirror.saveDecision(decisionOf(brake!.scope, 'approve', 9, `${brake!.changes.count}: rows`));
    return stage;
  };

  test('lets nothing through that was not shown, where the process ends while an approval is carried out', () => {
    const { desk, mirror, openAnother, take } = openBraked();
    desk.decide(emptyCatalog).next();
    expect(mirror.edits.readOpen().filter(({ isMeant }) => isMeant)).toHaveLength(sliceMax);
    // As many as were let through come anew, before the next start.
    take(...numbers(sliceMax, 1_000).map((id) => retitle(id, 'A', 'B')));
    const next = openAnother();
    for (const _ of next.decide(emptyCatalog));
    expect(next.decided.brakes).toHaveLength(1);
    expect(mirror.readOutbox()).toEqual([]);
  });

  test('lets the rest through, where the process ends while an approval is carried out', () => {
    const { desk, mirror, openAnother } = openBraked();
    desk.decide(emptyCatalog).next();
    const next = openAnother();
    for (const _ of next.decide(emptyCatalog));
    expect(next.decided.brakes).toEqual([]);
    expect([mirror.readOutbox().length, mirror.readDecisions()]).toEqual([many.length, []]);
  });

  test('notes another edit alone, and counts it', () => {
    const { decide, mirror, take } = openDesk({ limits }, many);
    take(...many.map((id) => retitle(id, 'A', 'B')));
    decide();
    const before = new Set(mirror.edits.readOpen());
    take(retitle('7', 'B', 'C'), editOf('update', { key: { entity: 'lead', id: '1000' } }));
    expect(decide().brakes[0]?.reason).toMatch('601 of 0 rows were edited by SQL; 10 may be at once.');
    expect(mirror.edits.readOpen().filter((edit) => !before.has(edit))).toHaveLength(2);
    const notes = new Set(mirror.edits.readOpen().map(({ note, state }) => `${state}: ${note}`));
    expect([...notes]).toEqual([expect.stringMatching(/^held: More rows were edited by SQL than may/)]);
  });

  test('keeps a table stopped until all that was let through is decided about', () => {
    const { desk } = openBraked();
    const stopped: boolean[] = [];
    for (const _ of desk.decide(emptyCatalog)) stopped.push(desk.isStopped('lead'));
    expect(new Set(stopped)).toEqual(new Set([true]));
    expect(desk.isStopped('lead')).toBe(false);
  });

  test('ends an approval that its user takes back while it is carried out', () => {
    const { desk, decide, mirror } = openBraked();
    const work = desk.decide(emptyCatalog);
    work.next();
    const [given] = mirror.readDecisions();
    mirror.saveDecision({ ...given!, choice: 'revert', at: 10 });
    for (const _ of work);
    decide();
    decide();
    expect(mirror.readOutbox()).toHaveLength(sliceMax);
    expect(mirror.edits.readOpen()).toHaveLength(sliceMax);
    expect(mirror.readDecisions()).toEqual([]);
  });
});
