import { readBrakeAnswer } from '../../src/core/waiting/answer.ts';
import { deleteRecord } from './crm-people.ts';
import type { Operation } from './operation.ts';
import { isRecordId, type People } from './people.ts';
import type { TabEntity } from './tab-view.ts';

/** This many of each kind are always left: a CRM that lists nothing any more is taken for one that fails. */
const leftMin = 2;

/** Rows that stand below each other, in one stroke. */
export function deleteManyRows(people: People, { which, what, how }: Operation): string {
  const entity: TabEntity = which % 6 === 0 ? 'task' : 'lead';
  const tab = people.tab(entity);
  const rows = tab ? people.writableRows(tab).filter(({ row }) => isKnown(people, entity, row.id)) : [];
  const count = rows.length - leftMin - (what % 4 === 0 ? 1 : 0);
  if (!tab || count <= people.deletesMax) return 'nothing';
  const start = how % (rows.length - count + 1);
  const chosen = rows.slice(start, start + count);
  const [first, last] = [chosen[0]?.row.position ?? 0, chosen.at(-1)?.row.position ?? 0];
  if (last - first + 1 > count) return 'nothing';
  for (const { owner } of chosen) people.deleted.add(owner);
  people.act({ kind: 'deleteRows', sheet: tab.sheetId, row: first, count });
  // A copy stands for the same record.
  const ids = new Set(chosen.map(({ row }) => row.id).filter((id) => !isGoingAlready(people, entity, id)));
  people.masses.add({ entity, side: 'sheet', ids: [...ids] });
  return `${count} rows`;
}

/** Whether somebody deleted its row by SQL, or agreed that the record goes, and the daemon has not seen since that its row was there once more. */
function isGoingAlready(
  { sql, ownerOfRecord, stage: { link } }: People,
  entity: TabEntity,
  id: string,
): boolean {
  const agreed = ['vanished', 'emptied'].map((kind) => `brake:${entity}:${kind}`);
  const isTrash = (choice: string) => readBrakeAnswer(choice).answer === 'trash';
  return (
    sql?.deleted.has(ownerOfRecord.get(`${entity}-${id}`) ?? '') ||
    link.mirror.findOutboxItem({ entity, id })?.kind === 'delete' ||
    link.mirror.readDecisions().some(({ choice, scope }) => isTrash(choice) && agreed.includes(scope))
  );
}

export function deleteManyRecords(people: People, { which, what }: Operation): string {
  const entity: TabEntity = which % 6 === 0 ? 'task' : 'lead';
  const rows = people.idsOn('sheet', entity);
  const known = people.liveRecords(entity).filter(({ id }) => rows.has(id) && isKnown(people, entity, id));
  const chosen = known.slice(what % 4 === 0 ? 1 : 0, -leftMin);
  if (chosen.length <= people.deletesMax) return 'nothing';
  for (const record of chosen) deleteRecord(people, entity, record);
  const isToldWhole = people.stage.crm.faults.pending().faults.every(({ kind }) => kind !== 'staleList');
  // One that a list lacked before, by a fault, may be proven gone before the lists lack the others.
  const isLacked = (id: string) =>
    (people.stage.link.mirror.findRecord({ entity, id })?.missedSweeps ?? 0) > 0;
  // What somebody typed over its ID, and a write hit in that moment, is given back: its row does not have it then, and nothing went.
  const isAstray = (id: string) => people.astray.has(people.ownerOfRecord.get(`${entity}-${id}`) ?? '');
  const isDeletedBySql = (id: string) =>
    people.sql?.deleted.has(people.ownerOfRecord.get(`${entity}-${id}`) ?? '') ?? false;
  const isOwn = (id: string) => !isLacked(id) && !isAstray(id) && !isDeletedBySql(id);
  const ids = chosen.map(({ id }) => id).filter(isOwn);
  if (isToldWhole) people.masses.add({ entity, side: 'CRM', ids });
  return `${chosen.length} records`;
}

/** Whether the daemon knows that both sides have it. */
function isKnown({ stage }: People, entity: TabEntity, id: string): boolean {
  if (!isRecordId(id)) return false;
  const agreement = stage.link.mirror.findAgreement({ entity, id });
  return Object.keys(agreement?.fields ?? {}).length > 0;
}
