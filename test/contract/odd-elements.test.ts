import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { FieldKind } from '../../src/core/fields/field-kind.ts';
import { keepKnown } from '../../src/core/fields/listed-catalog.ts';
import type { Entity, ObservedRecord } from '../../src/core/record.ts';
import { readCustom, readStandard } from '../../src/crm/read-value.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { openCrmLine } from '../support/crm-line.ts';
import { createManualClock } from '../support/manual-clock.ts';

type Json = Record<string, unknown>;

/** A CRM with some of everything, and a line on which one element of one list is changed on its way. */
async function serve() {
  const clock = createManualClock();
  const counts = { leads: 4, opportunities: 4, tasks: 4 };
  const sandbox = await startSandboxCrm({ port: 0, seed: 7, counts, clock: clock.now });
  onTestFinished(() => sandbox.close());
  const line = await openCrmLine({ target: sandbox.baseUrl, now: clock.now });
  onTestFinished(() => line[Symbol.asyncDispose]());
  const { crm } = createCrmBench(line.baseUrl, { apiKey: sandbox.apiKey, clock, requests: 100_000 });
  const { model } = sandbox;
  const leadId = model.records.leads.live()[0]!.id;
  for (const full_name of ['Anna', 'Bo', 'Cem'])
    await crm.createRecord('contact', { lead_id: leadId, full_name });
  /** What the work comes to while `change` is done to the list that is answered there. */
  const during = async <Result>(
    path: RegExp,
    change: (items: Json[]) => void,
    work: () => Promise<Result>,
  ) => {
    const stop = line.intercept(path, async (_asked, passOn) => {
      const answer = await passOn();
      if (!answer) return undefined;
      const body = JSON.parse(answer.text) as { data: Json | Json[] };
      const { data } = body;
      change(Array.isArray(data) ? data : Array.isArray(data['items']) ? data['items'] : [data]);
      return { ...answer, text: JSON.stringify(body) };
    });
    return work().finally(stop);
  };
  const list = async (entity: Entity) =>
    entity === 'contact' ? crm.listContacts(String(leadId), 'sweep') : crm.listRecords(entity, 1, 'sweep');
  return { crm, during, list, model };
}

const missing = Symbol('missing');

const oddValues: readonly [string, unknown][] = [
  ['missing', missing],
  ['null', null],
  ['an empty text', ''],
  ['a word', 'odd'],
  ['a number as a text', '1250.00'],
  ['a fraction', 33.3],
  ['true', true],
  ['an object', { odd: 1 }],
  ['a list', ['odd', { odd: 1 }]],
];

function put(item: Json, name: string, value: unknown): void {
  if (value === missing) delete item[name];
  else item[name] = value;
}

const lists = {
  lead: /^GET \/leads\?/,
  opportunity: /^GET \/opportunities\?/,
  task: /^GET \/tasks\?/,
  contact: /^GET \/leads\/\d+\/contacts/,
} as const satisfies Record<Entity, RegExp>;

/** The second element of each list is the odd one. */
const at = 1;

/** Fields of the canonical form that come from a property of an element. */
const partsOf = (property: string, { fields }: ObservedRecord): string[] => {
  if (property === 'meta_data') return ['about.description', 'about.url'];
  if (property === 'custom_fields') return Object.keys(fields).filter((name) => name.startsWith('custom.'));
  return [property];
};

/** What else is told; an odd object may tell custom fields that nobody knows. */
const without = (record: ObservedRecord, names: readonly string[]) =>
  Object.entries(record.fields).filter(([name]) => !names.includes(name) && name !== 'custom.odd');

