import { syncSchemaOf, type WarehouseLayout } from '../warehouse/port/layout.ts';
import type { LayoutFault } from '../warehouse/port/port.ts';
import { areCaptureTriggersAsMade, isCaptureFunctionAsMade } from './ddl/capture/capture-check.ts';
import { withoutCleaned } from './ddl/cleaned.ts';
import { catalogType, type TableDefinition } from './ddl/definition.ts';
import { type Found, type FoundRelation, findRelation, findSchema } from './ddl/found.ts';
import { isGuardFunctionAsMade, isGuardTriggerAsMade } from './ddl/guard-check.ts';
import { guardName } from './ddl/guards.ts';
import { readerOf } from './ddl/roles.ts';
import { tablesOf } from './ddl/tables.ts';
import { viewsOf } from './ddl/views.ts';

type Finding = Omit<LayoutFault, 'entity'>;

const mendable = (words: string): Finding => ({ words, isMendable: true });
const held = (words: string): Finding => ({ words, isMendable: false });
const harmless = (words: string, isMendable: boolean): Finding => ({ words, isMendable, isHarmless: true });

/** What differs from the layout, in words. */
export function faultsOf(whole: WarehouseLayout, found: Found): LayoutFault[] {
  const layout = withoutCleaned(whole, found);
  const lost = [layout.schema, syncSchemaOf(layout.schema)].filter((name) => !findSchema(found, name));
  if (lost.length > 0) return lost.map((name) => mendable(`The schema ${name} is not there.`));
  const owner = findRelation(found, { schema: syncSchemaOf(layout.schema), name: 'link' })?.owner;
  const isFunctionAsMade = isGuardFunctionAsMade(layout.schema, found);
  return [
    ...tablesOf(layout).flatMap((table) =>
      [
        ...tableFindings(table, findRelation(found, table), owner),
        ...(table.isGuarded && !layout.editing
          ? guardFindings(layout.schema, table, found, isFunctionAsMade)
          : []),
        ...(table.isGuarded && layout.editing ? captureFindings(layout, table, found) : []),
      ].map((finding) => ({ ...finding, ...(table.entity ? { entity: table.entity } : {}) })),
    ),
    ...viewFindings(layout, found),
    ...(found.reader.isThere
      ? []
      : [
          harmless(
            `There is no role ${readerOf(layout.schema)}, and this login may not create it: “warehouse sql” prints what an administrator has to run.`,
            false,
          ),
        ]),
  ];
}

function tableFindings(
  table: TableDefinition,
  relation: FoundRelation | undefined,
  owner: string | undefined,
): Finding[] {
  const name = `${table.schema}.${table.name}`;
  if (!relation) return [mendable(`The table ${name} is not there.`)];
  if (relation.kind !== 'r') return [held(`${name} is not a plain table.`)];
  return [
    ...columnFindings(name, table, relation),
    ...(relation.inherits ? [held(`${name} inherits from another table, or another one from it.`)] : []),
    ...(relation.hasRowSecurity ? [held(`Row level security hides rows of ${name} from the daemon.`)] : []),
    ...(relation.isWritable ? [] : [held(`The daemon's role lacks the right to read and write ${name}.`)]),
    ...(owner === undefined || relation.owner === owner
      ? []
      : [held(`${name} belongs to the role ${relation.owner}; the other tables belong to ${owner}.`)]),
    ...(isSame(relation.key ?? [], table.key)
      ? []
      : [held(`The primary key of ${name} is not (${table.key.join(', ')}).`)]),
    ...(relation.cascades ?? []).map((constraint) =>
      held(`The foreign key ${constraint} of ${name} changes rows of its own accord.`),
    ),
  ];
}

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((name, index) => name === right[index]);

function columnFindings(name: string, table: TableDefinition, relation: FoundRelation): Finding[] {
  const there = new Map(relation.columns.map((column) => [column.name, column]));
  const own = table.columns.flatMap((column) => {
    const found = there.get(column.name);
    if (!found)
      return [mendable(`The column ${name}.${column.name} is not there: it was dropped or renamed.`)];
    const type = catalogType(column.type);
    if (found.type === type) return [];
    return [held(`The column ${name}.${column.name} has the type ${found.type}, where ${type} is needed.`)];
  });
  const names = new Set(table.columns.map((column) => column.name));
  const others = relation.columns
    .filter((column) => !names.has(column.name) && column.isNotNull && !column.hasDefault)
    .map((column) =>
      held(`The column ${name}.${column.name} is NOT NULL without a default: no row can be inserted.`),
    );
  return [...own, ...others];
}

function guardFindings(
  schema: string,
  table: TableDefinition,
  found: Found,
  isFunctionAsMade: boolean,
): Finding[] {
  const relation = findRelation(found, table);
  if (relation?.kind !== 'r' || (isFunctionAsMade && isGuardTriggerAsMade(schema, relation))) return [];
  const isThere = relation.triggers.some(({ name }) => name === guardName);
  const what = isThere ? 'changed or switched off' : 'missing';
  return [mendable(`The guard of ${schema}.${table.name} is ${what}: edits by SQL may pass unseen.`)];
}

function captureFindings(layout: WarehouseLayout, shown: TableDefinition, found: Found): Finding[] {
  const relation = findRelation(found, shown);
  const table = layout.tables.find(({ entity }) => entity === shown.entity);
  if (!table || relation?.kind !== 'r') return [];
  const isAsMade =
    isCaptureFunctionAsMade(layout, table, found) && areCaptureTriggersAsMade(layout.schema, table, relation);
  if (isAsMade) return [];
  return [
    mendable(`What notes the edits of ${layout.schema}.${shown.name} is missing, changed or switched off.`),
  ];
}

function viewFindings({ schema, ...layout }: WarehouseLayout, found: Found): LayoutFault[] {
  return viewsOf({ schema, ...layout }).flatMap(({ name, entity }) => {
    const kind = findRelation(found, { schema, name })?.kind;
    if (kind === 'v') return [];
    const words =
      kind === undefined
        ? `The view ${schema}.${name} is not there.`
        : `${schema}.${name} is not the view that it should be.`;
    return [{ entity, ...harmless(words, kind === undefined) }];
  });
}
