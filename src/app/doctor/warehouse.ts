import { lookAtPostgres } from '../../postgres/probe.ts';
import { syncSchemaOf } from '../../warehouse/port/layout.ts';
import type { Warehouse } from '../../warehouse/port/port.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../logger.ts';
import { type WarehouseSettings, warehouseTls } from '../settings/warehouse.ts';
import { layoutNow, termsOf } from '../warehouse-side.ts';
import { bad, doubtful, type Examination, type Finding, good, skipped } from './check.ts';
import type { DoctorContext } from './context.ts';
import { catalogExamination, readCatalogNow } from './crm.ts';

interface WarehouseContext extends DoctorContext {
  readonly database: Warehouse;
  readonly warehouse: WarehouseSettings;
}

/** An examination of the database that the settings name. */
const ofWarehouse = (
  name: string,
  needs: readonly string[],
  examine: (context: WarehouseContext, isGood: (name: string) => boolean) => Finding | Promise<Finding>,
): Examination => ({
  name,
  needs,
  async examine(context, isGood) {
    const { database, settings } = context;
    const { warehouse } = settings;
    if (!database || !warehouse) return skipped('WAREHOUSE_URL is not set: there is no warehouse.');
    return examine({ ...context, database, warehouse }, isGood);
  },
});

const serverVersionMin = 130_000;

const connection = ofWarehouse('warehouse', [], async ({ database }) => {
  const { isReadOnly, serverVersion } = await database.meet();
  const found = `PostgreSQL ${describeVersion(serverVersion)}, ${database.name}`;
  if (serverVersion < serverVersionMin) return bad(found, 'Use PostgreSQL 13 or newer.');
  if (isReadOnly) return bad(`${found}, which takes no writes`, 'Name the primary in WAREHOUSE_URL.');
  return good(found);
});

/** 180004 is 18.4: https://www.postgresql.org/docs/18/libpq-status.html#LIBPQ-PQSERVERVERSION */
const describeVersion = (version: number): string => `${Math.floor(version / 10_000)}.${version % 10_000}`;

const look = ({ warehouse }: WarehouseContext) => {
  const { caFile, schema, url } = warehouse;
  const schemas = [schema, syncSchemaOf(schema)];
  const address = { url, caFile, tls: warehouseTls(warehouse) };
  return lookAtPostgres(address, schemas, systemClock, createLog('silent'));
};

const encoding = ofWarehouse('warehouse encoding', [connection.name], async (context) => {
  const { encoding: found } = await look(context);
  if (found === 'UTF8') return good(found);
  return bad(`${found}, which cannot hold every text of the CRM`, 'Create the database with ENCODING UTF8.');
});

const rights = ofWarehouse('warehouse rights', [connection.name], async (context) => {
  const { foreignSchemas, mayCreate, missingSchemas, role } = await look(context);
  if (foreignSchemas.length > 0)
    return bad(`${role} does not own ${foreignSchemas.join(' and ')}`, sqlAdvice);
  if (missingSchemas.length > 0 && !mayCreate)
    return bad(`${role} may not create ${missingSchemas.join(' and ')}`, sqlAdvice);
  return good(missingSchemas.length > 0 ? `${role} may create its schemas` : `${role} owns its schemas`);
});

const sqlAdvice = 'Let an administrator run what “warehouse sql” prints.';

const role = ofWarehouse('warehouse role', [connection.name], async (context) => {
  const { isSuperuser, role: name } = await look(context);
  if (!isSuperuser) return good(`${name} is no superuser`);
  return doubtful(
    `${name} is a superuser`,
    'Give the daemon a role of its own, with no more rights than it needs, and use it for nothing else.',
  );
});

const keeper = ofWarehouse('warehouse keeper', [connection.name], async ({ database, state }) => {
  if (state.kind === 'closed') return skipped('The word of the mirror cannot be read beside the daemon.');
  const { keeper: found, lastRun } = await database.meet();
  if (found === 'none') return good('no mirror keeps the tables yet');
  if (found === 'own') return good(`kept by this mirror, with ${lastRun} writes`);
  return bad(
    'Another daemon, or another mirror, keeps the tables.',
    'Stop that one first; “init --adopt” takes its tables over.',
  );
});

const tables = ofWarehouse('warehouse tables', [connection.name], async (context, isGood) => {
  const { crm, database, state, warehouse } = context;
  const mirror = state.kind === 'open' ? state.mirror : undefined;
  // Custom fields are columns: as the CRM has them now, else as the daemon last read them.
  const catalog = isGood(catalogExamination.name) ? await readCatalogNow(crm) : mirror?.readCatalog();
  if ((await database.meet()).keeper === 'none')
    return good('there are none yet: “init” makes them, or else the daemon');
  const layout = layoutNow(termsOf(warehouse), catalog, mirror);
  const faults = await database.inspect(layout);
  if (faults.length === 0) return good(layout.tables.map(({ entity }) => entity).join(', '));
  const found = faults.map(({ words }) => words).join(' ');
  if (faults.some(({ isHarmless, isMendable }) => !isHarmless && !isMendable))
    return bad(found, 'Undo that change; until then nothing is written to these tables.');
  const isMendable = faults.some((fault) => fault.isMendable);
  return doubtful(found, isMendable ? 'Run init: it completes what is missing.' : sqlAdvice);
});

/** Everything about the warehouse. */
export const warehouseExaminations: readonly Examination[] = [
  connection,
  encoding,
  rights,
  role,
  keeper,
  tables,
];
