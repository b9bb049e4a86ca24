import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { callDaemon } from '../../src/cli/daemon-client.ts';
import { signature } from '../../src/http/guard.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ family }) => family === 'IPv6'),
);

const tellHost: RequestListener = (request, response) =>
  void response.end(JSON.stringify({ askedAs: request.headers.host }));

/** Serves as the daemon what says under which host it was asked, where nothing else is given. Answers the port. */
const listenOn = (host: string, answer = tellHost): Promise<number> =>
  listenUnsigned(host, (request, response) => {
    response.setHeader(signature.name, signature.value);
    answer(request, response);
  });

async function listenUnsigned(host: string, answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return address.port;
}

const asked = (host: string, port: number) =>
  callDaemon({ HTTP_HOST: host, HTTP_PORT: String(port) }, 'GET', '/api/status');

test.each([
  { host: '127.0.0.1', name: '127.0.0.1' },
  { host: '0.0.0.0', name: '127.0.0.1' },
])('a command reaches a daemon that listens on $host', async ({ host, name }) => {
  const port = await listenOn(host);
  expect(await asked(host, port)).toEqual({ askedAs: `${name}:${port}` });
});

test.skipIf(!hasIpv6).each([{ host: '::1' }, { host: '::' }])(
  'a command reaches a daemon that listens on $host, where the machine has IPv6',
  async ({ host }) => {
    const port = await listenOn(host);
    expect(await asked(host, port)).toEqual({ askedAs: `[::1]:${port}` });
  },
);

test('a command shows its token to a daemon that other machines reach, and no empty one where it has none', async () => {
  const port = await listenOn('0.0.0.0', ({ headers }, response) => {
    response.end(JSON.stringify({ shown: headers.authorization ?? 'nothing' }));
  });
  const environment = { HTTP_HOST: '0.0.0.0', HTTP_PORT: String(port) };
  const CONTROL_TOKEN = 'a-token-for-commands';
  expect(await callDaemon({ ...environment, CONTROL_TOKEN }, 'GET', '/api/status')).toEqual({
    shown: `Bearer ${CONTROL_TOKEN}`,
  });
  expect(await callDaemon(environment, 'GET', '/api/status')).toEqual({ shown: 'nothing' });
});

test('a command says in which place no daemon answers', async () => {
  await expect(asked('::1', 2)).rejects.toMatchObject({
    code: 'DAEMON_UNREACHABLE',
    message: 'No daemon answers at http://[::1]:2.',
  });
});

test('a command says of a port that nobody opens to choose another one, and not that no daemon answers', async () => {
  await expect(callDaemon({ HTTP_PORT: '10080' }, 'GET', '/api/status')).rejects.toMatchObject({
    code: 'DAEMON_UNREACHABLE',
    message: expect.stringMatching(
      /^No command and no browser opens a connection to http:\/\/127\.0\.0\.1:10080.*another HTTP_PORT\.$/,
    ),
  });
});

test.each([
  { what: 'a page', status: 200, type: 'text/html', body: '<h1>It works!</h1>' },
  { what: 'an object', status: 200, type: 'application/json', body: '{"hello":"world"}' },
  { what: 'a list', status: 200, type: 'application/json', body: '[]' },
  { what: 'a refusal', status: 401, type: 'application/json', body: '{"error":"Who are you?"}' },
])('a command says in which place something else answers with $what, and what to do', async (answer) => {
  const port = await listenUnsigned('127.0.0.1', (_request, response) => {
    response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
  });
  await expect(asked('127.0.0.1', port)).rejects.toMatchObject({
    code: 'DAEMON_UNREACHABLE',
    message: `Something else than the daemon answers at http://127.0.0.1:${port} (${answer.status}, ${answer.type}). End it, or start the daemon with another HTTP_PORT; a daemon of an earlier version is to be started anew.`,
  });
});

test('a command that waited too long says that it may still be done, and not that no daemon runs', async () => {
  const port = await listenOn('127.0.0.1');
  const late = AbortSignal.abort(new DOMException('Too late.', 'TimeoutError'));
  const spy = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late);
  onTestFinished(() => spy.mockRestore());
  await expect(asked('127.0.0.1', port)).rejects.toMatchObject({
    code: 'DAEMON_UNREACHABLE',
    message: `The daemon at http://127.0.0.1:${port} did not answer within 120 s, and may still do what it was asked to.`,
  });
});

test('a command whose daemon ends over it says that it may have been done', async () => {
  const port = await listenOn('127.0.0.1', (request) => void request.socket.destroy());
  await expect(asked('127.0.0.1', port)).rejects.toMatchObject({
    code: 'DAEMON_UNREACHABLE',
    message: `The daemon at http://127.0.0.1:${port} ended before it answered, and may have done what it was asked to.`,
  });
});