describe.each(Object.keys(lists) as Entity[])('a list in which one %s has', (entity) => {
  it.each(oddValues)(
    '%s in any of its fields is followed, and so is all else of that one',
    async (_, value) => {
      const { crm, during, list } = await serve();
      await crm.readCatalog('newest');
      const { records: usual } = await list(entity);
      const properties: string[] = [];
      await during(
        lists[entity],
        (items) => void properties.push(...Object.keys(items[at] ?? {})),
        () => list(entity),
      );
      for (const property of properties) {
        const { records, nameless = [] } = await during(
          lists[entity],
          (items) => put(items[at]!, property, value),
          () => list(entity),
        );
        const odd = records.find(({ id }) => id === usual[at]!.id);
        const others = ({ id }: ObservedRecord) =>
          id !== usual[at]!.id && usual.some((known) => known.id === id);
        expect(records.filter(others).map(({ id, fields }) => [id, fields])).toEqual(
          usual.filter(others).map(({ id, fields }) => [id, fields]),
        );
        if (property === 'id') {
          expect(records.length + nameless.length).toBe(usual.length);
          continue;
        }
        const parts = partsOf(property, usual[at]!);
        expect({ property, odd: odd && without(odd, parts) }).toEqual({
          property,
          odd: without(usual[at]!, parts),
        });
        for (const part of parts)
          expect([part, part in (odd?.fields ?? {}) && part in (odd?.unread ?? {})]).toEqual([part, false]);
      }
    },
  );
});

describe('of a record', () => {
  it.each<[string, Entity, string, unknown, object]>([
    ['a value as a text', 'opportunity', 'value', '1250.00', { fields: { value: 1250 } }],
    ['a status as a text', 'task', 'status', '2', { fields: { status: 2 } }],
    ['a priority as a text', 'task', 'priority', '3', { fields: { priority: 3 } }],
    ['the id of its lead as a text', 'opportunity', 'lead_id', '7', { fields: { lead_id: 7 } }],
    [
      'a confidence of 33.3',
      'opportunity',
      'confidence',
      33.3,
      { unread: { confidence: 'is not a whole number' } },
    ],
    [
      'a confidence in a word',
      'opportunity',
      'confidence',
      'high',
      { unread: { confidence: 'is not a whole number' } },
    ],
    [
      'a day that no calendar has',
      'task',
      'due_date',
      '2026-02-30',
      { unread: { due_date: 'is not a date' } },
    ],
    [
      'a title that is an object',
      'lead',
      'title',
      { en: 'Acme' },
      { unread: { title: 'is not in the form that is documented' } },
    ],
    [
      'a phone number in digits alone',
      'contact',
      'phone_number',
      4930123,
      { fields: { phone_number: '4930123' } },
    ],
    ['no value at all', 'opportunity', 'value', null, { fields: { value: null } }],
    [
      'no set custom fields, as an empty list',
      'lead',
      'custom_fields',
      [],
      { fields: { 'custom.city': null } },
    ],
  ])('%s is understood where that is safe, and else named', async (_, entity, property, value, read) => {
    const { crm, during, list } = await serve();
    await crm.readCatalog('newest');
    const { records } = await during(
      lists[entity],
      (items) => put(items[at]!, property, value),
      () => list(entity),
    );
    expect(records[at]).toMatchObject(read);
  });

  it('an id that is a text of digits is that id, and of one without it is said where it is', async () => {
    const { during, list } = await serve();
    const { records: usual } = await list('task');
    const asText = await during(
      lists.task,
      (items) => put(items[at]!, 'id', String(items[at]!['id'])),
      () => list('task'),
    );
    expect(asText.records.map(({ id }) => id)).toEqual(usual.map(({ id }) => id));
    const without = await during(
      lists.task,
      (items) => put(items[at]!, 'id', missing),
      () => list('task'),
    );
    expect(without.records).toHaveLength(usual.length - 1);
    expect(without.nameless).toEqual(['GET /tasks, page 1, element 2: its id is missing']);
  });

  it('what its own answer, or that to its update, says in an odd form is held alike', async () => {
    const { crm, during, list } = await serve();
    const { id } = (await list('opportunity')).records[at]!;
    const makeOdd = (path: RegExp, work: () => Promise<unknown>) =>
      during(path, ([item]) => put(item!, 'confidence', 33.3), work);
    const key = { entity: 'opportunity', id } as const;
    expect(await makeOdd(/^GET \/opportunities\/\d/, () => crm.getRecord(key, 'edit'))).toMatchObject({
      unread: { confidence: 'is not a whole number' },
    });
    const answer = await makeOdd(/^PUT/, () => crm.updateRecord(key, { confidence: 40, note: 'Signed' }));
    expect(answer).toMatchObject({
      fields: { note: 'Signed' },
      unread: { confidence: 'is not a whole number' },
    });
    expect(answer).not.toHaveProperty('fields.confidence');
  });
});

