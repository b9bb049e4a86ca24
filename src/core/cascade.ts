import { once } from './once.ts';
import { type Entity, type ListedEntity, type RecordKey, recordKeyText } from './record.ts';
import type { KnownRecord, OutboxItem } from './state.ts';
import { listAnd } from './text/list-words.ts';

/** The lists that hold what the CRM trashes together with a record of the kind. */
export const companyLists: Readonly<Record<Entity, readonly ListedEntity[]>> = {
  lead: ['opportunity', 'task'],
  opportunity: [],
  task: ['task'],
  contact: [],
};

/** The fields by which a record belongs to others. */
export const ownerFields = ['lead_id', 'parent_task_id'] as const;

/** The records that a record belongs to. */
export const ownerKeys = ({ key, fields }: KnownRecord): RecordKey[] => {
  const owner = (entity: Entity, id: unknown): RecordKey[] =>
    id === undefined || id === null ? [] : [{ entity, id: String(id) }];
  if (key.entity === 'lead') return [];
  const parents = key.entity === 'task' ? owner('task', fields['parent_task_id']) : [];
  return [...owner('lead', fields['lead_id']), ...parents];
};

/** Finds records, and what belongs to one. */
export interface Relations {
  readonly findRecord: (key: RecordKey) => KnownRecord | undefined;
  /** Also what is gone. */
  readonly ownedBy: (owner: RecordKey) => readonly KnownRecord[];
}

/**
 * What goes to the trash of the CRM together with a record, as its specification says: with a lead its opportunities and tasks, with a
 * task its subtasks. The contacts of a lead cannot be reached without it.
 */
export function createCascades({ findRecord, ownedBy }: Relations, outbox: readonly OutboxItem[]) {
  const ownersOf = (record: KnownRecord) => ownerKeys(record).flatMap((key) => findRecord(key) ?? []);
  const meant = outbox.filter(({ kind, state }) => kind === 'delete' && state !== 'refused');
  const deletes = new Set(meant.map(({ key }) => recordKeyText(key)));
  /** The records that are there and would go with it, those that would go with them included. */
  const goingWith = (key: RecordKey): readonly KnownRecord[] => {
    const going = new Set<KnownRecord>();
    const take = (owner: RecordKey) => {
      for (const record of ownedBy(owner)) {
        if (record.presence === 'gone' || going.has(record)) continue;
        going.add(record);
        take(record.key);
      }
    };
    take(key);
    return [...going];
  };
  return {
    goingWith,
    /**
     * Whether a delete would take along something that nobody meant: a record that is not to be deleted itself, and that was not known, or
     * belonged to another one, when the deleted row was seen last. Where a person answered, it counts when they did.
     */
    isOutgrown: (
      { key, createdAt, shownUntil: since = createdAt }: Pick<OutboxItem, 'key' | 'createdAt' | 'shownUntil'>,
      wasMoved: (record: KnownRecord, since: number) => boolean,
    ) =>
      goingWith(key).some(
        (record) =>
          !deletes.has(recordKeyText(record.key)) && (record.firstSeenAt > since || wasMoved(record, since)),
      ),
    /** Whether it belongs to a record that is gone too, or about to be known as gone: that explains why it is gone itself. */
    isGoneWith: (record: KnownRecord) =>
      ownersOf(record).some(({ presence, missedSweeps }) => presence === 'gone' || missedSweeps > 0),
    /** Whether it belongs to a record that we are about to trash or have trashed: then nobody needs to be asked what its lost row means. */
    isLeaving: (record: KnownRecord) =>
      ownersOf(record).some(
        ({ key, presence, written }) =>
          deletes.has(recordKeyText(key)) ||
          // Seen after that, it did not go with it.
          (presence === 'gone' && written !== undefined && record.lastSeenAt <= written.at),
      ),
  };
}

export type Cascades = ReturnType<typeof createCascades>;

/** Relates records, which are looked through once, and only if something is asked. */
export function relateRecords(records: readonly KnownRecord[]): Relations {
  const byKey = once(() => new Map(records.map((record) => [recordKeyText(record.key), record])));
  const byOwner = once(() => {
    const owned = records.flatMap((record) =>
      ownerKeys(record).map((owner) => ({ owner: recordKeyText(owner), record })),
    );
    return Map.groupBy(owned, ({ owner }) => owner);
  });
  return {
    findRecord: (key) => byKey().get(recordKeyText(key)),
    ownedBy: (owner) => (byOwner().get(recordKeyText(owner)) ?? []).map(({ record }) => record),
  };
}

const companions = [
  ['opportunity', 'opportunities'],
  ['task', 'tasks'],
  ['contact', 'contacts'],
] as const satisfies readonly (readonly [Entity, string])[];

/** How many of each kind go with a record, for people: `3 tasks and 1 contact`. */
export function countByKind(going: readonly KnownRecord[]): string {
  const byKind = Map.groupBy(going, ({ key }) => key.entity);
  const counts = companions.flatMap(([entity, many]) => {
    const count = byKind.get(entity)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${count === 1 ? entity : many}`];
  });
  return listAnd(counts);
}

/** Which kinds go with records, for people: `tasks and contacts`. */
export function listKinds(going: readonly KnownRecord[]): string {
  const kinds = new Set(going.map(({ key }) => key.entity));
  return listAnd(companions.flatMap(([entity, many]) => (kinds.has(entity) ? [many] : [])));
}
