import { z } from 'zod';
import { type Environment, linkVariable, loadHttpSettings } from '../app/config.ts';
import { daemonOrigin } from '../app/daemon-origin.ts';
import { SyncError } from '../core/errors.ts';

/** Longest time the daemon may take to answer a command. */
const timeoutMs = 120_000;

const problemBody = z.object({ error: z.string() });

/** What the web server says of itself where nothing is served, as everywhere below `/links` where the daemon runs one link. */
const nothingThere = 'Not Found';

/**
 * Calls the running daemon. Of its settings only where it listens and its token have to be known and right here. Fails with CONFIG_INVALID,
 * DAEMON_UNREACHABLE, DAEMON_REFUSED or CONTROL_REFUSED.
 */
export async function callDaemon(
  environment: Environment,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const { controlToken = '', host, port } = loadHttpSettings(environment);
  const link = environment[linkVariable] || undefined;
  const prefix = link === undefined ? '' : `/links/${encodeURIComponent(link)}`;
  const response = await send(`${daemonOrigin(host, port)}${prefix}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${controlToken}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    // It would carry the token elsewhere.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer: unknown = await response.json().catch((cause: unknown) => {
    const { origin } = new URL(response.url);
    // Else the answer was cut off.
    const who = cause instanceof SyntaxError ? 'Something else than the daemon' : 'No daemon';
    throw new SyncError('DAEMON_UNREACHABLE', `${who} answers at ${origin}.`, { cause });
  });
  if (response.ok) return answer;
  const said = problemBody.safeParse(answer).data?.error ?? `The daemon answered ${response.status}.`;
  const problem =
    link !== undefined && said === nothingThere
      ? `The daemon runs one link, which has no name: leave out --link ${link}.`
      : said;
  throw new SyncError(response.status === 401 ? 'CONTROL_REFUSED' : 'DAEMON_REFUSED', problem);
}

async function send(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request);
  } catch (error) {
    throw new SyncError('DAEMON_UNREACHABLE', `No daemon answers at ${new URL(url).origin}.`, {
      cause: error,
    });
  }
}
