import { isText } from '../../core/facts.ts';
import { firstSide } from '../../core/mirror.ts';
import { type Entity, parseRecordKey } from '../../core/record.ts';
import { emailsOf, mentionsOf, type Subject } from '../../core/subject.ts';
import { parseJson } from '../../core/text/parse-json.ts';
import type { SubjectTableRow } from '../../postgres/subject.ts';
import { isLeave } from '../../sqlite/stored-json.ts';
import type { SubjectRow } from '../../sqlite/subject-rows.ts';

/** What is known of a person's data when it is to be erased. */
export interface ErasePlan {
  readonly subject: Subject;
  readonly rows: readonly SubjectRow[];
  readonly tableRows: readonly SubjectTableRow[];
  /** A write to a side is not over. */
  readonly isWriting: boolean;
  /** The keys of which the warehouse does not know all. */
  readonly due: readonly string[];
  readonly isPresent: (key: string) => boolean;
  /** Whether the row of a table shows what the CRM has now. */
  readonly isCurrent: (row: SubjectTableRow) => boolean;
  /** The kinds of record that have a tab. */
  readonly tabs: readonly Entity[];
  /** Of what the CRM still has only the past is meant. */
  readonly isPastOnly: boolean;
}

type Obstacle = (row: SubjectRow, plan: ErasePlan) => string | undefined;

const stepOnItsWay: Obstacle = ({ key, table }) =>
  table === 'outbox' ? `A change of ${key} waits for the CRM, or for an answer: see status.` : undefined;

const openEdit: Obstacle = ({ key, row, table }) =>
  table === 'takenEdit' && row['isOpen'] === 1 ? `An edit of ${key} by SQL is not over.` : undefined;

const stillInCrm: Obstacle = ({ isOwn, key, row, table }, { isPastOnly, isPresent, subject }) => {
  if (isPastOnly || table !== 'record' || !isPresent(key)) return undefined;
  const pastOnly = '--past-only erases what is kept of its past.';
  if (isOwn) return `The CRM still has ${key}. Delete it there first; ${pastOnly}`;
  return says(subject, row['fields'])
    ? `The CRM still has ${key}, which says the address. Take it out there first; ${pastOnly}`
    : undefined;
};

const stillInSheet: Obstacle = ({ isOwn, key, row, table }, { isPastOnly, isPresent, subject, tabs }) => {
  const entity = parseRecordKey(key)?.entity;
  const isOfSheet = table === 'agreement' && row['side'] === firstSide && entity && tabs.includes(entity);
  if (!isOfSheet || hasLeft(row['leave'])) return undefined;
  if (isOwn) return isPresent(key) ? undefined : `The sheet still has a row of ${key}: delete it there.`;
  return !isPastOnly && [row['fields'], row['offered']].some((fields) => says(subject, fields))
    ? `The row of ${key} in the sheet may still say the address.`
    : undefined;
};

const says = (subject: Subject, content: SubjectRow['row'][string] | undefined): boolean =>
  isText(content) && mentionsOf(emailsOf(subject)).isIn(content);

function hasLeft(leave: SubjectRow['row'][string] | undefined): boolean {
  const parsed = isText(leave) ? parseJson(leave) : undefined;
  return isLeave(parsed) && parsed.state === 'left';
}

const obstacles = [stepOnItsWay, openEdit, stillInCrm, stillInSheet];

/** Why a row of the database keeps everything from being erased. */
function obstacleInTables(found: SubjectTableRow, { isCurrent, isPastOnly }: ErasePlan): string | undefined {
  const { entity, isOwn, row } = found;
  const key = `${entity}-${row['id']}`;
  if ('edit_id' in row && row['ended_at'] === null) return `An edit of ${key} by SQL is not over.`;
  if (isText(row['answer']))
    return `A question about ${key} was answered by SQL, and the answer is not taken yet.`;
  return !isPastOnly && !isOwn && isCurrent(found)
    ? `The row of ${key} in the warehouse still says the address.`
    : undefined;
}

/** Why nothing can be erased now, in sentences; empty where it can. */
export function findObstacles(plan: ErasePlan): readonly string[] {
  const words = [
    ...plan.rows.flatMap((row) => obstacles.map((obstacle) => obstacle(row, plan))),
    ...plan.tableRows.map((row) => obstacleInTables(row, plan)),
    ...plan.due.map((key) => `The warehouse does not know all of ${key} yet.`),
    plan.isWriting ? 'A write to a side is not over.' : undefined,
  ];
  return [...new Set(words.filter((each) => each !== undefined))];
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
