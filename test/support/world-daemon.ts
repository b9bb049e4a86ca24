import { nextNotice } from '../../src/core/notice.ts';
import { absorb, noteMissed, noteReplaced, sweepsToProve } from '../../src/core/observe.ts';
import type { Consequences } from '../../src/core/open-write.ts';
import { isClaimToken, type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { type Agreement, isAnswerLost, type JournalEntry, type OutboxItem } from '../../src/core/state.ts';
import { differingFields, type Fields } from '../../src/core/value.ts';
import { landShown } from '../../src/sheet/cells/shown.ts';
import { isQuiet, type Plan, type TableStep } from '../../src/sheet/decide/plan.ts';
import { type Cell, describeCell } from '../../src/sheet/port/cell.ts';
import { remember, rememberWritten } from '../../src/sheet/rest.ts';
import { describeUnanswered } from '../../src/sync/unanswered.ts';
import {
  addRecord,
  changeRecord,
  createWorld,
  decideWorld,
  readSheet,
  removeRecord,
  type SheetRow,
  type World,
  type WorldOptions,
} from './world.ts';

/*
 * The daemon's other half as a model: it does what a plan says, at once. The real one is src/sync; this one is here so that deciding can
 * be tested over thousands of steps without waiting for anything.
 */

/** Reads the whole CRM; a record that two reads lack is gone. */
export function pull(world: World): void {
  world.now += 1_000;
  for (const { key, fields } of world.order([...world.crm.values()])) observe(world, key, fields);
  const missed = noteMissed([...world.records.values()], world.now);
  for (const record of missed) {
    const isGone = record.missedSweeps >= sweepsToProve;
    world.records.set(recordKeyText(record.key), isGone ? { ...record, presence: 'gone' } : record);
  }
  world.isSwept = true;
}

function observe(world: World, key: RecordKey, fields: Fields): void {
  const text = recordKeyText(key);
  const seen = { ...key, fields, at: world.now };
  world.records.set(text, absorb(world.records.get(text), seen, { now: world.now, lagMs: 0 }));
}

/** What becomes of a write: it lands, it lands but its answer is lost, or it is lost. */
export type Outcome = 'answered' | 'unanswered' | 'lost';

/** One cycle: decides, and does what the plan says about the mirror and the sheet. */
export function cycle(world: World, outcome: Outcome = 'answered'): Plan {
  world.now += 1_000;
  recall(world);
  const read = readSheet(world);
  const plan = decideWorld(world);
  const { agreements, decidedAt, decisions, journal } = world;
  for (const key of plan.outbox.drop) forgetStep(world, key);
  for (const item of plan.outbox.save) {
    forgetStep(world, item.key);
    world.outbox.set(recordKeyText(item.key), item);
  }
  for (const key of plan.agreements.drop) agreements.delete(recordKeyText(key));
  for (const agreement of plan.agreements.save) agreements.set(recordKeyText(agreement.key), agreement);
  for (const { scope, choice, at } of plan.answers) {
    decisions.set(scope, choice);
    decidedAt.set(scope, at);
  }
  for (const scope of plan.settledDecisions) {
    decisions.delete(scope);
    decidedAt.delete(scope);
  }
  for (const id of plan.suspects.drop) world.suspects.delete(id);
  for (const suspect of plan.suspects.save) world.suspects.set(suspect.id, suspect);
  for (const entity of plan.rebased) world.rebases.delete(entity);
  for (const entity of plan.remapped) world.remaps.delete(entity);
  journal.push(...plan.journal);
  if (outcome !== 'lost') writeSheet(world, world.order(plan.table));
  if (outcome !== 'answered' && plan.table.length > 0) {
    world.openWrites.push({ plan, hasLanded: outcome === 'unanswered' });
    return plan;
  }
  world.memory = rememberWritten(remember(world.memory, read, world.now), plan);
  for (const step of world.order(plan.table)) confirm(world, plan.at, step);
  return plan;
}

/** Finds out what became of writes whose answer is lost. The token of a claim that was never confirmed is void. */
function recall(world: World): void {
  for (const { hasLanded, plan } of world.openWrites.splice(0)) {
    for (const step of plan.table) {
      if (hasLanded) confirm(world, world.now, step);
      else if (step.write.kind !== 'delete' && step.write.id) {
        const token = describeCell(step.write.id);
        if (isClaimToken(token)) world.voidTokens.add(token);
      }
    }
  }
}

/** Google refuses a whole batch for one such text. */
function expectWritable(cells: readonly (Cell | undefined)[]): void {
  for (const cell of cells) {
    if (cell?.kind !== 'text' || (cell.text.length <= 50_000 && cell.text.isWellFormed())) continue;
    throw new Error(`No cell can hold a text of ${cell.text.length} characters: ${cell.text.slice(0, 80)}`);
  }
}

function writeSheet(world: World, steps: readonly TableStep[]): void {
  const deleted = new Set<SheetRow>();
  const appended = steps.filter(({ write }) => write.kind === 'append');
  for (const { write } of steps) {
    if (write.kind !== 'delete') expectWritable([write.id, write.sync, ...Object.values(write.cells)]);
    if (write.kind === 'append') continue;
    const row = world.sheet[write.entity][write.position - 1];
    if (!row) throw new Error(`There is no row ${write.position} to ${write.kind}.`);
    if (write.kind === 'delete') deleted.add(row);
    else {
      row.id = write.id ?? row.id;
      row.sync = write.sync ?? row.sync;
      Object.assign(row.cells, write.cells);
    }
  }
  for (const rows of Object.values(world.sheet)) {
    const kept = rows.filter((row) => !deleted.has(row));
    rows.splice(0, rows.length, ...kept);
  }
  for (const { write } of appended) {
    if (write.kind !== 'append') continue;
    const { cells, id = { kind: 'empty' }, sync = { kind: 'empty' } } = write;
    const filled = Object.entries(cells).filter(([, cell]) => cell.kind !== 'empty');
    world.sheet[write.entity].push({ id, sync, cells: Object.fromEntries(filled) });
  }
}

function confirm(
  world: World,
  at: number,
  { closes, forgets, journal, key, notice, noticed, offers }: Consequences,
): void {
  if (closes !== undefined) world.suspects.delete(closes);
  if (journal) world.journal.push(journal);
  if (!key) return;
  const text = recordKeyText(key);
  const agreement = world.agreements.get(text);
  if (forgets) {
    world.agreements.delete(text);
    forgetStep(world, key);
  } else if (agreement && Object.keys(offers).length > 0) {
    const fields = { ...agreement.fields, ...offers };
    const landed = landShown(agreement.shown, offers);
    const told = nextNotice(agreement, { fields: Object.keys(offers), noticed, notice, at });
    world.agreements.set(text, { ...agreement, ...landed, fields, offered: {}, changedAt: at, ...told });
  }
}

/** Forgets a step towards the CRM; of one that was sent and not answered the journal keeps what it may have replaced. */
function forgetStep(world: World, key: RecordKey): void {
  const text = recordKeyText(key);
  const item = world.outbox.get(text);
  const entry = item && describeUnanswered(item, world.records.get(text), world.now);
  if (entry) world.journal.push(entry);
  world.outbox.delete(text);
}

/**
 * Sends what waits in the outbox, each after a fresh look at its record: so it is found out whether an update that was not answered was
 * done. A create is always answered here, because finding out what became of one is not a matter of deciding.
 */
export function push(world: World, outcome: Outcome = 'answered'): void {
  for (const item of world.order([...world.outbox.values()])) {
    world.now += 1_000;
    if (item.state !== 'waiting') continue;
    if (item.kind === 'create') pushCreate(world, item);
    else pushChange(world, item, outcome);
  }
}

const refusal = { state: 'refused', error: { code: 'CRM_REFUSED', message: 'The title is taken.' } } as const;

/** What the CRM says to everything that waits; no where nothing else is told. */
export function refuse(world: World, changes: Partial<OutboxItem> = refusal): void {
  for (const [text, item] of world.outbox)
    if (item.state === 'waiting') world.outbox.set(text, { ...item, ...changes });
}

function pushChange(world: World, item: OutboxItem, outcome: Outcome): void {
  const text = recordKeyText(item.key);
  const actual = world.crm.get(text);
  if (actual) observe(world, item.key, actual.fields);
  const known = world.records.get(text);
  if (actual && known && isAnswerLost(item, known)) return finishUpdate(world, item);
  const isMoved = actual ? differingFields(item.base, actual.fields).length > 0 : item.kind === 'update';
  if (isMoved) return setAside(world, item);
  if (outcome === 'lost') return;
  if (item.kind === 'delete') removeRecord(world, item.key);
  else changeRecord(world, item.key, item.fields);
  if (outcome === 'unanswered') world.outbox.set(text, { ...item, sentAt: world.now });
  else if (item.kind === 'delete') finishDelete(world, item);
  else finishUpdate(world, item);
}

/** An edit that its record has outrun stays for the next plan: its row may be gone. What is taken back is no edit. */
function setAside(world: World, item: OutboxItem): void {
  forgetStep(world, item.key);
  const { sentAt: _closed, ...open } = item;
  if (item.kind === 'update' && !item.isUndo)
    world.outbox.set(recordKeyText(item.key), { ...open, state: 'review' });
}

const emptyAgreement = (key: RecordKey): Agreement => ({
  key,
  fields: {},
  offered: {},
  changedAt: 0,
  notice: '',
});

const entryOf = (
  item: OutboxItem,
  at: number,
  parts: Pick<JournalEntry, 'before' | 'after' | 'lost'>,
): JournalEntry => ({
  at,
  run: item.run,
  key: item.key,
  kind: item.kind,
  side: 'crm',
  cause: 'pushed',
  ...parts,
});

function pushCreate(world: World, item: OutboxItem): void {
  const key = { entity: item.key.entity, id: addRecord(world, item.key.entity, item.fields) };
  const text = recordKeyText(key);
  observe(world, key, world.crm.get(text)?.fields ?? {});
  world.agreements.set(text, { ...emptyAgreement(key), fields: item.fields, changedAt: world.now });
  world.outbox.set(recordKeyText(item.key), { ...item, state: 'done', recordId: key.id });
  world.journal.push({ ...entryOf(item, world.now, { before: {}, after: item.fields, lost: {} }), key });
}

/** How long what a write replaced is kept in doubt; what is read here is never behind. */
const lagMs = 5_000;

function finishUpdate(world: World, item: OutboxItem): void {
  const text = recordKeyText(item.key);
  const known = world.records.get(text);
  if (!known) throw new Error(`Nothing is known of ${text}.`);
  world.records.set(text, {
    ...known,
    fields: { ...known.fields, ...item.fields },
    observedAt: world.now,
    written: noteReplaced(known.written, { at: world.now, before: item.base }, lagMs),
  });
  const agreement = world.agreements.get(text) ?? emptyAgreement(item.key);
  const fields = { ...agreement.fields, ...item.fields };
  // The row has yet to follow what was taken back.
  if (!item.isUndo) {
    const told = nextNotice(agreement, {
      fields: Object.keys(item.fields),
      notice: item.notice,
      at: world.now,
    });
    world.agreements.set(text, { ...agreement, fields, changedAt: world.now, ...told });
  }
  const lost = item.notice === '' ? {} : item.base;
  world.journal.push(entryOf(item, world.now, { before: item.base, after: item.fields, lost }));
  world.outbox.delete(text);
}

function finishDelete(world: World, item: OutboxItem): void {
  const text = recordKeyText(item.key);
  const known = world.records.get(text);
  if (known) world.records.set(text, { ...known, presence: 'gone', written: { at: world.now, before: {} } });
  if (!item.isUndo) world.agreements.delete(text);
  world.outbox.delete(text);
  world.journal.push(entryOf(item, world.now, { before: item.base, after: {}, lost: {} }));
}

const roundsMax = 20;

/** Lets the daemon work until nothing changes any more; answers the last plan, which is quiet. */
export function settle(world: World): Plan {
  for (let round = 1; round <= roundsMax; round += 1) {
    pull(world);
    const first = cycle(world);
    push(world);
    pull(world);
    const second = cycle(world);
    const isWaiting = [...world.outbox.values()].some(({ state }) => state === 'waiting');
    if (isQuiet(first) && isQuiet(second) && second.restlessRows === 0 && !isWaiting) return second;
  }
  throw new Error(`The two sides do not come to rest within ${roundsMax} rounds.`);
}

/** A world at rest whose leads have these titles; their ids count from 1. */
export function worldWithLeads(titles: readonly string[], options: WorldOptions = {}): World {
  const world = createWorld(options);
  for (const title of titles) addRecord(world, 'lead', { title });
  settle(world);
  return world;
}
