import type { FastifyInstance } from 'fastify';
import type { Clock, Log } from '../core/ports.ts';
import { titled } from '../core/standing.ts';
import type { Condition } from '../sync/conditions.ts';
import { Room } from './bounds.ts';
import { createAccess, guardReading } from './guard.ts';
import { addHealthRoutes } from './health.ts';
import type { LinkSide } from './link-side.ts';
import { createMetrics, type Measured } from './metrics.ts';
import { addPage } from './page.ts';
import { addAccessRoute, addLinkRoutes, createServer, type HttpOptions, listenAt } from './server.ts';

/** One of several links, as this process knows it. */
export interface LinkEntry {
  readonly name: string;
  /** Where this process runs it. */
  readonly side?: LinkSide | undefined;
  /** Address of the process that runs it. */
  readonly url?: string | undefined;
  /** What keeps this process from running it. */
  readonly conditions: readonly Condition[];
}

export interface FrontOptions extends HttpOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** All links, also those that others run. */
  readonly readLinks: () => readonly LinkEntry[];
  /** What keeps this process from running any. */
  readonly readConditions: () => readonly Condition[];
}

/** The HTTP side of several links. */
export type Front = Awaited<ReturnType<typeof startFront>>;

/** A link with its own server, which listens on no port itself. */
interface Served extends Measured {
  readonly server: FastifyInstance;
}

/**
 * Serves each link below `/links/<name>/` as a link alone is served at the root, and at the root what is about all of them: a page to choose
 * one, `/api/links`, health and metrics.
 */
export async function startFront(options: FrontOptions) {
  const { clock, log, readLinks } = options;
  const bounds = { clock, room: new Room() };
  const server = createServer(options, log, bounds);
  const access = createAccess(options, clock, log);
  const metrics = createMetrics(clock, options.version, access, () => listUnserved(options));
  const served = new Map<string, Served>();
  passOn(server, (name) => served.get(name)?.server);
  guardReading(server, access);
  addPage(server, 'links.html', options.version);
  addHealthRoutes(server, access, () => readAllConditions(options));
  metrics.addRoute(server);
  addAccessRoute(server, access);
  server.get('/api/links', () => ({ links: readLinks().map(describeLink) }));
  addRefusals(server, readLinks);
  const url = await listenAt(server, options);
  const shut = async (name: string) => {
    const link = served.get(name);
    if (!link) return;
    served.delete(name);
    metrics.remove(link);
    await link.server.close();
  };
  return {
    url,
    /** Stops serving it. */
    shut,
    /** Serves a link under its name; resolves when it is. */
    async open(name: string, side: LinkSide): Promise<void> {
      const own = createServer(options, side.engine.link.log, bounds);
      addLinkRoutes(own, { ...side, version: options.version }, access, bounds);
      await own.ready();
      const link = { ...side, name, server: own };
      served.set(name, link);
      metrics.add(link);
    },
    async close(): Promise<void> {
      await Promise.all([...served.keys()].map(shut));
      await server.close();
    },
  };
}

/** Lets the server of a link answer what is asked below its name; before anything else, so that it guards and reads bodies itself. */
function passOn(server: FastifyInstance, find: (name: string) => FastifyInstance | undefined): void {
  server.addHook('onRequest', (request, reply, next) => {
    const [, name = '', rest] = /^\/links\/([^/?]+)(\/.*)$/.exec(request.url) ?? [];
    const link = find(name);
    if (!link || rest === undefined) return next();
    reply.hijack();
    request.raw.url = rest;
    link.routing(request.raw, reply.raw);
  });
}

/** Whoever watches numbers alone learns of a link that can not be started by these; those that run elsewhere are counted there. */
const listUnserved = ({ readConditions, readLinks }: FrontOptions) =>
  readLinks()
    .filter(({ side, url }) => !side && url === undefined)
    .map(({ conditions, name }) => [name, [...readConditions(), ...conditions]] as const);

function readAllConditions({ readConditions, readLinks }: FrontOptions) {
  const ofLinks = readLinks().flatMap(({ conditions, name, side }) =>
    [...conditions, ...(side?.health.read() ?? [])].map((condition) => ({ link: name, ...condition })),
  );
  return [...readConditions(), ...ofLinks];
}

/** Absent before the sides were compared. */
const countQuestions = ({ isCompared, reports }: LinkSide['engine']): number | undefined =>
  isCompared ? reports.flatMap(({ questions }) => questions).length : undefined;

/** A link as `/api/links` shows it. */
export function describeLink({ conditions, name, side, url }: LinkEntry) {
  return {
    name,
    url,
    isHere: side !== undefined,
    standing: side && titled(side.watch.readStanding()),
    waiting: side && countQuestions(side.engine),
    conditions: [...conditions, ...(side?.health.read() ?? [])],
  };
}

/** Says what to ask instead. */
function addRefusals(server: FastifyInstance, readLinks: () => readonly LinkEntry[]): void {
  server.setNotFoundHandler((request, reply) => {
    const links = readLinks();
    const names = links.map((each) => each.name).join(', ');
    const [, name] = /^\/links\/([^/?]+)/.exec(request.url) ?? [];
    if (name === undefined) {
      const isOfLink = request.url.startsWith('/api/');
      const error = isOfLink
        ? `This daemon runs several links: name one with --link, or ask below /links/<name>/. There are ${names}.`
        : 'There is nothing under this address.';
      return reply.code(404).send({ error });
    }
    const link = links.find((candidate) => candidate.name === name);
    if (!link) return reply.code(404).send({ error: `There is no link ${name}. There are ${names}.` });
    if (link.side) return reply.redirect(`/links/${name}/`);
    const where = link.url === undefined ? 'No process runs it yet.' : `Ask ${link.url} instead.`;
    return reply.code(503).send({ error: `The link ${name} is not run by this process. ${where}` });
  });
}
