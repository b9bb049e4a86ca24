import { emptyCatalog } from '../../core/fields/catalog.ts';
import { describeEntity } from '../../core/fields/field.ts';
import type { ListedEntity, ObservedRecord, RecordId } from '../../core/record.ts';
import type { StoredRecord } from '../../core/state.ts';
import { differingFields, type FieldName } from '../../core/value.ts';
import type { Link } from '../link.ts';
import { readPresent } from './lists.ts';
import { pullRecord } from './pull.ts';

/** A direct read of a record: when it was (monotonic and epoch ms), and which version of the record the CRM names. */
interface SingleRead {
  readonly at: number;
  readonly epochMs: number;
  readonly version: string;
}

/** A list that leaves out fields of all its records. */
interface AbridgedList {
  readonly names: readonly FieldName[];
  /** The records to read, in this order. */
  readonly queue: RecordId[];
  readAt: number;
}

/** So many records are read alone before it is believed that the CRM does not tell a field at all. */
const looksMax = 3;

/**
 * Reads of each record alone what its list leaves out. The specification does not show the elements of lists, and shows the record itself: its
 * rows would else stay empty, and edits of them could be compared with nothing. What was never told comes first, then what the list
 * shows in another version, then what was read the longest ago.
 */
export class LeftOut {
  readonly #link: Link;
  readonly #lists = new Map<ListedEntity, AbridgedList>();
  readonly #reads = new Map<string, SingleRead>();
  /** How often a field was looked for in vain; of one that was found once, never. */
  readonly #misses = new Map<string, number>();

  constructor(link: Link) {
    this.#link = link;
  }

  /** Notes what the records of a first page tell. Answers whether they leave out anything that may be told elsewhere. */
  noteList(entity: ListedEntity, records: readonly ObservedRecord[]): boolean {
    const { mirror } = this.#link;
    const isLeftOut = (name: FieldName) =>
      records.every(({ fields, unread }) => fields[name] === undefined && unread?.[name] === undefined) &&
      this.#mayBeTold(entity, name);
    const fields = describeEntity(entity, mirror.readCatalog() ?? emptyCatalog).filter(({ held }) => !held);
    const names = records.length === 0 ? [] : fields.map(({ name }) => name).filter(isLeftOut);
    const readAt = this.#lists.get(entity)?.readAt ?? Number.NEGATIVE_INFINITY;
    const queue = names.length === 0 ? [] : this.#inOrder(entity, names);
    this.#lists.set(entity, { names, queue, readAt });
    return names.length > 0;
  }

  #mayBeTold(entity: ListedEntity, name: FieldName): boolean {
    return (this.#misses.get(`${entity} ${name}`) ?? 0) < looksMax;
  }

  #inOrder(entity: ListedEntity, names: readonly FieldName[]): RecordId[] {
    return readPresent(this.#link.mirror, entity)
      .map((record) => ({ id: record.key.id, rank: this.#rankOf(record, names) }))
      .toSorted((left, right) => left.rank - right.rank)
      .map(({ id }) => id);
  }

  /** Less is sooner; below 0 is at once. */
  #rankOf(record: StoredRecord, names: readonly FieldName[]): number {
    const read = this.#reads.get(`${record.key.entity} ${record.key.id}`);
    if (!read) return names.some((name) => record.fields[name] === undefined) ? -2 : 0;
    return read.version === versionOf(record) ? read.at : -1;
  }

  /** When the next record of the entity is to be read alone, monotonic ms. */
  nextAt(entity: ListedEntity): number {
    const { mirror, times } = this.#link;
    const { names, queue, readAt } = this.#lists.get(entity) ?? nothing;
    const [id] = queue;
    if (id === undefined) return Number.POSITIVE_INFINITY;
    const record = mirror.findRecord({ entity, id });
    return record && this.#rankOf(record, names) < 0 ? readAt : readAt + times.readPauseMs;
  }

  /** Reads the next record of the entity alone. Whether that brought anything new, and when the read before was that did not (epoch ms). */
  async readNext(entity: ListedEntity) {
    const { clock, mirror } = this.#link;
    const list = this.#lists.get(entity);
    const id = list?.queue.shift();
    const known = id === undefined ? undefined : mirror.findRecord({ entity, id });
    if (!list || !known) return { isNews: false };
    list.readAt = clock.monotonicMs();
    const name = `${entity} ${known.key.id}`;
    const since = this.#reads.get(name)?.epochMs;
    const read = { at: list.readAt, epochMs: clock.now() };
    // Before the read: one on which the CRM fails waits for its turn like the others.
    this.#reads.set(name, { ...read, version: versionOf(known) });
    const told = await pullRecord(this.#link, known.key, 'sweep');
    if (!told) return { isNews: false };
    this.#reads.set(name, { ...read, version: versionOf(told) });
    for (const field of list.names) {
      const misses = this.#misses.get(`${entity} ${field}`) ?? 0;
      const isTold = told.fields[field] !== undefined || told.unread?.[field] !== undefined;
      this.#misses.set(`${entity} ${field}`, isTold ? Number.NEGATIVE_INFINITY : misses + 1);
    }
    if (!list.names.some((field) => this.#mayBeTold(entity, field))) list.queue.length = 0;
    // A field that was not known before differs from nothing.
    const isFirst = list.names.some(
      (field) => known.fields[field] === undefined && told.fields[field] !== undefined,
    );
    return { isNews: isFirst || differingFields(known.fields, told.fields).length > 0, since };
  }
}

const nothing: AbridgedList = { names: [], queue: [], readAt: Number.POSITIVE_INFINITY };

const versionOf = ({ fields }: StoredRecord): string => String(fields['updated_at'] ?? '');
