import { parseJson } from '../../core/text/parse-json.ts';
import type { SubjectTableRow } from '../../postgres/subject.ts';
import type { SubjectRow } from '../../sqlite/subject-rows.ts';

/** What is known of a person's data when it is to be erased. */
export interface ErasePlan {
  readonly rows: readonly SubjectRow[];
  readonly tableRows: readonly SubjectTableRow[];
  /** A write to a side is not over. */
  readonly isWriting: boolean;
  readonly isPresent: (key: string) => boolean;
  readonly hasSheet: boolean;
  readonly hasWarehouse: boolean;
  /** Of what the CRM still has only the past is meant. */
  readonly isPastOnly: boolean;
}

type Obstacle = (row: SubjectRow, plan: ErasePlan) => string | undefined;

const stepOnItsWay: Obstacle = ({ key, table }) =>
  table === 'outbox' ? `A change of ${key} waits for the CRM, or for an answer: see status.` : undefined;

const stillInCrm: Obstacle = ({ isOwn, key, table }, { isPastOnly, isPresent }) => {
  if (isPastOnly || table !== 'record' || !isPresent(key)) return undefined;
  return isOwn
    ? `The CRM still has ${key}. Delete it there first; --past-only erases what is kept of its past.`
    : `The CRM still has ${key}, which says the address. Take it out there first; --past-only erases what is kept of its past.`;
};

const stillInSheet: Obstacle = ({ isOwn, key, row, table }, { hasSheet, isPresent }) => {
  const isRow =
    hasSheet && table === 'agreement' && (row['side'] ?? 'sheet') === 'sheet' && !hasLeft(row['leave']);
  return isRow && isOwn && !isPresent(key)
    ? `The sheet still has a row of ${key}: delete it there.`
    : undefined;
};

const hasLeft = (leave: SubjectRow['row'][string] | undefined): boolean => {
  const parsed = typeof leave === 'string' ? (parseJson(leave) as { state?: string } | undefined) : undefined;
  return parsed?.state === 'left';
};

const notYetInTables: Obstacle = ({ isOwn, key, table }, { hasWarehouse }) =>
  hasWarehouse && isOwn && table === 'due' ? `The warehouse does not know all of ${key} yet.` : undefined;

const openEdit: Obstacle = ({ key, row, table }) =>
  table === 'takenEdit' && row['isOpen'] === 1 ? `An edit of ${key} by SQL is not over.` : undefined;

const obstacles = [stepOnItsWay, stillInCrm, stillInSheet, notYetInTables, openEdit];

/** Why nothing can be erased now, in sentences; empty where it can. */
export function findObstacles(plan: ErasePlan): readonly string[] {
  const words = plan.rows.flatMap((row) => obstacles.flatMap((obstacle) => obstacle(row, plan) ?? []));
  const edits = plan.tableRows
    .filter(({ row }) => 'edit_id' in row && row['ended_at'] === null)
    .map(({ entity, row }) => `An edit of ${entity}-${row['id']} by SQL is not over.`);
  const writing = plan.isWriting ? ['A write to a side is not over.'] : [];
  return [...new Set([...words, ...edits, ...writing])];
}

/** What a record is now, and what was agreed about it: of one that the CRM has it stays. */
const currentTables: ReadonlySet<string> = new Set([
  'record',
  'agreement',
  'decision',
  'contactRead',
] satisfies SubjectRow['table'][]);

/** Whether a row stays although it is about the person. */
export const isKept = ({ key, table }: SubjectRow, { isPresent }: Pick<ErasePlan, 'isPresent'>): boolean =>
  currentTables.has(table) && isPresent(key);
