import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { basePath, scopes } from '../../crm/contract.ts';
import { type CrmKey, type CrmLimits, defaultLimits } from './access.ts';
import type { CrmAnswer } from './answers.ts';
import { type CrmChoices, defaultChoices } from './choices.ts';
import { addControlRoutes } from './control-routes.ts';
import { CrmModel, type CrmRequest } from './model.ts';
import { keyFromSeed } from './random.ts';
import { type SeedCounts, seedRecords } from './seed.ts';

export interface SandboxCrmOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host?: string;
  readonly seed: number;
  readonly counts: SeedCounts;
  /** The key with all scopes; follows from the seed where it is absent. */
  readonly apiKey?: string;
  /** Further keys, with scopes of their own. */
  readonly keys?: readonly CrmKey[];
  readonly limits?: Partial<CrmLimits>;
  readonly choices?: Partial<CrmChoices>;
  /** Epoch ms before which the seeded records were created; the start where it is absent. */
  readonly seededAt?: number;
  /** Epoch ms. */
  readonly clock?: () => number;
}

export interface SandboxCrm {
  /** With the specification's path prefix. */
  readonly baseUrl: string;
  readonly pageUrl: string;
  readonly apiKey: string;
  readonly model: CrmModel;
  close(): Promise<void>;
}

/** The specification has no limit for bodies; this one only keeps the memory of the machine. */
const bodyBytesMax = 64 * 1024 * 1024;

/** Serves the sandbox CRM over HTTP, with its page at `/`, until it is closed. */
export async function startSandboxCrm(options: SandboxCrmOptions): Promise<SandboxCrm> {
  const { host = '127.0.0.1', seed, clock = Date.now } = options;
  const apiKey = options.apiKey ?? keyFromSeed(seed);
  const model = new CrmModel({
    records: seedRecords(seed, options.counts, options.seededAt ?? clock()),
    choices: { ...defaultChoices, ...options.choices },
    keys: [{ key: apiKey, scopes }, ...(options.keys ?? [])],
    limits: { ...defaultLimits, ...options.limits },
  });
  const server = Fastify({
    forceCloseConnections: true,
    bodyLimit: bodyBytesMax,
    // An address that can not be decoded is one more that does not exist, and gets the CRM's envelope as well.
    frameworkErrors: (_error, request, reply) => void answerRequest(model, clock, request, reply),
  });
  takeBodiesAsText(server);
  server.all(`${basePath}/*`, (request, reply) => answerRequest(model, clock, request, reply));
  await addControlRoutes(server, model, clock);
  const address = await server.listen({ port: options.port, host });
  return {
    baseUrl: `${address}${basePath}`,
    pageUrl: `${address}/`,
    apiKey,
    model,
    close: () => server.close(),
  };
}

/** The model reads JSON itself, because a body that is no JSON gets the CRM's error envelope. */
function takeBodiesAsText(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

async function answerRequest(
  model: CrmModel,
  clock: () => number,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const arrival = model.receive(clock(), readRequest(request));
  if (arrival.delayMs > 0) await sleep(arrival.delayMs);
  const outcome = arrival.finish(clock());
  if (outcome) return sendAnswer(reply, outcome);
  reply.hijack();
  request.raw.socket.destroy();
  return reply;
}

function readRequest(request: FastifyRequest): CrmRequest {
  const [path = '', query] = request.url.slice(basePath.length).split('?');
  return {
    method: request.method,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: request.headers,
    ...(typeof request.body === 'string' ? { body: request.body } : {}),
    ip: request.ip,
  };
}

function sendAnswer(reply: FastifyReply, answer: CrmAnswer): FastifyReply {
  reply.code(answer.status).headers(answer.headers);
  if (typeof answer.body === 'string') return reply.send(answer.body);
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer.body));
}
