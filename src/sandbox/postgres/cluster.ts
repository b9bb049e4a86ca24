import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Account } from './account.ts';

/** The superuser of every server of ours. */
export const superuser = 'postgres';

export const dataIn = (directory: string): string => join(directory, 'data');
const passwordFileIn = (directory: string): string => join(directory, 'password');

/** Where the server's files are, whom they belong to and what makes them. */
export interface ClusterPlace {
  readonly directory: string;
  readonly bin: string;
  readonly account: Account | undefined;
}

/** Opens what the directory has, or makes a new cluster there with the password. Returns the password that holds. */
export async function openCluster(place: ClusterPlace, newPassword: string): Promise<string> {
  const { directory, account } = place;
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o700);
  if (account) chownSync(directory, account.uid, account.gid);
  if (!existsSync(dataIn(directory))) await createCluster(place, newPassword);
  return readFileSync(passwordFileIn(directory), 'utf8');
}

async function createCluster({ directory, bin, account }: ClusterPlace, password: string): Promise<void> {
  const passwordFile = passwordFileIn(directory);
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  // Killed in the middle, it leaves nothing that looks like a cluster.
  const unfinished = join(directory, 'data-unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  const flags = [
    '--encoding=UTF8',
    '--locale=C',
    '--auth=scram-sha-256',
    '--no-sync',
    '--username',
    superuser,
  ];
  const child = spawn(join(bin, 'initdb'), [...flags, '--pwfile', passwordFile, '--pgdata', unfinished], {
    ...account,
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, code] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    }),
  ]);
  if (code !== 0)
    throw new Error(`PostgreSQL could not make its files in ${directory}:\n${said}${hint(said)}`);
  renameSync(unfinished, dataIn(directory));
}

const hint = (said: string): string =>
  said.includes('Permission denied')
    ? 'As root the server runs under another account, so that account must be able to enter every folder above.'
    : '';
