import type { ClientBase } from 'pg';
import { newWarehouseError } from '../warehouse/port/errors.ts';
import { syncSchemaOf } from '../warehouse/port/layout.ts';
import type { Keeper, LayOutConsent } from '../warehouse/port/port.ts';
import { schemaComment } from './ddl/comments.ts';
import { type Found, findRelation, findSchema } from './ddl/found.ts';
import { schemaVersion } from './ddl/machinery.ts';
import { qualified } from './ddl/quote.ts';

/** The row that says who keeps the tables. */
export interface LinkRow {
  readonly name: string;
  readonly account: string;
  readonly word: string;
  /** A bigint as text. */
  readonly token: string;
}

const isOurs = (schema: string, found: Found): boolean =>
  ['link', 'laid_out'].every((name) => findRelation(found, { schema: syncSchemaOf(schema), name }));

/** Fails where the schemas hold what the daemon did not make, or made for a mirror that is not known any longer. */
export function expectOurs(schema: string, found: Found, consent: LayOutConsent): void {
  if (isOurs(schema, found)) return;
  const [first] = [...found.relations, ...found.functions];
  if (!first) return;
  const isMarked = findSchema(found, schema)?.comment === schemaComment;
  if (isMarked && consent.adopt) return;
  throw newWarehouseError(
    'WAREHOUSE_KEPT',
    isMarked
      ? `The schema ${schema} is one of this program, but the tables that say who keeps it are lost.`
      : `The schema ${schema} is not empty, and not one of this program: it has ${first.schema}.${first.name}. Name another one.`,
  );
}

/** Reads and locks the row; absent before the first time. */
export async function lockLink(
  client: ClientBase,
  schema: string,
  found: Found,
): Promise<LinkRow | undefined> {
  if (!isOurs(schema, found)) return undefined;
  const { rows } = await client.query<LinkRow>(
    `SELECT name, account, mirror_word AS word, writer_token::text AS token FROM ${qualified(syncSchemaOf(schema), 'link')} FOR UPDATE`,
  );
  return rows[0];
}

/** Fails where another mirror keeps the tables, or a later process of the same link. */
export function expectKeeper(
  schema: string,
  link: LinkRow | undefined,
  keeper: Keeper,
  consent: LayOutConsent,
): void {
  if (!link || consent.adopt) return;
  if (link.word !== keeper.word || link.account !== keeper.account) {
    throw newWarehouseError(
      'WAREHOUSE_KEPT',
      `Another mirror keeps the schema ${schema}, or one for another account: its link is ${link.name}.`,
    );
  }
  if (BigInt(link.token) > BigInt(keeper.token)) {
    throw newWarehouseError('WAREHOUSE_KEPT', `A later process keeps the schema ${schema}.`);
  }
}

/** Notes the keeper. The number of the last write stays: who takes the tables over goes on from it. */
export async function saveKeeper(
  client: ClientBase,
  schema: string,
  link: LinkRow | undefined,
  keeper: Keeper,
): Promise<void> {
  const table = qualified(syncSchemaOf(schema), 'link');
  const values = [keeper.link, keeper.account, keeper.word, keeper.token];
  if (!link) {
    await client.query(
      `INSERT INTO ${table} (name, account, mirror_word, writer_token, schema_version) VALUES ($1, $2, $3, $4, ${schemaVersion})`,
      values,
    );
    return;
  }
  const before = [link.name, link.account, link.word, link.token];
  if (before.every((value, index) => value === String(values[index]))) return;
  await client.query(
    `UPDATE ${table} SET name = $1, account = $2, mirror_word = $3, writer_token = $4`,
    values,
  );
}

/** Takes a number that no write has: so the daemon learns that rows were lost, and compares all of them. */
export const skipRunSql = (schema: string): string =>
  `UPDATE ${qualified(syncSchemaOf(schema), 'link')} SET run_no = run_no + 1`;
