import type { Mirror } from '../../src/core/mirror.ts';
import { parseRecordKey, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import type { Agreement, OutboxItem, StoredRecord } from '../../src/core/state.ts';
import { readSuspects } from '../../src/sheet/damages.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';

/** A store of the mirror, for tests to look into and change like a Map. */
export class MirrorMap<Value> {
  readonly #read: () => readonly (readonly [string, Value])[];
  readonly set: (name: string, value: Value) => void;
  readonly delete: (name: string) => void;

  constructor(
    read: () => readonly (readonly [string, Value])[],
    set: (name: string, value: Value) => void,
    drop: (name: string) => void,
  ) {
    this.#read = read;
    this.set = set;
    this.delete = drop;
  }

  get size(): number {
    return this.#read().length;
  }
  keys = (): string[] => this.#read().map(([name]) => name);
  values = (): Value[] => this.#read().map(([, value]) => value);
  get = (name: string): Value | undefined => new Map(this.#read()).get(name);
  has = (name: string): boolean => this.keys().includes(name);
  clear = (): void => this.keys().forEach(this.delete);
  [Symbol.iterator] = () => this.#read()[Symbol.iterator]();
}

/** Of records, by their names. */
const ofRecords = <Value extends { readonly key: RecordKey }>(
  read: () => readonly Value[],
  save: (value: Value) => void,
  drop: (key: RecordKey) => void,
): MirrorMap<Value> =>
  new MirrorMap(
    () => read().map((value) => [recordKeyText(value.key), value]),
    (_name, value) => save(value),
    (name) => drop(parseRecordKey(name) ?? { entity: 'lead', id: name }),
  );

/** What the mirror knows, by names of records, scopes and ids. */
export interface MirrorMaps {
  readonly records: MirrorMap<StoredRecord>;
  readonly agreements: MirrorMap<Agreement>;
  readonly outbox: MirrorMap<OutboxItem>;
  readonly decisions: MirrorMap<string>;
  readonly suspects: MirrorMap<Suspect>;
}

export const mirrorMaps = (mirror: Mirror, now: () => number): MirrorMaps => ({
  records: ofRecords(() => mirror.readRecords(), mirror.saveRecord, mirror.dropRecord),
  agreements: ofRecords(mirror.readAgreements, mirror.saveAgreement, mirror.dropAgreement),
  outbox: ofRecords(mirror.readOutbox, mirror.saveOutboxItem, mirror.dropOutboxItem),
  decisions: new MirrorMap(
    () => mirror.readDecisions().map(({ choice, scope }) => [scope, choice]),
    (scope, choice) => mirror.saveDecision({ scope, choice, at: now() }),
    mirror.dropDecision,
  ),
  suspects: new MirrorMap(
    () => readSuspects(mirror).map((suspect) => [suspect.id, suspect]),
    (_id, suspect) => mirror.saveSuspect(suspect),
    mirror.dropSuspect,
  ),
});