const catalogLists = [
  ['a pipeline', /^GET \/pipelines/, (items: Json[]) => items[at]!],
  ['a stage', /^GET \/pipelines/, (items: Json[]) => (items[at]!['stages'] as Json[])[0]!],
  ['a lead status', /^GET \/lead-statuses/, (items: Json[]) => items[at]!],
  ['a custom field', /^GET \/custom-fields/, (items: Json[]) => items[at]!],
  [
    'an option',
    /^GET \/custom-fields/,
    (items: Json[]) => (items.find(({ field_key }) => field_key === 'source')!['options'] as Json[])[0]!,
  ],
] as const;

describe.each(catalogLists)('a catalog in which %s has', (_kind, path, pick) => {
  it.each(oddValues)('%s in any of its properties keeps all that was known', async (_, value) => {
    const { crm, during } = await serve();
    const known = keepKnown(await crm.readCatalog('newest'), emptyCatalog);
    const properties: string[] = [];
    await during(
      path,
      (items) => void properties.push(...Object.keys(pick(items))),
      () => crm.readCatalog('newest'),
    );
    for (const property of properties) {
      const told = await during(
        path,
        (items) => put(pick(items), property, value),
        () => crm.readCatalog('newest'),
      );
      // Another name for a status or an option is another one.
      if (typeof value === 'string' && value !== '' && property === 'name') continue;
      const now = keepKnown(told, known);
      const idsOf = ({ pipelines, leadStatuses, customFields }: typeof known) => ({
        stages: pipelines
          .map(({ id, stages }) => [id, stages.map((stage) => stage.id).toSorted()])
          .toSorted(),
        statuses: leadStatuses.map(({ name }) => name),
        fields: customFields.map(({ key }) => key),
        options: customFields.flatMap(({ key, options }) => options.map((option) => `${key} ${option}`)),
      });
      const [before, after] = [idsOf(known), idsOf(now)];
      expect(after.statuses).toEqual(expect.arrayContaining(before.statuses));
      expect(after.fields).toEqual(expect.arrayContaining(before.fields));
      expect(after.options).toEqual(expect.arrayContaining(before.options));
      const isOfPipelines = path.test('GET /pipelines');
      if (!isOfPipelines) expect(after.stages).toEqual(before.stages);
      else
        for (const [id, stages] of before.stages) {
          const same = after.stages.find(([other]) => other === id);
          expect({ property, stages: same?.[1] }).toMatchObject({
            property,
            stages: expect.arrayContaining(stages as number[]),
          });
        }
    }
  });
});

const kinds: readonly FieldKind[] = [
  ...(['text', 'number', 'integer', 'boolean', 'date', 'instant', 'select', 'multi-select', 'user'] as const),
  ...(['users', 'lead', 'task', 'stage', 'lead-status', 'task-status', 'task-priority'] as const),
];

describe('any JSON at all', () => {
  it('is read as a value, or something is said to be wrong with it that quotes nothing', () => {
    const faults = new Set<string>();
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.jsonValue(), (kind, json) => {
        for (const read of [readStandard(kind, json), readCustom(kind, json)]) {
          if ('fault' in read) faults.add(read.fault);
          else
            expect(
              read.value === null ||
                ['string', 'number', 'boolean'].includes(typeof read.value) ||
                Array.isArray(read.value),
            ).toBe(true);
        }
      }),
    );
    for (const fault of faults) expect(fault).toMatch(/^is [a-z ]+$/);
  });
});
