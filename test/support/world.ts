import { facts } from '../../src/core/facts.ts';
import { type Catalog, keepFormerLabels } from '../../src/core/fields/catalog.ts';
import { joinContactId } from '../../src/core/fields/contact-id.ts';
import type { FieldDefinition } from '../../src/core/fields/field.ts';
import type { ConflictPolicy } from '../../src/core/merge.ts';
import {
  type Entity,
  listedEntities,
  type RecordId,
  type RecordKey,
  recordKeyText,
} from '../../src/core/record.ts';
import { emptyAgreement, type JournalEntry } from '../../src/core/state.ts';
import type { FieldName, Fields, Value } from '../../src/core/value.ts';
import { createNames, encode, type Names, titledChoice } from '../../src/sheet/cells/codec.ts';
import { beginTrail, type Trail } from '../../src/sheet/cycle.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { ColumnPolicy, Policy } from '../../src/sheet/policy.ts';
import { type Cell, describeCell, emptyCell } from '../../src/sheet/port/cell.ts';
import type { Layout, TabKind } from '../../src/sheet/port/layout.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { sampleCatalog, sampleField } from './fields.ts';
import { type MirrorInMemory, openMirrorInMemory } from './memory-mirror.ts';
import { MemorySheet, type SheetRow } from './memory-table.ts';
import { type MirrorMaps, mirrorMaps } from './mirror-maps.ts';
import { policyWith } from './policy.ts';

export type { SheetRow };

/** A CRM and a sheet in memory, the real mirror between them, and time that only the daemon's acts move. */
export interface World extends MirrorMaps, Pick<MemorySheet, 'hiddenFields' | 'boxedFields' | 'heldTabs'> {
  /** Epoch ms. */
  readonly clock: { now: number };
  /** How many ids and values of people were given out. */
  readonly given: { count: number };
  readonly words: { count: number };
  readonly entities: readonly Entity[];
  readonly policy: Policy;
  readonly catalog: Catalog;
  readonly crm: Map<string, { readonly key: RecordKey; fields: Fields }>;
  readonly tabs: MemorySheet;
  readonly table: Table;
  readonly sheet: Readonly<Record<TabKind, SheetRow[]>>;
  readonly opened: MirrorInMemory;
  readonly mirror: MirrorInMemory['mirror'];
  /** What the last cycle leaves for the next one. */
  trail: Trail;
  /** In which order steps, and what is known, are taken. */
  readonly order: Order;
}

export type Order = <Item>(items: readonly Item[]) => readonly Item[];

export interface WorldOptions {
  readonly conflict?: ConflictPolicy;
  /** Rules for columns of the leads. */
  readonly columns?: Readonly<Record<FieldName, ColumnPolicy>>;
  readonly policy?: Partial<Omit<Policy, 'tabs'>>;
  readonly entities?: readonly Entity[];
}

export function createWorld({
  conflict = 'crm',
  columns = {},
  entities = listedEntities,
  policy = {},
}: WorldOptions = {}): World {
  const plain = policyWith({ conflict });
  const lead = { ...plain.tabs.lead, columns, pauseHeader: 'Pause' };
  const now = Date.UTC(2026, 10, 21);
  const opened = openMirrorInMemory();
  opened.mirror.saveCatalog(sampleCatalog);
  return gather(opened, new MemorySheet(), {
    clock: { now },
    given: { count: 0 },
    words: { count: 0 },
    entities,
    policy: { ...plain, tabs: { ...plain.tabs, lead }, ...policy },
    catalog: sampleCatalog,
    crm: new Map(),
    trail: beginTrail(now),
    order: (items) => items,
  });
}

type Rest = Pick<
  World,
  'clock' | 'given' | 'words' | 'entities' | 'policy' | 'catalog' | 'crm' | 'trail' | 'order'
>;

const gather = (opened: MirrorInMemory, tabs: MemorySheet, rest: Rest): World => ({
  ...mirrorMaps(opened.mirror, () => rest.clock.now),
  ...rest,
  opened,
  mirror: opened.mirror,
  tabs,
  table: tabs.openTable(),
  sheet: tabs.rows,
  hiddenFields: tabs.hiddenFields,
  boxedFields: tabs.boxedFields,
  heldTabs: tabs.heldTabs,
});

/** The same world once more, in which everything is taken in another order from here on. */
export function inOrder(world: World, order: Order): World {
  const { catalog, clock, crm, entities, given, policy, tabs, trail, words } = world;
  const opened = world.opened.backUp(clock.now)();
  opened.mirror.dropFact(facts.copiedAt);
  return gather(opened, tabs.copy(), {
    ...structuredClone({ clock, crm, given, words }),
    catalog,
    entities,
    policy,
    trail,
    order,
  });
}

