import { facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import { type Entity, entities, isClaimToken } from '../core/record.ts';
import { type Agreement, type JournalEntry, waitingFields } from '../core/state.ts';
import { pickFields } from '../core/value.ts';
import { scopeEntity } from '../core/waiting/scopes.ts';
import { forgetStep } from '../sync/pushing/unanswered.ts';
import { damageOf, noteDamage, readSuspects } from './damages.ts';
import { sheetFacts } from './facts.ts';
import type { SheetLink } from './link.ts';
import { describeCell } from './port/cell.ts';
import type { ObservedTable } from './port/table.ts';

export const saveRebase = (mirror: Mirror, entity: Entity, reason: string): void =>
  mirror.saveFact(sheetFacts.rebase(entity), reason);

/**
 * The entities whose agreements have to be found anew, with the reason. A mirror that has none at all meets a tab with IDs when
 * its own file was lost, or when people number their rows.
 */
export function readRebases(
  mirror: Mirror,
  agreements: readonly Agreement[],
  table: ObservedTable,
): ReadonlyMap<Entity, string> {
  return new Map(
    entities.flatMap((entity) => {
      const isNew = hasIds(table, entity) && !agreements.some(({ key }) => key.entity === entity);
      const reason = mirror.readFact(sheetFacts.rebase(entity)) ?? (isNew ? newMirrorReason : '');
      return reason === '' ? [] : [[entity, reason] as const];
    }),
  );
}

const newMirrorReason =
  'The mirror is new, but rows have IDs: the sheet was synced before, or has an ID column of its own.';

function hasIds({ tabs }: ObservedTable, entity: Entity): boolean {
  const tab = tabs[entity];
  return (
    tab.state === 'read' && tab.rows.some(({ id }) => id.kind !== 'empty' && !isClaimToken(describeCell(id)))
  );
}

/** When a rebase begins, and the word in all claim tokens from then on: what became of earlier claims nobody knows. */
export interface Occasion {
  /** Epoch ms. */
  readonly now: number;
  readonly newWord: string;
}

/**
 * Forgets what a mirror from another time claims about both sides, keeping what is known of records. What both sides hold now decides:
 * equal values are agreed again, different ones wait for a person, and nothing is written before a person agrees. What writes did to other
 * rows than their own stays known, and what was being undone is asked about. To be called in a transaction.
 */
export function beginRebase(mirror: Mirror, reason: string, { now, newWord }: Occasion): void {
  for (const { scope } of mirror.readDecisions()) mirror.dropDecision(scope);
  for (const { id, ...write } of mirror.readOpenWrites()) {
    noteDamage(mirror, id, damageOf(write), { at: now, state: 'escalated' });
    mirror.dropOpenWrite(id);
  }
  for (const entity of entities) {
    forgetAgreed(mirror, entity, reason, now);
    // What the CRM holds now has to be seen first.
    mirror.saveSweep({ entity, startedAt: now, isComplete: false, pages: 0, records: 0 });
  }
  for (const { leadId } of mirror.readContactReads()) mirror.dropContactRead(leadId);
  mirror.saveFact(sheetFacts.word, newWord);
  mirror.saveFact(sheetFacts.writes, []);
}

/** Forgets what is agreed of an entity and what is on its way to the CRM for it. */
function forgetAgreed(mirror: Mirror, entity: Entity, reason: string, now: number): void {
  for (const { key } of mirror.readAgreements()) if (key.entity === entity) mirror.dropAgreement(key);
  for (const { key, kind, state } of mirror.readOutbox()) {
    const isOver = kind === 'create' && (state === 'done' || state === 'review');
    if (key.entity === entity && !isOver) forgetStep(mirror, key, now);
  }
  saveRebase(mirror, entity, reason);
}

/**
 * Rebases one entity, because its rows are other ones than those that the mirror speaks of. What is known of the CRM stays good. To be
 * called in a transaction.
 */
export function rebaseRows(mirror: Mirror, entity: Entity, reason: string, { now, newWord }: Occasion): void {
  noteUnsent(mirror, entity, now);
  forgetAgreed(mirror, entity, reason, now);
  for (const { scope } of mirror.readDecisions())
    if (scopeEntity(scope) === entity) mirror.dropDecision(scope);
  for (const { damage, id } of readSuspects(mirror)) if (damage.entity === entity) mirror.dropSuspect(id);
  mirror.saveFact(sheetFacts.word, newWord);
}

/** Keeps in the journal what was typed into rows that are gone with their tab, and was not sent yet: nothing else knows of it any more. */
function noteUnsent(mirror: Mirror, entity: Entity, at: number): void {
  const unsent = mirror
    .readOutbox()
    .filter(({ key, sentAt }) => key.entity === entity && sentAt === undefined)
    .filter((item) => Object.keys(waitingFields(item)).length > 0);
  mirror.appendJournal(
    unsent.map(({ fields: lost, key, run }): JournalEntry => {
      const after = pickFields(mirror.findRecord(key)?.fields ?? {}, Object.keys(lost));
      const cause = 'not sent, because its row is gone with its tab';
      return { at, run, key, kind: 'update', side: 'table', before: lost, after, lost, cause };
    }),
  );
}

/** Rebases a mirror that was started from a copy. Returns whether it was one. */
export function rebaseCopy(mirror: Mirror, occasion: Occasion): boolean {
  const copiedAt = mirror.readFact(facts.copiedAt);
  if (!copiedAt) return false;
  mirror.transaction(() => {
    beginRebase(mirror, `The mirror is a copy from ${copiedAt}.`, occasion);
    mirror.dropFact(facts.copiedAt);
  });
  return true;
}

/** So many writes are remembered: one that nobody answered lands within three minutes, in which there are hardly more than half of these. */
const writesMax = 250;

/** The writes to the table that the mirror knows of; none where it knows nothing of the table yet. */
export const readWrites = (mirror: Mirror): readonly string[] => mirror.readFact(sheetFacts.writes) ?? [];

/** Takes note of a write to the table before it is sent. To be called in a transaction. */
export function noteWrite(mirror: Mirror, run: string): void {
  const others = readWrites(mirror).filter((known) => known !== run);
  mirror.saveFact(sheetFacts.writes, [...others, run].slice(-writesMax));
}

/**
 * Rebases a mirror that does not know what the table says was written there last: it is an old one that was put back, or another mirror
 * has written since. Returns whether it was.
 */
export function rebaseOutrun({ clock, mirror, newWord }: OutrunLink, { lastWrite }: ObservedTable): boolean {
  const known = readWrites(mirror);
  if (lastWrite === undefined) return false;
  if (known.includes(lastWrite)) {
    // Those that are refused for days, or tell of questions alone, must not push out the one that the table goes on naming.
    if (known.indexOf(lastWrite) < known.length - writesMax / 2)
      mirror.transaction(() => noteWrite(mirror, lastWrite));
    return false;
  }
  // One that knows nothing of the table yet begins with this.
  const isOutrun = known.length > 0;
  mirror.transaction(() => {
    if (isOutrun) beginRebase(mirror, outrunReason, { now: clock.now(), newWord: newWord() });
    noteWrite(mirror, lastWrite);
  });
  return isOutrun;
}

type OutrunLink = Pick<SheetLink, 'clock' | 'mirror' | 'newWord'>;

const outrunReason =
  'The mirror does not know the last write to the sheet: it is an old copy, or another daemon has kept the sheet since.';

/**
 * Rebases the entities whose rows another tab holds than before. A copy that took the place of its original shows what that had when it
 * was made, which would look like edits of today; what is not in it would look deleted. Returns whether there are any.
 */
export function rebaseReplaced(
  { clock, mirror, newWord, table }: OutrunLink & Pick<SheetLink, 'table'>,
  { tabs }: ObservedTable,
): boolean {
  const found = entities.flatMap((entity) => {
    const tab = tabs[entity];
    if (tab.state === 'held' || tab.identity === undefined) return [];
    const now = `${table.identity}/${tab.identity}`;
    const before = mirror.readFact(sheetFacts.tab(entity));
    return before === now ? [] : [{ entity, now, isReplaced: before !== undefined }];
  });
  if (found.length === 0) return false;
  return mirror.transaction(() => {
    for (const { entity, isReplaced, now } of found) {
      if (isReplaced) rebaseRows(mirror, entity, replacedReason, { now: clock.now(), newWord: newWord() });
      mirror.saveFact(sheetFacts.tab(entity), now);
    }
    return found.some(({ isReplaced }) => isReplaced);
  });
}

const replacedReason =
  'Another tab has taken the place of the one that was kept the same: what it shows may be of former times.';

/** The word in all claim tokens of this mirror. */
export function readWord(mirror: Mirror, newWord: () => string): string {
  const known = mirror.readFact(sheetFacts.word);
  if (known) return known;
  const word = newWord();
  mirror.saveFact(sheetFacts.word, word);
  return word;
}
