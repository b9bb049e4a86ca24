import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';

/** How many requests are allowed in any rolling window. */
export interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What the server counted for one name. Times are those of `performance.now`. */
export interface Arrivals {
  readonly accepted: readonly number[];
  /** Answered with 429; they do not count against the limit. */
  readonly refused: readonly number[];
}

/** A server that holds each of its paths to the limit. */
export interface LimitedServer {
  readonly url: string;
  arrivals(name: string): Arrivals;
  close(): Promise<void>;
}

interface Counted extends Arrivals {
  readonly accepted: number[];
  readonly refused: number[];
  readonly random: Random;
}

const latencyMinMs = 20;
const latencyMaxMs = 200;

/**
 * Starts the server on a free port. It keeps an exact log of arrivals per path. An answer takes 20 to 200 ms, and some part of
 * that passes before the request is counted, as on the way to a server that is far away.
 */
export async function startLimitedServer({ requests, windowMs }: Limit): Promise<LimitedServer> {
  const counted = new Map<string, Counted>();
  const countOf = (name: string): Counted => {
    const known = counted.get(name) ?? { accepted: [], refused: [], random: createRandom(counted.size + 1) };
    counted.set(name, known);
    return known;
  };
  const server = createServer(async (incoming, response) => {
    const { accepted, refused, random } = countOf(incoming.url ?? '');
    const latencyMs = random.integer(latencyMinMs, latencyMaxMs);
    const onTheWayMs = latencyMs * random.next();
    await sleep(onTheWayMs);
    const now = performance.now();
    const oldest = accepted.at(-requests);
    const isOverLimit = oldest !== undefined && oldest > now - windowMs;
    (isOverLimit ? refused : accepted).push(now);
    await sleep(latencyMs - onTheWayMs);
    response.writeHead(isOverLimit ? 429 : 200).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    arrivals: (name) => countOf(`/${name}`),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
