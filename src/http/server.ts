import Fastify, { type FastifyInstance } from 'fastify';
import { explainError, isSyncError } from '../core/errors.ts';
import type { Engine } from '../sync/engine.ts';
import type { Health } from '../sync/health.ts';
import { listProgress } from '../sync/progress.ts';
import { type ResyncReport, resync } from '../sync/resync.ts';
import { readStatus } from '../sync/status.ts';
import type { Watch } from '../sync/watch.ts';
import { addDecisionRoutes, addWaitingRoute } from './decisions.ts';
import { addEventsRoute } from './events.ts';
import { createGate, type Gate, guardCommands, guardHost, guardReading } from './guard.ts';
import { addHealthRoutes } from './health.ts';
import { addHistoryRoute, addUndoRoute } from './history.ts';
import { noBody, readInput } from './input.ts';
import { addMetricsRoute } from './metrics.ts';
import { addPage } from './page.ts';
import { addPlanRoutes } from './plans.ts';
import { addRefusedRoutes } from './refused.ts';

export interface HttpOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Names under which it may be asked, besides `localhost` and IP addresses. */
  readonly hostNames?: readonly string[];
  /** Without it every command is refused. */
  readonly controlToken?: string | undefined;
  /** Whether status and history need it too. */
  readonly readWithToken?: boolean;
  readonly engine: Engine;
  readonly health: Health;
  /** Sees how the link and its request budget go. */
  readonly watch: Watch;
  /** Copies the mirror. Answers the file. */
  readonly backUp: () => string;
}

export interface HttpSide {
  readonly url: string;
  close(): Promise<void>;
}

const bodyLimitBytes = 64 * 1024;
/** Longest time a request may take to arrive. */
const requestTimeoutMs = 30_000;

/** Serves health and status to everybody who can reach the address, and commands to those who have the token. */
export async function startHttp(options: HttpOptions): Promise<HttpSide> {
  const server = Fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    forceCloseConnections: true,
  });
  guardHost(server, [options.host, ...(options.hostNames ?? [])]);
  const gate = createGate(options.controlToken, options.engine.link.clock);
  if (options.readWithToken) guardReading(server, gate);
  addPage(server);
  addStatusRoutes(server, options, addCommandRoutes(server, options, gate));
  server.setErrorHandler((error, request, reply) => {
    const status = isSyncError(error) ? 503 : statusOf(error);
    if (status !== 500) return reply.code(status).send({ error: explainError(error) });
    // Nobody has foreseen its words, so they are for the log alone.
    const { method, routeOptions } = request;
    options.engine.link.log.error('http.failed', { method, route: routeOptions.url, error });
    return reply.code(500).send({ error: 'The daemon failed over this request; its log says more.' });
  });
  const url = await server.listen({ host: options.host, port: options.port });
  return { url, close: () => server.close() };
}

const statusOf = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;

function addStatusRoutes(
  server: FastifyInstance,
  { engine, health, watch }: HttpOptions,
  lastResync: () => ResyncReport | undefined,
): void {
  addHealthRoutes(server, health);
  addMetricsRoute(server, { engine, health, readUsage: () => watch.readUsage() });
  const readWhole = () => {
    const status = readStatus(engine, lastResync());
    return {
      ...status,
      conditions: health.read(),
      standing: watch.readStanding(),
      progress: listProgress(status, watch.samples),
      budget: watch.readUsage(),
    };
  };
  addHistoryRoute(server, engine);
  addWaitingRoute(server, engine);
  server.get('/api/status', readWhole);
  addEventsRoute(server, { clock: engine.link.clock, readSamples: () => watch.samples, readWhole });
}

/** Adds the commands; answers how to see the last resync. */
function addCommandRoutes(
  server: FastifyInstance,
  { backUp, engine }: HttpOptions,
  gate: Gate,
): () => ResyncReport | undefined {
  let report: ResyncReport | undefined;
  server.register((commands, _options, done) => {
    guardCommands(commands, gate);
    // Answers a page whether its token is the right one.
    commands.post('/api/access', ({ body }, reply) => {
      readInput(noBody, body);
      return reply.code(204).send();
    });
    commands.post('/api/resync', ({ body }, reply) => {
      readInput(noBody, body);
      if (report?.state !== 'running') {
        void resync(engine, (progress) => {
          report = progress;
        });
      }
      return reply.code(202).send(report);
    });
    addPlanRoutes(commands, engine);
    addUndoRoute(commands, engine);
    commands.post('/api/backup', ({ body }) => {
      readInput(noBody, body);
      return { file: backUp() };
    });
    addDecisionRoutes(commands, engine);
    addRefusedRoutes(commands, engine);
    done();
  });
  return () => report;
}
