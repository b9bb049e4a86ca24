import { describe, expect, test } from 'vitest';
import { joinContactId } from '../../src/core/fields/contact-id.ts';
import { entities, listedEntities } from '../../src/core/record.ts';
import type { OutboxItem } from '../../src/core/state.ts';
import type { Fields } from '../../src/core/value.ts';
import { beginRebase } from '../../src/sheet/rebase.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { readNextContacts } from '../../src/sync/reading/contacts.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

const leadCount = 4;

/** A link to a sandbox CRM, with the leads read once and nothing running. */
async function openReading({ enabled = true } = {}) {
  const stage = await openLinkStage({ leads: leadCount, opportunities: 0, tasks: 0 });
  const { model, setCrmFaults } = stage;
  const changes = { entities: enabled ? entities : listedEntities };
  const link = { ...stage.link, ...changes };
  const engine = stage.createEngine(changes);
  const sweep = () => engine.pullAll(() => undefined);
  await sweep();
  // They take turns in the order in which the mirror got to know them.
  const leads = link.mirror.readRecords('lead').map(({ key }) => Number(key.id));
  const byHand = (method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}): unknown =>
    model.applyByHand(Date.now(), { method, path, body: JSON.stringify(body) })?.body;
  let seen = model.requests().length;
  /** What was sent since the last look: `GET /leads/1/contacts`. */
  const sent = () => {
    const requests = model.requests().slice(seen);
    seen += requests.length;
    return requests.map(({ method, path }) => `${method} ${path.replace(/^.*\/external|\?.*$/g, '')}`);
  };
  /** Reads contacts so often; answers what that sent. */
  const read = async (turns: number) => {
    sent();
    for (let turn = 0; turn < turns; turn += 1) {
      const at = Date.now();
      await readNextContacts(link, 'changed');
      // The next turn is of the one that was read before all others: never two in one millisecond.
      await until('the clock goes on', async () => Date.now() > at);
    }
    return sent();
  };
  return { link, model, leads, first: leads[0]!, byHand, setCrmFaults, sweep, sent, read };
}

type Reading = Awaited<ReturnType<typeof openReading>>;

/** Adds a contact in the CRM; answers its id there. */
function addContact({ byHand, model }: Reading, leadId: number, fields: object): string {
  byHand('POST', `/leads/${leadId}/contacts`, fields);
  const id = [...(model.records.contacts.get(leadId)?.keys() ?? [])].at(-1);
  if (id === undefined) throw new Error('The contact was not added.');
  return id;
}

const contactOf = ({ link }: Reading, leadId: number, contactId: string) =>
  link.mirror.findRecord({ entity: 'contact', id: joinContactId({ leadId: String(leadId), contactId }) });

const listOf = (leadId: number) => `GET /leads/${leadId}/contacts`;

const createOf = (fields: Fields): OutboxItem => ({
  key: { entity: 'contact', id: 'new-row' },
  kind: 'create',
  state: 'waiting',
  fields,
  base: {},
  notice: '',
  run: 'run',
  createdAt: 0,
  dueAt: 0,
  attempts: 0,
  looks: 0,
});

