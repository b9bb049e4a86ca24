import { type Catalog, emptyCatalog } from '../../src/core/fields/catalog.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { finishAtOnce } from '../../src/core/slices.ts';
import type { Agreement, KnownRecord } from '../../src/core/state.ts';
import { equalFields, type Fields } from '../../src/core/value.ts';
import { createNames, encode } from '../../src/sheet/cells/codec.ts';
import { tabFields } from '../../src/sheet/cells/extra-fields.ts';
import { idCell } from '../../src/sheet/cells/shown.ts';
import { syncText } from '../../src/sheet/cells/sync-text.ts';
import { decideFrom } from '../../src/sheet/decide/decide.ts';
import { settleRows } from '../../src/sheet/decide/in-step.ts';
import { Standing } from '../../src/sheet/index/standing.ts';
import { decideAgain } from '../../src/sheet/plans/decide-again.ts';
import type { DecideInput, Plan } from '../../src/sheet/plans/plan.ts';
import { buildLayout } from '../../src/sheet/policy.ts';
import { type Cell, describeCell, equalCells, textCell } from '../../src/sheet/port/cell.ts';
import type { ObservedRow, ObservedTab } from '../../src/sheet/port/table.ts';
import { policyWith } from '../support/policy.ts';

/*
 * Measures one pure plan of many rows with some edits at each side, against the least that anybody would write by hand: a map by ID, and a
 * comparison cell by cell.
 */

const customCount = 18;
const editShare = 0.01;
const at = Date.UTC(2026, 0, 5, 9);

const catalog: Catalog = {
  ...emptyCatalog,
  customFields: Array.from({ length: customCount }, (_, number) => ({
    key: `field${number}`,
    name: `Field ${number}`,
    kind: 'text',
    options: [],
  })),
};

/** All rows that are only behind are in one plan, as all others are. */
const policy = { ...policyWith(), updatesMax: 1_000 };
const layout = buildLayout(['lead'], policy, catalog);
const names = createNames(catalog, [], 'UTC');
const fields = tabFields('lead', catalog).filter(({ name }) =>
  layout[0]?.columns.some(({ field }) => field === name),
);

const keyOf = (number: number): RecordKey => ({ entity: 'lead', id: String(number + 1) });
const valuesOf = (number: number, edited = ''): Fields => ({
  ...Object.fromEntries(fields.map(({ name }) => [name, null])),
  title: `Lead ${number}`,
  ...Object.fromEntries(
    Array.from({ length: customCount }, (_, field) => [
      `custom.field${field}`,
      `value ${number}.${field}${field === 3 ? edited : ''}`,
    ]),
  ),
});

function rowOf(number: number, values: Fields): ObservedRow {
  const cells: Record<string, Cell> = {};
  for (const field of fields) cells[field.name] = encode(field, values[field.name] ?? null, names);
  const sync = textCell(syncText({ kind: 'synced', at, notice: '' }, 'UTC'));
  return { position: number + 1, id: idCell(keyOf(number).id), sync, cells };
}

const held: ObservedTab = { state: 'held', reason: 'It is not part of the layout.' };

function inputOf(
  records: readonly KnownRecord[],
  agreements: readonly Agreement[],
  rows: readonly ObservedRow[],
): DecideInput {
  const lead: ObservedTab = {
    state: 'read',
    rows,
    fields: new Set(fields.map(({ name }) => name)),
    hasSync: true,
  };
  return {
    known: {
      records,
      agreements,
      outbox: [],
      decisions: [],
      suspects: [],
      claims: { open: new Set(), void: new Set() },
      arriving: new Set(),
      catalog: catalog,
      sweptEntities: new Set(['lead']),
      nameless: new Map(),
      emptyLists: new Set(),
      contests: new Map(),
      rebases: new Map(),
      remaps: new Map(),
      rules: new Map(),
      accountDoubt: undefined,
    },
    table: { tabs: { lead, opportunity: held, task: held, contact: held }, timeZone: 'UTC' },
    isRestless: () => false,
    wasMissing: () => true,
    shownUntil: () => at,
    layout,
    policy,
    now: at + 60_000,
    run: 'bench',
    newToken: () => 'new-1',
    isOwnToken: () => true,
  };
}

