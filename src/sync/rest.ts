import { describeCell } from '../core/cell.ts';
import { equalRows } from '../core/decide/bind.ts';
import type { Plan } from '../core/decide/plan.ts';
import { type Entity, entities, type RecordKey } from '../core/record.ts';
import type { ObservedRow, ObservedTable } from '../core/table.ts';

interface Standing {
  readonly row: ObservedRow;
  /** When it was first read like this, monotonic ms. */
  readonly since: number;
}

/** What the reads before showed: since when each row stands as it does, and which records had a row. Lost on restart without harm. */
export interface Memory {
  readonly rows: ReadonlyMap<string, Standing>;
  readonly ids: ReadonlyMap<Entity, ReadonlySet<string>>;
  readonly at: number;
}

export const emptyMemory: Memory = { rows: new Map(), ids: new Map(), at: Number.NEGATIVE_INFINITY };

/** A row with an ID is known by it; one without is known by what it holds, because it may move. */
function rowName(entity: Entity, row: ObservedRow): string {
  return row.id.kind === 'empty'
    ? `${entity} ${JSON.stringify(row.cells)}`
    : `${entity} #${describeCell(row.id)}`;
}

/** Remembers a read on top of the reads before. */
export function remember(memory: Memory, table: ObservedTable, at: number): Memory {
  const rows = new Map<string, Standing>();
  const ids = new Map<Entity, Set<string>>();
  for (const entity of entities) {
    const tab = table.tabs[entity];
    if (tab.state === 'held') continue;
    ids.set(entity, new Set(tab.rows.map((row) => describeCell(row.id))));
    for (const row of tab.rows) {
      const name = rowName(entity, row);
      const before = memory.rows.get(name);
      rows.set(name, before && equalRows(before.row, row) ? before : { row, since: at });
    }
  }
  return { rows, ids, at };
}

/** Adds the rows that a plan has written: what was just put there was not missing before. */
export function rememberWritten(memory: Memory, plan: Plan): Memory {
  const ids = new Map([...memory.ids].map(([entity, known]) => [entity, new Set(known)]));
  for (const { write } of plan.table) {
    if (write.kind !== 'delete' && write.id) ids.get(write.entity)?.add(describeCell(write.id));
  }
  return { ...memory, ids };
}

/** Whether the row has not stood like this for the typing pause yet, and in at least two reads. */
export function isRestless(memory: Memory, typingPauseMs: number, entity: Entity, row: ObservedRow): boolean {
  const standing = memory.rows.get(rowName(entity, row));
  return standing === undefined || standing.since === memory.at || memory.at - standing.since < typingPauseMs;
}

/** Whether the read that `memory` ends with had the tab, but no row of the record, and none was written since. */
export const lacksRow = (memory: Memory, key: RecordKey): boolean =>
  memory.ids.get(key.entity)?.has(key.id) === false;
