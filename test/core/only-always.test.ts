import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { setRule } from '../support/ruled-tab.ts';
import { areAllWanted } from '../support/variants.ts';
import {
  cellFor,
  changeRecord,
  createWorld,
  fieldsOf,
  journalOf,
  type SheetRow,
  type World,
  type WorldOptions,
} from '../support/world.ts';
import { decideWorld, look, settle } from '../support/world-daemon.ts';
import {
  anyHappenings,
  comeToRest,
  gatherPeople,
  type Happening,
  happen,
  meantFor,
  type People,
} from '../support/world-people.ts';

/*
 * A tab that has leads with the status new alone, and people who make records fit and not fit on both sides, put rows back that left, and
 * write beside rows that are about to leave.
 */

const acts = [
  'status in CRM',
  'status in CRM',
  'status in row',
  'put back',
  'write own',
  'clear own',
  'wait',
  'wait',
] as const;

interface Act {
  readonly act: (typeof acts)[number];
  readonly which: number;
  readonly field: number;
}

const anyActs = fc.array(
  fc.record({ act: fc.constantFrom(...acts), which: fc.nat(9), field: fc.nat(2) }, { noNullPrototype: true }),
  { minLength: 1, maxLength: 30 },
);

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

const statuses = ['new', 'lost', 'in_talks'];

/** Everything that happens in turn: what people do to any tab, and what they do about the rule. */
function weave(happenings: readonly Happening[], ruled: readonly Act[]): (Happening | Act)[] {
  const length = Math.max(happenings.length, ruled.length);
  return Array.from({ length }, (_, index) => [happenings[index], ruled[index]])
    .flat()
    .filter((each) => each !== undefined);
}

class RulePeople {
  readonly people: People;
  /** Rows that the daemon took away. */
  readonly left: SheetRow[] = [];

  constructor(options: WorldOptions) {
    this.people = gatherPeople(createWorld(options));
    setRule(this.world, { status: 'new' });
  }

  get world(): World {
    return this.people.world;
  }

  async happen(each: Happening | Act): Promise<void> {
    if ('act' in each) return this.#act(each);
    const before = new Map(this.world.sheet.lead.map((row) => [row, structuredClone(row)]));
    await happen(this.people, each);
    if (each.kind === 'remove row') return;
    const after = new Set(this.world.sheet.lead);
    for (const [row, copy] of before) if (!after.has(row)) this.left.push(copy);
  }

  #act({ act, field, which }: Act): void {
    const { world } = this;
    const rows = world.sheet.lead;
    const row = rows[which % Math.max(1, rows.length)];
    const records = [...world.crm.values()];
    const record = records[which % Math.max(1, records.length)];
    const status = statuses[field] ?? 'new';
    if (act === 'status in CRM' && record) changeRecord(world, record.key, { status_name: status });
    if (act === 'status in row' && row?.id.kind === 'text')
      row.cells['status_name'] = cellFor(world, 'lead', 'status_name', status);
    if (act === 'write own' && row) row.own = { Notes: textCell('mine') };
    if (act === 'clear own' && row) delete row.own;
    if (act === 'wait') world.clock.now += leaveAfterMs;
    if (act === 'put back') this.#putBack(which);
  }

  #putBack(which: number): void {
    const { crm, sheet } = this.world;
    const copy = this.left[which % Math.max(1, this.left.length)];
    const id = describeCell(copy?.id ?? emptyCell);
    const isThere = sheet.lead.some((row) => describeCell(row.id) === id);
    if (copy && !isThere && crm.has(`lead-${id}`)) sheet.lead.push(structuredClone(copy));
  }

  /** People take their notes away, delete what they put back, answer what waits, and let the time pass. */
  async rest(): Promise<void> {
    const { lead: rows } = this.world.sheet;
    for (let day = 0; day < 4; day += 1) {
      await settle(this.world);
      for (const row of rows) delete row.own;
      const outside = rows.filter(({ sync }) => describeCell(sync).includes('does not fit this tab'));
      for (const row of outside) rows.splice(rows.indexOf(row), 1);
      this.world.clock.now += leaveAfterMs;
      await settle(this.world);
      const kept = rows.filter(({ sync }) => describeCell(sync).includes('does not fit this tab'));
      for (const row of kept) rows.splice(rows.indexOf(row), 1);
      await comeToRest(this.people);
    }
  }
}

