import http from 'node:http';
import https from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { connect as encrypt } from 'node:tls';
import type { FindProxy } from '../core/network/proxy.ts';

/** One HTTP request, ready to be sent. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * How one HTTP request ended.
 * - `reply`: a complete answer of whatever status.
 * - `unusable`: an answer came, but not one whose text can be taken: too large, not UTF-8.
 * - `unsent`: no connection was made, so the other side surely never saw it.
 * - `unanswered`: it left, at least in part, and no complete answer came: whether it was carried out is not
 *   known.
 */
export type Exchange =
  | {
      readonly kind: 'reply';
      readonly status: number;
      readonly headers: http.IncomingHttpHeaders;
      readonly text: string;
    }
  | { readonly kind: 'unusable' | 'unsent' | 'unanswered'; readonly reason: string };

/** The answer to a request that came too soon after others; it was not carried out. */
export const rateRefusalStatus = 429;

/** A listing that ignores `limit` brings all records at once, so there is room for some 50,000 of them. */
const answerBytesMax = 64 * 1024 * 1024;

/**
 * Sends one request on a connection of its own and reads the whole answer; never rejects. Connections are not
 * kept alive: a request on a kept connection that the CRM is just closing ends without anybody knowing
 * whether it was done, and a hundred connections a minute cost nothing. Redirects are not followed: they
 * would carry the key elsewhere.
 */
export function exchange(
  request: OutgoingRequest,
  deadline: AbortSignal,
  findProxy: FindProxy = () => undefined,
): Promise<Exchange> {
  const { method, url, headers, body = '' } = request;
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const isEncrypted = url.protocol === 'https:';
  const host = hostOf(url);
  const proxy = isEncrypted ? findProxy(url) : undefined;
  const line = connect(placeOf(proxy ?? url));
  let isConnected = false;
  const fail = (error: unknown) => {
    const late = isConnected ? 'no complete answer in time' : 'no connection in time';
    const reason = deadline.aborted ? late : reasonOf(error);
    resolve({ kind: isConnected ? 'unanswered' : 'unsent', reason });
  };
  const open = (way: Socket): Socket => {
    const socket = isEncrypted ? encrypted(way, host) : way;
    // Nothing leaves before this event, so an error before it means that nothing was sent.
    socket.once(isEncrypted ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
    return socket;
  };
  const outgoing = (isEncrypted ? https : http).request(url, {
    method,
    headers: body ? { ...headers, 'content-length': Buffer.byteLength(body) } : headers,
    createConnection: (_options, done) => {
      if (!proxy) return open(line);
      tunnel(line, proxy, url).then(
        (way) => done(null, open(way)),
        (error: Error) => {
          line.destroy();
          done(error, line);
        },
      );
      return undefined;
    },
  });
  const giveUp = () => {
    // After an ordinary close the system goes on for about a minute to send what the other side has not confirmed, and a write that we gave
    // up would be carried out over a later one.
    if (line.connecting) line.destroy();
    else line.resetAndDestroy();
    outgoing.destroy();
    // A request that has no line yet does not say that it was destroyed.
    fail(undefined);
  };
  deadline.addEventListener('abort', giveUp, { once: true });
  // Not every end without an answer is an error to Node: a 101, for example, just closes the connection.
  const closed = () => fail(new Error('the connection was closed'));
  outgoing.once('close', closed);
  outgoing.once('response', (incoming) => {
    outgoing.off('close', closed);
    readReply(incoming).then(resolve, fail);
  });
  outgoing.on('error', fail);
  outgoing.end(body);
  return promise;
}

/** A name, or an address without brackets. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

const placeOf = (url: URL) => ({ host: hostOf(url), port: portOf(url) });

/** Longest answer of a proxy to CONNECT. */
const tunnelAnswerMax = 8_192;

/** Asks a proxy for a tunnel to the host of the address: https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6. Rejects where it gives none. */
async function tunnel(line: Socket, proxy: URL, url: URL): Promise<Socket> {
  const isEncrypted = proxy.protocol === 'https:';
  const way = isEncrypted ? encrypted(line, hostOf(proxy)) : line;
  await happens(way, isEncrypted ? 'secureConnect' : 'connect');
  const target = `${url.hostname}:${portOf(url)}`;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const headers = [
    `Host: ${target}`,
    ...(login === ':' ? [] : [`Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}`]),
  ];
  way.write([`CONNECT ${target} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
  let answer = '';
  while (!answer.includes('\r\n\r\n')) {
    await happens(way, 'readable');
    const chunk: unknown = way.read();
    if (chunk === null && way.readableEnded) break;
    answer += Buffer.isBuffer(chunk) ? chunk.toString('latin1') : '';
    if (answer.length > tunnelAnswerMax) break;
  }
  const [, status = 'nothing that is HTTP'] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? [];
  if (status === '200') return way;
  throw new Error(`the proxy ${proxy.host} answered ${status}`);
}

/** Resolves at the next event of this name; rejects at an error before it. */
const happens = (socket: Socket, event: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      socket.off(event, happened);
      socket.off('error', failed);
      settle();
    };
    const happened = () => end(resolve);
    const failed = (error: Error) => end(() => reject(error));
    socket.on(event, happened);
    socket.on('error', failed);
  });

/** What is spoken through a line to the host so that nobody else understands it. An address is no name of a server. */
const encrypted = (line: Socket, host: string): Socket =>
  encrypt({
    socket: line,
    host,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });

async function readReply(incoming: http.IncomingMessage): Promise<Exchange> {
  const { statusCode: status = 0, headers } = incoming;
  if (status === rateRefusalStatus) {
    // Whatever is in the body, and even if it never ends.
    incoming.destroy();
    return { kind: 'reply', status, headers, text: '' };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > answerBytesMax) return { kind: 'unusable', reason: `more than ${answerBytesMax} bytes` };
    chunks.push(chunk);
  }
  try {
    // Replacing what can not be decoded would change people's words without a trace.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    return { kind: 'reply', status, headers, text };
  } catch {
    return { kind: 'unusable', reason: `${status} with bytes that are not UTF-8` };
  }
}

function reasonOf(error: unknown): string {
  // Several addresses were tried: the joint error has no message of its own.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
