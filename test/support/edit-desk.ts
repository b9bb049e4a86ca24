import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { finishAtOnce } from '../../src/core/slices.ts';
import type { TakenEdit } from '../../src/core/taken-edit.ts';
import { EditDesk } from '../../src/warehouse/edits/desk.ts';
import type { EditTerms, WarehouseLink } from '../../src/warehouse/link.ts';
import { openMirrorInMemory } from './memory-mirror.ts';
import { editTerms } from './warehouse-edits-engine.ts';

/** The lead that edits are about where nothing else is said. */
export const leadKey = { entity: 'lead', id: '7' } as const satisfies RecordKey;

let count = 0;

export function editOf(kind: TakenEdit['kind'], parts: Partial<TakenEdit> = {}): TakenEdit {
  count += 1;
  const { key = leadKey } = parts;
  const given = { editId: `edit-${count}`, key, row: key.id, kind, before: {}, after: {}, ended: {} };
  return { ...given, by: 'u', at: 1, state: 'taken', note: '', isMeant: false, isTold: true, ...parts };
}

/** An edit of the title of a lead. */
export const retitle = (id: string, before: string | null, after: string | null): TakenEdit =>
  editOf('update', { key: { entity: 'lead', id }, before: { title: before }, after: { title: after } });

/** A mirror that knows leads with the title A, and a desk that decides about edits of them. */
export function openDesk(terms: Partial<EditTerms> = {}, ids: readonly string[] = ['7', '8', '9']) {
  const { mirror } = openMirrorInMemory();
  mirror.setFollowers(['warehouse']);
  const own = mirror.of('warehouse');
  const save = (id: string, title: string | null) =>
    own.saveRecord(
      {
        key: { entity: 'lead', id },
        fields: { title },
        firstSeenAt: 1,
        lastSeenAt: 1,
        missedSweeps: 0,
        presence: 'present',
        observedAt: 1,
      },
      'created',
    );
  mirror.transaction(() => {
    for (const id of ids) save(id, 'A');
  });
  let words = 0;
  const newWord = () => {
    words += 1;
    return `word-${words}`;
  };
  /** The records that were looked at. */
  const looks: string[] = [];
  const watched = {
    ...own,
    findRecord(key: RecordKey) {
      looks.push(key.id);
      return own.findRecord(key);
    },
  };
  const clock = { now: () => 10, monotonicMs: () => 10 };
  const link = { clock, entities: ['lead', 'task'], mirror: watched, newWord };
  const openAnother = () => new EditDesk(link as unknown as WarehouseLink, { ...editTerms, ...terms });
  const desk = openAnother();
  return {
    desk,
    link,
    mirror: own,
    openAnother,
    save,
    take(...edits: TakenEdit[]) {
      for (const edit of edits) own.edits.save(edit);
    },
    decide() {
      finishAtOnce(desk.decide(emptyCatalog));
      return desk.decided;
    },
    /** Decides, and returns the leads for whose steps the queue is to be woken. */
    woken: (behind?: ReadonlySet<'lead'>) =>
      finishAtOnce(desk.decide(emptyCatalog, behind)).map(({ id }) => id),
    /** Decides, and returns the leads that were looked at for that. */
    lookedAt(catalog = emptyCatalog) {
      looks.length = 0;
      finishAtOnce(desk.decide(catalog));
      return [...new Set(looks)];
    },
  };
}
