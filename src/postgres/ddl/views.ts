import type { Entity } from '../../core/record.ts';
import type { TableLayout, WarehouseLayout } from '../../warehouse/port/layout.ts';
import { editViews } from './capture/edit-views.ts';
import type { ViewDefinition } from './definition.ts';
import type { FoundColumn } from './found.ts';
import { changeView, historyView } from './history-views.ts';
import { leadOverview, opportunityOverview, pipelineByStage, taskOverview } from './overview-views.ts';
import { nameList, qualified } from './quote.ts';
import { stageConversion, stageHistory, winRate } from './stage-views.ts';

/** What the views about leads, opportunities and tasks read of them. */
const needed: Readonly<Partial<Record<Entity, readonly string[]>>> = {
  lead: ['title', 'status_name'],
  opportunity: ['lead_id', 'stage_id', 'value', 'confidence'],
  task: ['lead_id', 'status', 'priority', 'due_date'],
};

/** The table of an entity, where the layout has it with all that the views need. */
const findTable = ({ tables }: WarehouseLayout, entity: Entity): TableLayout | undefined =>
  tables.find(
    (table) =>
      table.entity === entity &&
      (needed[entity] ?? []).every((name) => table.columns.some((column) => column.name === name)),
  );

/** All views of a layout, each after those that it reads. */
export function viewsOf(layout: WarehouseLayout): readonly ViewDefinition[] {
  const { schema, tables, hasHistory } = layout;
  const lead = findTable(layout, 'lead');
  const opportunity = findTable(layout, 'opportunity');
  const task = findTable(layout, 'task');
  const withHistory = hasHistory ? tables.filter(({ columns }) => columns.length > 0) : [];
  return [
    ...withHistory.flatMap((table) => [historyView(layout, table), changeView(schema, table)]),
    ...(lead ? [leadOverview(schema, lead)] : []),
    ...(opportunity ? [opportunityOverview(layout, opportunity, lead), pipelineByStage(schema)] : []),
    ...(opportunity && hasHistory ? [stageHistory(schema), stageConversion(schema), winRate(schema)] : []),
    ...(task ? [taskOverview(schema, task, lead)] : []),
    ...(layout.editing ? editViews(layout) : []),
  ];
}

/** What the database has of a view, and of the table that it shows. */
interface FoundView {
  readonly columns: readonly Pick<FoundColumn, 'name' | 'type'>[];
  readonly ofTable: ReadonlySet<string>;
}

const noView: FoundView = { columns: [], ofTable: new Set() };

/**
 * The view's SQL. A view keeps its columns in their order and can only get more at its end, so those that it has come first. One that it
 * has and the layout lacks, such as a custom field that was forgotten, is passed on from the table as long as that has it; one that was made
 * of such a field is empty.
 */
export function viewSql(schema: string, view: ViewDefinition, found = noView): string {
  const byName = new Map(view.columns.map(({ name, expressions }) => [name, expressions]));
  const kept = found.columns.filter(({ name }) => byName.has(name) || view.showsTable);
  const lacking = new Map(
    kept.map(({ name, type }) => [name, found.ofTable.has(name) ? `t.${nameList([name])}` : `NULL::${type}`]),
  );
  const names = new Set([...lacking.keys(), ...byName.keys()]);
  const selects = view.sources.map((source, index) => {
    const list = [...names].map((name) => {
      const expressions = byName.get(name) ?? [lacking.get(name)];
      return `${expressions[index] ?? expressions[0]} AS ${nameList([name])}`;
    });
    return `SELECT ${list.join(',\n       ')}\n${source}`;
  });
  const before = view.with === undefined ? '' : `${view.with}\n`;
  return `CREATE OR REPLACE VIEW ${qualified(schema, view.name)} AS\n${before}${selects.join('\nUNION ALL\n')}`;
}
