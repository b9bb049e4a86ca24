import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../core/ports.ts';

/** Wrong tokens that one address may send within {@link refusalsMs} before it is not listened to for the rest of that time. */
const refusalsMax = 10;
const refusalsMs = 60_000;

/** What every answer says to a browser; the page of the daemon says more exactly what it needs. */
const cautions = {
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

type Scheme = 'Bearer' | 'Basic';

/** Whether a request may pass; one that may not has been answered. */
export type Gate = (request: FastifyRequest, reply: FastifyReply, schemes: readonly Scheme[]) => boolean;

/** A gate for those who send the token, which listens no more to an address that guesses. Without a token nobody passes. */
export function createGate(controlToken: string | undefined, clock: Clock): Gate {
  const refusals = countRefusals(clock);
  return (request, reply, schemes) => {
    const { ip } = request;
    if (refusals.of(ip) >= refusalsMax) {
      const error = 'Too many wrong tokens came from this address. Wait a minute.';
      reply.code(429).header('retry-after', refusalsMs / 1_000);
      reply.send({ error });
      return false;
    }
    const problem = findAccessProblem(request, controlToken, schemes);
    if (problem === undefined) return true;
    // A browser asks for the token by itself and does so without having sent a wrong one.
    if (request.headers.authorization !== undefined) refusals.add(ip);
    reply.code(401).header('www-authenticate', `${schemes.at(-1)} realm="crm-sheet-sync"`);
    reply.send({ error: problem });
    return false;
  };
}

/** A browser sends what it was told for Basic with every request, also with one that a page of somebody else makes: no command takes it. */
export function guardCommands(commands: FastifyInstance, gate: Gate): void {
  commands.addHook('onRequest', (request, reply, next) => {
    if (gate(request, reply, ['Bearer'])) next();
  });
}

/** What machines ask to see whether all is well. */
const openRoutes: readonly (string | undefined)[] = ['/healthz', '/readyz', '/metrics'];

/** Keeps what records hold from those who do not have the token; in a browser it is the password, with any name. */
export function guardReading(server: FastifyInstance, gate: Gate): void {
  server.addHook('onRequest', (request, reply, next) => {
    const isGuarded = request.method !== 'POST' && !openRoutes.includes(request.routeOptions.url);
    if (!isGuarded || gate(request, reply, ['Bearer', 'Basic'])) next();
  });
}

/** Counts by address, and forgets all counts together, so that no number of addresses can fill the memory for long. */
function countRefusals(clock: Clock) {
  const counts = new Map<string, number>();
  let since = clock.monotonicMs();
  const forgetOld = () => {
    if (clock.monotonicMs() - since < refusalsMs) return;
    counts.clear();
    since = clock.monotonicMs();
  };
  return {
    of(address: string): number {
      forgetOld();
      return counts.get(address) ?? 0;
    },
    add: (address: string) => counts.set(address, (counts.get(address) ?? 0) + 1),
  };
}

function findAccessProblem(
  { headers }: FastifyRequest,
  controlToken: string | undefined,
  schemes: readonly Scheme[],
): string | undefined {
  if (controlToken === undefined) return 'Commands are off: start the daemon with CONTROL_TOKEN to use them.';
  const [, name, credentials = ''] = /^(\S+) (.*)$/.exec(headers.authorization ?? '') ?? [];
  const scheme = schemes.find((each) => each === name);
  const token = scheme === 'Basic' ? atobUtf8(credentials).replace(/^[^:]*:/, '') : credentials;
  // Digests have one length, so that comparing them takes the same time whatever was sent.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const isRight = scheme !== undefined && timingSafeEqual(digest(token), digest(controlToken));
  return isRight ? undefined : 'This needs the header Authorization: Bearer CONTROL_TOKEN.';
}

const atobUtf8 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');
