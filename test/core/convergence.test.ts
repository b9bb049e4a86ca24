import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FieldName, type Fields, pickFields } from '../../src/core/value.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import { isQuiet, type Plan } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, equalCells } from '../../src/sheet/port/cell.ts';
import { areAllWanted } from '../support/variants.ts';
import {
  cellFor,
  createWorld,
  fieldsOf,
  inOrder,
  journalOf,
  type Order,
  type SheetRow,
  type World,
  type WorldOptions,
} from '../support/world.ts';
import { decideWorld, settle } from '../support/world-daemon.ts';
import {
  anyHappenings,
  comeToRest,
  gatherPeople,
  type Happening,
  happen,
  meantFor,
  type People,
  typedFields,
} from '../support/world-people.ts';

const anyOptions: fc.Arbitrary<WorldOptions> = fc.record(
  {
    conflict: fc.constantFrom('crm', 'table', 'ask'),
    policy: fc.record(
      { vanishedRows: fc.constantFrom('ask', 'trash', 'restore') },
      { noNullPrototype: true },
    ),
  },
  { noNullPrototype: true },
);

/** S6: every record has one row, and the row shows exactly what the record has. */
function expectBothSidesEqual(world: World) {
  const crm = [...world.crm.values()].map(({ key, fields }) => [
    key.id,
    fieldsOf(world, 'lead').map(({ name }) =>
      describeCell(cellFor(world, 'lead', name, fields[name] ?? null)),
    ),
  ]);
  const sheet = world.sheet.lead.map(({ id, cells }) => [
    describeCell(id),
    fieldsOf(world, 'lead').map(({ name }) => describeCell(cells[name] ?? { kind: 'empty' })),
  ]);
  const byId = (left: unknown[], right: unknown[]) => Number(left[0]) - Number(right[0]);
  expect(sheet.toSorted(byId)).toEqual(crm.toSorted(byId));
}

const typedValues = (fields: Fields): string[] =>
  Object.values(fields).flatMap((value) =>
    typeof value === 'string' && /^k\d+:/.test(value) ? [value] : [],
  );

/** S2: all values of a record were typed for it, and no two records hold values that were meant for one. */
function expectNoStrayValues({ crm }: World) {
  const owners = [...crm.values()].map(({ fields }) => [...new Set(typedValues(fields).map(meantFor))]);
  expect(owners.filter((each) => each.length !== 1)).toEqual([]);
  expect(new Set(owners.flat()).size).toBe(owners.length);
}

/** S1: what nobody took away on purpose is alive or in the journal. */
function expectNothingLost({ typed, withdrawn, world }: People) {
  const alive = [...world.crm.values()].flatMap(({ fields }) => typedValues(fields));
  const remembered = journalOf(world).flatMap(({ before, after, lost }) =>
    [before, after, lost].flatMap(typedValues),
  );
  const kept = new Set([...withdrawn, ...alive, ...remembered]);
  expect([...typed].filter((value) => !kept.has(value))).toEqual([]);
}

/** S4: what nobody deleted is still there. */
function expectNothingDeleted({ deleted, typed, world }: People) {
  const alive = [...world.crm.values()].flatMap(({ fields }) => typedValues(fields).map(meantFor));
  const expected = [...new Set([...typed].map(meantFor))].filter((owner) => !deleted.has(owner));
  expect(expected.filter((owner) => !alive.includes(owner))).toEqual([]);
}

/** What both sides hold and what waits, whatever IDs new records got. */
function describeEnd({ crm, sheet }: World, { conflicts, holds, refusals }: Plan) {
  const texts = (values: Fields) =>
    JSON.stringify(Object.entries(pickFields(values, typedFields)).toSorted());
  return {
    crm: [...crm.values()].map(({ fields }) => texts(fields)).toSorted(),
    sheet: sheet.lead.map(({ cells }) => JSON.stringify(typedFields.map((name) => cells[name]))).toSorted(),
    conflicts: conflicts.map(({ crm: one, table }) => JSON.stringify([one, table])).toSorted(),
    waiting: [holds.length, refusals.length],
  };
}

