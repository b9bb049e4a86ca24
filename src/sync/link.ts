import type { Backoff } from '../core/backoff.ts';
import type { FieldDefinition } from '../core/fields/field.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Clock, Crm, Log, WorkQueue } from '../core/ports.ts';
import type { Entity } from '../core/record.ts';

/** Times that steer a link, all in milliseconds. */
export interface LinkTimes {
  /** Pause between a cycle and the next one when nothing happens. */
  readonly pollMs: number;
  /** What the pause between two looks at the sheet may grow to while nothing happens; up to `pollMs`, it does not. */
  readonly quietPollMs: number;
  /** A row is taken when it stood like this for so long. */
  readonly typingPauseMs: number;
  /** Pause between the starts of two sweeps of an entity, and between two reads of its newest page. */
  readonly sweepMs: number;
  /** Pause between two pages while a long list hardly changes. */
  readonly readPauseMs: number;
  /** Pause between two leads whose contacts are read. */
  readonly contactsPauseMs: number;
  /** Age of the catalog at which it is read again. */
  readonly catalogMs: number;
  /** An observation older than this is read again before an update. */
  readonly rereadAfterMs: number;
  /** How long the outcome of a create is left alone before it is looked for. */
  readonly settleMs: number;
  /** How long a listing may still show what an update replaced. */
  readonly lagMs: number;
  /** How long lines of the journal are kept. */
  readonly historyMs: number;
  /** How often what is due in the outbox is put into the queue again. */
  readonly refillMs: number;
  /** How often the mark of the instance that keeps the table moves. */
  readonly markMs: number;
  /** For how long a mark may stay the same until its instance counts as gone; more than twice as long. */
  readonly goneMs: number;
}

/** A key of the CRM. */
export interface LinkKey {
  /** Another one for every secret, and tells nothing of it. */
  readonly name: string;
  /** Reads records with this key alone. */
  readonly crm: Pick<Crm, 'getRecord'>;
}

/** One CRM account with everything that its sides share. Several links are several of these. */
export interface Link {
  readonly name: string;
  readonly mirror: Mirror;
  readonly crm: Crm;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  readonly log: Log;
  /** The kinds of record that are kept the same, in the order of `record.ts`. */
  readonly entities: readonly Entity[];
  /** What users call the records of each kind. */
  readonly titles: Readonly<Record<Entity, string>>;
  /** What users read above a field; its own header where absent. */
  readonly headerOf?: ((entity: Entity, field: FieldDefinition) => string) | undefined;
  /** The form of the addresses of records in the CRM; absent where there is none. */
  readonly recordUrl?: string | undefined;
  /** Nothing is written unless a person applies the plan for it. */
  readonly isManual?: boolean;
  /** The words with the place of a setting for its name: what to check is there. */
  readonly namePlaces?: (words: string) => string;
  /** The CRM's keys in use now; absent where there are none to tell accounts apart by. */
  readonly keys?: () => readonly LinkKey[];
  readonly times: LinkTimes;
  readonly backoff: Backoff;
  /** Chance from 0 to 1. */
  readonly random: () => number;
  /** A short random word, unique for all practical purposes. */
  readonly newWord: () => string;
}
