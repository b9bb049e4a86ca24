import type { RecordId } from '../../record.ts';
import type { Agreement, KnownRecord } from '../../state.ts';
import type { FieldName } from '../../value.ts';
import { keepDecisions, type TabContext } from '../context.ts';
import type { Binding } from '../identity/bind.ts';
import { isInTable } from '../identity/origin.ts';
import { ruleOf } from '../lifecycle/absent.ts';
import { listKinds } from '../lifecycle/cascade.ts';
import type { Brake } from '../plan.ts';
import { headerOf } from '../rows/columns.ts';
import {
  clearedOf,
  editsOf,
  type JudgedRow,
  judgeRow,
  lostValuesOf,
  valuesOfVanished,
} from '../rows/judge.ts';
import {
  isLetGo,
  isOutrun,
  keepApprovals,
  noteApproval,
  type Tripped,
  unapprovedEdits,
  unapprovedGone,
  unapprovedLosses,
} from './approvals.ts';
import { brakeOf, brakeScope, findBrakes } from './brakes.ts';
import { type Displaced, type Edit, findCleared, findDisorder } from './disorder.ts';
import { findFirstMeeting } from './first-meeting.ts';
import { findOtherAccount } from './other-account.ts';
import { findRebase } from './rebase.ts';
import { findRemapped } from './remapped.ts';

/** Records whose row is gone, and those whose ID only stands in rows that are marked as copies. */
interface RowlessRecords {
  readonly vanished: readonly Agreement[];
  readonly orphaned: readonly Agreement[];
}

/**
 * Whether a brake stops the tab, or would were the table at rest: then nothing is concluded and nothing sent, also not what waits in the
 * outbox. People are told once it is at rest: `steady` are the losses that the read before showed as well.
 */
export function isBraked(
  context: TabContext,
  all: Binding,
  losses: RowlessRecords,
  steady: RowlessRecords,
): boolean {
  const { draft, entity, input } = context;
  const binding = {
    ...all,
    records: all.records.filter(({ row }) => !row.isPaused),
    unbound: all.unbound.filter((row) => !row.isPaused),
  };
  const judged = binding.records.flatMap(({ row, id }) => judgeRow(context, row, id) ?? []);
  const rested = judged.filter(({ isRestless }) => !isRestless);
  const elsewhere = findElsewhere(context, judged);
  keepApprovals(context);
  const coming = findHoldingBrakes(context, binding, losses, judged);
  const isWithheld = elsewhere.length + coming.holding.length > 0;
  const isAtRest = rested.length === judged.length && steady.vanished.length === losses.vanished.length;
  const found = isAtRest ? coming : findHoldingBrakes(context, binding, steady, rested);
  for (const tripped of found.letGo) noteApproval(context, tripped);
  for (const brake of found.holding) if (isOutrun(context, brake)) draft.outrunDecisions.add(brake.scope);
  const holding = [...elsewhere, ...found.holding];
  draft.brakes.push(...holding);
  if (!isWithheld && holding.length === 0) {
    if (input.known.remaps.has(entity)) draft.remapped.push(entity);
    if (input.known.rebases.has(entity)) draft.rebased.push(entity);
    return false;
  }
  draft.withheld.push(entity);
  draft.restlessRows += judged.length - rested.length;
  // What people decided before the brake was tripped stays decided.
  for (const { key } of [...context.agreements.values(), ...context.outbox.values()])
    keepDecisions(context, key);
  return true;
}

/** The brakes that hold because what is read may belong elsewhere. Who types meanwhile makes no difference to that. */
const findElsewhere = (context: TabContext, judged: readonly JudgedRow[]): Brake[] => [
  ...findOtherAccount(context),
  ...findRemapped(context, judged).filter(({ scope }) => context.decision(scope) === undefined),
];

