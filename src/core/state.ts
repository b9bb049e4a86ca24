import type { ErrorCode } from './errors.ts';
import type { Entity, RecordId, RecordKey, Unread } from './record.ts';
import {
  differingFields,
  equalFields,
  type FieldName,
  type Fields,
  pickFields,
  type Value,
} from './value.ts';

/** What deciding may know of a record. Times are epoch ms. */
export interface KnownRecord {
  readonly key: RecordKey;
  readonly fields: Fields;
  /** Fields whose value in the CRM cannot be understood now: `fields` lacks them. Absent where there are none. */
  readonly unread?: Unread;
  readonly firstSeenAt: number;
  /**
   * When a listing or a direct read last contained it. Deciding asks only whether that was after a write of ours: to this record, which may
   * be its create, or to one that it belongs to.
   */
  readonly lastSeenAt: number;
  /**
   * How many complete sweeps in a row lacked it. If it was there all the same when it was asked for directly, the number becomes -1, and
   * goes down with each further sweep that lacks it.
   */
  readonly missedSweeps: number;
  /** `gone` once its absence is proven: two complete sweeps and a direct read. */
  readonly presence: 'present' | 'gone';
  readonly written?: Written;
  /** Who made it what it is: the name of a side, or `undo`. Absent where that was somebody in the CRM. */
  readonly madeBy?: string;
}

/** Our last write to a record: when it was acknowledged, and the values that it replaced. */
export interface Written {
  readonly at: number;
  /** A listing may lag behind and still show them. */
  readonly before: Fields;
  /** What the writes shortly before it replaced: a listing may be behind those as well. */
  readonly earlier?: Fields;
  /** What the CRM made of what was sent, or of nothing: nobody edited that there. Absent where it took everything as it was. */
  readonly answered?: Fields;
}

/** A record as the CRM last said it. */
export interface StoredRecord extends KnownRecord {
  /** When the request was sent whose answer these fields come from. */
  readonly observedAt: number;
  /** When the answer arrived that these fields, or the absence, come from. Absent where that is not known: then it is about `observedAt`. */
  readonly heardAt?: number | undefined;
}

/** What a side was seen to hold for a value, and that value. */
export type ShownForm = readonly [content: string | number, value: Value];

/**
 * What a side was last seen to hold for a record, and what was written there since, of fields whose values have names. A name may change,
 * go, or come to mean something else: what holds the same as before still means the same.
 */
export type Shown = Readonly<Record<FieldName, readonly ShownForm[]>>;

/** The values both sides last had: the base of the merge. */
export interface Agreement {
  readonly key: RecordKey;
  readonly fields: Fields;
  /** Values on their way to the table, not yet seen there. When the table shows one, it has become agreed. */
  readonly offered: Fields;
  /** How the side shows such values; absent where nothing was kept yet. */
  readonly shown?: Shown;
  /** When the agreed values last changed, epoch ms. */
  readonly changedAt: number;
  /** What a person at the row is told about it, for example whose value lost; empty for nothing. */
  readonly notice: string;
  /** Since when it is shown, epoch ms, and which fields it is about; absent where it is old news. */
  readonly noticed?: Noticed | undefined;
  /** A rule of the side keeps the record out of it; absent where none does. */
  readonly leave?: Leave | undefined;
}

/**
 * How a row leaves a side whose rule its record does not fit, while the record stays in the CRM: no absence of the row means a delete.
 * `leaving`: in step, and said so since `at` (epoch ms). `moving`: a write deletes or adds the row. `left`: it has none.
 */
export interface Leave {
  readonly state: 'leaving' | 'moving' | 'left';
  readonly at: number;
}

export interface Noticed {
  readonly at: number;
  readonly fields: readonly FieldName[];
}

/** The last complete reading of a lead's contacts: when it began (epoch ms), and what the lead looked like then. */
export interface ContactRead {
  readonly leadId: RecordId;
  readonly at: number;
  readonly leadVersion: string;
}

/** Nothing is agreed about the record yet. */
export const emptyAgreement = (key: RecordKey, changedAt: number): Agreement => ({
  key,
  fields: {},
  offered: {},
  changedAt,
  notice: '',
});

export type OutboxKind = 'create' | 'update' | 'delete';

/**
 * waiting: to be sent when due. sending: durable before the request leaves. unknown: sent, outcome not known, settles first.
 * refused: the CRM said no, the row says why. review: a person must look at the create, or the next plan at the update, because the record
 * is not as it was. done: a create whose id is not in its row yet.
 */
export type OutboxState = 'waiting' | 'sending' | 'unknown' | 'refused' | 'review' | 'done';

