import { listKinds } from '../../../core/cascade.ts';
import type { RecordId } from '../../../core/record.ts';
import type { Agreement, KnownRecord } from '../../../core/state.ts';
import type { FieldName } from '../../../core/value.ts';
import { brakeOf, brakeScope, findBrakes, shownOf } from '../../../core/waiting/brakes.ts';
import { type Displaced, type Edit, findCleared, findDisorder } from '../../../core/waiting/disorder.ts';
import type { Brake } from '../../../core/waiting/waiting.ts';
import type { ClassifiedTab } from '../classify.ts';
import type { Binding } from '../identity/bind.ts';
import { isInTable } from '../identity/likeness.ts';
import { type Release, ruleOf } from '../lifecycle/vanished.ts';
import { headerOf } from '../rows/columns.ts';
import { clearedOf, editsOf, lostValuesOf, type MergedRow, valuesOfVanished } from '../rows/merge.ts';
import type { TabIndex } from '../tab-index.ts';
import { join, keepChosen, type Verdict } from '../verdict.ts';
import {
  approvalScopes,
  approvalsOnTheirWay,
  findApproval,
  findKept,
  noteApproval,
  releaseOf,
  type Tripped,
  unapprovedEdits,
  unapprovedGone,
  unapprovedLosses,
} from './approvals.ts';
import { findFirstMeeting, findOtherAccount, findRebase, findRemapped } from './met-anew.ts';

/** What the brakes of a tab come to. */
export interface Braked {
  /** A brake holds, or would were the tab at rest: then nothing is concluded and nothing sent, also not what waits in the outbox. */
  readonly isStopped: boolean;
  readonly release: Release;
  readonly verdict: Verdict;
}

/** Brakes a tab. Users are asked once it is at rest. */
export function brakeTab(given: ClassifiedTab, areLeadsStopped: boolean): Braked {
  const tab = { ...given, binding: withoutPaused(given.binding) };
  const { index, merges, steadilyVanished, vanished } = tab;
  const { entity, input } = index;
  const merged = [...merges.values()];
  const rested = merged.filter(({ isRestless }) => !isRestless);
  const elsewhere = findElsewhere(index, merged);
  const gone = findGone(tab, areLeadsStopped);
  const coming = tripBrakes(tab, gone, vanished, merged);
  const isAtRest = rested.length === merged.length && steadilyVanished.length === vanished.length;
  const asked = isAtRest ? coming : tripBrakes(tab, gone, steadilyVanished, rested);
  const weighed = asked.tripped.map((each) => ({ each, ...findApproval(index, each) }));
  const approved = weighed.flatMap(({ approval, each }) => (approval ? [{ approval, each }] : []));
  const releases = approved.map(({ approval, each }) => releaseOf(index, each, approval));
  const release: Release = Object.assign({}, ...releases);
  const letGo = new Set(approved.map(({ each }) => shownOf(each.brake)));
  // Nobody was asked about what comes behind the same words.
  const isLetGo = (each: Tripped) => findKept(index, each) !== undefined || letGo.has(shownOf(each.brake));
  const isComing = !isAtRest && !coming.tripped.every(isLetGo);
  const holding = weighed.flatMap(({ approval, each }) => (approval ? [] : [each.brake]));
  const brakes = [...elsewhere.brakes, ...index.only.brakes, ...holding];
  const verdict = join(
    { scopes: [...approvalsOnTheirWay(index), ...coming.scopes, ...asked.scopes], brakes },
    elsewhere.verdict,
    ...weighed.map((each) => each.verdict),
    ...approved.map(({ approval, each }) => noteApproval(index, each, approval)),
  );
  if (brakes.length === 0 && !isComing) {
    const remapped = input.known.remaps.has(entity) ? [entity] : [];
    const rebased = input.known.rebases.has(entity) ? [entity] : [];
    const ruled = index.only.isNew ? [entity] : [];
    return { isStopped: false, release, verdict: join(verdict, { remapped, rebased, ruled }) };
  }
  const unsettled = merged.filter(({ isRestless }) => isRestless).map(({ record }) => record.key.id);
  // What users decided before the brake was tripped stays decided.
  const kept = [...index.agreements.values(), ...index.outbox.values()].map(({ key }) => key);
  return { isStopped: true, release, verdict: join(verdict, { withheld: [entity], unsettled, kept }) };
}

const withoutPaused = (binding: Binding): Binding => ({
  ...binding,
  records: binding.records.filter(({ row }) => !row.isPaused),
  unbound: binding.unbound.filter((row) => !row.isPaused),
});

/** The brakes that hold because what is read may belong elsewhere. Who types meanwhile makes no difference to that. */
function findElsewhere(index: TabIndex, merged: readonly MergedRow[]) {
  const { answers, questions } = index;
  const remapped = findRemapped(index, merged).filter(({ scope }) => answers.choice(scope) === undefined);
  const brakes = [...findOtherAccount(index), ...remapped];
  // They hold until the next decision, which the answer changes from the ground up.
  const verdicts = brakes.map((brake) => {
    const { scope } = brake;
    const ask = () => questions.ofBrake(brake);
    return keepChosen(scope, answers.choose(scope, ask, { shown: shownOf(brake) }));
  });
  return { brakes, verdict: join(...verdicts) };
}