/** What anybody would write by hand: which records, and which rows, are others than what was agreed. */
function compareByHand(
  records: readonly KnownRecord[],
  agreements: readonly Agreement[],
  rows: readonly ObservedRow[],
): number {
  const [byRecord, byRow] = [
    new Map(records.map((each) => [each.key.id, each])),
    new Map(rows.map((each) => [describeCell(each.id), each])),
  ];
  let changes = 0;
  for (const { fields: agreed, key } of agreements) {
    const [record, row] = [byRecord.get(key.id), byRow.get(key.id)];
    if (!record || !row || !equalFields(record.fields, agreed)) changes += 1;
    for (const field of fields) {
      const cell = encode(field, agreed[field.name] ?? null, names);
      if (row && !equalCells(row.cells[field.name] ?? cell, cell)) changes += 1;
    }
  }
  return changes;
}

/** As after a start: rows are looked at in slices, and what is left is decided. */
function decideWhole(input: DecideInput): Plan {
  const standing = new Standing();
  standing.update(input);
  finishAtOnce(settleRows(input, standing));
  return decideFrom(input, standing);
}

function timed<Result>(work: () => Result): { readonly ms: number; readonly result: Result } {
  const begun = performance.now();
  const result = work();
  return { ms: performance.now() - begun, result };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

export function measurePlans(count = 100_000, times = 3): void {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const every = Math.round(1 / editShare);
  const records = numbers.map(
    (number): KnownRecord => ({
      key: keyOf(number),
      fields: valuesOf(number),
      firstSeenAt: at,
      lastSeenAt: at,
      missedSweeps: 0,
      presence: 'present',
    }),
  );
  const agreements = numbers.map(
    (number): Agreement => ({
      key: keyOf(number),
      fields: valuesOf(number),
      offered: {},
      changedAt: at,
      notice: '',
    }),
  );
  const rows = numbers.map((number) => rowOf(number, valuesOf(number)));
  const editedRecords = records.map((record, number) =>
    number % every === 1 ? { ...record, fields: valuesOf(number, ' in the CRM') } : record,
  );
  const editedRows = rows.map((row, number) =>
    number % every === 2 ? rowOf(number, valuesOf(number, ' in the sheet')) : row,
  );
  const edited = inputOf(editedRecords, agreements, editedRows);

  const [byHand, full, incremental]: number[][] = [[], [], []];
  for (let time = 0; time < times; time += 1) {
    const hand = timed(() => compareByHand(editedRecords, agreements, editedRows));
    byHand?.push(hand.ms);
    const whole = timed(() => decideWhole(edited));
    full?.push(whole.ms);
    const standing = new Standing();
    const rested = decideAgain(inputOf(records, agreements, rows), standing, undefined);
    const again = timed(() => decideAgain(edited, standing, rested));
    incremental?.push(again.ms);
    const found = [whole.result, again.result.plan].map((plan) =>
      [plan.outbox.save.length, plan.table.length].join('+'),
    );
    if (time === 0)
      console.log(
        `\nA plan of ${count} leads: by hand ${hand.result} changes; full and incremental ${found.join(' and ')} steps`,
      );
  }
  const hand = median(byHand ?? []);
  for (const [name, all] of [
    ['compared by hand', byHand],
    ['decided in full', full],
    ['decided again', incremental],
  ] as const) {
    const ms = median(all ?? []);
    console.log(
      `  ${name.padEnd(44)} ${ms.toFixed(0).padStart(8)} ms ${(ms / hand).toFixed(2).padStart(6)} x`,
    );
  }
}
