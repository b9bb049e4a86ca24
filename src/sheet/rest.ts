import type { Mirror } from '../core/mirror.ts';
import { once } from '../core/once.ts';
import {
  type Entity,
  entities,
  isClaimToken,
  parseRecordKey,
  type RecordKey,
  recordKeyText,
} from '../core/record.ts';
import { sheetFacts } from './facts.ts';
import { compareRows } from './index/row-changes.ts';
import type { Plan } from './plans/plan.ts';
import { describeCell, equalCells } from './port/cell.ts';
import type { TabKind } from './port/layout.ts';
import type { ObservedRow, ObservedTable } from './port/table.ts';

/** What the reads before showed. Lost on restart without harm. */
export interface Memory {
  /** When the read that it ends with was made, monotonic ms. */
  readonly at: number;
  /** When the first one was. A row of which nothing else is known stands as it does since then. */
  readonly firstAt: number;
  /** Since when rows stand as they do that changed within the typing pause, by name. */
  readonly since: ReadonlyMap<string, number>;
  /** The read that it ends with. */
  readonly table?: ObservedTable;
  /** The rows that the read before did not have as they are, each by its record or, without an ID, by its name. The first read has none. */
  readonly changed: readonly string[];
  /** The ids of rows that were written after it. */
  readonly written: ReadonlyMap<TabKind, ReadonlySet<string>>;
}

const noneWritten: Memory['written'] = new Map();

export const emptyMemory: Memory = {
  at: Number.NEGATIVE_INFINITY,
  firstAt: Number.NEGATIVE_INFINITY,
  since: new Map(),
  changed: [],
  written: noneWritten,
};

/** A row is known by all that it holds, because it may move, and because another row may show the same ID. */
export const rowName = (entity: Entity, { id, cells }: ObservedRow): string =>
  JSON.stringify([entity, id, cells]);

/** Remembers a read on top of the reads before. What changed before the typing pause is remembered no longer. */
export function remember(memory: Memory, table: ObservedTable, at: number, typingPauseMs: number): Memory {
  const { table: before } = memory;
  if (!before) return { ...emptyMemory, at, firstAt: at, table };
  const since = new Map([...memory.since].filter(([, known]) => at - known < typingPauseMs));
  const fresh = freshRows(before, table);
  for (const { name } of fresh) since.set(name, at);
  const changed = fresh.map(({ record }) => record);
  return { at, firstAt: memory.firstAt, since, table, changed, written: noneWritten };
}

/** A row that the read before did not have as it is: its name, and its record or, without an ID, its name again. */
interface FreshRow {
  readonly name: string;
  readonly record: string;
}

/** What a read was compared with last: each plan of a cycle asks for the same, and the names of a thousand rows take some milliseconds. */
const lastFresh = new WeakMap<
  ObservedTable,
  { readonly before: WeakRef<ObservedTable>; readonly rows: readonly FreshRow[] }
>();

function freshRows(before: ObservedTable, table: ObservedTable): readonly FreshRow[] {
  const known = lastFresh.get(table);
  if (known?.before.deref() === before) return known.rows;
  const rows = entities.flatMap((entity): FreshRow[] => {
    if (table.tabs[entity].state === 'held') return [];
    const { added, removed } = compareRows(rowsOf(before, entity), rowsOf(table, entity));
    if (added.length === 0) return [];
    const former = new Map(removed.map((row) => [row.cells, row]));
    const moved = once(() => new Set(removed.map((row) => rowName(entity, row))));
    return added.flatMap((row) => {
      // Often the Sync cell alone is another. To name ten thousand rows takes a tenth of a second.
      const known = former.get(row.cells);
      if (known && equalCells(known.id, row.id)) return [];
      const name = rowName(entity, row);
      if (moved().has(name)) return [];
      const record = row.id.kind === 'empty' ? name : recordKeyText({ entity, id: describeCell(row.id) });
      return { name, record };
    });
  });
  lastFresh.set(table, { before: new WeakRef(before), rows });
  return rows;
}

/** Adds the rows that a plan has written: what was just put there was not missing before. */
export function rememberWritten(memory: Memory, plan: Plan): Memory {
  if (plan.table.length === 0) return memory;
  const written = new Map([...memory.written].map(([kind, ids]) => [kind, new Set(ids)]));
  for (const { write } of plan.table) {
    if (write.kind === 'delete' || !write.id) continue;
    const ids = written.get(write.entity) ?? new Set();
    written.set(write.entity, ids.add(describeCell(write.id)));
  }
  return { ...memory, written };
}