/** One step towards the CRM. A record has at most one. For a create the key's id is the claim token of its row. */
export interface OutboxItem {
  readonly key: RecordKey;
  readonly kind: OutboxKind;
  readonly state: OutboxState;
  /** What to send: all fields of a create, the changed ones of an update. */
  readonly fields: Fields;
  /** The CRM's values of those fields when the step was decided; anything else on re-read means the CRM moved. */
  readonly base: Fields;
  /** For people: set when the decision overruled a value on the CRM's side. */
  readonly notice: string;
  readonly run: string;
  readonly createdAt: number;
  /**
   * Of a delete for a lost row: when somebody answered for it, or else when the table was last read with the row, epoch ms. What was learned
   * since, nobody meant to delete.
   */
  readonly shownUntil?: number;
  /** Not to be sent before, epoch ms. */
  readonly dueAt: number;
  readonly attempts: number;
  readonly sentAt?: number | undefined;
  /** How often an unknown create was looked for and not found, or an update or a delete got no clear answer. */
  readonly looks: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string } | undefined;
  /** Id of the record that a create made. */
  readonly recordId?: string;
  /** It takes something back: sent like an edit in the CRM, so that the table follows. */
  readonly isUndo?: true;
}

/** Whether a step was sent, and no answer has told yet what came of it. */
export const isUnanswered = (item: Pick<OutboxItem, 'state'> | undefined): boolean =>
  item?.state === 'sending' || item?.state === 'unknown';

/** Whether a step reaches the CRM without a person. */
export const isOnItsWay = ({ state }: Pick<OutboxItem, 'state'>): boolean =>
  state === 'waiting' || isUnanswered({ state });

/** Whether an update that waits was sent before, and has reached the record without an answer. */
export const isAnswerLost = ({ fields: sent, kind, sentAt }: OutboxItem, { fields }: KnownRecord): boolean =>
  kind === 'update' && sentAt !== undefined && equalFields(sent, pickFields(fields, Object.keys(sent)));

/** True if the CRM has other values than a step was decided from, or values that cannot be understood. */
export const hasMoved = (base: Fields, { fields, unread = {} }: KnownRecord): boolean =>
  differingFields(base, fields).length > 0 || Object.keys(base).some((name) => unread[name] !== undefined);

/** One change that was done. Nothing is written to a side without one. */
export interface JournalEntry {
  readonly at: number;
  readonly run: string;
  readonly key: RecordKey;
  readonly kind: 'create' | 'update' | 'delete' | 'adopt' | 'repair';
  /** The side that was written; `both` when two equal values were found and nothing had to be written. */
  readonly side: 'crm' | 'table' | 'both';
  readonly before: Fields;
  readonly after: Fields;
  /**
   * Values that did not come to stand, kept so that a person can find them: those that lost a conflict, those that were sent where the CRM
   * answered others, those where only the CRM's value is shown, and those that something was not taken back to.
   */
  readonly lost: Fields;
  /** Why, in a few words: `edited in the sheet`, `changed in the CRM`, `conflict: the CRM wins`, … */
  readonly cause: string;
}

/** A person's answer to something that waited: `vanished:lead-42` → `trash`. */
export interface Decision {
  readonly scope: string;
  readonly choice: string;
  readonly at: number;
}

/** The last complete sweep of an entity or, until there is one, the sweep on its way: it has no `finishedAt`. */
export interface Sweep {
  readonly entity: Entity;
  readonly startedAt: number;
  readonly finishedAt?: number;
  readonly isComplete: boolean;
  readonly pages: number;
  readonly records: number;
}

/** Sent so often without a clear answer, a change is taken for one that the CRM cannot digest. */
const failuresMax = 5;

/** Whether a step waits for a person: the CRM refused it, or fails on it again and again although it can be read. */
export const isStuck = (item: OutboxItem): boolean =>
  item.state === 'refused' ||
  (item.state === 'waiting' && failuresOf(item) >= failuresMax && item.error?.code === 'CRM_UNKNOWN_OUTCOME');

/** Whether a step is to be sent. One that the key may not do waits for another scope of the key, which may never come. */
export const isToBeSent = (item: OutboxItem): boolean =>
  isOnItsWay(item) && item.error?.code !== 'CRM_FORBIDDEN';

/** An update or a delete that waits because the CRM is away has failed as well, which says nothing about it. */
const failuresOf = ({ attempts, kind, looks }: OutboxItem): number => (kind === 'create' ? attempts : looks);

/** What people typed and the CRM has not taken yet; nothing where a step is no edit of a row. */
export const waitingFields = (item: OutboxItem | undefined): Fields =>
  item?.kind === 'update' && !item.isUndo ? item.fields : {};
