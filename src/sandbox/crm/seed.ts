import { createRandom, type Random } from './random.ts';
import {
  type CrmRecords,
  type CustomFieldValue,
  createRecords,
  type StoredLead,
  type StoredOpportunity,
  type StoredTask,
} from './records.ts';
import { seedCustomFields, seedLeadStatuses, seedMembers, seedPipelines } from './seed-catalog.ts';
import {
  avatars,
  awkwardTitles,
  cities,
  companyForms,
  companyNames,
  descriptions,
  firstNames,
  lastNames,
  opportunityNotes,
  taskDescriptions,
  taskTitles,
} from './seed-words.ts';

/** How many records of each kind to make. */
export interface SeedCounts {
  readonly leads: number;
  readonly opportunities: number;
  readonly tasks: number;
}

const dayMs = 86_400_000;

/**
 * An agency's CRM as it may look after a year of work. The same arguments always give the same records.
 *
 * @param now the instant (epoch ms) before which everything was created; some dates lie after it
 */
export function seedRecords(seed: number, counts: SeedCounts, now: number): CrmRecords {
  const records = createRecords(seed, {
    leadStatuses: seedLeadStatuses,
    pipelines: seedPipelines,
    customFields: seedCustomFields,
    members: seedMembers,
  });
  const random = createRandom(seed);
  // At the end, so that whoever looks for the first time sees companies.
  const firstAwkward = Math.max(0, counts.leads - awkwardTitles.length);
  for (const [index, createdAt] of creationTimes(random, counts.leads, now).entries()) {
    const uuid = records.nextUuid();
    const title = awkwardTitles[index - firstAwkward] ?? drawTitle(random);
    records.leads.add((id) => ({ id, uuid, ...drawLead(random, title, createdAt, now) }));
  }
  const leadIds = records.leads.live().map((lead) => lead.id);
  if (leadIds.length > 0) {
    for (const createdAt of creationTimes(random, counts.opportunities, now)) {
      records.opportunities.add((id) => ({ id, ...drawOpportunity(random, leadIds, createdAt, now) }));
    }
  }
  const taskIds: number[] = [];
  for (const createdAt of creationTimes(random, counts.tasks, now)) {
    const task = records.tasks.add((id) => ({ id, ...drawTask(random, leadIds, taskIds, createdAt, now) }));
    taskIds.push(task.id);
  }
  return records;
}

/** Instants of the year before `now`, oldest first, so that a higher id is a later record. */
const creationTimes = (random: Random, count: number, now: number): number[] =>
  Array.from({ length: count }, () => now - random.integer(60_000, 365 * dayMs)).toSorted((a, b) => a - b);

const isoTime = (at: number): string => new Date(at).toISOString();
const isoDay = (at: number): string => isoTime(at).slice(0, 10);
const dayNear = (random: Random, at: number, before: number, after: number): string =>
  isoDay(at + random.integer(-before, after) * dayMs);
const sometimes = <Value>(random: Random, probability: number, draw: () => Value): Value | null =>
  random.chance(probability) ? draw() : null;
const someOf = <Item>(random: Random, list: readonly Item[]): Item[] => list.filter(() => random.chance(0.4));

function drawLead(
  random: Random,
  title: string,
  createdAt: number,
  now: number,
): Omit<StoredLead, 'id' | 'uuid'> {
  const hasAvatar = random.chance(0.3);
  return {
    title,
    status_name: sometimes(random, 0.92, () => random.pick(seedLeadStatuses).name),
    meta_data: sometimes(random, 0.6, () => ({ about: drawAbout(random) })),
    custom_fields: drawCustomFields(random, createdAt),
    avatar: hasAvatar ? random.pick(avatars) : null,
    avatar_type: hasAvatar ? 'emoji' : null,
    created_at: isoTime(createdAt),
    updated_at: isoTime(random.integer(createdAt, now)),
  };
}

function drawTitle(random: Random): string {
  const person = `${random.pick(firstNames)} ${random.pick(lastNames)}`;
  if (random.chance(0.35)) return person;
  const company = `${random.pick(companyNames)} ${random.pick(companyForms)}`.trim();
  return random.chance(0.3) ? `${company} (${person})` : company;
}

function drawAbout(random: Random): { description: string | null; url: string | null } {
  return {
    description: sometimes(random, 0.8, () => random.pick(descriptions)),
    url: sometimes(random, 0.6, () => `https://www.example.com/${random.hex(5)}`),
  };
}

function drawCustomFields(random: Random, createdAt: number): Record<string, CustomFieldValue> {
  const drawn: Record<string, CustomFieldValue | null> = {
    city: sometimes(random, 0.7, () => random.pick(cities)),
    phone: sometimes(random, 0.5, () => `+49 30 ${random.integer(1_000_000, 9_999_999)}`),
    yearly_budget: sometimes(
      random,
      0.6,
      () => random.integer(4, 200) * 250 + (random.chance(0.1) ? 0.5 : 0),
    ),
    newsletter: sometimes(random, 0.6, () => random.chance(0.5)),
    first_contact: sometimes(random, 0.6, () => dayNear(random, createdAt, 30, 0)),
    source: sometimes(random, 0.7, () => random.pick(['Referral', 'Website', 'Trade fair', 'Cold call'])),
    services: sometimes(random, 0.5, () =>
      someOf(random, ['Web design', 'SEO', 'Branding', 'Print, packaging']),
    ),
    account_manager: sometimes(random, 0.6, () => random.pick(seedMembers).id),
    team: sometimes(random, 0.3, () => someOf(random, seedMembers).map((member) => member.id)),
  };
  const values: Record<string, CustomFieldValue> = {};
  for (const [key, value] of Object.entries(drawn)) {
    if (value !== null) values[key] = value;
  }
  return values;
}

function drawOpportunity(
  random: Random,
  leadIds: readonly number[],
  createdAt: number,
  now: number,
): Omit<StoredOpportunity, 'id'> {
  const pipeline = random.pick(seedPipelines);
  const stage = random.pick(pipeline.stages);
  return {
    stage_id: stage.id,
    lead_id: random.pick(leadIds),
    value: random.integer(2, 240) * 125 + (random.chance(0.15) ? 0.99 : 0),
    confidence: stage.tag_name === 'won' ? 100 : random.integer(1, 18) * 5,
    expected_close_date: dayNear(random, now, 60, 150),
    note: sometimes(random, 0.7, () => random.pick(opportunityNotes)),
    created_at: isoTime(createdAt),
  };
}

function drawTask(
  random: Random,
  leadIds: readonly number[],
  taskIds: readonly number[],
  createdAt: number,
  now: number,
): Omit<StoredTask, 'id'> {
  const hasLead = leadIds.length > 0 && random.chance(0.85);
  const isSubtask = taskIds.length > 0 && random.chance(0.1);
  return {
    title: random.pick(taskTitles),
    description: sometimes(random, 0.3, () => random.pick(taskDescriptions)),
    status: random.integer(1, 4),
    priority: random.integer(1, 3),
    due_date: sometimes(random, 0.8, () => dayNear(random, now, 20, 40)),
    start_date: sometimes(random, 0.4, () => dayNear(random, now, 50, 10)),
    lead_id: hasLead ? random.pick(leadIds) : null,
    parent_task_id: isSubtask ? random.pick(taskIds) : null,
    created_at: isoTime(createdAt),
  };
}
