import { ownerKeys } from '../../core/cascade.ts';
import { type Entity, perEntity, type RecordId, type RecordKey, recordKeyText } from '../../core/record.ts';
import type { KnownRecord } from '../../core/state.ts';

/** The ids of what belongs to a record, also of what is gone, brought up to date with what changed. */
export class OwnedIndex {
  readonly #byOwner = perEntity(() => new Map<string, Set<RecordId>>());

  of(entity: Entity, owner: RecordKey): ReadonlySet<RecordId> {
    return this.#byOwner[entity].get(recordKeyText(owner)) ?? none;
  }

  /** To be called with each record that changed. */
  note(old: KnownRecord | undefined, record: KnownRecord | undefined): void {
    if (old) this.#forget(old);
    if (!record) return;
    const { entity, id } = record.key;
    const byOwner = this.#byOwner[entity];
    for (const owner of ownerKeys(record).map(recordKeyText)) {
      const ids = byOwner.get(owner);
      if (ids) ids.add(id);
      else byOwner.set(owner, new Set([id]));
    }
  }

  #forget(old: KnownRecord): void {
    const { entity, id } = old.key;
    const byOwner = this.#byOwner[entity];
    for (const owner of ownerKeys(old).map(recordKeyText)) {
      const ids = byOwner.get(owner);
      ids?.delete(id);
      if (ids?.size === 0) byOwner.delete(owner);
    }
  }
}

const none: ReadonlySet<RecordId> = new Set();
