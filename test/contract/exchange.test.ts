import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createLine, type Server as Line } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../src/crm/exchange.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';

let certificate: Certificate;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-tls-'));
  certificate = createCertificate(directory, 'IP:127.0.0.1');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert.toString()]);
  return async () => {
    setDefaultCACertificates(trusted);
    await rm(directory, { recursive: true, force: true });
  };
});

const never = new AbortController().signal;

const portOf = (server: Line) => (server.address() as AddressInfo).port;

/** Stands in front of a server, and tells how the line to it ends, below all encryption. */
async function watchLine(server: Line): Promise<{ readonly front: Line; readonly ended: Promise<unknown> }> {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const front = createLine((near) => {
    const far = connect(portOf(server), '127.0.0.1');
    near.pipe(far).pipe(near);
    near.once('error', resolve).once('end', () => resolve('closed as if all were well'));
    near.once('close', () => far.destroy());
    far.on('error', () => near.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void front.close());
  await once(front, 'listening');
  return { front, ended };
}

describe.each(['http', 'https'])('one request by %s', (protocol) => {
  const isEncrypted = protocol === 'https';

  async function listen(answer: RequestListener): Promise<Server> {
    const server = isEncrypted ? createTlsServer(certificate, answer) : createServer(answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return server;
  }

  const requestTo = (server: Line) => ({
    method: 'POST',
    url: new URL(`${protocol}://127.0.0.1:${portOf(server)}/leads?page=1`),
    headers: { 'x-api-key': 'secret' },
    body: '{"title":"Zoë"}',
  });

  it('goes out whole, on a connection of its own, and brings back the whole answer', async () => {
    const connections: string[] = [];
    const server = await listen(async (asked, response) => {
      let body = '';
      for await (const chunk of asked.setEncoding('utf8')) body += chunk;
      const { method, url, headers } = asked;
      response.writeHead(201).end(JSON.stringify({ method, url, key: headers['x-api-key'], body }));
    });
    server.on('connection', () => connections.push('made'));
    for (const _time of [1, 2]) {
      const ended = await exchange(requestTo(server), never);
      const text = JSON.stringify({
        method: 'POST',
        url: '/leads?page=1',
        key: 'secret',
        body: '{"title":"Zoë"}',
      });
      expect(ended).toMatchObject({ kind: 'reply', status: 201, text });
    }
    expect(connections).toHaveLength(2);
  });

  it('that is given up leaves nothing on the line that may still arrive: the connection is reset', async () => {
    const deadline = new AbortController();
    const server = await listen(() => deadline.abort());
    const { front, ended } = await watchLine(server);
    expect(await exchange(requestTo(front), deadline.signal)).toEqual({
      kind: 'unanswered',
      reason: 'no complete answer in time',
    });
    expect(await ended).toMatchObject({ code: 'ECONNRESET' });
  });

  it('was surely not sent where nobody listens', async () => {
    const server = await listen(() => {});
    const request = requestTo(server);
    server.close();
    expect(await exchange(request, never)).toMatchObject({
      kind: 'unsent',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

it('one request by https was surely not sent where the other side is somebody else', async () => {
  let asked = 0;
  const server = createTlsServer(certificate, () => {
    asked += 1;
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = new URL(`https://localhost:${portOf(server)}/leads`);
  const ended = await exchange({ method: 'GET', url, headers: {} }, never);
  expect(ended).toMatchObject({ kind: 'unsent', reason: expect.stringContaining('altnames') });
  expect(asked).toBe(0);
});
