import { booleanCell, type Cell, emptyCell, equalCells } from '../cell.ts';
import { idHeader, syncHeader } from '../headers.ts';
import { isMostlyAlike, isSameKept } from '../kept-cell.ts';
import { tabKinds } from '../layout.ts';
import {
  type Consequences,
  hasOpenSteps,
  keepSteps,
  lateLandingMs,
  type Mending,
  type OpenWrite,
  type SentAppend,
  type SentDelete,
  type SentSet,
  stepsOf,
  watchFields,
} from '../open-write.ts';
import {
  type ColumnPlaces,
  type Hit,
  isNewRecord,
  type KeptRow,
  numberSteps,
  type PlannedPlaces,
  type RowStep,
  type SetStep,
  type WriteReply,
} from '../table.ts';
import type { FieldName } from '../value.ts';
import type { Plan, TableStep } from './plan.ts';

/** What a plan's write sends, as it has to be known should no reply come. */
export function unansweredWrite(
  { at, before, run, table }: Pick<Plan, 'at' | 'before' | 'run' | 'table'>,
  from: number,
  places: PlannedPlaces = {},
): OpenWrite {
  const consequencesOf = new Map<RowStep, TableStep>(table.map((step) => [step.write, step]));
  const steps = numberSteps(table.map(({ write }) => write));
  const sets: SentSet[] = [];
  const deletes: SentDelete[] = [];
  const appends: SentAppend[] = [];
  for (const [slot, step] of steps) {
    const [consequences, seen] = [consequencesOf.get(step), before.get(step)];
    const rest = {
      slot,
      ...(consequences ? { confirms: confirmsOf(consequences) } : {}),
      ...(seen ? { was: seen.cells } : {}),
      ...(seen?.isShared ? { isShared: true as const } : {}),
      ...(seen?.isAlone ? { isAlone: true as const } : {}),
    };
    if (step.kind === 'delete') deletes.push({ ...step, ...rest });
    else if (step.kind === 'set') sets.push({ ...sentSet(step), ...rest });
    else appends.push({ ...step, ...rest });
  }
  const height = tabKinds.length + sets.length + deletes.length;
  const settlesAt = at + lateLandingMs;
  return {
    id: run,
    at,
    outcome: 'unknown',
    settlesAt,
    keeping: { run, from },
    height,
    places,
    sets,
    deletes,
    appends,
  };
}

const confirmsOf = ({ write: _, ...consequences }: TableStep): Consequences => consequences;

const sentSet = ({ kind: _, others, place, ...step }: SetStep): Omit<SentSet, 'slot'> => ({
  ...step,
  ...(place ? { place } : {}),
  ...(others
    ? { others: others.map(({ column }) => ({ column, written: place?.cells[column] ?? emptyCell })) }
    : {}),
});

/** What is known of a write once the table told what it did. */
export interface Outcome {
  /** What of it is to be mended, and what it has not reached so far. */
  readonly left: readonly OpenWrite[];
  /** Steps that did what they should, by their number. */
  readonly done: ReadonlySet<number>;
  /** By the number of the step, fields in which somebody had typed in the same moment. */
  readonly overtyped: ReadonlyMap<number, readonly FieldName[]>;
}

/**
 * Judges by the rows as they stood right before the write reached them. A row is the one that was meant if it had the ID that was read;
 * one whose ID stands in others too, that had none, or from which somebody took it in that moment, if all of its cells were as they were
 * read. What the `others` mean to write is nothing that a person typed.
 */
