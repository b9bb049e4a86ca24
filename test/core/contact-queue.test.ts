import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinContactId, splitContactId } from '../../src/core/fields/contact-id.ts';
import { chooseLead, staleVersion, versionOf } from '../../src/core/reading/contact-queue.ts';
import { parseRecordKey, recordKeyText } from '../../src/core/record.ts';
import type { ContactRead, StoredRecord } from '../../src/core/state.ts';

const lead = (id: string, change: Partial<StoredRecord> = {}): StoredRecord => ({
  key: { entity: 'lead', id },
  fields: { title: `Lead ${id}` },
  observedAt: 0,
  firstSeenAt: 0,
  lastSeenAt: 0,
  missedSweeps: 0,
  presence: 'present',
  ...change,
});

/** A reading at the time, of the lead as it is. */
const readAt = (at: number, of: StoredRecord): ContactRead => ({
  leadId: of.key.id,
  at,
  leadVersion: versionOf(of),
});

const nobody: ReadonlySet<string> = new Set();
const [first, second, third] = [lead('1'), lead('2'), lead('3')];

describe('the lead whose contacts are read next', () => {
  it('is none where there are no leads', () => {
    expect(chooseLead([], nobody, [], 'changed')).toBeUndefined();
  });

  it('is one that was never read before one that was', () => {
    expect(chooseLead([first, second], nobody, [readAt(5, first)], 'changed')).toBe(second);
  });

  it('is the one whose reading is the oldest', () => {
    const reads = [readAt(30, first), readAt(10, second), readAt(20, third)];
    expect(chooseLead([first, second, third], nobody, reads, 'changed')).toBe(second);
  });

  it('is one that changed before all others', () => {
    const changed = lead('3', { fields: { title: 'Lead 3', updated_at: '2026-11-21' } });
    const reads = [readAt(10, second), readAt(20, third)];
    expect(chooseLead([first, second, changed], nobody, reads, 'changed')).toBe(changed);
  });

  it('is the one of those that changed whose reading is the oldest', () => {
    const reads = [20, 10, 5].map((at, index) => ({ leadId: `${index + 1}`, at, leadVersion: staleVersion }));
    expect(chooseLead([first, second, third], nobody, reads, 'changed')).toBe(third);
  });

  it('is any lead by its reading alone, where it is not the turn of those that changed', () => {
    const reads = [readAt(10, second), { leadId: '3', at: 20, leadVersion: staleVersion }];
    expect(chooseLead([first, second, third], nobody, reads, 'any')).toBe(first);
    expect(chooseLead([second, third], nobody, reads, 'any')).toBe(second);
  });

  it('is each of them within two rounds, whatever changes meanwhile', () => {
    const changes = fc.array(fc.array(fc.nat(9), { maxLength: 10 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(changes, (turns) => {
        const leads = Array.from({ length: 10 }, (_, id) => lead(`${id}`));
        const reads = new Map<string, ContactRead>();
        turns.forEach((changed, at) => {
          for (const id of changed) leads[id] = lead(`${id}`, { fields: { title: `Changed ${at}` } });
          const chosen = chooseLead(leads, nobody, [...reads.values()], at % 2 === 0 ? 'changed' : 'any')!;
          reads.set(chosen.key.id, readAt(at, chosen));
          const longAgo = leads.filter(({ key }) => (reads.get(key.id)?.at ?? -1) < at - 2 * leads.length);
          expect(longAgo).toEqual([]);
        });
      }),
    );
  });

  it('is one that was asked for before all others', () => {
    const reads = [readAt(10, second), { leadId: '3', at: 20, leadVersion: staleVersion }];
    expect(chooseLead([first, second, third], nobody, reads, 'changed')).toBe(third);
  });

  it('is one in the trash only while it is believed to have contacts', () => {
    const trashed = lead('1', { presence: 'gone' });
    expect(chooseLead([trashed], nobody, [], 'changed')).toBeUndefined();
    expect(
      chooseLead([trashed, second], new Set(['1']), [readAt(5, first), readAt(1, second)], 'changed'),
    ).toBe(trashed);
  });
});

it('the ID of a contact says its lead and its UUID, also as a part of its key', () => {
  const parts = { leadId: '42', contactId: '0198c7a2-0000-7000-8000-000000000001' };
  const id = joinContactId(parts);
  expect(splitContactId(id)).toEqual(parts);
  const key = { entity: 'contact', id } as const;
  expect(parseRecordKey(recordKeyText(key))).toEqual(key);
});