const typedIn = (values: readonly unknown[]): string[] =>
  values.flatMap((value) => (typeof value === 'string' && /^k\d+:/.test(value) ? [value] : []));

/** Every record that fits has one row which shows it, and no other has one. */
function expectRuled(world: World): void {
  const fields = fieldsOf(world, 'lead');
  const fitting = [...world.crm.values()].filter(({ fields: { status_name: status } }) => status === 'new');
  const wanted = fitting.map(({ fields: values, key }) => [
    key.id,
    fields.map(({ name }) => describeCell(cellFor(world, 'lead', name, values[name] ?? null))),
  ]);
  const shown = world.sheet.lead.map(({ cells, id }) => [
    describeCell(id),
    fields.map(({ name }) => describeCell(cells[name] ?? emptyCell)),
  ]);
  const byId = (left: unknown[], right: unknown[]) => Number(left[0]) - Number(right[0]);
  expect(shown.toSorted(byId)).toEqual(wanted.toSorted(byId));
}

/** Nothing that people typed is lost, and no record is deleted but those that people deleted. */
function expectNothingLost({ deleted, typed, withdrawn, world }: People): void {
  const alive = [...world.crm.values()].flatMap(({ fields }) => typedIn(Object.values(fields)));
  const told = journalOf(world).flatMap(({ after, before, lost }) =>
    typedIn([before, after, lost].flatMap((values) => Object.values(values))),
  );
  const kept = new Set([...withdrawn, ...alive, ...told]);
  expect([...typed].filter((value) => !kept.has(value))).toEqual([]);
  const owners = new Set(alive.map(meantFor));
  const missing = [...new Set([...typed].map(meantFor))].filter(
    (owner) => !deleted.has(owner) && !owners.has(owner),
  );
  expect(missing).toEqual([]);
  expect(owners.size).toBe(world.crm.size);
}

async function populate(people: RulePeople): Promise<void> {
  for (let each = 1; each <= 5; each += 1) await people.happen({ kind: 'add record', which: 0, field: 0 });
  for (const { key } of people.world.crm.values())
    changeRecord(people.world, key, { status_name: Number(key.id) % 3 === 0 ? 'lost' : 'new' });
  await settle(people.world);
}

describe('a tab with a rule that people and the daemon work on at once', { timeout: 180_000 }, () => {
  it('S1 S2 S4 S6 S7: comes to rest with the records that fit, and none deleted or made twice', async () => {
    await fc.assert(
      fc.asyncProperty(anyOptions, anyHappenings, anyActs, async (options, happenings, ruled) => {
        const people = new RulePeople(options);
        await populate(people);
        for (const each of weave(happenings, ruled)) await people.happen(each);
        await people.rest();
        expectRuled(people.world);
        expectNothingLost(people.people);
        expect(isQuiet(await decideWorld(people.world))).toBe(true);
        expect([...people.world.decisions]).toEqual([]);
      }),
      { numRuns: areAllWanted ? 300 : 100 },
    );
  });

  it('keeps a decision only as long as the time makes no other one', async () => {
    let reuses = 0;
    await fc.assert(
      fc.asyncProperty(anyHappenings, anyActs, async (happenings, ruled) => {
        const people = new RulePeople({});
        const { world } = people;
        await populate(people);
        for (const each of weave(happenings, ruled)) {
          await people.happen(each);
          if ('act' in each) await settle(world);
          for (const pauseMs of [1_000, leaveAfterMs - 3_000, 2_000]) {
            world.clock.now += pauseMs;
            const { grounded: before } = world.trail;
            await look(world);
            if (world.trail.grounded?.plan.table === before?.plan.table) reuses += 1;
          }
        }
      }),
      { numRuns: areAllWanted ? 150 : 50 },
    );
    expect(reuses).toBeGreaterThan(100);
  });
});
