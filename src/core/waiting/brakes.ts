import type { Entity, RecordId } from '../record.ts';
import type { Brake, StoppedChange } from './waiting.ts';

/** Limits over which a step is too large to be meant. */
export interface BrakeLimits {
  /** Deletes that are always allowed, however many records there are. */
  readonly deletesMin: number;
  /** Share of the records of a kind that may go at once, 0 to 1. */
  readonly deletesShare: number;
  /** Rows that may always change at once. */
  readonly changesMin: number;
  /** Share of the rows of a kind that may change at once, 0 to 1. */
  readonly changesShare: number;
  /** Values of one field that may always change at once, and rows of a kind that may all change at once. */
  readonly columnMin: number;
  /** Share of one field's values that may change at once, 0 to 1. */
  readonly columnShare: number;
}

/** How many records of a kind there were, and which of them are missing on a side. */
export interface Losses {
  readonly entity: Entity;
  readonly agreed: number;
  readonly vanishedRows: readonly RecordId[];
  readonly goneRecords: readonly RecordId[];
  /** What a row that is gone means where nobody says it. */
  readonly rule: keyof typeof meaningsOfApprove;
  /** Which kinds of record the CRM would trash with those whose rows are gone, in words; empty for none. Asked only if a brake says so. */
  readonly company: () => string;
}

/** Larger lists help nobody, and would make every status large. */
const shownMax = 200;

/** What trips a brake: it may be others whose records, rows or columns these are, or too much is gone or changed. */
type BrakeKind =
  | ('account' | 'reading' | 'rebase' | 'columns' | 'first' | 'only')
  | ('emptied' | 'vanished' | 'gone')
  | ('torn' | 'blanked' | 'column' | 'changed' | 'cleared')
  | ('rows' | 'edited' | 'deleted' | 'unlogged');

/** The scope under which people answer a brake. */
export const brakeScope = (entity: Entity, kind: BrakeKind): string => `brake:${entity}:${kind}`;

/** A brake with what it stops, cut where that is long. */
export const brakeOf = (
  entity: Entity,
  kind: BrakeKind,
  reason: string,
  changes: readonly StoppedChange[] = [],
): Brake => ({
  scope: brakeScope(entity, kind),
  entity,
  reason,
  changes: { count: changes.length, shown: changes.slice(0, shownMax) },
});

/** What whoever answers a brake has seen of it. */
export const shownOf = ({ changes, reason }: Brake): string => `${changes.count}: ${reason}`;

/** What whoever answers the question of a scope has seen, where a brake asks it. */
export function shownUnder(scope: string, brakes: readonly Brake[]): string | undefined {
  const brake = brakes.find((candidate) => candidate.scope === scope);
  return brake && shownOf(brake);
}

/** The brakes that losses trip. While one holds, nothing is written for records of the kind on either side. */
export function findBrakes(losses: Losses, limits: BrakeLimits): Brake[] {
  const { entity, agreed, vanishedRows, goneRecords } = losses;
  const isEmptied = (missing: number) => agreed > 1 && missing === agreed;
  const allowed = Math.max(limits.deletesMin, Math.floor(agreed * limits.deletesShare));
  const brakes: Brake[] = [];
  const vanished = vanishedRows.length;
  const rows = vanishedRows.map((id) => ({ id, what: 'row gone' }) as const);
  if (isEmptied(vanished)) {
    const reason = `All ${agreed} rows are gone from the sheet.${meaningOfAnswers(losses)}`;
    brakes.push(brakeOf(entity, 'emptied', reason, rows));
  } else if (vanished > allowed) {
    const reason = `${vanished} of ${agreed} rows are gone from the sheet; ${allowed} may go at once.${meaningOfAnswers(losses)}`;
    brakes.push(brakeOf(entity, 'vanished', reason, rows));
  }
  const gone = goneRecords.length;
  const records = goneRecords.map((id) => ({ id, what: 'record gone' }) as const);
  if (isEmptied(gone)) {
    brakes.push(brakeOf(entity, 'gone', `All ${agreed} records are gone from the CRM.`, records));
  } else if (gone > allowed) {
    const reason = `${gone} of ${agreed} records are gone from the CRM; ${allowed} may go at once.`;
    brakes.push(brakeOf(entity, 'gone', reason, records));
  }
  return brakes;
}

/** What whoever answers for all of them has to know. Without a rule approving asks about each. */
const meaningOfAnswers = (losses: Losses): string =>
  `${meaningOfTrash(losses)}${meaningsOfApprove[losses.rule]}`;

const meaningsOfApprove = {
  ask: '',
  trash: ' Approve does what the configuration says: their records go to the trash.',
  restore: ' Approve does what the configuration says: the rows come back.',
} as const;

function meaningOfTrash({ company, entity }: Losses): string {
  if (entity === 'contact') return ' The CRM has no trash for contacts: they are deleted for good.';
  const going = company();
  return going === '' ? '' : ` Trash would take along what belongs to them: ${going}.`;
}
