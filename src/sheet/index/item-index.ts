import { type Entity, entities, perEntity, type RecordId, type RecordKey } from '../../core/record.ts';

interface Keyed {
  readonly key: RecordKey;
}

/** An item before and after a change; `undefined` where there is none. */
export type ItemChange<Item> = readonly [before: Item | undefined, after: Item | undefined];

/**
 * Items by their kind and id, brought up to date with a list of all of them. What did not change is the same object in the next list, so
 * that only what changed costs more than a glance.
 */
export class ItemIndex<Item extends Keyed> {
  #list: readonly Item[] = [];
  #byId = emptyMaps<Item>();
  #places = emptyMaps<number>();

  of(entity: Entity): ReadonlyMap<RecordId, Item> {
    return this.#byId[entity];
  }

  /** The items of these ids, in the order of the list. */
  pick(entity: Entity, ids: ReadonlySet<RecordId>): Item[] {
    const places = this.#places[entity];
    if (places.size === 0) return [];
    return [...ids]
      .flatMap((id) => places.get(id) ?? [])
      .toSorted((one, other) => one - other)
      .flatMap((place) => this.#list[place] ?? []);
  }

  /** Takes over a list. Returns what changed. */
  update(list: readonly Item[]): ItemChange<Item>[] {
    const before = this.#list;
    if (list === before) return [];
    this.#list = list;
    const places: number[] = [];
    const longer = Math.max(before.length, list.length);
    for (let place = 0; place < longer; place += 1) {
      // Nearly all are the same objects.
      if (before[place] === list[place]) continue;
      const [old, item] = [before[place], list[place]];
      // Something was taken out of the list, or it is in another order.
      if (!item || (old && !isSameKey(old.key, item.key))) return this.#rebuild(list);
      places.push(place);
    }
    const changes: ItemChange<Item>[] = [];
    for (const place of places) {
      const item = list[place];
      if (!item) continue;
      this.#byId[item.key.entity].set(item.key.id, item);
      this.#places[item.key.entity].set(item.key.id, place);
      changes.push([before[place], item]);
    }
    return changes;
  }

  #rebuild(list: readonly Item[]): ItemChange<Item>[] {
    const [before, changes] = [this.#byId, [] as ItemChange<Item>[]];
    this.#byId = emptyMaps();
    this.#places = emptyMaps();
    for (const [place, item] of list.entries()) {
      const { entity, id } = item.key;
      this.#byId[entity].set(id, item);
      this.#places[entity].set(id, place);
      const old = before[entity].get(id);
      if (old !== item) changes.push([old, item]);
    }
    for (const entity of entities)
      for (const [id, old] of before[entity]) if (!this.#byId[entity].has(id)) changes.push([old, undefined]);
    return changes;
  }
}

const emptyMaps = <Value>() => perEntity(() => new Map<RecordId, Value>());

const isSameKey = (one: RecordKey, other: RecordKey): boolean =>
  one === other || (one.entity === other.entity && one.id === other.id);