/** The rows and records that stand still for no reason that anybody is told. */
function findUnexplained(world: World, { brakes, conflicts, holds, refusals }: Plan): string[] {
  if (brakes.length > 0) return [];
  const told = [...holds, ...refusals].filter(({ reason }) => reason.length > 0);
  const ids = new Set([...told.map(({ id }) => id), ...conflicts.map(({ key }) => key.id)]);
  const positions = new Set(told.map(({ position }) => position));
  const { lead: rows } = world.sheet;
  const isTold = (row: SheetRow) =>
    positions.has(rows.indexOf(row) + 1) ||
    ids.has(describeCell(row.id)) ||
    /^New row:/.test(describeCell(row.sync));
  const isEqual = (row: SheetRow) => {
    const record = world.crm.get(`lead-${describeCell(row.id)}`);
    const shows = (name: FieldName) =>
      equalCells(row.cells[name] ?? emptyCell, cellFor(world, 'lead', name, record?.fields[name] ?? null));
    const isAlone = rows.every((other) => other === row || !equalCells(other.id, row.id));
    return record !== undefined && isAlone && typedFields.every(shows);
  };
  const shown = new Set(rows.map(({ id }) => describeCell(id)));
  return [
    ...rows.filter((row) => !isEqual(row) && !isTold(row)).map((row) => `the row of ${describeCell(row.id)}`),
    ...[...world.crm.values()].flatMap(({ key }) =>
      shown.has(key.id) || ids.has(key.id) ? [] : [`record ${key.id}`],
    ),
  ];
}

const shuffle =
  (random: Random): Order =>
  (items) =>
    items
      .map((item) => ({ item, place: random.next() }))
      .toSorted((left, right) => left.place - right.place)
      .map(({ item }) => item);

/** The sheet's value wins over one that only the CRM had, and the update that replaces that is not answered. */
const winsUnanswered: [WorldOptions, Happening[]] = [
  { conflict: 'table', policy: { vanishedRows: 'ask' } },
  (['change in CRM', 'type', 'pull', 'cycle', 'cycle', 'push unanswered'] as const).map((kind) => ({
    kind,
    which: 2,
    field: 1,
  })),
];

// Some seconds on a quiet machine, and ten times that beside the other files on two cores.
const timeout = 180_000;

describe('two sides that people and the daemon work on at once', { timeout }, () => {
  it('S1 S2 S3 S6 S7: come to rest equal, with every value where it was put and none lost', async () => {
    await fc.assert(
      fc.asyncProperty(anyOptions, anyHappenings, async (options, happenings) => {
        const people = gatherPeople(createWorld(options));
        for (let each = 1; each <= 3; each += 1)
          await happen(people, { kind: 'add record', which: 0, field: 0 });
        await settle(people.world);
        for (const happening of happenings) await happen(people, happening);
        await comeToRest(people);
        expectBothSidesEqual(people.world);
        expectNoStrayValues(people.world);
        expectNothingLost(people);
        expectNothingDeleted(people);
        expect(isQuiet(await decideWorld(people.world))).toBe(true);
        expect([...people.world.decisions]).toEqual([]);
      }),
      { numRuns: areAllWanted ? 300 : 100, examples: [winsUnanswered] },
    );
  });

  it('S15: say at every row and record that is not the same on both sides why', async () => {
    await fc.assert(
      fc.asyncProperty(anyOptions, anyHappenings, async (options, happenings) => {
        const people = gatherPeople(createWorld(options));
        for (let each = 1; each <= 6; each += 1)
          await happen(people, { kind: 'add record', which: 0, field: 0 });
        await settle(people.world);
        for (const happening of happenings) await happen(people, happening);
        expect(findUnexplained(people.world, await settle(people.world))).toEqual([]);
      }),
      { numRuns: areAllWanted ? 150 : 60 },
    );
  });

  it('S10: end alike in whatever order records are read, decided, written and sent', async () => {
    await fc.assert(
      fc.asyncProperty(anyOptions, anyHappenings, fc.integer(), async (options, happenings, seed) => {
        const people = gatherPeople(createWorld(options));
        for (let each = 1; each <= 6; each += 1)
          await happen(people, { kind: 'add record', which: 0, field: 0 });
        await settle(people.world);
        for (const happening of happenings) await happen(people, happening);
        const shuffled = inOrder(people.world, shuffle(createRandom(seed)));
        expect(describeEnd(shuffled, await settle(shuffled))).toEqual(
          describeEnd(people.world, await settle(people.world)),
        );
      }),
      { numRuns: areAllWanted ? 150 : 60 },
    );
  });
});
