import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { copyPackage, findPackage, linkInPlace } from './npm-package.ts';

/** A PostgreSQL that runs on this machine. */
export interface Binaries {
  /** The directory of `initdb` and `postgres`. */
  readonly bin: string;
  /** Major and minor, as `18.4`. */
  readonly version: string;
}

export const noServerAdvice =
  'There is no PostgreSQL server here: set PG_BIN to the directory of its initdb and postgres, install PostgreSQL, or run npm ci with devDependencies.';

/** The server in the wanted directory, else that of the npm package, else the newest that Debian installed. */
export function findBinaries(wanted: string | undefined, account: Account | undefined): Binaries | undefined {
  if (wanted) return needRunnable(wanted, account);
  return fromPackage(account) ?? newestOfDebian(account);
}

function needRunnable(bin: string, account: Account | undefined): Binaries {
  const found = tryRun(bin, account);
  if ('version' in found) return found;
  throw new Error(`The PostgreSQL server in ${bin} does not run: ${found.problem}`);
}

const ifRunnable = (bin: string | undefined, account: Account | undefined): Binaries | undefined => {
  const found = bin === undefined ? undefined : tryRun(bin, account);
  return found && 'version' in found ? found : undefined;
};

function fromPackage(account: Account | undefined): Binaries | undefined {
  const folder = findPackage();
  return folder === undefined ? undefined : unpackBinaries(folder, account);
}

/** Makes a package of the npm registry run: `undefined` where it is not for this machine. */
export function unpackBinaries(folder: string, account: Account | undefined): Binaries | undefined {
  // A folder above may be closed to the server's account, as /root is, or be read-only: then a copy serves.
  return ifRunnable(linkInPlace(folder), account) ?? ifRunnable(copyPackage(folder), account);
}

const majorOf = (bin: string): number => Number(/(\d+)\/bin$/.exec(bin)?.[1]);

function newestOfDebian(account: Account | undefined): Binaries | undefined {
  const installed = globSync('/usr/lib/postgresql/*/bin').filter((bin) => existsSync(join(bin, 'initdb')));
  return ifRunnable(installed.toSorted((one, other) => majorOf(other) - majorOf(one))[0], account);
}

function tryRun(bin: string, account: Account | undefined): Binaries | { readonly problem: string } {
  const { error, status, stdout, stderr } = spawnSync(join(bin, 'postgres'), ['--version'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  });
  const version = /\b\d+\.\d+\b/.exec(stdout ?? '')?.[0];
  if (status === 0 && version !== undefined) return { bin, version };
  return { problem: error?.message ?? stderr.trim() };
}
