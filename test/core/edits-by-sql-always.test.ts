import { expect, test } from 'vitest';
import { emptyCatalog } from '../../src/core/fields/catalog.ts';
import { advance } from '../../src/core/outbox.ts';
import { claimToken } from '../../src/core/record.ts';
import { finishAtOnce } from '../../src/core/slices.ts';
import { emptyAgreement, type OutboxItem } from '../../src/core/state.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import type { EditDesk } from '../../src/warehouse/edits/desk.ts';
import { editOf, openDesk } from '../support/edit-desk.ts';

const seeds = (process.env['EDIT_SEEDS'] ?? '1 2 3 4 5 6').split(' ').map(Number);
const steps = 120;
const ids = ['1', '2', '3', '4'];
const values = ['A', 'B', 'C', null];

/** All that a decision keeps. */
const kept = ({ mirror }: Stage) =>
  JSON.stringify([
    [...mirror.edits.readOpen(), ...mirror.edits.readUntold(1_000)],
    [mirror.readOutbox(), mirror.readAgreements(), mirror.readDecisions()],
  ]);

const asked = ({ decided }: EditDesk) =>
  Object.values(decided).map((found) => found.map((each: unknown) => JSON.stringify(each)).toSorted());

type Stage = ReturnType<typeof openDesk>;

/** What the CRM makes of a step. */
function answerStep({ mirror, save }: Stage, chance: Random, item: OutboxItem): void {
  const { fields, key, kind, state } = item;
  if (state === 'waiting') return mirror.saveOutboxItem(advance(item, 'sent', { at: 10 }));
  if (state !== 'sending') return;
  if (chance.chance(0.3)) {
    const error = { code: 'CRM_REFUSED', message: 'It is not taken.' } as const;
    return mirror.saveOutboxItem(advance(item, 'refused', { error, sentBefore: undefined }));
  }
  if (kind === 'create') {
    const recordId = String(chance.integer(100, 999));
    save(recordId, String(fields['title']));
    return mirror.saveOutboxItem(advance(item, 'created', { recordId }));
  }
  const record = mirror.findRecord(key)!;
  if (kind === 'delete') {
    mirror.saveRecord({ ...record, presence: 'gone' });
    mirror.dropAgreement(key);
  } else {
    mirror.saveRecord({ ...record, fields: { ...record.fields, ...fields } });
    const agreement = mirror.findAgreement(key) ?? emptyAgreement(key, 10);
    mirror.saveAgreement({ ...agreement, fields: { ...agreement.fields, ...fields } });
  }
  mirror.dropOutboxItem(key);
}

/** What users, the CRM and the database do, each by chance. */
function actsOf(stage: Stage, chance: Random): readonly (() => void)[] {
  const { mirror, save, take } = stage;
  const shown = new Map<string, string | null>();
  const anyKey = () => ({ entity: 'lead', id: chance.pick(ids) }) as const;
  let rows = 0;
  const answers = ['approve:3', 'revert', 'trash', 'restore', 'retry', 'ignore', 'table', 'crm'];
  return [
    () => {
      const [key, after] = [anyKey(), chance.pick(values)];
      const before = shown.get(key.id) ?? 'A';
      shown.set(key.id, after);
      take(editOf('update', { key, before: { title: before }, after: { title: after }, isTold: false }));
    },
    () => take(editOf(chance.pick(['delete', 'revert']), { key: anyKey(), before: { title: 'A' } })),
    () => {
      rows += 1;
      const made = { kind: 'insert', isTold: false } as const;
      const lead = { entity: 'lead', id: claimToken(`lead-${rows}`) } as const;
      const task = { entity: 'task', id: claimToken(`task-${rows}`) } as const;
      const [own, below] = [`-${rows}`, `-${rows + 1_000}`];
      take(editOf('insert', { ...made, editId: `lead-${rows}`, key: lead, row: own, after: { title: 'N' } }));
      const after = { title: 'Call', lead_id: -rows };
      take(editOf('insert', { ...made, editId: `task-${rows}`, key: task, row: below, after }));
    },
    () => save(chance.pick(ids), chance.pick(values)),
    () => {
      const record = mirror.findRecord(anyKey());
      if (record && chance.chance(0.2)) mirror.saveRecord({ ...record, presence: 'gone' });
    },
    () => {
      const steps = mirror.readOutbox();
      if (steps.length > 0) answerStep(stage, chance, chance.pick(steps));
    },
    () => {
      const { id } = anyKey();
      const about = [`vanished:lead-${id}`, `refused:lead-${id}`, `conflict:lead-${id}:title`];
      const scope = chance.pick([...about, 'brake:lead:edited', 'brake:lead:deleted']);
      mirror.saveDecision({ scope, choice: chance.pick(answers), at: 9 });
    },
    () => {
      const [edit] = mirror.edits.readUntold(1);
      if (edit) mirror.edits.save({ ...edit, isTold: true, toldAt: 10 });
    },
  ];
}

test.for(seeds)(
  'deciding about what changed comes to the same as deciding about everything (seed %i)',
  (seed) => {
    const chance = createRandom(seed);
    const limits = { changesMin: 3, changesShare: 0, deletesMin: 1, deletesShare: 0 };
    const stage = openDesk({ limits, conflict: 'ask' }, ids);
    const acts = actsOf(stage, chance);
    for (let step = 0; step < steps; step += 1) {
      chance.pick(acts)();
      for (let before = ''; before !== kept(stage); ) {
        before = kept(stage);
        stage.decide();
      }
      const before = kept(stage);
      const anew = stage.openAnother();
      finishAtOnce(anew.decide(emptyCatalog));
      expect(kept(stage)).toBe(before);
      expect(asked(anew)).toEqual(asked(stage.desk));
    }
  },
);
