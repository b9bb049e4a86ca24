import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { keepSecret } from '../../app/config-keeper.ts';
import type { Settings } from '../../app/settings.ts';
import { SyncError } from '../../core/errors.ts';

/** What compose.yaml starts beside the daemon where it is wanted. */
export const dockerProfiles = ['redis'] as const;
export type DockerProfile = (typeof dockerProfiles)[number];

const secretsDirectory = './secrets';
const configDirectory = './config';
/** Users of the containers: node of the image, and redis of its own. */
const users = { daemon: 1000, redis: 999 } as const;

/** Where gcloud leaves the login that the daemon finds without a setting; a container has no such place. */
export const loginOfUser = join(homedir(), '.config/gcloud/application_default_credentials.json');

/**
 * Writes what compose.yaml mounts into the containers: secrets, a token for commands, and in `.env` what is switched on. A secret that is
 * there stays. Returns what is left for the user to do. Fails with CONFIG_INVALID where a file cannot be read or written.
 */
export function keepForDocker({ crm, http, sheet, warehouse }: Settings, profile?: DockerProfile): string[] {
  try {
    mkdirSync(secretsDirectory, { recursive: true });
    chmodSync(secretsDirectory, 0o700);
    openConfig();
    const left = [offer('crm-api-key', crm.apiKey), offerLogin(sheet)];
    offer('control-token', http.controlToken ?? makeSecret());
    if (warehouse) {
      left.push(offer('warehouse-url', warehouse.url));
      switchOn({ WAREHOUSE_URL_SECRET: pathOf('warehouse-url') });
    }
    if (profile === 'redis') {
      offerRedis();
      switchOn({ COMPOSE_PROFILES: profile, REDIS_URL_SECRET: pathOf('redis-url') });
    }
    return left.filter((sentence) => sentence !== undefined);
  } catch (cause) {
    throw new SyncError('CONFIG_INVALID', 'A file that Docker needs can not be read or written.', { cause });
  }
}

/** Where the clone or the file was made for its owner alone, the user of the container could not read it. No secret is in it. */
function openConfig(): void {
  if (!existsSync(configDirectory)) return;
  chmodSync(configDirectory, 0o755);
  const file = join(configDirectory, 'crm-sheet-sync.yaml');
  if (existsSync(file)) chmodSync(file, 0o644);
}

/** Both files have the same password, so they are made together. */
function offerRedis(): void {
  if (existsSync(pathOf('redis-url'))) return;
  const password = makeSecret();
  offer('redis.conf', `requirepass ${password}\n`, users.redis);
  offer('redis-url', `redis://:${password}@redis:6379`);
}

function offerLogin(sheet: Settings['sheet']): string | undefined {
  const name = 'google-credentials.json';
  const files = sheet ? [sheet.credentialsFile, pathOf(name), loginOfUser] : [pathOf(name)];
  const found = files.find((file) => file !== undefined && existsSync(file));
  if (found !== undefined) return offer(name, readFileSync(found, 'utf8'));
  return `There is no ${pathOf(name)}: name a credentials file and run this again, or, on a machine of Google Cloud and without a spreadsheet, take what is about google_credentials out of compose.yaml.`;
}

const makeSecret = (): string => randomBytes(24).toString('hex');
const pathOf = (name: string): string => `${secretsDirectory}/${name}`;

/** Writes a secret unless it is there, and lets a container read it. Returns a sentence where another one is there. */
function offer(name: string, secret: string, user: number = users.daemon): string | undefined {
  const file = pathOf(name);
  if (!existsSync(file)) keepSecret(file, secret);
  letRead(file, user);
  if (readFileSync(file, 'utf8').trim() === secret.trim()) return undefined;
  return `${file} is not what the settings say, and stays. Delete it to have it written anew.`;
}

/** Lets the user of a container read a file, which keeps its owner there. Only root can change the owner; for all others the file is open, in a directory that is closed. */
function letRead(file: string, user: number): void {
  const own = process.getuid?.();
  chmodSync(file, own === user || own === 0 ? 0o600 : 0o644);
  if (own === 0) chownSync(file, user, user);
}

/** Adds what `.env` lacks; what it says stays, but for further profiles. */
function switchOn(wanted: Readonly<Record<string, string>>): void {
  const before = existsSync('.env') ? readFileSync('.env', 'utf8') : '';
  const given = parseEnv(before);
  const lines = Object.entries(wanted).flatMap(([name, value]) => {
    const values = given[name]?.split(',').filter((part) => part !== '') ?? [];
    if (values.length === 0) return [`${name}=${value}`];
    return name === 'COMPOSE_PROFILES' && !values.includes(value)
      ? [`${name}=${[...values, value].join(',')}`]
      : [];
  });
  if (lines.length === 0) return;
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync('.env', `${gap}${lines.join('\n')}\n`, { mode: 0o600 });
}
