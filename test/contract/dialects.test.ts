import { afterEach, describe, expect, it } from 'vitest';
import type { Crm } from '../../src/core/ports.ts';
import {
  type ListedEntity,
  listedEntities,
  type ObservedRecord,
  type RecordKey,
} from '../../src/core/record.ts';
import type { Fields } from '../../src/core/value.ts';
import type { CrmChoices } from '../../src/sandbox/crm/choices.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { type SandboxCrm, startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import { dialects } from '../support/dialects.ts';
import { createManualClock } from '../support/manual-clock.ts';

let sandbox: SandboxCrm | undefined;
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
});

/** The client in front of a CRM that speaks the dialect and holds `count` records of each entity. */
async function serve(choices: Partial<CrmChoices>, count: number) {
  const clock = createManualClock();
  const counts = { leads: count, opportunities: count, tasks: count };
  sandbox = await startSandboxCrm({ port: 0, seed: 7, counts, choices, clock: clock.now });
  const bench = createCrmBench(sandbox.baseUrl, { apiKey: sandbox.apiKey, clock });
  return { ...bench, model: sandbox.model };
}

type Model = SandboxCrm['model'];
const storedIds = ({ records }: Model, entity: ListedEntity): string[] => {
  const { leads, opportunities, tasks } = records;
  const stored = { lead: leads, opportunity: opportunities, task: tasks }[entity];
  return stored.live().map(({ id }) => String(id));
};

/** More pages than any of these listings has. */
const pagesMax = 20;

async function readAll(crm: Crm, entity: ListedEntity): Promise<ObservedRecord[]> {
  const records: ObservedRecord[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const answer = await crm.listRecords(entity, page, 'sweep');
    records.push(...answer.records);
    if (!answer.hasMore) return records;
  }
  throw new Error(`The ${entity} listing does not end`);
}

const newFields = (model: Model, entity: ListedEntity): Fields => {
  const lead_id = model.records.leads.live()[0]!.id;
  const stage_id = model.records.pipelines[0]!.stages[0]!.id;
  return {
    lead: { title: 'Öko 🌿' },
    opportunity: { lead_id, stage_id, value: 12.5, confidence: 40 },
    task: { title: '007', status: 2, lead_id },
  }[entity];
};

const changes = {
  lead: { title: 'Renamed', 'about.description': 'Met at the fair' },
  opportunity: { value: 77, note: 'Signed' },
  task: { status: 3, description: 'Done' },
} as const satisfies Record<ListedEntity, Fields>;

describe.each(Object.entries(dialects))('a CRM with %s', (_, choices) => {
  it.each([0, 1, 24, 25, 26, 100, 101, 230])('lists each of %i records once', async (count) => {
    const { crm, model } = await serve(choices, count);
    for (const entity of listedEntities) {
      const ids = (await readAll(crm, entity)).map((record) => record.id);
      expect(ids.toSorted()).toEqual(storedIds(model, entity).toSorted());
    }
  });

  it('says the same of a record in its listing and alone', async () => {
    const { crm } = await serve(choices, 3);
    await crm.readCatalog('newest');
    for (const entity of listedEntities) {
      for (const { id, fields } of await readAll(crm, entity)) {
        expect((await crm.getRecord({ entity, id }, 'edit'))?.fields).toMatchObject(fields);
      }
    }
  });

  it.each(listedEntities)('takes a new %s, changes and deletes it', async (entity) => {
    const { crm, model } = await serve(choices, 2);
    const written = newFields(model, entity);
    const { id } = await crm.createRecord(entity, written);
    const key: RecordKey = { entity, id };
    expect((await crm.getRecord(key, 'edit'))?.fields).toMatchObject(written);
    expect((await crm.updateRecord(key, changes[entity])).fields).toMatchObject(changes[entity]);
    expect((await crm.getRecord(key, 'edit'))?.fields).toMatchObject(changes[entity]);
    await crm.deleteRecord(key);
    expect(await crm.getRecord(key, 'edit')).toBeUndefined();
    expect(storedIds(model, entity)).not.toContain(id);
  });

  it('is given what it refused for the rate again, and gets it once', async () => {
    const { crm, model, log, clock, budget } = await serve(choices, 1);
    const faults = faultOrder.parse({ faults: [{ kind: 'rateLimited' }] });
    model.faults.order(faults);
    const created = crm.createRecord('task', { title: 'Call' });
    await log.told('crm.limited');
    await clock.advance(budget.usage().parkedMs);
    expect((await created).id).toBe(storedIds(model, 'task').at(-1));
    expect(model.requests().map(({ status }) => status)).toEqual([429, 201]);
  });
});