/** The brakes that these losses and edits trip: those that nobody has approved, and those that somebody just let go. */
function findHoldingBrakes(
  context: TabContext,
  binding: Binding,
  { orphaned, vanished }: RowlessRecords,
  judged: readonly JudgedRow[],
): { readonly holding: readonly Brake[]; readonly letGo: readonly Tripped[] } {
  const [edits, cleared] = [judged.flatMap(editsOf), judged.flatMap(clearedOf)];
  // Whoever deleted rows deleted those too of which a copy is left; of that alone nothing follows.
  const withOrphaned = (rows: readonly Agreement[]) => (rows.length > 0 ? [...rows, ...orphaned] : []);
  const lost = [...judged.flatMap(lostValuesOf), ...[...vanished, ...orphaned].flatMap(valuesOfVanished)];
  const find = (upset: Omit<Upset, 'lost'>) => findTripped(context, binding, { ...upset, lost });
  const gone = findGone(context, binding);
  // As long as anything of it is left to be done, the answer counts for what goes with it.
  for (const { brake } of find({ vanished: withOrphaned(vanished), gone, edits, cleared }))
    context.decision(brake.scope);
  const tripped = find({
    vanished: withOrphaned(unapprovedLosses(context, vanished)),
    gone: unapprovedGone(context, gone),
    edits: unapprovedEdits(context, edits),
    cleared: unapprovedEdits(context, cleared),
  });
  const letGo = tripped.filter((each) => isLetGo(context, each));
  return { holding: tripped.filter((each) => !letGo.includes(each)).map(({ brake }) => brake), letGo };
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

function findTripped(context: TabContext, binding: Binding, upset: Upset): Tripped[] {
  const { cleared, edits, lost, vanished } = upset;
  const { entity, input } = context;
  const { brakes: limits } = input.policy;
  const goneRecords = provenTogether(upset.gone);
  const vanishedRows = vanished.map(({ key }) => key.id);
  const agreed = [...context.agreements.values()].filter((agreement) => isInTable(context, agreement)).length;
  const company = () => describeCompany(context, vanishedRows);
  const alone = (brake: Brake): Tripped => ({ brake, edits: [], vanishedRows: [], goneRecords: [] });
  const header = (field: FieldName) => headerOf(context, field);
  const disorders = [
    ...findDisorder(edits, agreed, limits, header, lost),
    ...findCleared(cleared, agreed, limits, header),
  ];
  return [
    ...findFirstMeeting(context, binding.unbound).map(alone),
    ...findBrakes({ entity, agreed, vanishedRows, goneRecords, rule: ruleOf(context), company }, limits).map(
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
    ...findRebase(context, binding).map(alone),
  ];
}

/**
 * What the CRM would trash together with these records of a tab, and that is none of them. Of many records it is never the same for long, and
 * an answer is for what was shown: so it is not counted.
 */
function describeCompany({ cascades, entity }: TabContext, ids: readonly RecordId[]): string {
  const own = new Set(ids);
  const going = new Set(ids.flatMap((id) => cascades.goingWith({ entity, id })));
  return listKinds([...going].filter(({ key }) => key.entity !== entity || !own.has(key.id)));
}

const isOfGoneRecords = ({ entity, scope }: Brake): boolean => scope === brakeScope(entity, 'gone');

/**
 * The records with a row that are gone from the CRM or that a list lacked, and not because of another one, nor because a person had us take
 * them back. Those of which several rows have the ID count too; rows in which somebody put an ID that was one long ago do not.
 */
function findGone(context: TabContext, { copies, records }: Binding): KnownRecord[] {
  const ids = new Set([...records, ...copies].map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const record = context.records.get(id);
    const hasMet = context.agreements.has(id);
    const isMissing = hasMet && (record?.presence === 'gone' || (record?.missedSweeps ?? 0) > 0);
    const isExplained = !areLeadsStopped(context) && record && context.cascades.isGoneWith(record);
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

/** Leads that are held back are no reason to let go on what would go with them. */
const areLeadsStopped = ({ draft, entity, input }: TabContext): boolean =>
  entity !== 'lead' &&
  (input.table.tabs.lead.state === 'held' || draft.brakes.some((brake) => brake.entity === 'lead'));
