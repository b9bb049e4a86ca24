import type { ClientBase } from 'pg';
import type { Entity } from '../core/record.ts';
import { newWarehouseError } from '../warehouse/port/errors.ts';
import { syncSchemaOf, type WarehouseLayout } from '../warehouse/port/layout.ts';
import type { Keeper, LayOutConsent, LayoutFault } from '../warehouse/port/port.ts';
import { readFound } from './catalog.ts';
import { type Found, findRelation } from './ddl/found.ts';
import { loseRunSql } from './ddl/machinery.ts';
import { layOutSettings } from './ddl/print.ts';
import { gapsOf, hasLost, marksSql, type Step, stepsOf } from './ddl/steps.ts';
import { isLineTrouble } from './errors.ts';
import { faultsOf } from './faults.ts';
import { expectKeeper, expectOurs, lockLink, saveKeeper } from './keeper.ts';
import { readServer } from './server.ts';

/**
 * Creates or completes what the layout needs, in one transaction, and never drops or retypes anything. Returns what keeps tables from being
 * written, and what else is to be reported.
 */
export async function layOut(
  client: ClientBase,
  layout: WarehouseLayout,
  keeper: Keeper,
  consent: LayOutConsent = {},
): Promise<readonly LayoutFault[]> {
  const { isReadOnly } = await readServer(client);
  if (isReadOnly) throw newWarehouseError('WAREHOUSE_READ_ONLY', 'The database can only be read.');
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
  try {
    const faults = await layOutInside(client, layout, keeper, consent);
    await client.query('COMMIT');
    return faults;
  } catch (error) {
    // A broken connection is given up, and the first error is the one that says why.
    if (!isLineTrouble(error)) await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function layOutInside(
  client: ClientBase,
  layout: WarehouseLayout,
  keeper: Keeper,
  consent: LayOutConsent,
): Promise<readonly LayoutFault[]> {
  const { schema } = layout;
  await client.query(layOutSettings);
  // Two that begin at once: the row to lock is not there before the first is done.
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [syncSchemaOf(schema)]);
  const found = await readFound(client, schema);
  expectOurs(schema, found, consent);
  const link = await lockLink(client, schema, found);
  expectKeeper(schema, link, keeper, consent);
  const steps = stepsOf(layout, found, consent.mend === true);
  const mayDefine = findRelation(found, { schema: syncSchemaOf(schema), name: 'link' })?.isOwn ?? true;
  const failures = mayDefine ? await run(client, schema, steps) : [];
  await saveKeeper(client, schema, link, keeper);
  if (mayDefine && consent.mend && hasLost(layout, found)) await client.query(loseRunSql(schema));
  const after: Found = mayDefine && steps.length > 0 ? await readFound(client, schema) : found;
  return [
    ...faultsOf(layout, after),
    ...failures,
    ...(mayDefine ? gapsOf(layout, found).map(gapFault) : outdated(steps)),
  ];
}

const gapFault = (entity: Entity): LayoutFault => ({
  entity,
  words: `What notes edits of ${entity} was off, and was put back.`,
  isMendable: false,
  isHarmless: true,
  isGap: true,
});

const outdated = (steps: readonly Step[]): readonly LayoutFault[] =>
  steps.length === 0
    ? []
    : [
        {
          words: `The tables belong to another role, and ${steps.length} statements are due: “warehouse sql” prints what an administrator has to run.`,
          isMendable: false,
          isHarmless: true,
        },
      ];

/** Runs the steps in order. A view that fails is left as it is. Returns which failed. */
async function run(client: ClientBase, schema: string, steps: readonly Step[]): Promise<LayoutFault[]> {
  const done: Step[] = [];
  const failed = new Map<string, LayoutFault>();
  for (const group of groupsOf(steps)) {
    const [{ view } = {}] = group;
    if (view !== undefined && failed.has(view)) continue;
    const words = await runGroup(client, group, view);
    if (words === undefined) done.push(...group);
    else if (view !== undefined) failed.set(view, failureOf(`${schema}.${view}`, words));
  }
  if (done.some(({ marks }) => marks)) await client.query(marksSql(schema, done));
  return [...failed.values()];
}

const failureOf = (view: string, words: string): LayoutFault => ({
  words: `The view ${view} could not be made: ${words}.`,
  isMendable: false,
  isHarmless: true,
});

/** Steps that belong together go in one round trip: a view by itself, because it may fail alone. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last && last[0]?.view === step.view) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** What a user's own objects can do to a view of ours: another owner, kind or columns, or what it reads is gone; and 54 is for too many columns. */
const isAboutObjects = (code: string): boolean => /^(42|54)/.test(code);

/** Returns the words of the database where a view failed. */
async function runGroup(
  client: ClientBase,
  group: readonly Step[],
  view: string | undefined,
): Promise<string | undefined> {
  const sql = group.map((step) => step.sql).join(';\n');
  if (view === undefined) {
    await client.query(sql);
    return undefined;
  }
  await client.query('SAVEPOINT view');
  try {
    await client.query(sql);
    await client.query('RELEASE SAVEPOINT view');
    return undefined;
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string };
    if (!isAboutObjects(code)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT view');
    return message;
  }
}
