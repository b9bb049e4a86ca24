import { splitContactId } from '../../core/fields/contact-id.ts';
import { once } from '../../core/once.ts';
import {
  type Entity,
  entities,
  parseRecordKey,
  perEntity,
  type RecordId,
  type RecordKey,
} from '../../core/record.ts';
import type { Agreement, KnownRecord, OutboxItem } from '../../core/state.ts';
import type { Names } from '../cells/codec.ts';
import type { DecideInput, Known } from '../plans/plan.ts';
import type { Policy } from '../policy.ts';
import { describeCell } from '../port/cell.ts';
import { suspectIds } from '../port/damage.ts';
import type { ReadTab } from '../port/table.ts';
import { type ItemChange, ItemIndex } from './item-index.ts';
import { KeptNames } from './kept-names.ts';
import { OwnedIndex } from './owned-index.ts';
import { type Behind, type InStep, TabStanding } from './tab-standing.ts';
import { ValueCounts } from './value-counts.ts';

/** What is known of the records of a tab, and what of it may need a decision. */
export interface TabGround {
  readonly records: ReadonlyMap<RecordId, KnownRecord>;
  readonly agreements: ReadonlyMap<RecordId, Agreement>;
  readonly countAgreed: ValueCounts['count'];
  /** Costly where very much is loose, as all is of a tab that cannot be read. */
  readonly loose: () => Loose;
  /** What is agreed of all that is not in step: a row may be another one's than its ID says. Costly where many records are outside. */
  readonly candidates: () => readonly Agreement[];
  /** The rows of the records that are in step: nothing follows from them, and they are none of the tab's rows that are decided. */
  readonly inStep: TabStanding['inStep'];
  /** Those of them that are only behind, and wait for their turn. */
  readonly waiting: TabStanding['waiting'];
  readonly outside: TabStanding['outside'];
}

/** In the order in which they are known. */
export interface Loose {
  readonly records: readonly KnownRecord[];
  readonly agreements: readonly Agreement[];
  readonly rows: ReadTab['rows'];
}

/**
 * What decisions are made of, kept from one to the next and brought up to date with what changed, so that what did not change is not decided
 * again. What it holds apart is for speed alone: from the same input the same follows without it.
 */
export class Standing {
  readonly #records = new ItemIndex<KnownRecord>();
  readonly #owned = new OwnedIndex();
  readonly #agreements = new ItemIndex<Agreement>();
  #outbox: readonly OutboxItem[] = [];
  readonly #tabs = perEntity(() => new TabStanding());
  readonly #counts = perEntity((entity) => new ValueCounts(() => this.#agreements.of(entity).values()));
  readonly #names = new KeptNames();
  #circumstances: Circumstances | undefined;
  #version = 0;
  #updatedAt = Number.NEGATIVE_INFINITY;
  /** When we deleted a record last, epoch ms: whether what belonged to it was seen after that tells something. */
  #deletedAt = Number.NEGATIVE_INFINITY;

  /** Another one as soon as a decision may come to anything else than the one before. */
  get version(): number {
    return this.#version;
  }

