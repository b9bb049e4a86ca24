import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { createCertificate } from './certificate.ts';

/** The service account of the key file. */
export const accountAddress = 'sync@project-4711.iam.gserviceaccount.com';

/** What the token endpoint refuses a login with. */
export interface TokenRefusal {
  readonly error: string;
  readonly error_description: string;
}

/**
 * Google's hosts in front of an emulated spreadsheet: the token endpoint, which checks signatures, and the Sheets API, which takes
 * nothing without a token. A daemon reaches them under their real names, by a proxy and with a certificate of this test.
 */
export interface GoogleFront {
  /** What a daemon needs to take these hosts for Google's. */
  readonly environment: Environment;
  /** Key file of the service account. */
  readonly keyFile: string;
  /** A home in which somebody logged in with `gcloud auth application-default login`. */
  readonly home: string;
  /** Ends all tokens, and gives no new ones until it is called without a refusal. */
  refuseTokens(refusal?: TokenRefusal): void;
  /** Refuses everything with Google's 403, as a spreadsheet that is shared with nobody, or with that service account alone. */
  setShared(isShared: boolean | string): void;
  /** Puts the key of that service account into the key file. */
  exchangeKey(address: string): void;
  /** Answers with that status, and logins too if it is 401, in words that quote what was sent, until it is called without one. */
  quoteRequests(status?: number): void;
  /** The private key, and every token that was asked for or given. */
  secrets(): readonly string[];
}

export async function openGoogleFront(sheetsRootUrl: string): Promise<GoogleFront> {
  const directory = mkdtempSync(join(tmpdir(), 'crm-sheet-sync-google-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  let refusal: TokenRefusal | undefined;
  let isShared: boolean | string = true;
  let generation = 1;
  let quotingStatus: number | undefined;
  const word = randomUUID();
  const tokenNow = () => `ya29.${word}-${generation}`;
  const assertions = new Set<string>();
  /** Whose token it is, by the header that carries it. */
  const holders = new Map<string, string>();

  const isLogin = (form: URLSearchParams): boolean => {
    if (form.get('grant_type') === 'refresh_token') return form.get('refresh_token') === 'personal';
    const [head, claims, signature = ''] = (form.get('assertion') ?? '').split('.');
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    return verifier.verify(publicKey, signature, 'base64url');
  };
  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(asked);
    const send = (status: number, answered: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    const isTokenRequest = asked.headers.host?.startsWith('oauth2.') ?? false;
    const assertion = new URLSearchParams(body).get('assertion');
    if (isTokenRequest && assertion !== null) assertions.add(assertion);
    if (quotingStatus !== undefined && (quotingStatus === 401 || !isTokenRequest)) {
      const words = `No: ${JSON.stringify(asked.headers)} ${assertion}`;
      const said = { code: quotingStatus, message: words, status: 'QUOTED' };
      send(quotingStatus, isTokenRequest ? { error: 'invalid', error_description: words } : { error: said });
    } else if (isTokenRequest) {
      if (refusal || !isLogin(new URLSearchParams(body))) send(400, refusal ?? { error: 'invalid_grant' });
      else {
        const token = `${tokenNow()}-${holders.size}`;
        holders.set(`Bearer ${token}`, issuerOf(assertion));
        send(200, { access_token: token, expires_in: 3600, token_type: 'Bearer' });
      }
    } else if (!asked.headers.authorization?.startsWith(`Bearer ${tokenNow()}-`)) {
      send(401, { error: { code: 401, message: 'Invalid Credentials', status: 'UNAUTHENTICATED' } });
    } else if (isShared !== true && isShared !== holders.get(asked.headers.authorization)) {
      const message = 'The caller does not have permission';
      send(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    } else await forward(sheetsRootUrl, asked, body, response);
  }

  const certificate = createCertificate(directory, 'DNS:*.googleapis.com');
  const hosts = createTlsServer(certificate, (asked, response) => void answer(asked, response));
  const proxy = createServer().on('connect', (_request, socket) => {
    const onward = connect(portOf(hosts), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  for (const server of [hosts, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
  }
  const keyFile = join(directory, 'key.json');
  const writeKey = (address: string) => {
    const key = { type: 'service_account', client_email: address, private_key: privateKey };
    writeFileSync(keyFile, JSON.stringify(key));
  };
  writeKey(accountAddress);
  return {
    environment: { NODE_EXTRA_CA_CERTS: certificate.file, HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}` },
    keyFile,
    home: logInPersonally(directory),
    refuseTokens(next) {
      refusal = next;
      if (next) generation += 1;
    },
    setShared(next) {
      isShared = next;
    },
    exchangeKey: writeKey,
    quoteRequests(status) {
      quotingStatus = status;
    },
    secrets: () => [
      ...privateKey.split('\n').filter((line) => line !== '' && !line.startsWith('-')),
      ...assertions,
      ...Array.from({ length: generation }, (_, index) => `ya29.${word}-${index + 1}`),
    ],
  };
}

/** Who signed a login; nobody where it is a personal one. */
function issuerOf(assertion: string | null): string {
  const [, claims = ''] = assertion?.split('.') ?? [];
  const { iss = '' } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as { iss?: string };
  return iss;
}

const portOf = (server: { address(): AddressInfo | string | null }): number =>
  (server.address() as AddressInfo).port;

/** Leaves behind what `gcloud auth application-default login` does. */
function logInPersonally(directory: string): string {
  const login = {
    type: 'authorized_user',
    client_id: 'me',
    client_secret: 'mine',
    refresh_token: 'personal',
  };
  writeFileSync(join(directory, 'application_default_credentials.json'), JSON.stringify(login));
  return directory;
}

async function forward(
  rootUrl: string,
  asked: IncomingMessage,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const outgoing = request(new URL(asked.url ?? '/', rootUrl), { method: asked.method, headers });
  outgoing.on('error', () => response.destroy());
  outgoing.end(body);
  const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.writeHead(reply.statusCode ?? 500, { 'content-type': 'application/json' });
  reply.pipe(response);
}
