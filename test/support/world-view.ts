import { expect } from 'vitest';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { describeCell } from '../../src/sheet/port/cell.ts';
import type { SheetRow, World } from './world.ts';

/** What the Sync cell of a row says. */
export const syncOf = (row: SheetRow): string => describeCell(row.sync);

/** The titles of all records that the CRM has, oldest first. */
export const titles = (world: World) => [...world.crm.values()].map(({ fields }) => fields['title']);

/** What a plan asks about before it writes. */
export const scopes = ({ brakes }: Plan): string[] => brakes.map(({ scope }) => scope);

/** The IDs that stand in the rows of leads. */
export const sheetIds = (world: World) => world.sheet.lead.map(({ id }) => describeCell(id));

/** Nothing is written to either side. */
export function expectNoWrites(plan: Plan) {
  expect(plan.table).toEqual([]);
  expect(plan.outbox.save).toEqual([]);
}
