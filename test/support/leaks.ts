import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { SideAddresses } from './two-sides.ts';

/** Something that the program has let out of its hands. */
export interface Output {
  readonly where: string;
  /** Bytes of files are texts with one character for each byte. */
  readonly text: string;
}

/** The forms in which a secret may turn up. */
const formsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('hex'),
  // Where it stands in a longer text decides how it is encoded, so its inner part is looked for.
  ...[0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + secret)
      .toString('base64')
      .slice(4, -4),
  ),
];

/** Every place in which one of the secrets stands, as `name of the secret in place`. */
export function findLeaks(secrets: Readonly<Record<string, string>>, outputs: readonly Output[]): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = formsOf(secret);
    return outputs.flatMap(({ where, text }) => {
      const form = forms.find((each) => text.includes(each));
      return form === undefined ? [] : [`${name} in ${where}: …${excerpt(text, form)}…`];
    });
  });
}

const excerpt = (text: string, part: string): string => {
  const start = text.indexOf(part);
  return text.slice(Math.max(0, start - 120), start + 40);
};

/** All files below a directory, byte by byte. */
export async function readFiles(directory: string): Promise<Output[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name));
  return Promise.all(files.map(async (where) => ({ where, text: await readFile(where, 'latin1') })));
}

/** All keys of a Redis with all that they hold. */
export async function readRedis(url: string): Promise<Output[]> {
  const redis = new Redis(url);
  try {
    const keys = await redis.keys('*');
    return await Promise.all(
      keys.map(async (key) => ({
        where: `Redis ${key}`,
        text: key + JSON.stringify(await readKey(redis, key)),
      })),
    );
  } finally {
    redis.disconnect();
  }
}

async function readKey(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none':
      return undefined;
    default:
      throw new Error(`Nobody thought of a ${type} in Redis.`);
  }
}

/** All that is in two schemas of a database: rows of tables and views, functions, and comments. */
export async function readDatabase(
  query: (sql: string) => Promise<Record<string, unknown>[]>,
): Promise<Output[]> {
  const schemas = "('crm', 'crm_sync')";
  const relations = await query(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace::regnamespace::text IN ${schemas}`,
  );
  const [rest] = await query(
    `SELECT (SELECT json_agg(to_json(p)) FROM pg_proc p WHERE pronamespace::regnamespace::text IN ${schemas})::text AS functions,
            (SELECT json_agg(to_json(d)) FROM pg_description d WHERE d.objoid >= 16384)::text AS comments`,
  );
  return [
    { where: 'functions and comments of the database', text: JSON.stringify(rest) },
    ...(await Promise.all(
      relations.map(async ({ name }) => ({
        where: `the table ${name}`,
        text: JSON.stringify(await query(`SELECT to_json(t)::text AS row FROM ${name} t`)),
      })),
    )),
  ];
}

/** Both sides with everything on them: cells, notes, formats and metadata of the sheet, and all records. */
export const readWholeSides = ({ crmUrl, sheetsUrl, spreadsheetId }: SideAddresses): Promise<Output[]> =>
  Promise.all(
    [
      `${sheetsUrl}/v4/spreadsheets/${spreadsheetId}?includeGridData=true&fields=*`,
      `${crmUrl}__sandbox/records`,
    ].map(async (where) => {
      const answer = await fetch(where);
      if (!answer.ok) throw new Error(`${where} answered ${answer.status}.`);
      return { where, text: await answer.text() };
    }),
  );
