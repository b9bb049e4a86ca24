import { countByKind, createCascades, relateRecords } from '../../core/cascade.ts';
import type { Catalog } from '../../core/fields/catalog.ts';
import { splitContactId } from '../../core/fields/contact-id.ts';
import { journalEntry } from '../../core/journal-entry.ts';
import { once } from '../../core/once.ts';
import { type Entity, isClaimToken, type RecordKey, recordKeyText } from '../../core/record.ts';
import { emptyAgreement, isOnItsWay } from '../../core/state.ts';
import { isOpen, type TakenEdit } from '../../core/taken-edit.ts';
import { decisionOf } from '../../core/waiting/answer.ts';
import { isAboutAny } from '../../core/waiting/scopes.ts';
import type { Brake, Conflict, Hold, Refusal } from '../../core/waiting/waiting.ts';
import { forgetStep, replaceStep } from '../../sync/pushing/unanswered.ts';
import type { Question } from '../../sync/side.ts';
import { warehouseFacts } from '../facts.ts';
import type { EditTerms, WarehouseLink } from '../link.ts';
import type { WarehouseLayout } from '../port/layout.ts';
import type { EditedRow, ReadEdits } from '../port/port.ts';
import { strayKey } from '../rows.ts';
import { come, type EditContext, type EditedRecord, type EditVerdict } from './context.ts';
import { decideEdits } from './decide.ts';
import { isUnderWay } from './decide-update.ts';
import { brakeEdits } from './edit-brakes.ts';
import { isNoted } from './landing.ts';
import { rememberedMs } from './old-edits.ts';
import { takeRow } from './take.ts';
import { unnotedId } from './unlogged.ts';

/** What deciding about all open edits came to. */
export interface DecidedAll {
  readonly brakes: readonly Brake[];
  readonly conflicts: readonly Conflict[];
  readonly holds: readonly Hold[];
  readonly refusals: readonly Refusal[];
  /** Records of which a step waits to be sent. */
  readonly toPush: readonly RecordKey[];
}

export const nothingDecided: DecidedAll = { brakes: [], conflicts: [], holds: [], refusals: [], toPush: [] };

/** Takes what was read over into the mirror, each edit once. To be called in a transaction. */
export function takeEdits(
  { clock, mirror, newWord }: WarehouseLink,
  editing: EditTerms,
  layout: WarehouseLayout,
  rows: readonly EditedRow[],
): void {
  const occasion = {
    now: clock.now(),
    run: newWord(),
    rememberedMs: rememberedMs(editing),
    edits: mirror.edits,
  };
  for (const row of rows) {
    const table = layout.tables.find(({ entity }) => entity === row.entity);
    if (!table) continue;
    const { doubtful, due, edits } = takeRow(occasion, table, row);
    for (const edit of edits) mirror.edits.save(edit);
    for (const item of doubtful) mirror.saveOutboxItem(item);
    mirror.feed.noteDue(due);
  }
}

/** Keeps what users answered by SQL to questions that are asked. Returns the scopes of all that were answered. To be called in a transaction. */
export function takeAnswers(
  { clock, mirror }: WarehouseLink,
  answers: ReadEdits['answers'],
  questions: readonly Question[],
): readonly string[] {
  const taken: string[] = [];
  for (const { answer, scope } of answers) {
    const question = questions.find((each) => each.scope === scope);
    const choice = question?.answers.find((each) => each === (answer === 'sql' ? 'sheet' : answer));
    if (!choice) continue;
    mirror.saveDecision(decisionOf(scope, choice, clock.now(), question?.shown));
    taken.push(scope);
  }
  return taken;
}

