import Fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import { explainError, isSyncError, SyncError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import type { Engine } from '../sync/engine.ts';
import type { Health } from '../sync/health.ts';
import { type ResyncReport, resync } from '../sync/resync.ts';
import { addAnswerRoute } from './answers.ts';
import { type Bounds, boundAnswers, Room } from './bounds.ts';
import { addCommandsRoute, type NoteCommand, noteCommands } from './commands.ts';
import { addEventsRoute } from './events.ts';
import {
  type Access,
  type AccessOptions,
  createAccess,
  guardCommands,
  guardHost,
  guardReading,
} from './guard.ts';
import { addHealthRoutes } from './health.ts';
import { addHistoryRoute, addUndoRoute } from './history.ts';
import { noBody, RequestRefused, readInput } from './input.ts';
import type { LinkSide } from './link-side.ts';
import { createMetrics } from './metrics.ts';
import { addPage } from './page.ts';
import { addStatusRoutes, readWholeStatus } from './status.ts';

export interface HttpOptions extends AccessOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Of the program. */
  readonly version: string;
  /** Names under which it may be asked, besides `localhost` and IP addresses. */
  readonly hostNames?: readonly string[];
  /** Addresses of proxies that say whom they ask for. */
  readonly trustedProxies?: readonly string[];
}

/** The longest text that a cell holds fits in, also where each of its signs is written as an escape of six. */
const bodyLimitBytes = 512 * 1024;
/** Longest time a request may take to arrive. */
const requestTimeoutMs = 30_000;

/** Serves health, status, history and commands of one link. */
export async function startHttp(options: HttpOptions & LinkSide) {
  const { clock, log } = options.engine.link;
  const bounds = { clock, room: new Room() };
  const server = createServer(options, log, bounds);
  const access = createAccess(options, clock, log);
  const metrics = createMetrics(clock, options.version, access);
  metrics.add(options);
  metrics.addRoute(server);
  addLinkRoutes(server, options, access, bounds);
  const url = await listenAt(server, options);
  return { url, close: () => server.close() };
}

/** Answers the address. Fails with CONFIG_INVALID where nobody can listen, as where the port is taken. */
export async function listenAt(server: FastifyInstance, { host, port }: HttpOptions): Promise<string> {
  try {
    // Of a name with two addresses the library would serve the second one without bounds.
    return await server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : undefined;
    if (reason === undefined) throw error;
    const message = `The daemon can not listen at ${host} (HTTP_HOST), port ${port} (HTTP_PORT): ${reason}.`;
    throw new SyncError('CONFIG_INVALID', message, { cause: error });
  }
}

/** A server that answers under its own names alone, within its bounds, and says what went wrong in a sentence. */
export function createServer(
  { host, hostNames = [], trustedProxies = [] }: HttpOptions,
  log: Log,
  bounds: Bounds,
): FastifyInstance {
  const server = Fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
  });
  guardHost(server, [host, ...hostNames]);
  boundAnswers(server, bounds);
  server.setErrorHandler((error, request, reply) => {
    const status = isSyncError(error) ? 503 : statusOf(error);
    if (status !== 500) return reply.code(status).send({ error: explainError(error) });
    // Nobody has foreseen its words, so they are for the log alone.
    const { method, routeOptions } = request;
    log.error('http.failed', { method, route: routeOptions.url, error });
    return reply.code(500).send({ error: 'The daemon failed over this request; its log says more.' });
  });
  return server;
}

/** Adds a route by which a page finds out whether its token is right, and what it allows. */
export function addAccessRoute(server: FastifyInstance, access: Access): void {
  server.register(async (commands) => {
    guardCommands(commands, access, 'read');
    commands.post('/api/access', (request) => {
      readInput(noBody, request.body);
      const { name, scope } = access.tokenOf(request) ?? {};
      return { name, scope };
    });
  });
}

/** Adds everything that is about one link alone. */
export function addLinkRoutes(
  server: FastifyInstance,
  side: LinkSide & Pick<HttpOptions, 'version'>,
  access: Access,
  bounds: Bounds,
): void {
  guardReading(server, access);
  addHealthRoutes(server, access, () => side.health.read());
  addAccessRoute(server, access);
  addPage(server, 'page.html', side.version);
  const lastResync = addCommandRoutes(server, side, access);
  const readWhole = () => readWholeStatus(side, lastResync());
  addHistoryRoute(server, side.engine);
  addCommandsRoute(server, side.engine.link);
  addStatusRoutes(server, side.engine, readWhole);
  addEventsRoute(server, { ...bounds, readSamples: () => side.watch.samples, readWhole });
}

const statusOf = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;

/** Adds the commands; returns how to see the last resync. */
function addCommandRoutes(
  server: FastifyInstance,
  { backUp, engine, health }: LinkSide,
  access: Access,
): () => ResyncReport | undefined {
  let report: ResyncReport | undefined;
  const note = noteCommands(engine.link, access);
  server.register(async (commands) => {
    guardCommands(commands, access, 'operate');
    commands.post('/api/resync', (request, reply) => {
      readInput(noBody, request.body);
      if (report?.state !== 'running') {
        note(request, '');
        void resync(engine, (progress) => {
          report = progress;
        });
      }
      return reply.code(202).send(report);
    });
    addPlanRoutes(commands, engine, health, note);
    commands.post('/api/compare', async (request) => {
      readInput(noBody, request.body);
      if (engine.sides.every(({ compare }) => compare === undefined))
        throw new RequestRefused(400, 'Every cycle compares all rows already: no side needs it.');
      note(request, '');
      return { sides: await engine.compare() };
    });
    addUndoRoute(commands, engine, note);
    commands.post('/api/backup', (request) => {
      readInput(noBody, request.body);
      const file = backUp();
      note(request, file);
      return { file };
    });
  });
  server.register(async (commands) => {
    guardCommands(commands, access, 'answer');
    addAnswerRoute(commands, engine, note);
  });
  return () => report;
}

const applyBody = z.strictObject({ id: z.string().min(1).max(100) });

/** Shows what the next cycle would do, with what keeps that from being all there is to do, and does exactly what was shown. */
function addPlanRoutes(commands: FastifyInstance, engine: Engine, health: Health, note: NoteCommand): void {
  commands.post('/api/plan', async ({ body }) => {
    readInput(noBody, body);
    const [plan, ...others] = (await engine.plans()).map((each) => ({ id: each.run, ...each }));
    const conditions = health.read().filter(({ makes }) => makes !== 'degraded');
    return { ...plan, ...(others.length > 0 ? { others } : {}), conditions };
  });
  commands.post('/api/apply', async (request) => {
    const { id } = readInput(applyBody, request.body);
    const differences = await engine.apply(id);
    if (differences === undefined)
      throw new RequestRefused(
        404,
        `There is no plan ${id}: the daemon keeps the newest few until they are applied, and none over a restart. Make a new one with plan.`,
      );
    if (differences.length === 0) note(request, `plan ${id}`);
    return { id, isApplied: differences.length === 0, differences };
  });
}
