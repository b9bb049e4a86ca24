import fc from 'fast-check';
import type { FieldName } from '../../src/core/value.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, equalCells, textCell } from '../../src/sheet/port/cell.ts';
import {
  addRecord,
  addRow,
  cellFor,
  changeRecord,
  fieldsOf,
  removeRecord,
  restart,
  type SheetRow,
  type World,
} from './world.ts';
import { cycle, pull, push, settle } from './world-daemon.ts';

/*
 * People at work on leads, on both sides at once, as steps that fast-check makes and shrinks. Every value they type is unique and names
 * the record it was meant for: `k3:title:17`.
 */

/** One thing that happens. Numbers choose among what is there. */
export interface Happening {
  readonly kind: (typeof happenings)[number];
  readonly which: number;
  readonly field: number;
}

const happenings = [
  'type',
  'type',
  'type',
  'empty a cell',
  'change in CRM',
  'change in CRM',
  'empty in CRM',
  'add row',
  'add record',
  'remove row',
  'remove record',
  'copy row',
  'wipe ID',
  'sort',
  'restart',
  'pull',
  'cycle',
  'cycle',
  'cycle',
  'push',
  'cycle while typing',
  'cycle while sorting',
  'cycle unanswered',
  'cycle lost',
  'push unanswered',
] as const;

export const anyHappenings = fc.array(
  fc.record(
    { kind: fc.constantFrom(...happenings), which: fc.nat(9), field: fc.nat(2) },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 60 },
);

export const typedFields = ['title', 'about.description', 'about.url'] as const;

/** What people typed, and whether somebody took it away again on purpose. */
export interface People {
  readonly world: World;
  readonly typed: Set<string>;
  readonly withdrawn: Set<string>;
  /** Owners of which somebody deleted a row or the record. */
  readonly deleted: Set<string>;
  /** Owners of which somebody copied a row. */
  readonly copied: Set<string>;
  /** Rows whose ID was wiped; nobody types there until it is back. */
  readonly wiped: Set<SheetRow>;
}

export const gatherPeople = (world: World): People => ({
  world,
  typed: new Set(),
  withdrawn: new Set(),
  deleted: new Set(),
  copied: new Set(),
  wiped: new Set(),
});

/** Whom a value was meant for: `k3`. */
export const meantFor = (value: string): string => value.split(':')[0] ?? '';

function newValue({ typed, world }: People, owner: string, field: FieldName): string {
  world.given.count += 1;
  const value = `${owner}:${field}:${world.given.count}`;
  typed.add(value);
  return value;
}

const newOwner = ({ world }: People): string => {
  world.given.count += 1;
  return `k${world.given.count}`;
};

/** Whom a row is about. */
const ownerOf = (row: SheetRow): string => meantFor(textOf(row, 'title'));

const textOf = (row: SheetRow, field: FieldName): string => describeCell(row.cells[field] ?? emptyCell);

/** Lets one thing happen, where there is something for it to happen to. */
export async function happen(people: People, { kind, which, field }: Happening): Promise<void> {
  const { world } = people;
  const rows = world.sheet.lead;
  const row = rows[which % Math.max(1, rows.length)];
  const records = [...world.crm.values()];
  const record = records[which % Math.max(1, records.length)];
  const name = typedFields[field] ?? 'title';
  switch (kind) {
    case 'type':
      return row && typeInto(people, row, name, 'value');
    case 'empty a cell':
      return row && name !== 'title' ? typeInto(people, row, name, 'nothing') : undefined;
    case 'change in CRM':
    case 'empty in CRM': {
      if (!record || (kind === 'empty in CRM' && name === 'title')) return;
      const owner = meantFor(String(record.fields['title']));
      people.withdrawn.add(String(record.fields[name]));
      return changeRecord(world, record.key, {
        [name]: kind === 'empty in CRM' ? null : newValue(people, owner, name),
      });
    }
    case 'add row':
      addRow(world, 'lead', { title: textCell(newValue(people, newOwner(people), 'title')) });
      return;
    case 'add record':
      addRecord(world, 'lead', { title: newValue(people, newOwner(people), 'title') });
      return;
    case 'remove row':
      return row && deleteRow(people, row);
    case 'remove record':
      if (!record) return;
      for (const each of typedFields) people.withdrawn.add(String(record.fields[each]));
      people.deleted.add(meantFor(String(record.fields['title'])));
      return removeRecord(world, record.key);
    case 'copy row':
      return row && copyRow(people, row);
    case 'wipe ID':
      return row && wipeId(people, row);
    case 'sort':
      return sort(rows);
    case 'restart':
      restart(world);
      return;
    case 'pull':
      return pull(world);
    case 'cycle':
      await cycle(world);
      return;
    case 'cycle while typing':
      return cycleWhile(world, () => row && typeInto(people, row, name, 'value'));
    case 'cycle while sorting':
      return cycleWhile(world, () => sort(rows));
    case 'cycle unanswered':
      await cycle(world, 'unanswered');
      return;
    case 'cycle lost':
      await cycle(world, 'lost');
      return;
    case 'push':
      return push(world);
    case 'push unanswered':
      return push(world, 'unanswered');
  }
}

