import type { Clock, Log } from '../core/ports.ts';
import { type AddressOptions, readAddress } from './address.ts';
import { createConnection } from './connection.ts';

/** What a database says of itself and of the role that logged in. */
export interface PostgresLook {
  readonly encoding: string;
  readonly role: string;
  readonly isSuperuser: boolean;
  /** Whether the role may create schemas. */
  readonly mayCreate: boolean;
  /** Of the schemas that were asked about, those that are not there. */
  readonly missingSchemas: readonly string[];
  /** Those that are there and belong to a role of which this one is no member. */
  readonly foreignSchemas: readonly string[];
}

/** Functions are called by their whole names: those of others would be run with the rights of this role. */
const aboutItself = `SELECT pg_catalog.current_setting('server_encoding') AS encoding, current_user AS role, r.rolsuper AS "isSuperuser",
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE') AS "mayCreate"
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`;

const aboutSchemas = `SELECT nspname AS name, pg_catalog.pg_has_role(nspowner, 'USAGE') AS "isOwn"
  FROM pg_catalog.pg_namespace WHERE nspname = ANY($1)`;

/** Asks a database about itself, on a connection of its own. Fails with WAREHOUSE_ codes. */
export async function lookAtPostgres(
  options: AddressOptions,
  schemas: readonly string[],
  clock: Clock,
  log: Log,
): Promise<PostgresLook> {
  const connection = createConnection(readAddress(options), clock, log);
  try {
    return await connection.use('look at', async (session) => {
      const [self = {}] = await session.run(aboutItself);
      const found = await session.run(aboutSchemas, [schemas]);
      const known = new Map(found.map(({ isOwn, name }) => [name, isOwn === 't']));
      return {
        encoding: self['encoding'] ?? 'unknown',
        role: self['role'] ?? 'unknown',
        isSuperuser: self['isSuperuser'] === 't',
        mayCreate: self['mayCreate'] === 't',
        missingSchemas: schemas.filter((name) => !known.has(name)),
        foreignSchemas: schemas.filter((name) => known.get(name) === false),
      };
    });
  } finally {
    await connection.drop();
  }
}
