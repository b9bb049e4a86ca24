import { describe, expect, it } from 'vitest';
import {
  absorb,
  doubtLeftMs,
  isSeenAgain,
  noteMissed,
  noteReplaced,
} from '../../src/core/reading/observe.ts';
import type { StoredRecord } from '../../src/core/state.ts';
import type { Fields } from '../../src/core/value.ts';

const lagMs = 5_000;
const written = { at: 1_000, before: { title: 'old' } };
const base: StoredRecord = {
  key: { entity: 'lead', id: '7' },
  fields: { title: 'known', note: 'kept' },
  observedAt: 500,
  firstSeenAt: 100,
  lastSeenAt: 500,
  missedSweeps: 1,
  presence: 'present',
};

const absorbInto = (stored: StoredRecord | undefined, fields: Fields, at: number): StoredRecord =>
  absorb(stored, { entity: 'lead', id: '7', fields, at }, { now: at + 50, lagMs });

interface Case {
  readonly name: string;
  readonly stored: Partial<StoredRecord>;
  /** When the request was sent that answered, and what it said. */
  readonly at: number;
  readonly says: Fields;
  readonly knows: Fields;
}

/** Checks what is known of the record after an answer. */
function check({ stored, at, says, knows }: Case) {
  expect(absorbInto({ ...base, ...stored }, says, at).fields).toEqual(knows);
}

describe('an answer of the CRM', () => {
  it.each<Case>([
    {
      name: 'that is newer counts',
      stored: {},
      at: 600,
      says: { title: 'new', note: 'n' },
      knows: { title: 'new', note: 'n' },
    },
    {
      name: 'that lacks a field leaves it as it was',
      stored: {},
      at: 600,
      says: { title: 'new' },
      knows: { title: 'new', note: 'kept' },
    },
    {
      name: 'that empties a field empties it',
      stored: {},
      at: 600,
      says: { title: null },
      knows: { title: null, note: 'kept' },
    },
    {
      name: 'to an older request is no news',
      stored: {},
      at: 499,
      says: { title: 'older' },
      knows: { title: 'known', note: 'kept' },
    },
    {
      name: 'to a request sent before our write was acknowledged is no news',
      stored: { written },
      at: 999,
      says: { title: 'anything' },
      knows: { title: 'known', note: 'kept' },
    },
    {
      name: 'that lags and shows what our write replaced is no news for that field alone',
      stored: { written },
      at: 1_001,
      says: { title: 'old', note: 'n' },
      knows: { title: 'known', note: 'n' },
    },
    {
      name: 'that shows a third value soon after our write is somebody else’s edit',
      stored: { written },
      at: 1_001,
      says: { title: 'third' },
      knows: { title: 'third', note: 'kept' },
    },
    {
      name: 'that shows the replaced value after the lag means that somebody put it back',
      stored: { written },
      at: 6_000,
      says: { title: 'old' },
      knows: { title: 'old', note: 'kept' },
    },
  ])('$name', check);

  it('about a record never seen begins its history', () => {
    expect(absorbInto(undefined, { title: 'new' }, 600)).toEqual({
      key: { entity: 'lead', id: '7' },
      fields: { title: 'new' },
      observedAt: 600,
      heardAt: 650,
      firstSeenAt: 650,
      lastSeenAt: 600,
      missedSweeps: 0,
      presence: 'present',
    });
  });

  it('shows that the record is there, even when it is too old to say more', () => {
    expect(absorbInto(base, { title: 'older' }, 400)).toEqual({ ...base, missedSweeps: 0 });
  });

  it('brings back a record that was gone', () => {
    const gone: StoredRecord = { ...base, presence: 'gone' };
    expect(absorbInto(gone, {}, 600)).toMatchObject({
      presence: 'present',
      missedSweeps: 0,
      lastSeenAt: 600,
    });
  });

  it('is heard when it arrives, and one that is too old to say more only where it brings the record back', () => {
    const heard = { ...base, heardAt: 510 };
    expect(absorbInto(heard, {}, 600)).toMatchObject({ observedAt: 600, heardAt: 650 });
    expect(absorbInto(heard, {}, 400)).toMatchObject({ observedAt: 500, heardAt: 510 });
    expect(absorbInto({ ...heard, presence: 'gone' }, {}, 400)).toMatchObject({
      observedAt: 500,
      heardAt: 450,
    });
  });

  it('that lags behind our own delete brings nothing back', () => {
    const deleted: StoredRecord = { ...base, presence: 'gone', written: { at: 1_000, before: {} } };
    expect(absorbInto(deleted, {}, 5_999)).toBe(deleted);
    expect(absorbInto(deleted, {}, 6_000)).toMatchObject({ presence: 'present' });
  });
});

