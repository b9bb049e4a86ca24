import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinContactId, splitContactId } from '../../src/core/fields/contact-id.ts';
import {
  ContactQueue,
  type ContactTurn,
  staleVersion,
  versionOf,
} from '../../src/core/reading/contact-queue.ts';
import { parseRecordKey, recordKeyText } from '../../src/core/record.ts';
import type { ContactRead, StoredRecord } from '../../src/core/state.ts';
import type { Fields } from '../../src/core/value.ts';
import { readNextContacts } from '../../src/sync/reading/contacts.ts';
import { openMirrorInMemory } from '../support/memory-mirror.ts';
import { createRecordingLog } from '../support/recording-log.ts';

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

const contactOf = (leadId: string, change: Partial<StoredRecord> = {}): StoredRecord => ({
  ...lead(leadId, change),
  key: { entity: 'contact', id: joinContactId({ leadId, contactId: 'ada' }) },
});

function chooseLead(records: readonly StoredRecord[], reads: readonly ContactRead[], turn: ContactTurn) {
  const queue = new ContactQueue();
  queue.update(records, reads);
  return queue.next(turn);
}

const [first, second, third] = [lead('1'), lead('2'), lead('3')];

describe('the lead whose contacts are read next', () => {
  it('is none where there are no leads', () => {
    expect(chooseLead([], [], 'changed')).toBeUndefined();
  });

  it('is one that was never read before one that was', () => {
    expect(chooseLead([first, second], [readAt(5, first)], 'changed')).toBe(second);
  });

  it('is the one whose reading is the oldest', () => {
    const reads = [readAt(30, first), readAt(10, second), readAt(20, third)];
    expect(chooseLead([first, second, third], reads, 'changed')).toBe(second);
  });

  it('is one that changed before all others', () => {
    const changed = lead('3', { fields: { title: 'Lead 3', updated_at: '2026-11-21' } });
    const reads = [readAt(10, second), readAt(20, third)];
    expect(chooseLead([first, second, changed], reads, 'changed')).toBe(changed);
  });

  it('is the one of those that changed whose reading is the oldest', () => {
    const reads = [20, 10, 5].map((at, index) => ({ leadId: `${index + 1}`, at, leadVersion: staleVersion }));
    expect(chooseLead([first, second, third], reads, 'changed')).toBe(third);
  });

  it('is any lead by its reading alone, where it is not the turn of those that changed', () => {
    const reads = [readAt(10, second), { leadId: '3', at: 20, leadVersion: staleVersion }];
    expect(chooseLead([first, second, third], reads, 'any')).toBe(first);
    expect(chooseLead([second, third], reads, 'any')).toBe(second);
  });

  it('is each of them within two rounds, whatever changes meanwhile, and the same without what was kept', () => {
    const changes = fc.array(fc.array(fc.nat(9), { maxLength: 10 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(changes, (turns) => {
        let leads = Array.from({ length: 10 }, (_, id) => lead(`${id}`));
        const reads = new Map<string, ContactRead>();
        const queue = new ContactQueue();
        turns.forEach((changed, at) => {
          const fields = { title: `Changed ${at}` };
          leads = leads.map((each, id) => (changed.includes(id) ? { ...each, fields } : each));
          const turn = at % 2 === 0 ? 'changed' : 'any';
          queue.update(leads, [...reads.values()]);
          const chosen = queue.next(turn)!;
          expect(chosen).toBe(chooseLead(leads, [...reads.values()], turn));
          reads.set(chosen.key.id, readAt(at, chosen));
          const longAgo = leads.filter(({ key }) => (reads.get(key.id)?.at ?? -1) < at - 2 * leads.length);
          expect(longAgo).toEqual([]);
        });
      }),
    );
  });

  it('is one that was asked for before all others', () => {
    const reads = [readAt(10, second), { leadId: '3', at: 20, leadVersion: staleVersion }];
    expect(chooseLead([first, second, third], reads, 'changed')).toBe(third);
  });

  it('is one in the trash only while it is believed to have contacts', () => {
    const trashed = lead('1', { presence: 'gone' });
    expect(chooseLead([trashed], [], 'changed')).toBeUndefined();
    expect(
      chooseLead([trashed, second, contactOf('1')], [readAt(5, first), readAt(1, second)], 'changed'),
    ).toBe(trashed);
  });
});

describe('the queue of leads whose contacts are read', () => {
  /** Leads that were all read, each of which counts when its fields are looked at, beside a queue that knows them. */
  function openQueue(count: number) {
    let looks = 0;
    const fields = (id: string): Fields => ({
      get title() {
        looks += 1;
        return `Lead ${id}`;
      },
    });
    const ids = Array.from({ length: count }, (_, number) => `${number + 1}`);
    const leads = ids.map((id) => lead(id, { fields: fields(id) }));
    const reads = leads.map((each, at) => ({ leadId: each.key.id, at, leadVersion: versionOf(each) }));
    const queue = new ContactQueue();
    queue.update(leads, reads);
    looks = 0;
    return { leads, queue, reads, countLooks: () => looks };
  }

  it('looks at no lead that did not change', () => {
    const { countLooks, leads, queue, reads } = openQueue(50);
    const seenAgain = leads.map((each, place) => (place < 20 ? { ...each, lastSeenAt: 1 } : each));
    for (const at of [100, 200]) {
      const next = queue.next('any');
      queue.update(
        seenAgain,
        reads.map((read) => (read.leadId === next?.key.id ? { ...read, at } : read)),
      );
    }
    expect(countLooks()).toBeLessThan(5);
  });

  it('lets a lead wait for its turn whose reading failed', () => {
    const queue = new ContactQueue();
    queue.update([first, second], [readAt(1, second)]);
    queue.noteFailure('1', 5);
    expect(queue.next('any')).toBe(second);
    queue.update([first, second], [readAt(9, second)]);
    expect(queue.next('any')).toBe(first);
    expect(queue.countAll()).toMatchObject({ leads: 2, leadsRead: 1, oldestAt: 9 });
  });

  it('counts what is there, and how old the oldest reading is, also one that failed since', () => {
    const queue = new ContactQueue();
    const [gone, reads] = [{ presence: 'gone' } as const, [readAt(3, first), readAt(1, second)]];
    const ada = contactOf('1');
    queue.update([first, second, third, ada], reads);
    expect(queue.countAll()).toEqual({ contacts: 1, leads: 3, leadsRead: 2, oldestAt: 1 });
    queue.noteFailure('2', 8);
    expect(queue.countAll().oldestAt).toBe(1);
    queue.update([first, lead('2', gone), third, contactOf('1', gone)], reads);
    expect(queue.countAll()).toEqual({ contacts: 0, leads: 2, leadsRead: 1, oldestAt: 3 });
    expect(queue.contactsOf('1')).toEqual([]);
  });

  it('has a lead that comes back where it was by its reading', () => {
    const [queue, reads] = [new ContactQueue(), [readAt(1, first), readAt(2, second), readAt(3, third)]];
    queue.update([lead('1', { presence: 'gone' }), second, third], reads);
    expect(queue.next('any')).toBe(second);
    queue.update([first, second, third], reads);
    expect(queue.next('any')).toBe(first);
  });

  it('begins anew where a record or a reading is forgotten', () => {
    const queue = new ContactQueue();
    queue.update([first, second, contactOf('2')], [readAt(3, first), readAt(1, second)]);
    queue.update([second, contactOf('2')], [readAt(1, second)]);
    expect(queue.countAll()).toEqual({ contacts: 1, leads: 1, leadsRead: 1, oldestAt: 1 });
    queue.update([second], []);
    expect(queue.countAll()).toMatchObject({ contacts: 0, leadsRead: 0 });
    expect(queue.next('any')).toBe(second);
  });
});

it('others get their turn while many leads are looked at for the first time, and the oldest reading comes first', async () => {
  const { mirror } = openMirrorInMemory();
  const count = 6_000;
  mirror.transaction(() => {
    for (let id = 1; id <= count; id += 1) {
      mirror.saveRecord(lead(`${id}`));
      mirror.saveContactRead(readAt(count - id, lead(`${id}`)));
    }
  });
  let sleeps = 0;
  const asked: string[] = [];
  const listContacts = async (leadId: string) => {
    asked.push(leadId);
    return { records: [] };
  };
  const sleep = async () => {
    sleeps += 1;
  };
  const clock = { now: () => count, sleep };
  const link = { mirror, clock, crm: { listContacts }, log: createRecordingLog(), times: {} } as never;
  await readNextContacts(link, 'any');
  expect(sleeps).toBeGreaterThan(1);
  await readNextContacts(link, 'changed');
  expect(asked).toEqual([`${count}`, `${count - 1}`]);
});

it('the ID of a contact says its lead and its UUID, also as a part of its key', () => {
  const parts = { leadId: '42', contactId: '0198c7a2-0000-7000-8000-000000000001' };
  const id = joinContactId(parts);
  expect(splitContactId(id)).toEqual(parts);
  const key = { entity: 'contact', id } as const;
  expect(parseRecordKey(recordKeyText(key))).toEqual(key);
});