export function judgeWrite(
  write: OpenWrite,
  rows: WriteReply['rows'],
  others: readonly OpenWrite[] = [],
): Outcome {
  const done = new Set<number>();
  const overtyped = new Map<number, readonly FieldName[]>();
  const sets: SentSet[] = [];
  const deletes: SentDelete[] = [];
  for (const { kept: _, ...sent } of write.sets) {
    const kept = rows.get(sent.slot);
    if (!kept) continue;
    if (!isMeant(sent, kept)) {
      sets.push(inPlaceOf(sent, kept));
      continue;
    }
    done.add(sent.slot);
    const typed = Object.keys(sent.cells).filter((name) => isTyped(sent, kept, name, others));
    if (typed.length === 0) continue;
    overtyped.set(sent.slot, typed);
    const { id, others: _others, place: _place, sync: _sync, ...rest } = sent;
    const cells = Object.fromEntries(typed.map((name) => [name, sent.cells[name] ?? emptyCell]));
    sets.push({ ...rest, idSeen: id ?? sent.idSeen, cells, kept: { ...kept, id: id ?? kept.id } });
  }
  for (const sent of write.deletes) {
    const kept = rows.get(sent.slot);
    if (!kept || isNothing(kept)) continue;
    const isEdited = Object.keys(sent.was ?? {}).some((name) => isTyped(sent, kept, name, others));
    if (isMeant(sent, kept) && !isEdited) done.add(sent.slot);
    else deletes.push({ ...sent, kept });
  }
  const damage = damageOf(write, '!', { sets, deletes });
  // Of a new row nothing is to be known once anything of the write has landed, but what it hit under columns that had moved.
  const untold = keepSteps(write, ({ slot }) => !rows.has(slot));
  const told = write.deletes.filter(({ slot }) => rows.has(slot));
  const unreached = { ...untold, sets: untold.sets.map((sent) => afterDeletes(sent, told)), appends: [] };
  const hidden = told.filter(({ slot }) => isNothing(rows.get(slot)));
  const landed: OpenWrite = { ...damageOf(write, '~', { sets: [], deletes: hidden }), outcome: 'landed' };
  return { left: [unreached, landed, damage].filter(hasOpenSteps), done, overtyped };
}

/** The set with the place where its row stands once the deletes of its batch are done. */
function afterDeletes(sent: SentSet, deletes: readonly SentDelete[]): SentSet {
  const isAbove = ({ entity, position }: SentDelete) => entity === sent.entity && position < sent.position;
  const above = deletes.filter(isAbove).length;
  return above > 0 ? { ...sent, position: sent.position - above } : sent;
}

/** Nothing is kept of a blank row, and nothing of one that a filter hides. */
const isNothing = (kept: KeptRow | undefined): boolean =>
  kept !== undefined &&
  [kept.id, ...Object.values(kept.cells), ...kept.place.cells].every(({ kind }) => kind === 'empty');

/** What of a write is to be mended. Of one that lands in parts there is some for each. */
function damageOf(
  write: OpenWrite,
  mark: string,
  { deletes, sets }: Pick<OpenWrite, 'deletes' | 'sets'>,
): OpenWrite {
  const [first] = [...sets, ...deletes];
  return {
    ...write,
    id: `${write.id}${mark}${first?.slot ?? ''}`,
    outcome: 'answered',
    sets,
    deletes,
    appends: [],
  };
}

/** The set as it reached another row: other columns than the managed ones are counted by where that row is kept. */
function inPlaceOf({ others, place, ...sent }: SentSet, kept: KeptRow): SentSet {
  const [known, met] = [place?.headers ?? [], kept.place.headers];
  const columnNow = (column: number): number => {
    const header = known[column] ?? '';
    // Several may have one header, or none.
    if (header === (met[column] ?? '')) return column;
    return header === '' ? -1 : met.indexOf(header);
  };
  const found = (others ?? [])
    .map((other) => ({ ...other, column: columnNow(other.column) }))
    .filter(({ column }) => column >= 0);
  return { ...sent, kept, ...(found.length > 0 ? { others: found } : {}) };
}

/**
 * Adds to an outcome what the steps did whose columns had moved: nothing of them counts as done, and what they hit is to be mended. Of a new
 * row that is all of it.
 */
