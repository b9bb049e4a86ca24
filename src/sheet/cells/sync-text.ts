import type { FieldDefinition } from '../../core/fields/field.ts';
import { cutText, quoteText } from '../../core/text/cut-text.ts';
import { formatInstant } from '../../core/text/dates.ts';
import { cleanText, type Value } from '../../core/value.ts';
import { describeCell } from '../port/cell.ts';
import type { ObservedRow } from '../port/table.ts';
import { encode, type Names } from './codec.ts';

/** What happened to a row, from the most pressing to the least; each becomes one plain sentence in its Sync cell. */
export type RowState = PressingState | SyncedState;

/** What comes before everything else that there is to say about a row. */
export type PressingState = (
  | { readonly kind: 'error'; readonly reason: string }
  | {
      readonly kind: 'conflict';
      readonly header: string;
      /** The CRM's value as its cell would show it, in one line. */
      readonly crm: string | null;
      /** Whether its cell would show no more than that line. */
      readonly isWhole: boolean;
      /** Where the person can choose instead of typing. */
      readonly questionsTitle: string | undefined;
    }
  | { readonly kind: 'held'; readonly reason: string }
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  | { readonly kind: 'pending'; readonly what: string }
) & {
  /** Said behind it while it is fresh: the state may last for longer than that. */
  readonly notice?: string;
};

interface SyncedState {
  readonly kind: 'synced';
  readonly at: number;
  readonly notice: string;
  /** The notice comes first, because nobody may have seen it. */
  readonly isFresh?: boolean;
  /** What else there is to say of a row that is in step. */
  readonly besides?: string;
}

/** Reasons come from many places, and a text that no cell can hold would keep all others from being written. */
const syncLengthMax = 1_000;

/**
 * The text of the Sync cell. It depends on what is stored only, and is as a sheet gives it back, so that a row at rest is never written
 * again.
 */
export const syncText = (state: RowState, timeZone: string): string =>
  cutText(cleanText(wholeText(state, timeZone)), syncLengthMax);

function wholeText(state: RowState, timeZone: string): string {
  if (state.kind === 'synced') {
    const { besides } = state;
    const synced = `Synced ${formatInstant(state.at, timeZone)}${besides === undefined ? '' : `, ${besides}`}`;
    const parts = [synced, state.notice];
    return joinParts(state.isFresh ? parts.reverse() : parts);
  }
  return joinParts([pressingText(state), state.notice ?? '']);
}

/** Some parts end like sentences, others do not. */
const joinParts = (parts: readonly string[]): string =>
  parts
    .filter((part) => part !== '')
    .reduce((text, part) => (text === '' ? part : `${text.replace(/\.$/, '')}. ${part}`), '');

function pressingText(state: PressingState): string {
  switch (state.kind) {
    case 'error':
      return `Error: ${state.reason}`;
    case 'conflict':
      return `Conflict: the CRM has ${showValue(state.crm)} for ${state.header}. ${waysOut(state)}`;
    case 'held':
      return `Held: ${state.reason}`;
    case 'incomplete':
      return `New row: fill ${state.missing.join(' and ')} to send it.`;
    case 'pending':
      return `Pending: ${state.what}`;
  }
}

type ConflictState = Extract<PressingState, { kind: 'conflict' }>;

function waysOut(conflict: ConflictState): string {
  const { questionsTitle } = conflict;
  const ways =
    questionsTitle === undefined
      ? [...waysToAccept(conflict), 'ask the operator to resolve']
      : [`choose in the tab “${questionsTitle}”`, ...waysToAccept(conflict)];
  const words = ways.join(', or ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** What is not shown as a whole can not be typed. */
function waysToAccept({ crm, isWhole }: ConflictState): string[] {
  if (crm === null) return ['empty the cell to accept that'];
  return isWhole && showValue(crm) === `“${crm}”` ? ['type it here to accept it'] : [];
}

/** Said at a row of which something is to be sent. */
export const waitingState = { kind: 'pending', what: 'waiting to be sent to the CRM' } as const;

/** How the reason of a held copy begins. Its Sync cell then tells it from its original, wherever both go. */
export const copyMark = 'This row is a copy';

export const isMarkedCopy = ({ sync }: Pick<ObservedRow, 'sync'>): boolean =>
  sync.kind === 'text' && sync.text.startsWith(`Held: ${copyMark}`);

/** How the reason begins for which a row is held that may be the one of a record. */
export const likeMark = 'This looks like';

/** Whether the row says that it was in step with a record, or may be the one of a record. */
export const isMarkedKnown = ({ sync }: Pick<ObservedRow, 'sync'>): boolean =>
  sync.kind === 'text' && ['Synced ', `Held: ${likeMark}`].some((start) => sync.text.startsWith(start));

/** Whether the row says that something of it is on its way, and asks nothing of anybody. */
export const isPending = ({ sync }: Pick<ObservedRow, 'sync'>): boolean =>
  sync.kind === 'text' && sync.text.startsWith('Pending: ');

/** A value for people, cut where it would fill the cell. */
export function showValue(value: Value): string {
  if (value === null) return '(empty)';
  return quoteText(typeof value === 'object' ? value.join(', ') : String(value));
}

const shownLengthMax = 1_000;

/** A value as its cell shows it, in one line and cut where it would fill the screen. */
export const describeValue = (field: FieldDefinition, value: Value, names: Names): string =>
  cutText(oneLine(showWhole(field, value, names)), shownLengthMax);

/** A value as its cell shows it, with all that belongs to it. */
export function showWhole(field: FieldDefinition, value: Value, names: Names): string {
  if (value === null) return '(empty)';
  if (field.kind === 'date') return String(value);
  if (field.kind === 'instant') return showInstant(String(value), names);
  return describeCell(encode(field, value, names));
}

/** What somebody typed instead of an instant has no zone, and is shown as it is. */
function showInstant(text: string, { timeZone }: Names): string {
  const epochMs = text.endsWith('Z') ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? text : formatInstant(epochMs, timeZone);
}

/** A value in a sentence, by the names that people know. */
export const quoteValue = (field: FieldDefinition, value: Value, names: Names): string =>
  showValue(value === null ? null : describeValue(field, value, names));

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
