import { z } from 'zod';
import { type Environment, readControlToken } from '../app/config.ts';
import { SyncError } from '../core/errors.ts';

/** Longest time the daemon may take to answer a command. */
const timeoutMs = 120_000;

const problemBody = z.object({ error: z.string() });

/**
 * Calls the running daemon. The address and the token come from the environment alone, so that commands work beside a daemon whose other
 * settings they do not know. Fails with CONFIG_INVALID, DAEMON_UNREACHABLE, DAEMON_REFUSED or CONTROL_REFUSED.
 */
export async function callDaemon(
  environment: Environment,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const host = environment['HTTP_HOST'] || '127.0.0.1';
  // A daemon that listens on every address is reached on this machine's own.
  const address = `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${environment['HTTP_PORT'] || 8080}`;
  const response = await send(`${address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${readControlToken(environment) ?? ''}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    // It would carry the token elsewhere.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  const problem = problemBody.safeParse(answer).data?.error ?? `The daemon answered ${response.status}.`;
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
