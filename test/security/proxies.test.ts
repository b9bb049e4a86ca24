import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { exchange } from '../../src/crm/exchange.ts';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { startSandboxCrm } from '../../src/sandbox/crm/server.ts';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { type Certificate, createCertificate } from '../support/certificate.ts';
import { spawnCommand, spawnDaemon } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const names = 'DNS:crm.test,DNS:google.test,DNS:hook.test';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A server with the certificate in front of one that speaks plain HTTP on this machine. */
const startFront = ({ cert, key }: Certificate, port: number): Promise<number> =>
  listen(
    createServer({ cert, key }, (socket) => {
      const line = connect(port, '127.0.0.1');
      socket.pipe(line).pipe(socket);
      socket.on('error', () => line.destroy());
      line.on('error', () => socket.destroy());
    }),
  );

/** A proxy that alone knows where the names lead: to this machine. */
async function startProxy(login?: string) {
  const targets: string[] = [];
  const server = http.createServer((request, response) => {
    targets.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  server.on('connect', ({ headers, url = '' }, socket) => {
    targets.push(url);
    const sent = headers['proxy-authorization'];
    if (login !== undefined && sent !== `Basic ${Buffer.from(login).toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const line = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(line).pipe(socket);
    });
    line.on('error', () => socket.destroy());
    socket.on('error', () => line.destroy());
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, targets };
}

async function openDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('the CRM, Google and the receiver of alerts are reached through the proxy, the daemon itself never', async () => {
  const directory = await openDirectory();
  const certificate = createCertificate(directory, names);
  const counts = { leads: 3, opportunities: 0, tasks: 0 };
  const crm = await startSandboxCrm({ port: 0, seed: 7, counts });
  onTestFinished(() => crm.close());
  const sheets = await startSandboxSheets({ quotas: { readsPerMinute: 10_000, writesPerMinute: 10_000 } });
  onTestFinished(() => sheets.close());
  const alerts: string[] = [];
  const receiver = http.createServer((request, response) => {
    request.on('data', (text) => alerts.push(String(text)));
    request.on('end', () => response.end());
  });
  const [crmPort, googlePort, hookPort] = await Promise.all([
    startFront(certificate, Number(new URL(crm.baseUrl).port)),
    startFront(certificate, Number(new URL(sheets.rootUrl).port)),
    startFront(certificate, await listen(receiver)),
  ]);
  const proxy = await startProxy();
  const environment = {
    CRM_BASE_URL: `https://crm.test:${crmPort}${new URL(crm.baseUrl).pathname}`,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
    GOOGLE_API_ROOT_URL: `https://google.test:${googlePort}`,
    ALERT_WEBHOOK_URL: `https://hook.test:${hookPort}/hook`,
    STATE_DIR: join(directory, 'state'),
    HTTP_PORT: String(await findFreePort()),
    CONTROL_TOKEN: 'a-token-that-no-proxy-sees',
    HTTPS_PROXY: proxy.url,
    HTTP_PROXY: proxy.url,
    NODE_EXTRA_CA_CERTS: certificate.file,
  };
  expect(await spawnCommand(['init'], environment).ended).toMatchObject({ code: 0 });
  const daemon = spawnDaemon(environment);
  onTestFinished(async () => void (await daemon.kill()));
  await daemon.answers('/readyz');
  const doctor = await spawnCommand(['doctor'], environment).ended;
  expect(doctor.stdout).toContain(
    `the CRM through ${proxy.host}, Google through ${proxy.host}, alerts through ${proxy.host}; authorities in ${certificate.file} are trusted as well`,
  );
  expect((await spawnCommand(['resync'], environment).ended).code).toBe(0);
  // The CRM refuses the key, which is an alert.
  crm.model.faults.order(faultOrder.parse({ faults: [{ kind: 'status', status: 401, times: 500 }] }));
  await until('an alert came', async () => alerts.length > 0);
  expect(new Set(proxy.targets)).toEqual(
    new Set([`crm.test:${crmPort}`, `google.test:${googlePort}`, `hook.test:${hookPort}`]),
  );
});

test('a proxy gets its login, and what it refuses was surely not sent', async () => {
  const proxy = await startProxy('anna:p@ss');
  const request = { method: 'GET', url: new URL('https://crm.test/'), headers: {} };
  const ask = (login: string) =>
    exchange(request, AbortSignal.timeout(5_000), () => new URL(proxy.url.replace('//', `//${login}`)));
  expect(await ask('')).toEqual({ kind: 'unsent', reason: `the proxy ${proxy.host} answered 407` });
  // Nothing listens at the port that is meant.
  expect(await ask('anna:p%40ss@')).toMatchObject({ kind: 'unsent' });
  expect(proxy.targets).toEqual(['crm.test:443', 'crm.test:443']);
});

test('a proxy that says nothing is waited for no longer than the deadline', async () => {
  const port = await listen(http.createServer().on('connect', () => undefined));
  const request = { method: 'GET', url: new URL('https://crm.test/'), headers: {} };
  const deadline = new AbortController();
  const asked = exchange(request, deadline.signal, () => new URL(`http://127.0.0.1:${port}`));
  deadline.abort();
  expect(await asked).toEqual({ kind: 'unsent', reason: 'no connection in time' });
});