  /** Takes over what is known and what was read. */
  update(input: DecideInput): void {
    const { known, now, policy, table } = input;
    const [before, circumstances] = [this.#circumstances, circumstancesOf(input)];
    const isBuiltAlike = before !== undefined && areAlike(before.ofRows, circumstances.ofRows);
    // What changed by time alone changes back where the clock is set back.
    const isSetBack = now < this.#updatedAt;
    this.#updatedAt = now;
    if (!isBuiltAlike || isSetBack) for (const entity of entities) this.#tabs[entity].loosenAll();
    const isAlike = isBuiltAlike && areAlike(before.others, circumstances.others);
    this.#circumstances = circumstances;
    const isOutboxNew = this.#noteOutbox(known.outbox);
    const news = [
      ...this.#noteRecords(this.#records.update(known.records), known.rules),
      ...this.#noteAgreements(this.#agreements.update(known.agreements)),
      ...entities.map((entity) => {
        const tab = table.tabs[entity];
        return this.#tabs[entity].update(tab.state === 'read' ? tab.rows : noRows);
      }),
      ...entities.map((entity) => this.#tabs[entity].loosenOver(now)),
    ];
    for (const text of known.contests.keys()) this.#loosen(parseRecordKey(text));
    // A row without an ID is in step with nothing.
    for (const entity of entities)
      for (const id of suspectIds(known.suspects, entity)) this.#tabs[entity].loosen(id);
    if (isAlike && !isSetBack && !isOutboxNew && !news.includes(true)) return;
    this.#version += 1;
    this.#passTurns(policy);
  }

  /** To be called after each decision: where it found that rows whose turn it was need not be written, the next one has others in their place. */
  endDecision({ policy }: DecideInput): void {
    if (this.#passTurns(policy)) this.#version += 1;
  }

  #passTurns({ updatesMax }: Policy): boolean {
    return entities.map((entity) => this.#tabs[entity].loosenBehind(updatesMax)).includes(true);
  }

  /** How many rows are not known to be in step. */
  countLooseRows(entity: Entity): number {
    return this.#tabs[entity].looseCount;
  }

  groundOf(entity: Entity): TabGround {
    const tab = this.#tabs[entity];
    const loose = once(() => ({
      records: this.#records.pick(entity, tab.looseIds),
      agreements: this.#agreements.pick(entity, tab.looseIds),
      rows: tab.looseRows(),
    }));
    return {
      records: this.#records.of(entity),
      agreements: this.#agreements.of(entity),
      countAgreed: (name, value) => this.#counts[entity].count(name, value),
      loose,
      candidates: once(() =>
        tab.outside.size === 0
          ? loose().agreements
          : this.#agreements.pick(entity, tab.looseIds.union(tab.outside)),
      ),
      inStep: tab.inStep,
      waiting: tab.waiting,
      outside: tab.outside,
    };
  }

  /** What is agreed of all that is loose. What is in step is loosened when time changes something about it. */
  looseAgreements(): Agreement[] {
    return entities.flatMap((entity) => this.#agreements.pick(entity, this.#tabs[entity].looseIds));
  }

  /** The records that are agreed about and have no row with their ID. */
  rowless(): RecordKey[] {
    return entities.flatMap((entity) => {
      const tab = this.#tabs[entity];
      const shown = new Set(tab.looseRows().map(({ id }) => describeCell(id)));
      return this.#agreements
        .pick(entity, tab.looseIds)
        .flatMap((agreement) => (isMissed(agreement) && !shown.has(agreement.key.id) ? [agreement.key] : []));
    });
  }

  /** The records of these kinds that belong to another one, also what is gone. */
  ownedBy(owner: RecordKey, kinds: readonly Entity[] = entities): KnownRecord[] {
    return kinds.flatMap((entity) => {
      const records = this.#records.of(entity);
      return [...this.#owned.of(entity, owner)].flatMap((id) => records.get(id) ?? []);
    });
  }

  namesFor(input: DecideInput): Names {
    const isRead = (entity: Entity) => input.table.tabs[entity].state === 'read';
    return this.#names.namesFor(input, this.#records, this.#agreements, (entity) =>
      isRead(entity) ? this.#tabs[entity].looseRows() : noRows,
    );
  }

  noteInStep(entity: Entity, rows: readonly InStep[]): void {
    const made = this.#madeIds();
    for (const each of rows) if (!made.has(each.id)) this.#tabs[entity].note(each);
  }

  /** Takes note of the rows that are only behind: those that the next write may have, and those that wait for a later one. */
  noteBehind(entity: Entity, { inTurn, later }: Behind): void {
    const made = this.#madeIds();
    this.#tabs[entity].noteBehind({ inTurn, later: later.filter(({ id }) => !made.has(id)) });
  }

  /** Learns which records have no row and are to have none. */
  noteOutside(keys: readonly RecordKey[]): void {
    for (const { entity, id } of keys) this.#tabs[entity].noteOutside(id);
  }

  /** The ids of the records that creates have made that are not over. */
  #madeIds(): ReadonlySet<RecordId | undefined> {
    return new Set(this.#outbox.map(({ recordId }) => recordId));
  }

  #noteRecords(changes: readonly ItemChange<KnownRecord>[], rules: Known['rules']): boolean[] {
    for (const [, record] of changes)
      if (record?.presence === 'gone' && record.written)
        this.#deletedAt = Math.max(this.#deletedAt, record.written.at);
    const made = this.#madeIds();
    const owners: RecordKey[] = [];
    const news = changes.map(([old, record]) => {
      const { key } = record ?? old ?? { key: unknownKey };
      const { entity, id } = key;
      if (record && old && saysSame(old, record, [this.#deletedAt, made.has(id) ? record.firstSeenAt : 0]))
        return false;
      this.#noteItem(entity, id);
      this.#owned.note(old, record);
      if (entity === 'lead' || entity === 'task') this.#names.noteRecord(old, record);
      // Whether a record fits the rule of its tab may follow from any field of its lead.
      if (titleOf(old) !== titleOf(record) || rules.size > 0) owners.push(key);
      if (entity === 'contact') this.#tabs.lead.loosen(splitContactId(id).leadId);
      return true;
    });
    this.#loosenOwned(owners);
    return news;
  }

  #noteAgreements(changes: readonly ItemChange<Agreement>[]): boolean[] {
    return changes.map(([old, agreement]) => {
      const { entity, id } = (agreement ?? old)?.key ?? unknownKey;
      this.#counts[entity].note(old, agreement);
      if (entity === 'lead' || entity === 'task') this.#names.noteAgreement(old, agreement);
      this.#noteItem(entity, id);
      return true;
    });
  }

  #noteItem(entity: Entity, id: RecordId): void {
    const tab = this.#tabs[entity];
    tab.loosen(id);
    if (this.#records.of(entity).has(id) || this.#agreements.of(entity).has(id)) tab.add(id);
    else tab.drop(id);
  }

  /** What belongs to a record shows its name. */
  #loosenOwned(owners: readonly RecordKey[]): void {
    for (const owner of owners)
      for (const entity of entities)
        for (const id of this.#owned.of(entity, owner)) this.#tabs[entity].loosen(id);
  }

  #noteOutbox(outbox: readonly OutboxItem[]): boolean {
    const before = this.#outbox;
    this.#outbox = outbox;
    const changed = [...new Set(before).symmetricDifference(new Set(outbox))];
    for (const { key, kind, recordId, sentAt } of changed) {
      this.#loosen(key);
      if (recordId !== undefined) this.#tabs[key.entity].loosen(recordId);
      if (kind === 'create' && sentAt !== undefined) this.#loosenNewcomers(key.entity, sentAt);
    }
    return changed.length > 0;
  }

  /** A create may have made a record that came after it was sent. */
  #loosenNewcomers(entity: Entity, sentAt: number): void {
    for (const id of [...this.#tabs[entity].outside])
      if ((this.#records.of(entity).get(id)?.firstSeenAt ?? sentAt) >= sentAt) this.#tabs[entity].loosen(id);
  }

  #loosen(key: RecordKey | undefined): void {
    if (key) this.#tabs[key.entity].loosen(key.id);
  }
}

/** A row that left its tab by a rule is not missed. */
const isMissed = ({ leave }: Agreement): boolean => leave?.state !== 'left';

const noRows: ReadTab['rows'] = [];
const unknownKey: RecordKey = { entity: 'lead', id: '' };

const titleOf = (record: KnownRecord | undefined): unknown => record?.fields['title'];

const compared = ['fields', 'presence', 'firstSeenAt', 'missedSweeps', 'written', 'madeBy'] as const;

/**
 * Whether a record that was read again says the same. What was not written since is the same object. That it was seen since our last write of
 * it says something, and so it does since some `others` (epoch ms).
 */
function saysSame(old: KnownRecord, record: KnownRecord, others: readonly number[]): boolean {
  const isSeenAlike =
    old.lastSeenAt === record.lastSeenAt ||
    Math.min(old.lastSeenAt, record.lastSeenAt) > Math.max(record.written?.at ?? 0, ...others);
  return (
    isSeenAlike &&
    compared.every((part) => old[part] === record[part]) &&
    JSON.stringify(old.unread) === JSON.stringify(record.unread)
  );
}

/** All else that a decision is made of: what every row depends on, and what those that are in step do not depend on. */
interface Circumstances {
  readonly ofRows: readonly unknown[];
  readonly others: readonly unknown[];
}

function circumstancesOf({ known, layout, policy, table }: DecideInput): Circumstances {
  const { question, ...tabs } = table.tabs;
  const builds = Object.values(tabs).map((tab) => {
    if (tab.state === 'held') return tab;
    const { room: _room, rows: _rows, ...build } = tab;
    return build;
  });
  const rooms = Object.values(tabs).map((tab) => (tab.state === 'read' ? tab.room : undefined));
  const { accountDoubt, catalog, rebases, remaps, rules } = known;
  const { arriving, claims, contests, decisions, emptyLists, nameless, suspects, sweptEntities } = known;
  return {
    ofRows: [catalog, policy, textOf([layout, builds, table.timeZone, accountDoubt, rebases, remaps, rules])],
    others: [
      question,
      textOf([rooms, arriving, claims, contests, emptyLists, nameless, sweptEntities]),
      ...decisions,
      ...suspects,
    ],
  };
}

const textOf = (parts: readonly unknown[]): string =>
  JSON.stringify(parts, (_name, value) =>
    value instanceof Set || value instanceof Map ? [...value] : value,
  );

const areAlike = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((part, place) => part === other[place]);