/** Whether the row has not stood like this for the typing pause yet, and in at least two reads. */
export function isRestless(memory: Memory, typingPauseMs: number, entity: Entity, row: ObservedRow): boolean {
  const since = memory.since.get(rowName(entity, row)) ?? memory.firstAt;
  return since === memory.at || memory.at - since < typingPauseMs;
}

function rowsOf({ tabs }: ObservedTable, entity: Entity): readonly ObservedRow[] {
  const tab = tabs[entity];
  return tab.state === 'read' ? tab.rows : [];
}

/** The IDs in the rows of a read, made once they are asked for. */
const idsIn = new WeakMap<readonly ObservedRow[], ReadonlySet<string>>();

function hasRow(rows: readonly ObservedRow[], id: string): boolean {
  const ids = idsIn.get(rows) ?? new Set(rows.map((row) => describeCell(row.id)));
  idsIn.set(rows, ids);
  return ids.has(id);
}

/** Whether the read that `memory` ends with had the tab, but no row of the record, and none was written since. */
export function lacksRow({ table, written }: Memory, { entity, id }: RecordKey): boolean {
  const tab = table?.tabs[entity];
  if (tab?.state !== 'read') return false;
  return !written.get(entity)?.has(id) && !hasRow(tab.rows, id);
}

/**
 * When a record was last seen with a row, epoch ms, where it has none in a read that comes now; the read before was made at `lookedAt`. What
 * waits behind a brake may wait over a restart.
 */
export function lastSeen(mirror: Mirror, lookedAt: number): (key: RecordKey) => number {
  const before = new Map(mirror.readFact(sheetFacts.lostRows));
  // The clock may have been set back since.
  return (key) => Math.min(lookedAt, before.get(recordKeyText(key)) ?? before.get(key.entity) ?? lookedAt);
}

/**
 * Notes which records have lost their row since the read before, and when they were last `seenAt` with one. `rowless` are those that are
 * agreed about and have none in this read. Of a tab that is held it is noted since when its rows are not known.
 */
export function noteLostRows(
  mirror: Mirror,
  { tabs }: ObservedTable,
  rowless: readonly RecordKey[],
  seenAt: (key: RecordKey) => number,
): void {
  const isHeld = (entity: Entity) => tabs[entity].state === 'held';
  const before = mirror.readFact(sheetFacts.lostRows) ?? [];
  const kept = before.filter(([text]) =>
    entities.some((entity) => text.startsWith(`${entity}-`) && isHeld(entity)),
  );
  const lost = rowless.filter(({ entity }) => !isHeld(entity));
  mirror.saveFact(sheetFacts.lostRows, [
    ...entities.flatMap((entity) => (isHeld(entity) ? [[entity, seenAt({ entity, id: '' })] as const] : [])),
    ...kept,
    ...lost.map((key) => [recordKeyText(key), seenAt(key)] as const),
  ]);
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
  const unnamed = once(
    () => new Set(namedRows(memory, ({ id }) => id.kind === 'empty').map(([name]) => name)),
  );
  // A row without an ID has no record's name; to find those rows, all of a tab are looked through.
  const isOpen = (name: string, { changedAt }: FirstLook) =>
    changedAt === memory.at ||
    memory.at - changedAt < typingPauseMs ||
    isOutbound(name) ||
    (parseRecordKey(name) === undefined && unnamed().has(name));
  return new Map([
    ...[...looks].filter(([name, look]) => isOpen(name, look)),
    ...claimed(looks, memory, applied),
  ]);
}

/** The rows that are chosen, each with its name. */
const namedRows = ({ table }: Memory, isChosen: (row: ObservedRow, entity: Entity) => boolean) =>
  entities.flatMap((entity) =>
    (table ? rowsOf(table, entity) : [])
      .filter((row) => isChosen(row, entity))
      .map((row) => [rowName(entity, row), `${entity} ${row.position}`] as const),
  );

/** From its claim on a row has an ID, and its change the name of the record that comes of it. */
function claimed(looks: FirstLooks, memory: Memory, applied: Plan | undefined): [string, FirstLook][] {
  const claims = new Map(
    (applied?.table ?? []).flatMap(({ key, write }) =>
      key && isClaimToken(key.id) && write.kind === 'set' && write.id
        ? [[`${key.entity} ${write.position}`, key] as const]
        : [],
    ),
  );
  if (claims.size === 0) return [];
  const rows = namedRows(memory, ({ position }, entity) => claims.has(`${entity} ${position}`));
  return rows.flatMap(([name, place]): [string, FirstLook][] => {
    const [key, look] = [claims.get(place), looks.get(name)];
    return key && look ? [[recordKeyText(key), look]] : [];
  });
}
