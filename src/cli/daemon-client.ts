import { isOfDaemon } from '../app/answers.ts';
import { daemonOrigin, type Environment, linkVariable, loadHttpSettings } from '../app/config.ts';
import { type OwnCode, SyncError } from '../core/errors.ts';
import { strongestToken } from '../core/network/access.ts';

/** Longest time the daemon may take to answer a command. */
const timeoutMs = 120_000;

/** What the web server says of itself where nothing is served, as everywhere below `/links` where the daemon runs one link. */
const nothingThere = 'Not Found';

/**
 * Calls the running daemon, which is of the same program and says so: its answer is what its types say. Of its settings only where it
 * listens and its token have to be known and right here. Fails with CONFIG_INVALID, DAEMON_UNREACHABLE, DAEMON_REFUSED, COMMAND_UNCLEAR or
 * CONTROL_REFUSED.
 */
export async function callDaemon<Answer>(
  environment: Environment,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<Answer> {
  const http = loadHttpSettings(environment);
  const { host, port } = http;
  const token = strongestToken(http);
  const link = environment[linkVariable] || undefined;
  const prefix = link === undefined ? '' : `/links/${encodeURIComponent(link)}`;
  const origin = daemonOrigin(host, port);
  const fail = (cause: unknown): never => {
    throw new SyncError('DAEMON_UNREACHABLE', describeSilence(cause, origin), { cause });
  };
  const response = await fetch(`${origin}${prefix}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    // It would carry the token elsewhere.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(fail);
  if (!isOfDaemon(response)) throw new SyncError('DAEMON_UNREACHABLE', describeStranger(response, origin));
  const answer = await response.json().catch(fail);
  if (response.ok) return answer as Answer;
  const { error: said = `The daemon answered ${response.status}.` }: { error?: string } = Object(answer);
  const problem =
    link !== undefined && said === nothingThere
      ? `The daemon runs one link, which has no name: leave out --link ${link}.`
      : said;
  throw new SyncError(codes.get(response.status) ?? 'DAEMON_REFUSED', problem);
}

/** What the daemon means by a status, but for what it could not do. */
const codes: ReadonlyMap<number, OwnCode> = new Map([
  [400, 'COMMAND_UNCLEAR'],
  [401, 'CONTROL_REFUSED'],
  [403, 'CONTROL_REFUSED'],
]);

function describeStranger({ headers, status }: Response, origin: string): string {
  const what = headers.get('content-type') ?? 'without a type';
  return `Something else than the daemon answers at ${origin} (${status}, ${what}). End it, or start the daemon with another HTTP_PORT; a daemon of an earlier version is to be started anew.`;
}

/** What only a connection that stood can fail with. */
const cutOff: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Why there is no answer. Whoever is only told that no daemon runs takes what was asked for not done, and a busy one may well do it. */
function describeSilence(error: unknown, origin: string): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `The daemon at ${origin} did not answer within ${timeoutMs / 1_000} s, and may still do what it was asked to.`;
  const cause = error instanceof Error ? error.cause : undefined;
  // https://fetch.spec.whatwg.org/#port-blocking
  if (cause instanceof Error && cause.message === 'bad port')
    return `No command and no browser opens a connection to ${origin}: start the daemon with another HTTP_PORT.`;
  return cause instanceof Error && 'code' in cause && cutOff.includes(cause.code)
    ? `The daemon at ${origin} ended before it answered, and may have done what it was asked to.`
    : `No daemon answers at ${origin}.`;
}
