import type { Catalog } from '../../src/core/catalog.ts';
import { joinContactId } from '../../src/core/contact-id.ts';
import { type Contest, contestMs, findContest } from '../../src/core/contest.ts';
import type { FieldDefinition } from '../../src/core/field.ts';
import {
  claimToken,
  type Entity,
  entities,
  type RecordId,
  type RecordKey,
  recordKeyText,
} from '../../src/core/record.ts';
import type { Agreement, Decision, JournalEntry, OutboxItem, StoredRecord } from '../../src/core/state.ts';
import type { FieldName, Fields, Value } from '../../src/core/value.ts';
import { createNames, encode, leadChoice, type Names } from '../../src/sheet/cells/codec.ts';
import type { Remap } from '../../src/sheet/column-moves.ts';
import { decide } from '../../src/sheet/decide/decide.ts';
import type { AccountDoubt, DecideInput } from '../../src/sheet/decide/input.ts';
import type { Plan } from '../../src/sheet/decide/plan.ts';
import { buildLayout, type ColumnPolicy, type Policy } from '../../src/sheet/policy.ts';
import { type Cell, describeCell, emptyCell } from '../../src/sheet/port/cell.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import type { ConflictPolicy, Layout, TabKind } from '../../src/sheet/port/layout.ts';
import type { ObservedRow, ObservedTab, ObservedTable } from '../../src/sheet/port/table.ts';
import { emptyMemory, isRestless, lacksRow, type Memory, remember } from '../../src/sheet/rest.ts';
import { sampleCatalog, sampleField } from './fields.ts';
import { policyWith } from './policy.ts';

/** A row of the sheet, as people and the daemon change it. */
export interface SheetRow {
  id: Cell;
  sync: Cell;
  cells: Record<FieldName, Cell>;
  isPaused?: true;
}

/** A CRM, a sheet and what the daemon knows of both, in memory and without time of its own. */
export interface World {
  now: number;
  /** How many ids and words were given out. */
  given: number;
  readonly policy: Policy;
  readonly catalog: Catalog;
  readonly layout: Layout;
  readonly crm: Map<string, { readonly key: RecordKey; fields: Fields }>;
  readonly sheet: Readonly<Record<TabKind, SheetRow[]>>;
  /** Fields whose column somebody deleted. */
  readonly hiddenFields: Set<FieldName>;
  /** Fields of leads whose column a table made one of checkboxes. */
  readonly boxedFields: Set<FieldName>;
  /** Tabs that can not be read, with the reason. */
  readonly heldTabs: Map<TabKind, string>;
  /** Whether a complete sweep of the CRM was made. */
  isSwept: boolean;
  readonly records: Map<string, StoredRecord>;
  readonly agreements: Map<string, Agreement>;
  readonly outbox: Map<string, OutboxItem>;
  readonly decisions: Map<string, string>;
  /** When each decision was first seen. */
  readonly decidedAt: Map<string, number>;
  readonly rebases: Map<Entity, string>;
  readonly remaps: Map<Entity, Remap>;
  accountDoubt: AccountDoubt | undefined;
  /** Writes without a reply, and whether they have landed. */
  readonly openWrites: { readonly plan: Plan; readonly hasLanded: boolean }[];
  /** Claim tokens of writes without a reply, and of those that never landed. */
  readonly openTokens: Set<RecordId>;
  readonly voidTokens: Set<RecordId>;
  readonly suspects: Map<string, Suspect>;
  readonly journal: JournalEntry[];
  /** What the reads of the sheet before showed. */
  memory: Memory;
  /** In which order steps, and what is known, are taken. */
  order: Order;
}

export type Order = <Item>(items: readonly Item[]) => readonly Item[];

/** The same world once more, in which everything is taken in another order from here on. */
export const inOrder = ({ order: _order, ...world }: World, order: Order): World => ({
  ...structuredClone(world),
  order,
});

export interface WorldOptions {
  readonly conflict?: ConflictPolicy;
  /** Rules for columns of the leads. */
  readonly columns?: Readonly<Record<FieldName, ColumnPolicy>>;
  readonly policy?: Partial<Omit<Policy, 'tabs'>>;
}

export function createWorld({ conflict = 'crm', columns = {}, policy = {} }: WorldOptions = {}): World {
  const plain = policyWith({ conflict });
  const lead = { ...plain.tabs.lead, columns, pauseHeader: 'Pause' };
  const whole: Policy = { ...plain, tabs: { ...plain.tabs, lead }, ...policy };
  return {
    now: Date.UTC(2026, 10, 21),
    given: 0,
    policy: whole,
    catalog: sampleCatalog,
    layout: buildLayout(whole, sampleCatalog),
    crm: new Map(),
    sheet: { lead: [], opportunity: [], task: [], contact: [], question: [] },
    hiddenFields: new Set(),
    boxedFields: new Set(),
    heldTabs: new Map(),
    isSwept: false,
    records: new Map(),
    agreements: new Map(),
    outbox: new Map(),
    decisions: new Map(),
    decidedAt: new Map(),
    rebases: new Map(),
    remaps: new Map(),
    accountDoubt: undefined,
    openWrites: [],
    openTokens: new Set(),
    voidTokens: new Set(),
    suspects: new Map(),
    journal: [],
    memory: emptyMemory,
    order: (items) => items,
  };
}