describe('reading contacts', () => {
  test('asks for one lead at a time, each once in a round, and tells when all were read', async () => {
    const { leads, link, read } = await openReading();
    const roundOf = () => link.mirror.readSweeps().find(({ entity }) => entity === 'contact');
    expect(await read(leadCount - 1)).toEqual(leads.slice(0, -1).map(listOf));
    expect(roundOf()).toMatchObject({ isComplete: false, pages: leadCount - 1 });
    expect(await read(1)).toEqual([listOf(leads.at(-1)!)]);
    expect(roundOf()).toMatchObject({ isComplete: true, pages: leadCount, records: 0 });
    expect(await read(leadCount)).toEqual(leads.map(listOf));
  });

  test('begins anew where the mirror is of another time: what was read then says nothing about now', async () => {
    const { leads, link, read, sweep } = await openReading();
    const roundOf = () => link.mirror.readSweeps().find(({ entity }) => entity === 'contact');
    await read(leadCount);
    const chance = { now: link.clock.now(), newWord: 'word' };
    link.mirror.transaction(() => beginRebase(link.mirror, 'The mirror is a copy.', chance));
    await sweep();
    expect(await read(1)).toEqual(leads.slice(0, 1).map(listOf));
    expect(roundOf()).toMatchObject({ isComplete: false, pages: 1 });
    await read(leadCount - 1);
    expect(roundOf()).toMatchObject({ isComplete: true, pages: leadCount });
  });

  test('asks for a lead that changed first', async () => {
    const { byHand, leads, read, sweep } = await openReading();
    await read(leadCount);
    const changed = leads[2]!;
    byHand('PUT', `/leads/${changed}`, { title: 'Renamed' });
    await sweep();
    expect(await read(1)).toEqual([listOf(changed)]);
    expect(await read(1)).not.toEqual([listOf(changed)]);
  });

  test('S4: needs two lists and a direct answer to believe that a contact is gone', async () => {
    const reading = await openReading();
    const { byHand, first, read } = reading;
    const id = addContact(reading, first, { full_name: 'Ada' });
    await read(leadCount);
    byHand('DELETE', `/leads/${first}/contacts/${id}`);
    expect(await read(1)).toEqual([listOf(first)]);
    expect(contactOf(reading, first, id)?.presence).toBe('present');
    expect(await read(1)).toEqual([listOf(first), `GET /leads/${first}/contacts/${id}`]);
    expect(contactOf(reading, first, id)?.presence).toBe('gone');
    expect(await read(1)).not.toContain(listOf(first));
  });

  test('asks for each contact of a lead in the trash, and then for none', async () => {
    const reading = await openReading();
    const { byHand, first, read, sweep } = reading;
    const ids = ['Ada', 'Grace'].map((name) => addContact(reading, first, { full_name: name }));
    await read(leadCount);
    byHand('DELETE', `/leads/${first}`);
    await sweep();
    await sweep();
    expect(await read(1)).toEqual(ids.map((id) => `GET /leads/${first}/contacts/${id}`));
    expect(ids.map((id) => contactOf(reading, first, id)?.presence)).toEqual(['gone', 'gone']);
    expect((await read(leadCount)).filter((request) => request.includes(`/leads/${first}/`))).toEqual([]);
  });

  test('concludes nothing about a lead that is not found before its absence is proven', async () => {
    const reading = await openReading();
    const { byHand, first, read } = reading;
    const id = addContact(reading, first, { full_name: 'Ada' });
    await read(leadCount);
    byHand('DELETE', `/leads/${first}`);
    expect(await read(1)).toEqual([listOf(first)]);
    expect(contactOf(reading, first, id)).toMatchObject({ presence: 'present', missedSweeps: 0 });
  });

  test.each([
    ['can not be understood', { kind: 'garbage' as const }, 'CRM_UNREADABLE'],
    [
      'is refused in whatever way it is asked for',
      { kind: 'status' as const, status: 400, times: 5 },
      'CRM_UNREADABLE',
    ],
    ['makes the CRM fail', { kind: 'status' as const, status: 500, times: 4 }, 'CRM_UNREACHABLE'],
  ])('goes on with the other leads when one %s', async (_what, fault, code) => {
    const { first, leads, read, setCrmFaults } = await openReading();
    setCrmFaults({ faults: [{ ...fault, path: `/leads/${first}/contacts` }] });
    await expect(read(1)).rejects.toMatchObject({ code });
    expect(await read(leadCount)).toEqual([...leads.slice(1), first].map(listOf));
  });
});

test('a create is read back, because what its row left empty would else be told a round later', async () => {
  const reading = await openReading();
  const { first, link, model, sent } = reading;
  const item = createOf({ lead_id: first, full_name: 'Ada' });
  link.mirror.saveOutboxItem(item);
  sent();
  await pushRecord(link, item.key);
  const [id = ''] = model.records.contacts.get(first)?.keys() ?? [];
  expect(sent()).toEqual([`POST /leads/${first}/contacts`, `GET /leads/${first}/contacts/${id}`]);
  expect(contactOf(reading, first, id)?.fields).toMatchObject({ email: null, phone_number: null });
});

test('a create of unknown outcome is not taken for a contact of another lead', async () => {
  const reading = await openReading();
  const { first, leads, link, read, setCrmFaults } = reading;
  const item = createOf({ lead_id: first, full_name: 'Ada' });
  link.mirror.saveOutboxItem(item);
  setCrmFaults({ faults: [{ kind: 'dropBefore', method: 'POST' }] });
  await pushRecord(link, item.key);
  addContact(reading, leads[1]!, { full_name: 'Ada' });
  await read(leadCount);
  const unknown = link.mirror.findOutboxItem(item.key)!;
  expect(unknown.state).toBe('unknown');
  link.mirror.saveOutboxItem({ ...unknown, dueAt: 0 });
  await pushRecord(link, item.key);
  expect(link.mirror.findOutboxItem(item.key)).toMatchObject({ state: 'unknown', looks: 1 });
});

test('a contact that waits is not sent once contacts are not enabled any more', async () => {
  const { first, link, sent } = await openReading({ enabled: false });
  const item = createOf({ lead_id: first, full_name: 'Ada' });
  link.mirror.saveOutboxItem(item);
  sent();
  expect(await pushRecord(link, item.key)).toBe('nothing');
  expect(sent()).toEqual([]);
});
