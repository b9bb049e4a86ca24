import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';
import { SyncError } from '../core/errors.ts';
import { createHider } from '../core/text/hide-secret.ts';

/** How the connection is encrypted: with a certificate that is checked, with any certificate, or not at all. */
export type Tls = 'verify' | 'encrypt' | 'off';

export interface AddressOptions {
  /** `postgres://user:password@host:port/database`: a secret. */
  readonly url: string;
  /** Absent: `verify`, on the machine itself `off`. */
  readonly tls?: Tls | undefined;
  /** A file with the certificates of the authorities that are trusted, in PEM; absent for those that Node trusts. */
  readonly caFile?: string | undefined;
}

export interface Address {
  /** Names server and database to people: no user, no password. */
  readonly place: string;
  /** The login. */
  readonly user: string;
  /** What the client needs, read anew for each connection, because certificates are renewed. */
  readConfig(): ClientConfig;
  /** The text without the password: a server may want it as it is, and what refuses it may quote it. */
  hide(text: string): string;
}

const defaultPort = 5432;
/** Libraries disagree about what these mean, and some check nothing where they sound as if they did. */
const tlsParameter = /^ssl|^channel_binding$/;

/** Reads the address of a database. Fails with CONFIG_INVALID, which never quotes it. */
export function readAddress(options: AddressOptions): Address {
  const url = parseUrl(options.url);
  const socket = url.searchParams.get('host') ?? '';
  const host = socket || decode(url.hostname.replace(/^\[|\]$/g, '')) || 'localhost';
  const port = Number(url.port || defaultPort);
  const user = decode(url.username);
  const database = decode(url.pathname.slice(1)) || user;
  const password = decode(url.password);
  const config: ClientConfig = {
    host,
    port,
    database,
    user,
    // Of an empty text the library makes one from files and variables that are not meant for this program; of a function it does not.
    password: () => password,
  };
  const tls = options.tls ?? (isLocal(host) ? 'off' : 'verify');
  const place = `database ${database} on ${host.startsWith('/') ? host : `${host}:${port}`}`;
  // What people are shown anyway is no secret, and errors have to stay readable.
  const isSecret = password !== '' && !`${user} ${place}`.includes(password);
  return {
    place,
    user,
    hide: createHider(isSecret ? password : '', '(a secret)'),
    readConfig: () => ({ ...config, ssl: tlsConfig(tls, options.caFile) }),
  };
}

const invalid = (message: string) => new SyncError('CONFIG_INVALID', message);

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^postgres(?:ql)?:$/.test(url.protocol))
    throw invalid('WAREHOUSE_URL is not an address such as postgres://user:password@host:5432/database.');
  for (const parameter of url.searchParams.keys()) {
    if (tlsParameter.test(parameter))
      throw invalid(
        `WAREHOUSE_URL has the parameter ${parameter}, which libraries understand in different ways. Leave it out; the setting warehouse.tls (verify, encrypt or off) says what is meant, and warehouse.caFile names the authorities that are trusted.`,
      );
    if (parameter !== 'host')
      throw invalid(`WAREHOUSE_URL has the parameter ${parameter}, which is not understood. Leave it out.`);
  }
  if (url.username === '') throw invalid('WAREHOUSE_URL names no user.');
  return url;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('WAREHOUSE_URL has a percent sign that encodes nothing. Write it as %25.');
  }
}

const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.') || host.startsWith('/');

function tlsConfig(tls: Tls, caFile: string | undefined): ClientConfig['ssl'] {
  if (tls === 'off') return false;
  if (tls === 'encrypt') return { rejectUnauthorized: false };
  return { rejectUnauthorized: true, ...(caFile === undefined ? {} : { ca: readAuthorities(caFile) }) };
}

function readAuthorities(caFile: string): string {
  try {
    return readFileSync(caFile, 'utf8');
  } catch (cause) {
    throw new SyncError('CONFIG_INVALID', `The file that warehouse.caFile names cannot be read: ${caFile}.`, {
      cause,
    });
  }
}
