import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../core/ports.ts';

/** Wrong tokens that one address may send within {@link refusalsMs} before it is told to wait. */
const refusalsMax = 10;
const refusalsMs = 60_000;

/** The header by which commands know the daemon from anything else that listens there. */
export const signature = { name: 'served-by', value: 'crm-sheet-sync' };

/** What every answer says, most of it to a browser; the page of the daemon says more exactly what it needs. */
const cautions = {
  [signature.name]: signature.value,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * Answers a request only under a name that the daemon is known by. A page of somebody else can let its own name point to this machine
 * and then read what is served here; a browser still sends that name. Addresses can not be pointed elsewhere, so all are taken.
 */
export function guardHost(server: FastifyInstance, hostNames: readonly string[]): void {
  const known = new Set(['localhost', ...hostNames.flatMap((name) => hostnameOf(name) ?? [])]);
  server.addHook('onRequest', (request, reply, next) => {
    reply.headers(cautions);
    const { host } = request.headers;
    // Only what is no browser leaves it out.
    if (host === undefined || isKnown(host, known)) next();
    else {
      const error =
        'This daemon is not known under that name. Use localhost or an IP address, or add the name to http.hostNames.';
      reply.code(421).send({ error });
    }
  });
}

function isKnown(host: string, known: ReadonlySet<string>): boolean {
  const hostname = hostnameOf(host);
  // A parsed URL writes every IPv4 address as four numbers, and IPv6 addresses alone in brackets.
  return hostname !== undefined && (known.has(hostname) || /^\[|^[\d.]+$/.test(hostname));
}

/** A name without its port, in the form in which browsers send it; `undefined` where it is none. */
const hostnameOf = (host: string): string | undefined => URL.parse(`http://${host}`)?.hostname;

const ownAddresses = new BlockList();
ownAddresses.addSubnet('127.0.0.0', 8, 'ipv4');
ownAddresses.addAddress('::1', 'ipv6');

/** True if only this machine reaches what listens there. A name other than `localhost` may lead to any address, so it does not count. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && ownAddresses.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4'));

/** Decides who may read, and who may command. */
export type Access = ReturnType<typeof createAccess>;

export interface AccessOptions {
  readonly host: string;
  /** Without it every command is refused, and reading where it needs the token. */
  readonly controlToken?: string | undefined;
  /** Whether reading needs it too; where other machines reach the daemon it always does. */
  readonly readWithToken?: boolean;
}

/**
 * Asks for the token: for commands always, for reading where the settings say so or other machines reach the daemon. An address that guesses
 * is told to wait, but a right token is always admitted: wrong ones may come from the same proxy.
 */
export function createAccess(options: AccessOptions, clock: Clock) {
  const { controlToken, host, readWithToken = false } = options;
  const countRefusal = countRefusals(clock);
  const hasToken = ({ headers }: FastifyRequest) =>
    controlToken !== undefined && isSame(tokenOf(headers.authorization), controlToken);
  return {
    /** Whether everybody who reaches the daemon may read. */
    isReadingOpen: !readWithToken && isLoopback(host),
    hasToken,
    /** Whether the request has the token. One that has not is refused here. */
    admit(request: FastifyRequest, reply: FastifyReply): boolean {
      if (hasToken(request)) return true;
      // A page finds out that it has to ask for the token by sending none, and is no guesser.
      if (request.headers.authorization !== undefined && countRefusal(request.ip) > refusalsMax) {
        reply.code(429).header('retry-after', refusalsMs / 1_000);
        reply.send({ error: 'Too many wrong tokens came from this address. Wait a minute.' });
        return false;
      }
      reply.code(401).header('www-authenticate', 'Bearer realm="crm-sheet-sync"');
      reply.send({ error: controlToken === undefined ? commandsAreOff : needsToken });
      return false;
    },
  };
}

const commandsAreOff = 'Commands are off: start the daemon with CONTROL_TOKEN to use them.';
const needsToken = 'This needs the header Authorization: Bearer CONTROL_TOKEN.';

/** Keeps commands from those who do not have the token. */
export function guardCommands(commands: FastifyInstance, access: Access): void {
  commands.addHook('onRequest', (request, reply, next) => {
    if (access.admit(request, reply)) next();
  });
}

/** Says of itself how much it may say. */
const healthRoutes: readonly string[] = ['/livez', '/readyz', '/healthz'];

/** What the page is made of: nothing of a link. */
const isOfPage = (route: string) => route === '/' || route.startsWith('/page/');

/** Keeps what records hold from those who do not have the token, where reading needs it. */
export function guardReading(server: FastifyInstance, access: Access): void {
  if (access.isReadingOpen) return;
  server.addHook('onRequest', ({ method, routeOptions: { url } }, reply, next) => {
    // Commands have a guard of their own.
    const isLeft = url !== undefined && (method === 'POST' || healthRoutes.includes(url) || isOfPage(url));
    if (isLeft || access.admit(reply.request, reply)) next();
  });
}

/**
 * Returns a counter: it counts one more from an address, and returns how many came from there. All counts are forgotten together, so that no
 * number of addresses can fill the memory for long.
 */
function countRefusals(clock: Clock): (address: string) => number {
  const counts = new Map<string, number>();
  let since = clock.monotonicMs();
  return (address) => {
    if (clock.monotonicMs() - since >= refusalsMs) {
      counts.clear();
      since = clock.monotonicMs();
    }
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    return count;
  };
}

/** The token of a header `Authorization`; empty where it has none. */
const tokenOf = (header = ''): string => (header.startsWith('Bearer ') ? header.slice('Bearer '.length) : '');

/** Compares digests: they have one length, so that it takes the same time whatever was sent. */
function isSame(sent: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(sent), digest(right));
}