export function addHits(
  { left, ...outcome }: Outcome,
  write: OpenWrite,
  { hits, rows }: WriteReply,
): Outcome {
  if (hits.size === 0) return { ...outcome, left };
  const steps = stepsOf(write);
  const judged = new Map(left.flatMap((each) => each.sets.map((sent) => [sent.slot, sent])));
  const sets = [...hits].flatMap(([slot, { ownId, place, strayed, ...hit }]): SentSet | [] => {
    const step = steps.get(slot);
    if (!step) return [];
    const position = step.kind === 'set' ? step.position : -1;
    const kept = rows.get(slot) ?? rowInPlace(step, { ...hit, place, strayed }, ownId);
    const { cells = {}, others = [], sync } = judged.get(slot) ?? {};
    const reached = Object.entries(cells).filter(([name]) => !strayed.includes(name));
    const unhit = others.filter(({ column }) => hit.others.every((other) => other.column !== column));
    const sent = { entity: step.entity, position, idSeen: emptyCell, slot, ...hit };
    const all = {
      ...sent,
      cells: { ...Object.fromEntries(reached), ...boxesMissed(step, strayed), ...hit.cells },
      others: [...unhit, ...hit.others],
    };
    // In its own row it has put the ID where it belongs, and some of its cells.
    if (step.kind === 'append' || outcome.done.has(slot)) {
      const mended = new Set([...strayed, ...Object.keys(all.cells)]);
      return {
        ...all,
        kept: { ...kept, ...(ownId ? { id: ownId } : {}), cells: cellsAfter(step, kept, mended) },
      };
    }
    const hasSync = sync !== undefined && !strayed.includes(syncHeader);
    return { ...(hasSync ? { sync } : {}), ...all, ...(ownId ? { id: ownId } : {}), kept };
  });
  const isHit = (slot: number) => sets.some((sent) => sent.slot === slot);
  const others = left.map((each) => ({ ...each, sets: each.sets.filter(({ slot }) => !isHit(slot)) }));
  const shifted = damageOf(write, '!!', { sets: sets.flatMap(withHidden(write)), deletes: [] });
  return {
    left: [...others, shifted].filter(hasOpenSteps),
    done: new Set([...outcome.done].filter((slot) => !isHit(slot))),
    overtyped: new Map([...outcome.overtyped].filter(([slot]) => !isHit(slot))),
  };
}

/** What Google has put into checkboxes of a new row that were to be left empty, and that the step did not reach. */
const boxesMissed = (step: RowStep, strayed: readonly FieldName[]): KeptRow['cells'] =>
  step.kind === 'append'
    ? Object.fromEntries(
        Object.entries(step.cells).flatMap(([name, { kind }]) =>
          kind === 'empty' && strayed.includes(name) ? [[name, booleanCell(false)]] : [],
        ),
      )
    : {};

/**
 * Nothing is kept of a row that somebody hid by a filter in that moment, and nothing of a blank one. So a set of which nothing is kept
 * may have met the row that it was meant for as well: which of both it was, what they show now tells, where it wrote anything to be seen.
 */
const withHidden =
  (write: OpenWrite) =>
  (sent: SentSet): SentSet[] => {
    const { idSeen = emptyCell, was = {} } = write.sets.find(({ slot }) => slot === sent.slot) ?? {};
    const { cells = {}, id = emptyCell, place } = sent.kept ?? {};
    const isNothingKept = [id, ...Object.values(cells)].every(({ kind }) => kind === 'empty');
    const isToBeSeen = Object.values(sent.cells).some(({ kind }) => kind !== 'empty');
    if (!place || !isNothingKept || !isToBeSeen || idSeen.kind === 'empty') return [sent];
    return [sent, { ...sent, kept: rowAsRead(idSeen, was, place) }];
  };

/** A row as it was read, under the columns that a write met: what it has in those of people is not known. */
export function rowAsRead(id: Cell, cells: KeptRow['cells'], { columns, headers }: ColumnPlaces): KeptRow {
  const read = new Map(
    Object.entries(columns).map(([name, column]) => [column, name === idHeader ? id : cells[name]]),
  );
  const placed = headers.map((_, column) => read.get(column) ?? emptyCell);
  return { id, sync: emptyCell, cells, place: { columns, headers, cells: placed } };
}

/** What the right row of a step shows, but for what is to be mended. */
const cellsAfter = (step: RowStep, kept: KeptRow, mended: ReadonlySet<FieldName>): KeptRow['cells'] =>
  step.kind === 'set'
    ? {
        ...kept.cells,
        ...Object.fromEntries(Object.entries(step.cells).filter(([name]) => !mended.has(name))),
      }
    : kept.cells;

/** What a new row shows in the columns that it reached, or what it is to show where it stands without its ID. */
function rowInPlace(
  step: RowStep,
  { cells, place, strayed }: Pick<Hit, 'cells' | 'place' | 'strayed'>,
  ownId: Cell | undefined,
): KeptRow {
  const nothing = { id: emptyCell, sync: emptyCell, cells: {}, place };
  if (step.kind !== 'append') return nothing;
  if (isNewRecord(step) && !ownId) {
    const { id = emptyCell, sync = emptyCell } = step;
    return { id, sync, cells: step.cells, place };
  }
  const reached = Object.entries(step.cells).filter(([name]) => !(name in cells) && !strayed.includes(name));
  return { ...nothing, cells: Object.fromEntries(reached) };
}

/** The steps of a write that are named. */
const slotsIn = ({ id }: OpenWrite, named: readonly Mending[]): ReadonlySet<number> =>
  new Set(named.filter(({ write }) => write === id).map(({ slot }) => slot));