/** Decides about every record with open edits, and keeps all that follows. To be called in a transaction. */
export function decideAll(
  link: WarehouseLink,
  catalog: Catalog,
  terms: EditTerms,
  behind: ReadonlySet<Entity> = new Set(),
): DecidedAll {
  const { clock, entities, mirror, newWord } = link;
  const open = mirror.edits.readOpen();
  if (open.length === 0) {
    forgetAnswers(link);
    return nothingDecided;
  }
  const answers = new Map(mirror.readDecisions().map((decision) => [decision.scope, decision]));
  const choice = (scope: string) => answers.get(scope)?.choice;
  // What a create of ours has made, while its row may not have its id.
  const fresh = new Set(
    mirror.edits
      .readUntold(Number.MAX_SAFE_INTEGER)
      .flatMap(({ key, newId }) => (newId === undefined ? [] : [recordKeyText(key)])),
  );
  const brakes: Brake[] = [];
  for (const entity of entities) {
    const own = open.filter(({ key }) => key.entity === entity);
    const rows = mirror.readFact(warehouseFacts.rows(entity)) ?? 0;
    const braked = brakeEdits(entity, own, rows, terms.limits, choice);
    brakes.push(...braked.brakes);
    for (const scope of braked.spent) mirror.dropDecision(scope);
    for (const edit of braked.approved) mirror.edits.save({ ...edit, isMeant: true });
    if (braked.revoked.length > 0) revoke(link, braked.revoked, fresh);
    if (braked.brakes.length > 0)
      for (const edit of own) noteBraked(link, edit, braked.brakes[0]?.reason ?? '');
  }
  const stopped = new Set([...brakes.map(({ entity }) => entity), ...behind]);
  const findCascades = once(() => createCascades(relateRecords(mirror.readRecords()), mirror.readAllSteps()));
  const context: EditContext = {
    now: clock.now(),
    run: newWord(),
    catalog,
    policy: terms,
    choice,
    answeredAt: (scope) => answers.get(scope)?.at,
    findInsert: mirror.edits.findInsert,
    isRead: (key) => isRead(mirror, key),
    companyOf: (key) => countByKind(findCascades().goingWith(key)),
  };
  const all: EditVerdict[] = [];
  const decide = (isWanted: (key: RecordKey) => boolean) => {
    for (const subject of subjectsOf(link)) {
      if (stopped.has(subject.key.entity) || !isWanted(subject.key)) continue;
      const verdict = decideEdits(context, subject);
      all.push(verdict);
      carryOut(link, subject, verdict, fresh);
    }
  };
  // What a create has made is a record like any other from then on.
  decide(({ id }) => isClaimToken(id));
  decide(({ id }) => !isClaimToken(id));
  forgetAnswers(link);
  const holds = all.flatMap((verdict) => verdict.holds ?? []);
  const conflicts = all.flatMap((verdict) => verdict.conflicts ?? []);
  const refusals = all.flatMap((verdict) => verdict.refusals ?? []);
  const toPush = mirror
    .readOutbox()
    .filter((item) => isOnItsWay(item) && !stopped.has(item.key.entity) && isNoted(mirror, item))
    .map(({ key }) => key);
  return { brakes, conflicts, holds, refusals, toPush };
}

/** Whether a record of the kind that is not known is not in the CRM. Contacts are read lead by lead. */
function isRead(mirror: WarehouseLink['mirror'], { entity, id }: RecordKey): boolean {
  if (entity !== 'contact')
    return mirror.readSweeps().some((sweep) => sweep.entity === entity && sweep.isComplete);
  const { leadId } = splitContactId(id);
  return mirror.readContactReads().some((read) => read.leadId === leadId);
}

/** Forgets answers about records of which no edit is open: they are not meant for the next one. */
function forgetAnswers({ mirror }: WarehouseLink): void {
  const keys = new Set(mirror.edits.readOpen().map(({ key }) => recordKeyText(key)));
  const everyKey = (scope: string) => new Set([scope.split(':')[1] ?? '']);
  for (const { scope } of mirror.readDecisions())
    if (isAboutAny(scope, everyKey(scope)) && !isAboutAny(scope, keys)) mirror.dropDecision(scope);
}

function noteBraked({ mirror }: WarehouseLink, edit: TakenEdit, reason: string): void {
  if (edit.isMeant) return;
  const held = come(edit, 'held', reason);
  if (held !== edit) mirror.edits.save(held);
}

/** The records with open edits, each with all that is known of it. */
function subjectsOf({ mirror }: WarehouseLink): readonly EditedRecord[] {
  const byKey = Map.groupBy(mirror.edits.readOpen(), ({ key }) => recordKeyText(key));
  return [...byKey.values()].flatMap((edits) => {
    const key = edits[0]?.key;
    if (!key) return [];
    return [
      {
        key,
        record: mirror.findRecord(key),
        agreement: mirror.findAgreement(key),
        item: mirror.findOutboxItem(key),
        edits,
      },
    ];
  });
}

