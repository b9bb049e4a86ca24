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

export type CredentialsType =
  | 'service_account'
  | 'authorized_user'
  | 'impersonated_service_account'
  | 'impersonated_by_key'
  | 'external_account';

/** What the token endpoint refuses a login with. */
export interface TokenRefusal {
  readonly error: string;
  readonly error_description: string;
}

export type GoogleFront = Awaited<ReturnType<typeof openGoogleFront>>;

/**
 * Google's hosts in front of an emulated spreadsheet: the token endpoint, which checks signatures, and the Sheets API, which takes
 * nothing without a token. A daemon reaches them under their real names, by a proxy and with a certificate of this test.
 */
export async function openGoogleFront(sheetsRootUrl: string) {
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
  let mayImpersonate = true;
  const word = randomUUID();
  const tokenNow = () => `ya29.${word}-${generation}`;
  const assertions = new Set<string>();
  /** Whose token it is, by the header that carries it. */
  const holders = new Map<string, string>();
  /** What a token is for, where that was asked for. */
  const scopes = new Map<string, string>();

  const isLogin = (form: URLSearchParams): boolean => {
    if (form.get('grant_type') === 'refresh_token') return form.get('refresh_token') === 'personal';
    if (form.has('subject_token')) return form.get('subject_token') === workload;
    const [head, claims, signature = ''] = (form.get('assertion') ?? '').split('.');
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    return verifier.verify(publicKey, signature, 'base64url');
  };
  async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(asked);
    const send = (status: number, answered: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    const isTokenRequest = /^(oauth2|sts)\./.test(asked.headers.host ?? '');
    const isImpersonation = asked.headers.host?.startsWith('iamcredentials.') ?? false;
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
        scopes.set(`Bearer ${token}`, scopeOf(new URLSearchParams(body)) ?? 'cloud-platform');
        const kind = {
          token_type: 'Bearer',
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        };
        send(200, { access_token: token, expires_in: 3600, ...kind });
      }
    } else if (!asked.headers.authorization?.startsWith(`Bearer ${tokenNow()}-`)) {
      send(401, { error: { code: 401, message: 'Invalid Credentials', status: 'UNAUTHENTICATED' } });
    } else if (isImpersonation && !scopes.get(asked.headers.authorization)?.includes('cloud-platform')) {
      const message = 'Request had insufficient authentication scopes.';
      send(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    } else if (isImpersonation && !mayImpersonate) {
      const message =
        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).";
      send(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } });
    } else if (isImpersonation) {
      const token = `${tokenNow()}-${holders.size}`;
      holders.set(`Bearer ${token}`, /([^/]+):generateAccessToken$/.exec(asked.url ?? '')?.[1] ?? '');
      send(200, { accessToken: token, expireTime: new Date(Date.now() + 3_600_000).toISOString() });
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
  const files = writeCredentials(directory, privateKey);
  return {
    /** What a daemon needs to take these hosts for Google's. */
    environment: {
      NODE_EXTRA_CA_CERTS: certificate.file,
      HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}`,
    } as Environment,
    /** Key file of the service account. */
    keyFile,
    /** A credentials file of that type; each leads to the service account of the key file, but for a personal login. */
    credentialsFile: (type: CredentialsType) => (type === 'service_account' ? keyFile : files[type]),
    /** A home in which somebody logged in with `gcloud auth application-default login`. */
    home: logInPersonally(directory),
    /** Ends all tokens, and gives no new ones until it is called without a refusal. */
    refuseTokens(next?: TokenRefusal) {
      refusal = next;
      if (next) generation += 1;
    },
    /** Refuses everything with Google's 403, as a spreadsheet that is shared with nobody, or with that service account alone. */
    setShared(next: boolean | string) {
      isShared = next;
    },
    /** Lets no login act as a service account, in Google's words. */
    forbidImpersonation() {
      mayImpersonate = false;
    },
    /** Puts the key of that service account into the key file. */
    exchangeKey: writeKey,
    /** Answers with that status, and logins too if it is 401, in words that quote what was sent, until it is called without one. */
    quoteRequests(status?: number) {
      quotingStatus = status;
    },
    /** The private key, and every token that was asked for or given. */
    secrets: () => [
      ...privateKey.split('\n').filter((line) => line !== '' && !line.startsWith('-')),
      ...assertions,
      ...Array.from({ length: generation }, (_, index) => `ya29.${word}-${index + 1}`),
    ],
  };
}

interface Claims {
  readonly iss?: string;
  readonly scope?: string;
}

function claimsOf(assertion: string | null): Claims {
  const [, claims = ''] = assertion?.split('.') ?? [];
  return JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as Claims;
}

/** Who signed a login; nobody where it is a personal one. */
const issuerOf = (assertion: string | null): string => claimsOf(assertion).iss ?? '';

/** What a login asks to be allowed; a personal one was allowed that before. */
const scopeOf = (form: URLSearchParams): string | undefined =>
  form.get('scope') ?? claimsOf(form.get('assertion')).scope;

const portOf = (server: { address(): AddressInfo | string | null }): number =>
  (server.address() as AddressInfo).port;

const personalLogin = {
  type: 'authorized_user',
  client_id: 'me',
  client_secret: 'mine',
  refresh_token: 'personal',
};

/** Leaves behind what `gcloud auth application-default login` does. */
function logInPersonally(directory: string): string {
  writeFileSync(join(directory, 'application_default_credentials.json'), JSON.stringify(personalLogin));
  return directory;
}

/** What the workload shows who it is with. */
const workload = 'identity-of-the-workload';

/** Writes the credentials files that are no key. */
function writeCredentials(
  directory: string,
  privateKey: string,
): Readonly<Record<Exclude<CredentialsType, 'service_account'>, string>> {
  const write = (name: string, content: string) => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const writeJson = (content: { readonly type: string; readonly [name: string]: unknown }) =>
    write(`${content.type}.json`, JSON.stringify(content));
  const impersonation = `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${accountAddress}:generateAccessToken`;
  return {
    authorized_user: writeJson(personalLogin),
    impersonated_service_account: writeJson({
      type: 'impersonated_service_account',
      service_account_impersonation_url: impersonation,
      source_credentials: personalLogin,
    }),
    impersonated_by_key: write(
      'by-key.json',
      JSON.stringify({
        type: 'impersonated_service_account',
        service_account_impersonation_url: impersonation,
        source_credentials: {
          type: 'service_account',
          client_email: 'source@project-4711.iam.gserviceaccount.com',
          private_key: privateKey,
        },
      }),
    ),
    external_account: writeJson({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: 'https://sts.googleapis.com/v1/token',
      service_account_impersonation_url: impersonation,
      credential_source: { file: write('workload', workload) },
    }),
  };
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