function sort(rows: SheetRow[]): void {
  rows.sort((left, right) => textOf(right, 'title').localeCompare(textOf(left, 'title')));
}

/** A cycle between whose read and whose write a user does something. */
async function cycleWhile(world: World, act: () => void): Promise<void> {
  world.tabs.beforeNextWrite = act;
  await cycle(world);
  world.tabs.beforeNextWrite = () => undefined;
}

function typeInto(people: People, row: SheetRow, field: FieldName, what: 'value' | 'nothing'): void {
  if (people.wiped.has(row) && row.id.kind === 'empty') return;
  people.withdrawn.add(textOf(row, field));
  const owner = ownerOf(row);
  row.cells[field] = what === 'nothing' ? emptyCell : textCell(newValue(people, owner, field));
}

function deleteRow(people: People, row: SheetRow): void {
  people.deleted.add(ownerOf(row));
  discardRow(people, row);
}

function copyRow({ copied, world }: People, row: SheetRow): void {
  if (row.id.kind === 'empty') return;
  copied.add(ownerOf(row));
  world.sheet.lead.push(structuredClone(row));
}

function discardRow({ withdrawn, world }: People, row: SheetRow): void {
  for (const field of typedFields) withdrawn.add(textOf(row, field));
  world.sheet.lead.splice(world.sheet.lead.indexOf(row), 1);
}

/** Wipes the ID of a row that shows what was agreed and has no copy: the daemon then can know whose row it is. */
function wipeId({ wiped, world }: People, row: SheetRow): void {
  const text = `lead-${describeCell(row.id)}`;
  const agreement = world.agreements.get(text);
  const isAlone = world.sheet.lead.every((other) => other === row || !equalCells(other.id, row.id));
  const isAtRest = fieldsOf(world, 'lead').every(({ name }) =>
    equalCells(row.cells[name] ?? emptyCell, cellFor(world, 'lead', name, agreement?.fields[name] ?? null)),
  );
  if (!agreement || !isAlone || !isAtRest || world.outbox.has(text)) return;
  row.id = emptyCell;
  wiped.add(row);
}

const daysMax = 10;

/** Lets people answer everything that waits for them, until nothing does; answers the last plan. */
export async function comeToRest(people: People): Promise<Plan> {
  const { world } = people;
  for (let day = 1; day <= daysMax; day += 1) {
    const plan = await settle(world);
    const waiting = plan.brakes.length + plan.conflicts.length + plan.holds.length + plan.refusals.length;
    if (waiting === 0) return plan;
    for (const { scope } of plan.brakes) world.decisions.set(scope, 'restore');
    for (const { key, field } of plan.conflicts) {
      world.decisions.set(
        `conflict:${key.entity}-${key.id}:${field}`,
        Number(key.id) % 2 === 0 ? 'crm' : 'table',
      );
    }
    const rows = [...world.sheet.lead];
    for (const { decision, position, reason } of plan.holds) {
      if (decision !== undefined) world.decisions.set(decision, 'restore');
      const row = rows[(position ?? 0) - 1];
      if (row) answerHold(people, row, reason);
    }
  }
  throw new Error(`Something waits for people for more than ${daysMax} days.`);
}

function answerHold(people: People, row: SheetRow, reason: string): void {
  const [, lost] = /Put (\d+) into the ID cell/.exec(reason) ?? [];
  if (lost !== undefined) row.id = textCell(lost);
  // It was put back, or a copy of it took its place: what is in it is in the CRM.
  else if (reason.startsWith('does not fit this tab'))
    people.world.sheet.lead.splice(people.world.sheet.lead.indexOf(row), 1);
  else if (reason.startsWith('This row is a copy') || reason.startsWith('Several rows have the ID')) {
    if (!people.copied.has(ownerOf(row))) throw new Error(`Nobody copied the row of ${ownerOf(row)}.`);
    const isAlone = people.world.sheet.lead.every(
      (other) => other === row || ownerOf(other) !== ownerOf(row),
    );
    if (isAlone) row.sync = emptyCell;
    else discardRow(people, row);
  } else row.id = emptyCell;
}