export const leadKey = (id: RecordId | number): RecordKey => ({ entity: 'lead', id: String(id) });

/** Somebody adds a record in the CRM; answers its id. */
export function addRecord(world: World, entity: Entity, fields: Fields): RecordId {
  world.given += 1;
  const number = String(world.given);
  const isContact = entity === 'contact';
  const id = isContact
    ? joinContactId({ leadId: String(fields['lead_id']), contactId: `uuid-${number}` })
    : number;
  const key = { entity, id };
  const created = isContact ? {} : { created_at: new Date(world.now).toISOString() };
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

/** Somebody copies a row to the end of the tab; answers the copy. */
export function copyRow(world: World, key: RecordKey): SheetRow {
  const copy = structuredClone(rowOf(world, key));
  world.sheet[key.entity].push(copy);
  return copy;
}

/** The fields that have a column. */
export function fieldsOf(world: World, entity: Entity): FieldDefinition[] {
  const tab = world.layout.find((candidate) => candidate.entity === entity);
  return (tab?.columns ?? []).map(({ field }) => sampleField(entity, field));
}

/** How the daemon names things in cells. */
export function namesOf(world: World): Names {
  const leads = [...world.crm.values()].filter(({ key }) => key.entity === 'lead');
  const choices = leads.map(({ key, fields }) => leadChoice(Number(key.id), String(fields['title'] ?? '')));
  return createNames(world.catalog, choices, 'UTC');
}

/** The cell that shows a value of the field. */
export const cellFor = (world: World, entity: Entity, name: FieldName, value: Value): Cell =>
  encode(sampleField(entity, name), value, namesOf(world));

/** What a read of the sheet shows now. */
export function readSheet(world: World): ObservedTable {
  const readTab = (entity: TabKind): ObservedTab => {
    const reason = world.heldTabs.get(entity);
    if (reason !== undefined) return { state: 'held', reason };
    const columns = world.layout.find((tab) => tab.entity === entity)?.columns ?? [];
    const names = columns.map(({ field }) => field).filter((name) => !world.hiddenFields.has(name));
    const rows = world.sheet[entity].map(
      ({ id, sync, cells, isPaused }, index): ObservedRow => ({
        position: index + 1,
        id,
        sync,
        cells: Object.fromEntries(names.map((name) => [name, cells[name] ?? emptyCell])),
        ...(isPaused ? { isPaused } : {}),
      }),
    );
    const boxed = entity === 'lead' && world.boxedFields.size > 0 ? { boxed: world.boxedFields } : {};
    return { state: 'read', rows: structuredClone(rows), fields: new Set(names), hasSync: true, ...boxed };
  };
  return {
    tabs: {
      lead: readTab('lead'),
      opportunity: readTab('opportunity'),
      task: readTab('task'),
      contact: readTab('contact'),
      ...(world.policy.questionsTitle === undefined ? {} : { question: readTab('question') }),
    },
    timeZone: 'UTC',
  };
}

/** What the journal tells of records that do not come to rest. */
function findContests({ journal, now }: World): ReadonlyMap<string, Contest> {
  const lines = journal.filter(({ at }) => at >= now - contestMs);
  const groups = Map.groupBy(lines, ({ key }) => recordKeyText(key));
  return new Map(
    [...groups].flatMap(([text, own]) => {
      const contest = findContest(own);
      return contest ? [[text, contest] as const] : [];
    }),
  );
}

/** What the daemon would do now. A row rests when the read before showed the same. */
export const decideWorld = (world: World): Plan => decide(inputOf(world, readSheet(world)));

function readDecisions({ decidedAt, decisions, now }: World): Decision[] {
  return [...decisions].map(([scope, choice]) => {
    const at = decidedAt.get(scope) ?? now;
    decidedAt.set(scope, at);
    return { scope, choice, at };
  });
}

/** Everything that deciding is given, with the sheet as it was read. */
export function inputOf(world: World, table: ObservedTable): DecideInput {
  const memory = remember(world.memory, table, world.now);
  return {
    known: {
      records: world.order([...world.records.values()]),
      agreements: world.order([...world.agreements.values()]),
      outbox: world.order([...world.outbox.values()]),
      suspects: [...world.suspects.values()],
      claims: { open: world.openTokens, void: world.voidTokens },
      decisions: readDecisions(world),
      catalog: world.catalog,
      nameless: new Map(),
      sweptEntities: new Set(world.isSwept ? entities : []),
      emptyLists: new Set(world.isSwept ? entities : []),
      rebases: world.rebases,
      remaps: world.remaps,
      accountDoubt: world.accountDoubt,
      contests: findContests(world),
    },
    table,
    isRestless: (entity, row) => isRestless(memory, 0, entity, row),
    wasMissing: (key) => lacksRow(world.memory, key),
    shownUntil: () => world.now,
    layout: world.layout,
    policy: world.policy,
    now: world.now,
    run: `run-${world.now}`,
    isOwnToken: () => true,
    newToken: () => {
      world.given += 1;
      return claimToken(String(world.given));
    },
  };
}
