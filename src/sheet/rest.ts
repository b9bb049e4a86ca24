import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities, isClaimToken, type RecordKey, recordKeyText } from '../core/record.ts';
import type { Agreement } from '../core/state.ts';
import { sheetFacts } from './facts.ts';
import type { Plan } from './plans/plan.ts';
import { describeCell } from './port/cell.ts';
import type { TabKind } from './port/layout.ts';
import type { ObservedRow, ObservedTable } from './port/table.ts';

/**
 * What the reads before showed: since when (monotonic ms) each row stands as it does, and which records had a row. Lost on restart
 * without harm.
 */
export interface Memory {
  readonly rows: ReadonlyMap<string, number>;
  readonly ids: ReadonlyMap<TabKind, ReadonlySet<string>>;
  readonly at: number;
  /** The read that it ends with. */
  readonly table?: ObservedTable;
  /** The rows that the read before did not have as they are, each by its record or, without an ID, by its name. The first read has none. */
  readonly changed: readonly string[];
  /** Whether something was written after that. */
  readonly isWritten?: true;
}

export const emptyMemory: Memory = {
  rows: new Map(),
  ids: new Map(),
  at: Number.NEGATIVE_INFINITY,
  changed: [],
};

/** A row is known by all that it holds, because it may move, and because another row may show the same ID. */
export const rowName = (entity: Entity, { id, cells }: ObservedRow): string =>
  JSON.stringify([entity, id, cells]);

/** Remembers a read on top of the reads before. */
export function remember(memory: Memory, table: ObservedTable, at: number): Memory {
  if (memory.table === table && !memory.isWritten) return { ...memory, at, changed: [] };
  const rows = new Map<string, number>();
  const ids = new Map<TabKind, Set<string>>();
  const changed: string[] = [];
  for (const entity of entities) {
    const tab = table.tabs[entity];
    if (tab.state === 'held') continue;
    ids.set(entity, new Set(tab.rows.map((row) => describeCell(row.id))));
    for (const row of tab.rows) {
      const name = rowName(entity, row);
      const since = memory.rows.get(name);
      rows.set(name, since ?? at);
      if (since === undefined && memory.table)
        changed.push(row.id.kind === 'empty' ? name : recordKeyText({ entity, id: describeCell(row.id) }));
    }
  }
  return { rows, ids, at, changed, table };
}

/** Adds the rows that a plan has written: what was just put there was not missing before. */
export function rememberWritten(memory: Memory, plan: Plan): Memory {
  if (plan.table.length === 0) return memory;
  const ids = new Map([...memory.ids].map(([entity, known]) => [entity, new Set(known)]));
  for (const { write } of plan.table) {
    if (write.kind !== 'delete' && write.id) ids.get(write.entity)?.add(describeCell(write.id));
  }
  return { ...memory, ids, isWritten: true };
}

/** Whether the row has not stood like this for the typing pause yet, and in at least two reads. */
export function isRestless(memory: Memory, typingPauseMs: number, entity: Entity, row: ObservedRow): boolean {
  const since = memory.rows.get(rowName(entity, row));
  return since === undefined || since === memory.at || memory.at - since < typingPauseMs;
}

/** The rows of a tab in the read that `memory` ends with. */
export function rowsIn({ table }: Memory, entity: Entity): readonly ObservedRow[] {
  const tab = table?.tabs[entity];
  return tab?.state === 'read' ? tab.rows : [];
}

/** Whether the read that `memory` ends with had the tab, but no row of the record, and none was written since. */
export const lacksRow = (memory: Memory, key: RecordKey): boolean =>
  memory.ids.get(key.entity)?.has(key.id) === false;

/**
 * Notes which of the records that are agreed about have lost their row since the read before, which was made at `lookedAt`, epoch ms.
 * Returns a function for when a record was last seen with one. What waits behind a brake may wait over a restart. Of a tab that is held it is
 * noted since when its rows are not known.
 */
export function noteLostRows(
  mirror: Mirror,
  agreements: readonly Agreement[],
  { ids }: Memory,
  lookedAt: number,
): (key: RecordKey) => number {
  const before = new Map(mirror.readFact(sheetFacts.lostRows));
  // The clock may have been set back since.
  const seenAt = (key: RecordKey) =>
    Math.min(lookedAt, before.get(recordKeyText(key)) ?? before.get(key.entity) ?? lookedAt);
  const isLost = ({ key, leave }: Agreement) => {
    if (leave?.state === 'left') return false;
    const present = ids.get(key.entity);
    return present ? !present.has(key.id) : before.has(recordKeyText(key));
  };
  mirror.saveFact(sheetFacts.lostRows, [
    ...entities.flatMap((entity) =>
      ids.has(entity) ? [] : [[entity, before.get(entity) ?? lookedAt] as const],
    ),
    ...agreements.flatMap((agreement) =>
      isLost(agreement) ? [[recordKeyText(agreement.key), seenAt(agreement.key)] as const] : [],
    ),
  ]);
  return seenAt;
}

/** A change in the table that has not reached the CRM: what is known of when it was made, monotonic ms. */
interface FirstLook {
  /** When the last look began that did not have it. */
  readonly before: number;
  /** The last look that found its row changed. */
  readonly changedAt: number;
}

/** Changes by the record of their row or, where that has no ID, by all that the row holds. Lost on restart, then nothing is measured of them. */
export type FirstLooks = ReadonlyMap<string, FirstLook>;

/** The looks with what the read that `memory` ends with found changed. `before` is when the read before that began; absent where there was none. */
export function noteChanges(
  looks: FirstLooks,
  { at, changed }: Memory,
  before: number | undefined,
): FirstLooks {
  if (changed.length === 0 || before === undefined) return looks;
  const noted = new Map(looks);
  for (const name of changed) noted.set(name, { before: looks.get(name)?.before ?? before, changedAt: at });
  return noted;
}

/**
 * What of the looks a change may still need: its row does not rest, it waits in the outbox, or its row was claimed by what was applied. What
 * waits for a person is none of it, because that says nothing about the daemon.
 */
export function keepOpen(
  looks: FirstLooks,
  memory: Memory,
  applied: Plan | undefined,
  {
    isOutbound,
    typingPauseMs,
  }: { readonly isOutbound: (name: string) => boolean; readonly typingPauseMs: number },
): FirstLooks {
  if (looks.size === 0) return looks;
  const isOpen = (name: string, { changedAt }: FirstLook) =>
    memory.rows.has(name) ||
    changedAt === memory.at ||
    memory.at - changedAt < typingPauseMs ||
    isOutbound(name);
  return new Map([
    ...[...looks].filter(([name, look]) => isOpen(name, look)),
    ...claimed(looks, memory, applied),
  ]);
}

/** From its claim on a row has an ID, and its change the name of the record that comes of it. */
function claimed(looks: FirstLooks, memory: Memory, applied: Plan | undefined): [string, FirstLook][] {
  const claims = (applied?.table ?? []).flatMap(({ key, write }) =>
    key && isClaimToken(key.id) && write.kind === 'set' && write.id
      ? [{ key, position: write.position }]
      : [],
  );
  if (claims.length === 0) return [];
  const names = new Map(
    entities.flatMap((entity) =>
      rowsIn(memory, entity).map((row) => [`${entity} ${row.position}`, rowName(entity, row)]),
    ),
  );
  return claims.flatMap(({ key, position }): [string, FirstLook][] => {
    const look = looks.get(names.get(`${key.entity} ${position}`) ?? '');
    return look ? [[recordKeyText(key), look]] : [];
  });
}