/** The same world once the daemon has read this catalog. */
export function withCatalog(world: World, told: Catalog): World {
  const catalog = keepFormerLabels(told, world.catalog);
  world.mirror.saveCatalog(catalog);
  return { ...world, catalog };
}

/** The world in which the stage with this id is called otherwise. */
export const nameStage = (world: World, id: number, name: string): World =>
  withCatalog(world, {
    ...world.catalog,
    pipelines: world.catalog.pipelines.map((pipeline) => ({
      ...pipeline,
      stages: pipeline.stages.map((stage) => (stage.id === id ? { ...stage, name } : stage)),
    })),
  });

/** The daemon begins anew on the same mirror. */
export function restart(world: World): void {
  world.trail = beginTrail(world.clock.now);
}

/** The daemon knows its rows, and has forgotten what was agreed of them. */
export function forgetAgreed({ agreements, clock }: World): void {
  for (const [name, { key }] of agreements) agreements.set(name, emptyAgreement(key, clock.now));
}

/** What the daemon wrote down, oldest first. */
export const journalOf = ({ mirror }: World): JournalEntry[] =>
  mirror.searchJournal({ limit: 1_000_000 }).reverse();

export const clearJournal = ({ mirror }: World): void => void mirror.forgetJournal(Number.MAX_SAFE_INTEGER);

export const layoutOf = (world: World): Layout => currentLayout(world);

export const leadKey = (id: RecordId | number): RecordKey => ({ entity: 'lead', id: String(id) });

/** Somebody adds a record in the CRM. Returns its id. */
export function addRecord(world: World, entity: Entity, fields: Fields): RecordId {
  world.given.count += 1;
  const number = String(world.given.count);
  const isContact = entity === 'contact';
  const id = isContact
    ? joinContactId({ leadId: String(fields['lead_id']), contactId: `uuid-${number}` })
    : number;
  const key = { entity, id };
  const created = isContact ? {} : { created_at: new Date(world.clock.now).toISOString() };
  const whole = Object.fromEntries(fieldsOf(world, entity).map(({ name }) => [name, null as Value]));
  world.crm.set(recordKeyText(key), { key, fields: { ...whole, ...created, ...fields } });
  return key.id;
}

/** Somebody changes a record in the CRM. */
export function changeRecord(world: World, key: RecordKey, fields: Fields): void {
  const record = recordOf(world, key);
  record.fields = { ...record.fields, ...fields };
}

/** Somebody deletes a record in the CRM. */
export function removeRecord(world: World, key: RecordKey): void {
  world.crm.delete(recordKeyText(key));
}

export function recordOf(world: World, key: RecordKey) {
  const record = world.crm.get(recordKeyText(key));
  if (!record) throw new Error(`The CRM has no ${recordKeyText(key)}.`);
  return record;
}

/** The first row with the id. */
export function rowOf(world: World, { entity, id }: RecordKey): SheetRow {
  const row = world.sheet[entity].find((candidate) => describeCell(candidate.id) === id);
  if (!row) throw new Error(`The sheet has no row for ${entity}-${id}.`);
  return row;
}

/** Somebody adds a row without an ID. */
export function addRow(world: World, entity: Entity, cells: Readonly<Record<FieldName, Cell>>): SheetRow {
  const empty = Object.fromEntries(fieldsOf(world, entity).map(({ name }) => [name, emptyCell]));
  const row: SheetRow = { id: emptyCell, sync: emptyCell, cells: { ...empty, ...cells } };
  world.sheet[entity].push(row);
  return row;
}

/** Somebody deletes a row. */
export function removeRow(world: World, key: RecordKey): void {
  const rows = world.sheet[key.entity];
  rows.splice(rows.indexOf(rowOf(world, key)), 1);
}

/** Somebody copies a row to the end of the tab. Returns the copy. */
export function copyRow(world: World, key: RecordKey): SheetRow {
  const copy = structuredClone(rowOf(world, key));
  world.sheet[key.entity].push(copy);
  return copy;
}

/** The fields that have a column. */
export function fieldsOf(world: World, entity: Entity): FieldDefinition[] {
  const tab = layoutOf(world).find((candidate) => candidate.entity === entity);
  return (tab?.columns ?? []).map(({ field }) => sampleField(entity, field));
}

/** How the daemon names things in cells. */
export function namesOf(world: World): Names {
  const leads = [...world.crm.values()].filter(({ key }) => key.entity === 'lead');
  const choices = leads.map(({ key, fields }) => titledChoice(Number(key.id), String(fields['title'] ?? '')));
  return createNames(world.catalog, choices, 'UTC');
}

/** The cell that shows a value of the field. */
export const cellFor = (world: World, entity: Entity, name: FieldName, value: Value): Cell =>
  encode(sampleField(entity, name), value, namesOf(world));
