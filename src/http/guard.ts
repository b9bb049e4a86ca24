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
  const known = new Set(['localhost', ...hostNames.map((name) => name.toLowerCase())]);
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
  const url = `http://${host}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  // A parsed URL writes every IPv4 address as four numbers, and IPv6 addresses alone in brackets.
  return known.has(hostname) || /^\[|^[\d.]+$/.test(hostname);
}

/** Lets only those pass who send the token, and listens no more to an address that guesses. Without a token nobody passes. */
export function guardCommands(
  commands: FastifyInstance,
  controlToken: string | undefined,
  clock: Clock,
): void {
  const refusals = countRefusals(clock);
  commands.addHook('onRequest', (request, reply, next) => {
    const { ip } = request;
    if (refusals.of(ip) >= refusalsMax) return refuseForNow(reply);
    const problem = findAccessProblem(request, controlToken);
    if (problem === undefined) return next();
    refusals.add(ip);
    reply.code(401).header('www-authenticate', 'Bearer').send({ error: problem });
  });
}

function refuseForNow(reply: FastifyReply): void {
  const error = 'Too many wrong tokens came from this address. Wait a minute.';
  reply
    .code(429)
    .header('retry-after', refusalsMs / 1_000)
    .send({ error });
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

function findAccessProblem(request: FastifyRequest, controlToken: string | undefined): string | undefined {
  if (controlToken === undefined) return 'Commands are off: start the daemon with CONTROL_TOKEN to use them.';
  const [scheme, token] = (request.headers.authorization ?? '').split(' ');
  // Digests have one length, so that comparing them takes the same time whatever was sent.
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const isRight = scheme === 'Bearer' && timingSafeEqual(digest(token ?? ''), digest(controlToken));
  return isRight ? undefined : 'The command needs the header Authorization: Bearer CONTROL_TOKEN.';
}