function carryOut(
  { clock, mirror }: WarehouseLink,
  { agreement, edits, key }: EditedRecord,
  verdict: EditVerdict,
  fresh: Set<string>,
): void {
  const at = clock.now();
  for (const edit of verdict.edits) mirror.edits.save(edit);
  if (verdict.step) replaceStep(mirror, verdict.step, at);
  else if (verdict.dropsStep) forgetStep(mirror, key, at);
  for (const scope of verdict.spent ?? []) mirror.dropDecision(scope);
  mirror.appendJournal(verdict.journal ?? []);
  const made = verdict.edits.find(({ newId }) => newId !== undefined);
  const now = new Map(verdict.edits.map((edit) => [edit.editId, edit]));
  const isOver = edits.every((edit) => !isOpen(now.get(edit.editId) ?? edit));
  const isFresh = fresh.has(recordKeyText(key));
  if (made) {
    fresh.add(recordKeyText(made.key));
    keepMade(mirror, made.key, at);
  } else if (isOver && !isFresh) {
    mirror.dropAgreement(key);
  } else if (verdict.bases) {
    const isEmpty = Object.keys(verdict.bases).length === 0;
    const kept = isFresh ? agreement?.fields : undefined;
    if (isEmpty && !kept) mirror.dropAgreement(key);
    else
      mirror.saveAgreement({
        ...(agreement ?? emptyAgreement(key, at)),
        fields: { ...kept, ...verdict.bases },
      });
  }
  const row = edits[0]?.row ?? key.id;
  const isGone = isClaimToken(key.id) && !made && isOver;
  if (verdict.isDue && !isClaimToken(key.id)) mirror.feed.noteDue([key]);
  if (made) mirror.feed.noteDue([made.key]);
  if (isGone) mirror.feed.noteDue([strayKey(key.entity, row)]);
}

/**
 * The base of edits that were made while the row had no record: what was sent, and what the CRM set of itself. Kept until the row has the id
 * of its record: what is edited later tells its own base.
 */
function keepMade(mirror: WarehouseLink['mirror'], key: RecordKey, at: number): void {
  const agreement = mirror.findAgreement(key) ?? emptyAgreement(key, at);
  const made = mirror.findRecord(key)?.fields ?? {};
  mirror.saveAgreement({ ...agreement, fields: { ...made, ...agreement.fields } });
}

const revokedNote = 'It was taken back, with others that were too many to be meant.';

/**
 * Takes back what a user did not mean: the rows show the CRM's values again. What is on its way is taken back like any other edit, once it is known
 * what came of it.
 */
function revoke(link: WarehouseLink, revoked: readonly TakenEdit[], fresh: Set<string>): void {
  const { clock, mirror, newWord } = link;
  const occasion = { now: clock.now(), run: newWord() };
  const names = new Set(revoked.map(({ editId }) => editId));
  for (const subject of subjectsOf(link)) {
    const { edits, item, key, record } = subject;
    const own = edits.filter(({ editId }) => names.has(editId));
    const [first] = own;
    if (!first) continue;
    if (isUnderWay(item, record) || item?.state === 'done') {
      const made = { editId: unnotedId(newWord()), before: {}, after: {}, ended: {}, at: occasion.now };
      const told = { isMeant: true, isUnlogged: true, isTold: true } as const;
      mirror.edits.save({ ...first, ...made, ...told, kind: 'revert', state: 'taken', note: '' });
      continue;
    }
    carryOut(
      link,
      subject,
      {
        edits: own.map((edit) => come(edit, 'lost', revokedNote)),
        // The step is for what stays open, where something does: that is decided next.
        dropsStep: own.length === edits.length,
        isDue: true,
        journal: own
          .filter(({ kind }) => kind === 'update')
          .map(({ after, before }) =>
            journalEntry(occasion, key, {
              kind: 'update',
              before: after,
              after: before,
              lost: after,
              cause: 'taken back by a user',
            }),
          ),
      },
      fresh,
    );
  }
}
