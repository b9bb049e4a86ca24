import { emptyCatalog } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { Fence, Log } from '../core/ports.ts';
import { entities } from '../core/record.ts';
import { createPostgresWarehouse } from '../postgres/warehouse.ts';
import type { Link } from '../sync/link.ts';
import { layoutOf, nextColumns } from '../warehouse/columns.ts';
import type { ColumnRules } from '../warehouse/edits/policy.ts';
import { type CustomColumn, warehouseFacts } from '../warehouse/facts.ts';
import type { WarehouseLink, WarehouseTerms } from '../warehouse/link.ts';
import type { WarehouseLayout } from '../warehouse/port/layout.ts';
import type { Keeper, Warehouse } from '../warehouse/port/port.ts';
import { WarehouseSide } from '../warehouse/side.ts';
import { systemClock } from './clock.ts';
import { accountOf } from './owner.ts';
import {
  auditMinuteOf,
  type WarehouseSettings,
  warehouseStores,
  warehouseTls,
} from './settings/warehouse.ts';
import { type Settings, tabNames, warehouseEntities } from './settings.ts';

export interface DatabaseSurroundings {
  /** What the tables are signed with. */
  readonly word: string;
  /** Of the lease under which this process runs the link; 0 without leases. */
  readonly token: number;
  readonly fence?: Fence;
  readonly log: Log;
}

/** The database of a link; `undefined` where the settings name none. Nothing connects before it is asked for something. */
export function openDatabase(
  settings: Settings,
  { fence, log, token, word }: DatabaseSurroundings,
): Warehouse | undefined {
  const { warehouse } = settings;
  if (!warehouse) return undefined;
  return createPostgresWarehouse({
    ...placeOf(settings, warehouse, { token, word }),
    hasHistory: warehouse.history === 'on',
    isEditable: warehouse.edits.enabled,
    ...(fence ? { fence } : {}),
    clock: systemClock,
    log,
  });
}

/** How the database is reached, which schema is meant, and who keeps its tables. */
export function placeOf(
  settings: Settings,
  warehouse: WarehouseSettings,
  { token, word }: Pick<DatabaseSurroundings, 'token' | 'word'>,
) {
  const { caFile, schema, url } = warehouse;
  // Not the name of the spreadsheet: one that is added later makes it no other keeper.
  const keeper: Keeper = { link: settings.link?.name ?? 'crm', account: accountOf(settings), word, token };
  const tls = warehouseTls(warehouse);
  return { url, schema, tls, ...(caFile === undefined ? {} : { caFile }), keeper };
}

/** Joins the warehouse to a link; `undefined` where the settings name none. */
export function openWarehouseSide(
  settings: Settings,
  link: Link,
  surroundings: Omit<DatabaseSurroundings, 'log' | 'word'>,
) {
  const { log, mirror } = link;
  const database = openDatabase(settings, { ...surroundings, word: takeWord(link), log });
  if (!settings.warehouse || !database) return undefined;
  const terms = { ...termsOf(settings.warehouse), database };
  const own: WarehouseLink = { ...link, ...terms, mirror: mirror.of(warehouseStores) };
  return { link: own, side: new WarehouseSide(link, terms) };
}

/** The word that the tables of this mirror are signed with. */
function takeWord({ mirror, newWord }: Link): string {
  const known = mirror.readFact(warehouseFacts.word);
  if (known !== undefined) return known;
  const word = newWord();
  mirror.saveFact(warehouseFacts.word, word);
  return word;
}

/** What the settings say of the tables. */
export const termsOf = (warehouse: WarehouseSettings): Omit<WarehouseTerms, 'database'> => ({
  schema: warehouse.schema,
  entities: warehouseEntities(warehouse),
  hasHistory: warehouse.history === 'on',
  freshnessMs: warehouse.freshnessMs,
  auditMinute: auditMinuteOf(warehouse),
  lostStages: warehouse.lostStages,
  limits: warehouse.brakes,
  editing: editTermsOf(warehouse),
});

/** The configuration speaks of the warehouse; deciding knows it as the table. */
const conflicts = { crm: 'crm', warehouse: 'table', ask: 'ask' } as const;

const columnRulesOf = (columns: WarehouseSettings['tables']['leads']['columns']): ColumnRules =>
  Object.fromEntries(
    Object.entries(columns).map(([name, { conflict, direction }]) => [
      name,
      { conflict: conflict && conflicts[conflict], isReadOnly: direction === 'toWarehouse' },
    ]),
  );

/** What the settings say of edits by SQL; `undefined` where they are refused. */
function editTermsOf({ brakes, edits, tables }: WarehouseSettings): WarehouseTerms['editing'] {
  const { bulkRows, conflict, enabled, keepDays, pollMs, vanishedRows, wake } = edits;
  if (!enabled) return undefined;
  return {
    bulkRows,
    conflict: conflicts[conflict],
    columns: Object.fromEntries(
      entities.map((entity) => [entity, columnRulesOf(tables[tabNames[entity]].columns)]),
    ),
    deletes: vanishedRows,
    isNotified: wake === 'notify',
    keepDays,
    pollMs,
    limits: brakes,
  };
}

/** The tables as the catalog wants them now, with the columns that the mirror keeps of custom fields. */
export function layoutNow(
  terms: Omit<WarehouseTerms, 'database'>,
  catalog = emptyCatalog,
  mirror?: Mirror,
): WarehouseLayout {
  const kept: readonly CustomColumn[] = mirror?.readFact(warehouseFacts.columns) ?? [];
  return layoutOf(terms, catalog, nextColumns(kept, catalog, new Date(systemClock.now()).toISOString()));
}
