import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request on the line; `url` is the path below the base address, with the query. */
export interface LineRequest {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

export interface LineAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Hands the request on to the CRM, as it is or changed. `undefined` where the CRM cut the connection. */
export type PassOn = (changed?: Partial<LineRequest>) => Promise<LineAnswer | undefined>;

/** What becomes of a request: the answer that goes back, or `undefined` to cut the connection. */
export type Interception = (asked: LineRequest, passOn: PassOn) => Promise<LineAnswer | undefined>;

/** The line between a daemon and its CRM, on which a test can do what networks, proxies and bad moments do. */
export interface CrmLine {
  readonly baseUrl: string;
  /** Lets `interception` decide about requests that look like this: `GET /leads?page=2`. Ends with the answer. */
  intercept(pattern: RegExp, interception: Interception): () => void;
  /** Keeps back the next request that looks like this, before the CRM has seen it. */
  hold(pattern: RegExp): HeldRequest;
  /** Refuses connections, as a machine does that is not there. */
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
}

export interface HeldRequest {
  /** Resolves when it has come. */
  readonly arrived: Promise<void>;
  /** Hands it on; resolves when the CRM has carried it out. */
  release(): Promise<void>;
}

export interface CrmLineOptions {
  /** Address of the CRM, with the specification's path prefix. */
  readonly target: string;
  /** Epoch ms; goes into the `Date` header of every answer, because the CRM's clock is not this machine's. */
  readonly now: () => number;
}

export async function openCrmLine({ target, now }: CrmLineOptions): Promise<CrmLine & AsyncDisposable> {
  const interceptions = new Map<RegExp, Interception>();
  const prefix = new URL(target).pathname;
  // A machine that thinks for long between two requests finds its connection still there.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (incoming, response) => {
    const { method = '', url = '' } = incoming;
    const asked = { method, url: url.slice(prefix.length), body: await text(incoming) };
    const passOn: PassOn = (changed) => forward(target, incoming, { ...asked, ...changed });
    const [, intercept] =
      [...interceptions].find(([pattern]) => pattern.test(`${method} ${asked.url}`)) ?? [];
    const answer = await (intercept ? intercept(asked, passOn) : passOn());
    sendBack(response, answer, now());
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const disconnect = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const port = await listen(0);
  const intercept: CrmLine['intercept'] = (pattern, interception) => {
    interceptions.set(pattern, interception);
    return () => interceptions.delete(pattern);
  };
  return {
    baseUrl: `http://127.0.0.1:${port}${prefix}`,
    intercept,
    hold: (pattern) => holdNext(intercept, pattern),
    disconnect,
    reconnect: async () => void (await listen(port)),
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await disconnect();
    },
  };
}

function holdNext(intercept: CrmLine['intercept'], pattern: RegExp): HeldRequest {
  const [arrival, release, done] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const stop = intercept(pattern, async (_asked, passOn) => {
    stop();
    arrival?.resolve();
    await release?.promise;
    const answer = await passOn();
    done?.resolve();
    return answer;
  });
  return {
    arrived: arrival?.promise ?? Promise.resolve(),
    async release() {
      release?.resolve();
      await done?.promise;
    },
  };
}

function forward(
  target: string,
  incoming: IncomingMessage,
  asked: LineRequest,
): Promise<LineAnswer | undefined> {
  const headers = { ...incoming.headers };
  delete headers['content-length'];
  // An answer is handed on as text.
  delete headers['accept-encoding'];
  const { promise, resolve } = Promise.withResolvers<LineAnswer | undefined>();
  const outgoing = request(target + asked.url, { method: asked.method, headers, agent: false });
  outgoing.on('error', () => resolve(undefined));
  outgoing.on('response', async (reply) => {
    resolve({ status: reply.statusCode ?? 0, headers: reply.headers, text: await text(reply) });
  });
  outgoing.end(asked.body);
  return promise;
}

/** The lengths and the connection are those of the line itself. */
function sendBack(response: ServerResponse, answer: LineAnswer | undefined, now: number): void {
  if (!answer) {
    response.destroy();
    return;
  }
  const {
    'content-length': _length,
    connection: _connection,
    'keep-alive': _keepAlive,
    ...headers
  } = answer.headers;
  const date = new Date(now).toUTCString();
  response.writeHead(answer.status, { ...headers, date }).end(answer.text);
}
