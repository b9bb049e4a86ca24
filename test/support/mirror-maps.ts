import type { Suspect } from '../../src/core/damage.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import { parseRecordKey, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import type { Agreement, OutboxItem, StoredRecord } from '../../src/core/state.ts';

interface Store<Value> {
  read(): readonly Value[];
  nameOf(value: Value): string;
  drop(name: string): void;
}

/** A store of the mirror, for tests to look into and change like a Map. */
export class MirrorMap<Value, Shown = Value> {
  readonly #store: Store<Value>;
  readonly #show: (value: Value) => Shown;
  /** Puts a value under its name. */
  readonly set: (name: string, value: Shown) => void;

  constructor(store: Store<Value>, show: (value: Value) => Shown, set: (name: string, value: Shown) => void) {
    this.#store = store;
    this.#show = show;
    this.set = set;
  }

  get size(): number {
    return this.#store.read().length;
  }
  entries(): [string, Shown][] {
    return this.#store.read().map((value) => [this.#store.nameOf(value), this.#show(value)]);
  }
  [Symbol.iterator](): Iterator<[string, Shown]> {
    return this.entries()[Symbol.iterator]();
  }
  keys(): string[] {
    return this.entries().map(([name]) => name);
  }
  values(): Shown[] {
    return this.entries().map(([, shown]) => shown);
  }
  get(name: string): Shown | undefined {
    return new Map(this.entries()).get(name);
  }
  has(name: string): boolean {
    return this.keys().includes(name);
  }
  delete(name: string): void {
    this.#store.drop(name);
  }
  clear(): void {
    for (const name of this.keys()) this.#store.drop(name);
  }
}

function ofRecords<Value extends { readonly key: RecordKey }>(
  read: () => readonly Value[],
  save: (value: Value) => void,
  drop: (key: RecordKey) => void,
): MirrorMap<Value> {
  const dropNamed = (name: string) => {
    const key = parseRecordKey(name);
    if (key) drop(key);
  };
  const store = { read, nameOf: ({ key }: Value) => recordKeyText(key), drop: dropNamed };
  return new MirrorMap(
    store,
    (value) => value,
    (_name, value) => save(value),
  );
}

/** What the mirror knows, by names of records, scopes and ids. */
export interface MirrorMaps {
  readonly records: MirrorMap<StoredRecord>;
  readonly agreements: MirrorMap<Agreement>;
  readonly outbox: MirrorMap<OutboxItem>;
  readonly decisions: MirrorMap<unknown, string>;
  readonly suspects: MirrorMap<Suspect>;
}

export function mirrorMaps(mirror: Mirror, now: () => number): MirrorMaps {
  return {
    records: ofRecords(() => mirror.readRecords(), mirror.saveRecord, mirror.dropRecord),
    agreements: ofRecords(mirror.readAgreements, mirror.saveAgreement, mirror.dropAgreement),
    outbox: ofRecords(mirror.readOutbox, mirror.saveOutboxItem, mirror.dropOutboxItem),
    decisions: new MirrorMap(
      { read: mirror.readDecisions, nameOf: ({ scope }) => scope, drop: mirror.dropDecision },
      ({ choice }) => choice,
      (scope, choice) => mirror.saveDecision({ scope, choice, at: now() }),
    ) as MirrorMap<unknown, string>,
    suspects: new MirrorMap(
      { read: mirror.readSuspects, nameOf: ({ id }: Suspect) => id, drop: mirror.dropSuspect },
      (suspect) => suspect,
      (_id, suspect) => mirror.saveSuspect(suspect),
    ),
  };
}
