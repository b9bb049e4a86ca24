import { type Entity, entities, type RecordKey, recordKeyText } from '../core/record.ts';
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