/** Finds the brakes that some losses and edits trip, as far as nobody approved those, and the scopes under which they were approved. */
function tripBrakes(
  tab: ClassifiedTab,
  gone: readonly KnownRecord[],
  vanished: readonly Agreement[],
  merged: readonly MergedRow[],
): { readonly tripped: readonly Tripped[]; readonly scopes: readonly string[] } {
  const { index, orphaned } = tab;
  const [edits, cleared] = [merged.flatMap(editsOf), merged.flatMap(clearedOf)];
  // Whoever deleted rows deleted those too of which a copy is left; of that alone nothing follows.
  const withOrphaned = (rows: readonly Agreement[]) => (rows.length > 0 ? [...rows, ...orphaned] : []);
  const lost = [...merged.flatMap(lostValuesOf), ...[...vanished, ...orphaned].flatMap(valuesOfVanished)];
  // As long as anything of it is left to be done, the answer counts for what goes with it.
  const upset = { vanished: withOrphaned(vanished), gone, edits, cleared, lost };
  const all = findTripped(tab, upset);
  const left = {
    vanished: withOrphaned(unapprovedLosses(index, vanished)),
    gone: unapprovedGone(index, gone),
    edits: unapprovedEdits(index, edits),
    cleared: unapprovedEdits(index, cleared),
    lost,
  };
  const isNoneApproved = (['vanished', 'gone', 'edits', 'cleared'] as const).every(
    (name) => left[name].length === upset[name].length,
  );
  const tripped = isNoneApproved ? all : findTripped(tab, left);
  const scopes = [...all, ...tripped].map(({ brake }) => brake.scope);
  return { tripped, scopes: [...scopes, ...approvalScopes(index, [...edits, ...cleared], gone)] };
}

/**
 * What may trip a brake: rows that are gone, records that are, values that people changed or the CRM emptied, and values that nothing took
 * the place of.
 */
interface Upset {
  readonly vanished: readonly Agreement[];
  readonly gone: readonly KnownRecord[];
  readonly edits: readonly Edit[];
  readonly cleared: readonly Edit[];
  readonly lost: readonly Displaced[];
}

function findTripped({ binding, index, merges }: ClassifiedTab, upset: Upset): Tripped[] {
  const { cleared, edits, lost, vanished } = upset;
  const { entity, input } = index;
  const { brakes: limits } = input.policy;
  const goneRecords = provenTogether(upset.gone);
  const vanishedRows = vanished.map(({ key }) => key.id);
  const isMet = (agreement: Agreement) => isInTable(index, agreement) && agreement.leave?.state !== 'left';
  const agreed = index.inStep.size + index.loose.agreements.filter(isMet).length;
  const company = () => describeCompany(index, vanishedRows);
  const alone = (brake: Brake): Tripped => ({ brake, edits: [], vanishedRows: [], goneRecords: [] });
  const header = (field: FieldName) => headerOf(index, field);
  const disorders = [
    ...findDisorder(edits, agreed, limits, header, lost),
    ...findCleared(cleared, agreed, limits, header),
  ];
  return [
    ...findFirstMeeting(index, binding.unbound).map(alone),
    ...findBrakes({ entity, agreed, vanishedRows, goneRecords, rule: ruleOf(index), company }, limits).map(
      (brake): Tripped => ({
        ...alone(brake),
        ...(isOfGoneRecords(brake) ? { goneRecords } : { vanishedRows }),
      }),
    ),
    ...disorders.map(({ kind, reason, edits: own }): Tripped => {
      const what = kind === 'cleared' ? 'emptied' : 'edited';
      const changes = own.map((edit) => ({ ...edit, what }) as const);
      return { ...alone(brakeOf(entity, kind, reason, changes)), edits: own };
    }),
    ...findRebase(index, binding, merges).map(alone),
  ];
}

/**
 * What the CRM would trash together with these records of a tab, and that is none of them. Of many records it is never the same for long, and
 * an answer is for what was shown: so it is not counted.
 */
function describeCompany({ cascades, entity }: TabIndex, ids: readonly RecordId[]): string {
  const own = new Set(ids);
  const going = new Set(ids.flatMap((id) => cascades.goingWith({ entity, id })));
  return listKinds([...going].filter(({ key }) => key.entity !== entity || !own.has(key.id)));
}

const isOfGoneRecords = ({ entity, scope }: Brake): boolean => scope === brakeScope(entity, 'gone');

/**
 * The records with a row that are gone from the CRM or that a list lacked, and not because of another one, nor because a person had us take
 * them back. Those of which several rows have the ID count too; rows in which somebody put an ID that was one long ago do not. Leads that are
 * held back are no reason to let go on what would go with them.
 */
function findGone({ binding, index }: ClassifiedTab, areLeadsStopped: boolean): KnownRecord[] {
  const ids = new Set([...binding.records, ...binding.copies].map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const record = index.records.get(id);
    const hasMet = index.agreements.has(id);
    const isMissing = hasMet && (record?.presence === 'gone' || (record?.missedSweeps ?? 0) > 0);
    const isExplained = !areLeadsStopped && record && index.cascades.isGoneWith(record);
    return record && isMissing && !isExplained && !isTrashedByUs(record) ? [record] : [];
  });
}

/** Whether our last write was its delete, and nobody has seen it since. A delete replaces nothing, and an update always something. */
const isTrashedByUs = ({ lastSeenAt, presence, written }: KnownRecord): boolean =>
  presence === 'gone' &&
  written !== undefined &&
  Object.keys(written.before).length === 0 &&
  lastSeenAt <= written.at;

/** As the absence of records is proven one after another, those count too that a list lacked: else many would never be gone at once. */
const provenTogether = (missing: readonly KnownRecord[]) =>
  missing.some(({ presence }) => presence === 'gone') ? missing.map(({ key }) => key.id) : [];
