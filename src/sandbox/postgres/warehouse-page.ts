import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { DatabaseError, Pool } from 'pg';
import { describeVersions } from './record-history.ts';
import { isRecordTable, isShown, readTable, readVersions } from './shown-tables.ts';

export interface WarehousePageOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Of the database, for a role that may read the tables. */
  readonly url: string;
  readonly schema: string;
}

export interface WarehousePage {
  readonly url: string;
  close(): Promise<void>;
}

const pageFiles = {
  '/': ['page/page.html', 'text/html; charset=utf-8'],
  '/page.css': ['page/page.css', 'text/css; charset=utf-8'],
  '/page.js': ['page/page.js', 'text/javascript; charset=utf-8'],
  '/history.js': ['page/history.js', 'text/javascript; charset=utf-8'],
  '/sql.js': ['page/sql.js', 'text/javascript; charset=utf-8'],
  '/element.js': ['page/element.js', 'text/javascript; charset=utf-8'],
  // Both pages are parts of one demo and look alike.
  '/crm.css': ['../crm/page/page.css', 'text/css; charset=utf-8'],
  '/flash.css': ['../page/flash.css', 'text/css; charset=utf-8'],
  '/flash.js': ['../page/flash.js', 'text/javascript; charset=utf-8'],
} as const;

/** Serves a page that shows the tables, the history of their rows and the main views, and runs a line of SQL as an editor would. */
export async function startWarehousePage({
  port,
  url,
  schema,
}: WarehousePageOptions): Promise<WarehousePage> {
  const pool = openPool(url, '-c default_transaction_read_only=on');
  const editors = openPool(url);
  const server = Fastify({ forceCloseConnections: true });
  server.addHook('onClose', async () => {
    await Promise.all([pool.end(), editors.end()]);
  });
  await addPageFiles(server);
  server.get<{ Params: { name: string } }>('/tables/:name', (request, reply) => {
    const { name } = request.params;
    if (!isShown(name)) return reply.code(404).send({ error: 'There is no such table.' });
    return sendRead(request, reply, () => readTable(pool, schema, name));
  });
  server.get<{ Params: { name: string; id: string } }>('/tables/:name/:id/history', (request, reply) => {
    const { name, id } = request.params;
    if (!isRecordTable(name) || !/^-?\d{1,18}$/.test(id))
      return reply.code(404).send({ error: 'There is no such row.' });
    return sendRead(request, reply, async () => describeVersions(await readVersions(pool, schema, name, id)));
  });
  server.get('/edits', async () => ({ areOn: await areEditsOn(pool, schema) }));
  // Another site's page can not send JSON here without being asked first.
  server.post<{ Body: { sql: string } }>(
    '/sql',
    { schema: { body: { type: 'object', required: ['sql'], properties: { sql: { type: 'string' } } } } },
    async (request, reply) => {
      if (!(await areEditsOn(pool, schema)))
        return reply.code(404).send({ error: 'Editing by SQL is not switched on.' });
      try {
        const { command, rowCount } = await editors.query(request.body.sql);
        return { words: `${command} ${rowCount ?? 0}` };
      } catch (error) {
        return reply.code(400).send({ error: refusalOf(error) });
      }
    },
  );
  try {
    return {
      url: `${await server.listen({ host: '127.0.0.1', port })}/`,
      close: () => server.close(),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

function openPool(url: string, options = ''): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 2,
    allowExitOnIdle: true,
    connectionTimeoutMillis: 5_000,
    statement_timeout: 5_000,
    options: `${options} -c TimeZone=UTC -c DateStyle=ISO`,
    types: { getTypeParser: () => (text: string) => text },
  });
  // A connection that rests and breaks is replaced at the next look.
  pool.on('error', () => undefined);
  return pool;
}

async function addPageFiles(server: FastifyInstance): Promise<void> {
  for (const [path, [file, type]] of Object.entries(pageFiles)) {
    const text = await readFile(new URL(file, import.meta.url), 'utf8');
    server.get(path, (_request, reply) =>
      reply
        .header('content-security-policy', "default-src 'self'; img-src 'self' data:")
        .type(type)
        .send(text),
    );
  }
}

/** A table or schema that is not there, yet or any longer. */
const missingCodes = ['42P01', '3F000'];
/** The server is ending, starting or was killed: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const goneCodes = /^(?:57P|08)/;

function wordsOf(error: unknown): string {
  if (!(error instanceof DatabaseError) || goneCodes.test(error.code ?? ''))
    return 'The database does not respond; trying again.';
  return missingCodes.includes(error.code ?? '')
    ? 'The daemon has not laid out the tables yet.'
    : `The database refused: ${error.message}.`;
}

/** Whether the tables are laid out so that edits are noted. */
async function areEditsOn(pool: Pool, schema: string): Promise<boolean> {
  try {
    const { rows } = await pool.query('SELECT FROM pg_views WHERE schemaname = $1 AND viewname = $2', [
      schema,
      'edit',
    ]);
    return rows.length > 0;
  } catch {
    return false;
  }
}

/** What a session of `psql` would show. */
const refusalOf = (error: unknown): string =>
  error instanceof DatabaseError
    ? [error.message, error.hint].filter(Boolean).join(' ')
    : 'The database does not respond.';

/** Sends what was read, or 304 where the page has the same already. */
async function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  read: () => Promise<unknown>,
): Promise<FastifyReply> {
  try {
    const body = JSON.stringify(await read());
    const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    reply.header('etag', tag).header('cache-control', 'no-cache');
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  } catch (error) {
    return reply.code(503).send({ error: wordsOf(error) });
  }
}