describe('a record that is read again', () => {
  const seen: StoredRecord = { ...base, observedAt: 2_000, lastSeenAt: 2_000, missedSweeps: 0, written };

  it.each<[of: string, change: Partial<StoredRecord>, says: Fields, at: number, isOnlySeen: boolean]>([
    ['the same as before', {}, seen.fields, 3_000, true],
    ['something else', {}, { title: 'other' }, 3_000, false],
    ['the same in another hour', {}, seen.fields, 3_600_000, false],
    ['the same since our write', { observedAt: 1_000 }, seen.fields, 3_000, false],
    ['the same since it was created', { firstSeenAt: 2_000 }, seen.fields, 3_000, false],
    ['the same after a sweep lacked it', { missedSweeps: 1 }, seen.fields, 3_000, false],
    ['that it is there after all', { presence: 'gone' }, seen.fields, 3_000 + lagMs, false],
  ])('says %s', (_, change, says, at, isOnlySeen) => {
    const known = { ...seen, ...change };
    expect(isSeenAgain(known, absorbInto(known, says, at))).toBe(isOnlySeen);
  });
});

describe('a write that follows another', () => {
  const note = { at: 5_999, before: { note: 'kept before' } };

  it('within the lag leaves in doubt what both replaced', () => {
    const stored = { ...base, fields: { title: 'known', note: 'typed' }, observedAt: note.at };
    const both = { ...stored, written: noteReplaced(written, note, lagMs) };
    const behind = absorbInto(both, { title: 'old', note: 'kept before' }, 7_000);
    expect(behind.fields).toEqual(stored.fields);
  });

  it('of the same field leaves in doubt both values that it had: who puts right what they just typed keeps that', () => {
    const again = { at: 2_000, before: { title: 'known' } };
    const both = {
      ...base,
      fields: { ...base.fields, title: 'right' },
      written: noteReplaced(written, again, lagMs),
    };
    for (const title of ['old', 'known']) {
      expect(absorbInto(both, { title }, 3_000).fields).toMatchObject({ title: 'right' });
      const seen = { ...base.key, fields: { title }, at: 3_000 };
      expect(doubtLeftMs(both, seen, { now: 3_000, lagMs })).toBe(4_000);
    }
    expect(absorbInto(both, { title: 'third' }, 3_000).fields).toMatchObject({ title: 'third' });
    expect(absorbInto(both, { title: 'old' }, 7_000).fields).toMatchObject({ title: 'old' });
  });

  it('after the lag leaves in doubt only what it replaced itself', () => {
    const later = { ...note, at: 6_000 };
    expect(noteReplaced(written, later, lagMs)).toEqual(later);
  });
});

describe('what a read tells of a text that our last write sent', () => {
  const sent = (title: string): StoredRecord => ({ ...base, fields: { ...base.fields, title }, written });
  const madeOf = (text: string, title: string) =>
    absorbInto(sent(text), { title }, 6_000).written?.answered?.['title'];

  it.each([
    ['trimmed', 'Acme ', 'Acme'],
    ['in small letters', 'Max@Acme.example', 'max@acme.example'],
    ['without its signs', '+49 (30) 123-456', '+4930123456'],
  ])('is what the CRM made of it where it stands there %s', (_, text, title) => {
    expect(madeOf(text, title)).toBe(title);
  });

  it.each([
    ['of other words', 'Acme ', 'Acme Ltd'],
    ['instead of one of signs alone', '-', '+'],
  ])('is somebody’s edit where it is one %s', (_, text, title) => {
    expect(madeOf(text, title)).toBeUndefined();
  });

  it('is somebody’s edit in a field that was not written', () => {
    expect(absorbInto(sent('known'), { note: 'Kept' }, 6_000).written).toBe(written);
  });
});

describe('an answer about one record', () => {
  const doubtAt = (title: string, at: number) =>
    doubtLeftMs({ ...base, written }, { ...base.key, fields: { title }, at }, { now: at + 50, lagMs });

  it.each([
    ['that shows what our write replaced is doubtful until the lag is over', 'old', 2_000, 3_950],
    ['to a request sent within the lag is doubtful also where it comes after its end', 'old', 5_990, 1],
    ['that shows it after the lag is not doubtful', 'old', 6_000, 0],
    ['to a request sent before our write is not doubtful', 'old', 999, 0],
    ['that shows what we wrote is not doubtful', 'known', 2_000, 0],
    ['that shows a third value is not doubtful', 'third', 2_000, 0],
  ])('%s', (_, title, at, leftMs) => {
    expect(doubtAt(title, at)).toBe(leftMs);
  });
});

describe('a complete sweep', () => {
  const seenAt = (lastSeenAt: number, more: Partial<StoredRecord> = {}): StoredRecord => ({
    ...base,
    lastSeenAt,
    ...more,
  });

  it('counts a miss for each present record it did not show, and for no other', () => {
    const records = [seenAt(999), seenAt(1_000), seenAt(1_500), seenAt(999, { presence: 'gone' })];
    expect(noteMissed(records, 1_000)).toEqual([seenAt(999, { missedSweeps: 2 })]);
  });
});
