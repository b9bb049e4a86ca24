import type { Entity } from '../../../src/core/record.ts';
import { describeCell } from '../../../src/sheet/port/cell.ts';
import type { Table } from '../../../src/sheet/port/port.ts';
import type { ReadTab } from '../../../src/sheet/port/table.ts';
import type { TableStage } from '../../support/table-stage.ts';
import { appendStep, sheetLayout, textIn, titled, writeSteps } from '../../support/table-steps.ts';

/** Gives the stage of the test that runs. */
export type GetStage = () => TableStage;

/** Lays the tabs out and appends leads called `Title <id>`. */
export async function fill({ table }: TableStage, ...ids: string[]): Promise<void> {
  await table.layOut(sheetLayout, 'create');
  await table.read(sheetLayout);
  await writeSteps(
    table,
    ids.map((id) => appendStep(id, titled(`Title ${id}`))),
    'filled',
  );
  await table.read(sheetLayout);
}

export async function readTab(table: Table, entity: Entity = 'lead'): Promise<ReadTab> {
  const tab = (await table.read(sheetLayout)).tabs[entity];
  if (tab.state === 'held') throw new Error(tab.reason);
  return tab;
}

/** The titles of the leads by their IDs; a row without an ID by nothing. */
export async function titlesById(table: Table): Promise<Record<string, string>> {
  const { rows } = await readTab(table);
  return Object.fromEntries(rows.map(({ cells, id }) => [textIn(id), textIn(cells['title'])]));
}

/** All that the rows of the leads show, by their IDs. */
export async function rowsById(table: Table): Promise<Map<string, string>> {
  const { rows } = await readTab(table);
  const describe = ({ cells, sync }: (typeof rows)[number]) =>
    [sync, ...Object.values(cells)].map(describeCell).join(' | ');
  return new Map(rows.map((row) => [describeCell(row.id), describe(row)]));
}
