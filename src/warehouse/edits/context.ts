import type { Catalog } from '../../core/fields/catalog.ts';
import { type FieldDefinition, findField } from '../../core/fields/field.ts';
import type { Entity, RecordId, RecordKey } from '../../core/record.ts';
import type { Agreement, JournalEntry, OutboxItem, StoredRecord } from '../../core/state.ts';
import { isOpen, type TakenEdit } from '../../core/taken-edit.ts';
import { quoteText } from '../../core/text/cut-text.ts';
import type { FieldName, Fields, Value } from '../../core/value.ts';
import type { Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import { columnNameOf } from '../columns.ts';
import type { EditPolicy } from './policy.ts';

/** All that is known of one record with open edits. */
export interface EditedRecord {
  /** The record, or the token of a create. */
  readonly key: RecordKey;
  readonly record: StoredRecord | undefined;
  readonly agreement: Agreement | undefined;
  readonly item: OutboxItem | undefined;
  /** In the order in which they were made. */
  readonly edits: readonly TakenEdit[];
}

/** What a value comes to that may name a row which the CRM does not have so far: the value, or why it can not be sent. */
export type Resolved =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'waits'; readonly reason: string }
  | { readonly kind: 'never'; readonly reason: string };

export interface EditContext {
  /** Epoch ms. */
  readonly now: number;
  readonly run: string;
  readonly catalog: Catalog;
  readonly policy: EditPolicy;
  /** What a user answered under a scope; `undefined` for nothing. */
  choice(scope: string): string | undefined;
  /** When that was, epoch ms. */
  answeredAt(scope: string): number | undefined;
  /** The insert that made a row with this id. */
  findInsert(entity: Entity, row: RecordId): TakenEdit | undefined;
  /** Whether a record that is not known is not there: the CRM's list of its kind was read. */
  isRead(key: RecordKey): boolean;
  /** What the CRM trashes together with a record, in words; empty for nothing. */
  companyOf(key: RecordKey): string;
}

/** What becomes of a record with open edits. */
export interface EditVerdict {
  /** Those of its edits that are otherwise now. */
  readonly edits: readonly TakenEdit[];
  /** To be put into the outbox. */
  readonly step?: OutboxItem | undefined;
  /** What the outbox has of it is not meant any more. */
  readonly dropsStep?: boolean;
  /** The bases of the fields that are open; where absent, they are as they were. */
  readonly bases?: Fields;
  /** Whether its row has to be written. */
  readonly isDue?: boolean;
  readonly conflicts?: readonly Conflict[];
  readonly holds?: readonly Hold[];
  readonly refusals?: readonly Refusal[];
  readonly journal?: readonly JournalEntry[];
  /** Scopes of answers that are over. */
  readonly spent?: readonly string[];
}

export const nothingToDo: EditVerdict = { edits: [] };

/** The field under the name that its column has, as who writes SQL knows it. */
export function editedField(
  { catalog }: Pick<EditContext, 'catalog'>,
  entity: Entity,
  name: FieldName,
): FieldDefinition | undefined {
  const field = findField(entity, name, catalog);
  return field && { ...field, header: columnNameOf(field) };
}

/** A value as SQL shows it, in a sentence. */
export const showSql = (value: Value): string =>
  value === null ? 'empty' : quoteText(Array.isArray(value) ? value.join(', ') : String(value));

/** What a refusal is marked with that a user left as it is. */
export const ignoredBy = (answer: string | undefined): Pick<Refusal, 'isIgnored'> =>
  answer === 'ignore' ? { isIgnored: true } : {};

/** A negative id stands for a row whose record is still to be created. */
export function resolve(context: EditContext, field: FieldDefinition, value: Value): Resolved {
  const entity = field.kind === 'lead' || field.kind === 'task' ? field.kind : undefined;
  if (entity === undefined || typeof value !== 'number' || value >= 0) return { kind: 'value', value };
  const insert = context.findInsert(entity, String(value));
  if (insert?.newId !== undefined) return { kind: 'value', value: Number(insert.newId) };
  return insert && isOpen(insert)
    ? { kind: 'waits', reason: `It waits for its ${entity} ${value}, which the CRM does not have so far.` }
    : { kind: 'never', reason: `There is no ${entity} ${value}.` };
}

/** Why a value can not be what the field holds, before the CRM is asked; `undefined` when it can. */
export function findShapeFault({ header, kind }: FieldDefinition, value: Value): string | undefined {
  const isNumeric = kind === 'number' || kind === 'integer' || kind === 'lead' || kind === 'task';
  if (isNumeric && typeof value === 'string') return `${header} has more digits than the CRM holds.`;
  return undefined;
}

/** The edit with what it has come to; the same object where that is as it was. */
export function come(
  edit: TakenEdit,
  state: TakenEdit['state'],
  note = '',
  parts: Partial<Pick<TakenEdit, 'ended' | 'key' | 'newId'>> = {},
): TakenEdit {
  const isSame = edit.state === state && edit.note === note && Object.keys(parts).length === 0;
  if (isSame) return edit;
  const isTold = edit.isTold && edit.state === state && edit.note === note && parts.newId === undefined;
  return { ...edit, ...parts, state, note, isTold };
}
