import type { FieldName, Fields } from './value.ts';

/** The kinds of record that are kept the same on both sides, in the order in which they depend on each other. */
export const entities = ['lead', 'opportunity', 'task', 'contact'] as const;
export type Entity = (typeof entities)[number];

/** One value for each kind. */
export const perEntity = <Value>(make: (entity: Entity) => Value) =>
  Object.fromEntries(entities.map((entity) => [entity, make(entity)])) as Record<Entity, Value>;

/** The kinds that the CRM lists as a whole. Contacts it lists lead by lead, so they are kept the same only where somebody wants them. */
export const listedEntities = ['lead', 'opportunity', 'task'] as const satisfies readonly Entity[];
export type ListedEntity = (typeof listedEntities)[number];

export const isListed = (entity: Entity): entity is ListedEntity =>
  (listedEntities as readonly Entity[]).includes(entity);

/** The id of a record, as text: the CRM's integer for leads, opportunities and tasks; see `contact-id.ts` for contacts. */
export type RecordId = string;

/** Names one record. A record that is not yet created is named by the token that its row carries. */
export interface RecordKey {
  readonly entity: Entity;
  readonly id: RecordId;
}

/** `lead-42`: a record key as one word, safe as a job id and in logs. */
export const recordKeyText = (key: RecordKey): string => `${key.entity}-${key.id}`;

/** What a row had in place of its id by mistake names a line of the journal as well, also where it has several lines itself. */
const keyPattern = new RegExp(`^(${entities.join('|')})-(.+)$`, 's');

/** Reads what {@link recordKeyText} wrote; `undefined` for anything else. */
export function parseRecordKey(text: string): RecordKey | undefined {
  const [, word, id] = keyPattern.exec(text) ?? [];
  const entity = entities.find((candidate) => candidate === word);
  return entity && id ? { entity, id } : undefined;
}

const tokenPrefix = 'new-';

/** The claim token that marks a row whose record is being created. `suffix` is a random word. */
export const claimToken = (suffix: string): string => `${tokenPrefix}${suffix}`;

/** Whether this is a claim token rather than the id of a record. */
export const isClaimToken = (id: string): boolean => id.startsWith(tokenPrefix);

/** Fields of which the CRM shows something that cannot be understood, with what is wrong: `is not a whole number`. Never a value. */
export type Unread = Readonly<Record<FieldName, string>>;

/** A record as the CRM said it. `at` is when the request was sent (epoch ms): what it says is not older. */
export interface ObservedRecord {
  readonly entity: Entity;
  readonly id: RecordId;
  readonly fields: Fields;
  /** Absent where all of it was understood. None of them is in `fields`. */
  readonly unread?: Unread;
  readonly at: number;
}