/** A step that is made good, with the fields in which somebody had typed in that moment: they may take it back, and show the damage again. */
export interface Mended extends Mending {
  readonly typed: readonly FieldName[];
}

/**
 * The open writes of which less is left once these steps are made good. Of the only damage of a tab the next read has to find no
 * cell and no ID left, also in no copy that somebody made in that moment; where there is more, mending what is older looks the same as
 * damage that came back, and so does a row that is given back.
 */
export function closeMended(writes: readonly OpenWrite[], mended: readonly Mended[]): readonly OpenWrite[] {
  const isOnlyOfTab = (write: OpenWrite, { entity }: SentSet) =>
    !writes.some(
      ({ deletes, id, outcome, sets }) =>
        outcome === 'answered' &&
        id !== write.id &&
        (deletes.some((sent) => sent.entity === entity) ||
          sets.some((sent) => sent.entity === entity && (sent.id || Object.keys(sent.cells).length > 0))),
    );
  return writes.flatMap((write) => {
    const slots = slotsIn(write, mended);
    if (slots.size === 0) return [];
    const own = Map.groupBy(
      mended.filter((each) => each.write === write.id),
      ({ slot }) => slot,
    );
    const typedIn = ({ slot }: SentSet) => (own.get(slot) ?? []).flatMap(({ typed }) => typed);
    const sets = write.sets.flatMap((sent) => {
      const { others: _others, sync: _sync, ...rest } = sent;
      if (!slots.has(sent.slot)) return [sent];
      return isOnlyOfTab(write, sent) ? [rest] : watchFields(sent, typedIn(sent));
    });
    return [{ ...write, sets, deletes: write.deletes.filter(({ slot }) => !slots.has(slot)) }];
  });
}

/** The open writes whose deleted rows are sent back now. */
export function noteSentBack(writes: readonly OpenWrite[], { table }: Plan): readonly OpenWrite[] {
  const sentBack = table.flatMap(({ mends, write }) => (mends && write.kind === 'append' ? [mends] : []));
  return writes.flatMap((write) => {
    const besideOf = new Map(
      sentBack.flatMap((each) => (each.write === write.id ? [[each.slot, each.beside ?? 0]] : [])),
    );
    if (besideOf.size === 0) return [];
    const deletes = write.deletes.map((sent) => {
      const beside = besideOf.get(sent.slot);
      return beside === undefined ? sent : { ...sent, sentBackBeside: beside };
    });
    return [{ ...write, deletes }];
  });
}

function isMeant(sent: SentSet | SentDelete, kept: KeptRow): boolean {
  const { idSeen, isAlone, isShared, was = {} } = sent;
  const hasId = kept.id.kind !== 'empty' && equalCells(idSeen, kept.id);
  if (hasId && !isShared) return true;
  // Damage stays where it is when somebody exchanges IDs.
  if (kept.id.kind !== 'empty' && !hasId && !mendsCells(sent)) return false;
  // A column that was deleted in that moment says nothing of the row.
  const cells = Object.entries(was).filter(([name]) => name in kept.cells);
  if (cells.length === 0 && Object.keys(was).length > 0) return false;
  // Somebody may type in the very moment in which a row gets its ID back.
  if (isAlone && (kept.id.kind === 'empty' || hasId) && isMostlyAlike(was, kept.cells)) return true;
  const isTold = hasId || idSeen.kind === 'empty' || cells.some(([, cell]) => cell.kind !== 'empty');
  return isTold && cells.every(([name, cell]) => isSameKept(cell, kept.cells[name]));
}

const mendsCells = (sent: SentSet | SentDelete): boolean =>
  sent.confirms?.mends !== undefined && 'cells' in sent && Object.keys(sent.cells).length > 0;

/** Whether a cell of the right row was no more as it had been read. */
function isTyped(
  sent: SentSet | SentDelete,
  { cells }: KeptRow,
  name: FieldName,
  others: readonly OpenWrite[],
): boolean {
  const [was, found] = [sent.was?.[name], cells[name]];
  if (was === undefined || found === undefined || isSameKept(was, found)) return false;
  const id = ('id' in sent ? sent.id : undefined) ?? sent.idSeen;
  return !others.some(({ sets }) =>
    sets.some((other) => equalCells(other.id ?? other.idSeen, id) && isSameKept(other.cells[name], found)),
  );
}
