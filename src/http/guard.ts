import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  covers,
  listTokens,
  type NamedToken,
  type Scope,
  type TokenSettings,
} from '../core/network/access.ts';
import type { Clock, Log } from '../core/ports.ts';

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
    if (host !== undefined && !isKnown(host, known)) {
      const error =
        'This daemon is not known under that name. Use localhost or an IP address, or add the name to http.hostNames.';
      reply.code(421).send({ error });
    } else if (isFromOtherSite(request, known)) {
      reply
        .code(403)
        .send({ error: 'A page of another site asked for this. Open the page of the daemon itself.' });
    } else next();
  });
}

/**
 * True if a page of another site sent the request: newer browsers say so, older ones at least name the site of a form or a script. A link may
 * lead to the page, which shows nothing by itself.
 */
function isFromOtherSite({ headers, host, method }: FastifyRequest, known: ReadonlySet<string>): boolean {
  const { origin, 'sec-fetch-mode': mode, 'sec-fetch-site': site } = headers;
  // A proxy may ask under another name than the page has.
  const isOwn = (name = '') => name === hostnameOf(host) || known.has(name);
  if (site === undefined) return origin !== undefined && !isOwn(URL.parse(origin)?.hostname);
  const isLink = method === 'GET' && mode === 'navigate';
  return (site === 'cross-site' || site === 'same-site') && !isLink;
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

export interface AccessOptions extends TokenSettings {
  readonly host: string;
  /** Whether reading needs a token too; where other machines reach the daemon it always does. */
  readonly readWithToken?: boolean;
}

/**
 * Asks for a token: for commands always, for reading where the settings say so or other machines reach the daemon. An address that guesses
 * is told to wait, but a right token is always admitted: wrong ones may come from the same proxy.
 */
export function createAccess(options: AccessOptions, clock: Clock, log: Log) {
  const { host, readWithToken = false } = options;
  const tokens = listTokens(options);
  const countRefusal = countRefusals(clock);
  let refusals = 0;
  const tokenOf = ({ headers }: FastifyRequest): NamedToken | undefined =>
    findToken(tokens, headers.authorization);
  /** Counts a wrong token. Returns whether its address sent too many of them. */
  const noteWrong = ({ ip }: FastifyRequest): boolean => {
    refusals += 1;
    const count = countRefusal(ip);
    // The first of a minute, and the first that has to wait: who guesses must not fill the disk.
    if (count === 1 || count === refusalsMax + 1) log.warn('http.token_refused', { address: ip, count });
    return count > refusalsMax;
  };
  return {
    /** Whether everybody who reaches the daemon may read. */
    isReadingOpen: !readWithToken && isLoopback(host),
    /** The token of a request; `undefined` where it has none that is right. */
    tokenOf,
    /** How many wrong tokens were refused. */
    readRefusals: () => refusals,
    /** Whether the request has a token with this scope. One that has not is refused here. */
    admit(request: FastifyRequest, reply: FastifyReply, wanted: Scope): boolean {
      const token = tokenOf(request);
      if (token && covers(token, wanted)) return true;
      if (token) {
        const error = `The token ${token.name} may ${token.scope}; this needs one that may ${wanted}.`;
        reply.code(403).send({ error });
        return false;
      }
      // A page finds out that it has to ask for the token by sending none, and is no guesser.
      if (request.headers.authorization !== undefined && noteWrong(request)) {
        reply.code(429).header('retry-after', refusalsMs / 1_000);
        reply.send({ error: 'Too many wrong tokens came from this address. Wait a minute.' });
        return false;
      }
      reply.code(401).header('www-authenticate', 'Bearer realm="crm-sheet-sync"');
      reply.send({ error: tokens.length === 0 ? commandsAreOff : needsToken });
      return false;
    },
  };
}

const commandsAreOff = 'Commands are off: start the daemon with CONTROL_TOKEN to use them.';
const needsToken =
  'This needs the header Authorization: Bearer with CONTROL_TOKEN, or one of CONTROL_TOKENS.';

/** Keeps commands from requests without a token of this scope. */
export function guardCommands(commands: FastifyInstance, access: Access, wanted: Scope): void {
  commands.addHook('onRequest', (request, reply, next) => {
    if (access.admit(request, reply, wanted)) next();
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
    if (isLeft || access.admit(reply.request, reply, 'read')) next();
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

/** Finds the token in a header `Authorization`. Compares all, so that it takes the same time whatever was sent. */
function findToken(tokens: readonly NamedToken[], authorization = ''): NamedToken | undefined {
  const sent = authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : '';
  const [found] = tokens.filter(({ token }) => isSame(sent, token));
  return found;
}

/** Compares digests, because all of them have the same length. */
function isSame(sent: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(sent), digest(right));
}
