import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/app/clock.ts';
import type { Tls } from '../../src/postgres/address.ts';
import { createPostgresWarehouse } from '../../src/postgres/warehouse.ts';
import { serverAccount } from '../../src/sandbox/postgres/account.ts';
import type { PostgresServer } from '../../src/sandbox/postgres/server.ts';
import { createCertificate } from '../support/certificate.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { startQuotingPostgres } from '../support/quoting-postgres.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import { silentPort } from '../support/redis.ts';
import { keeper } from '../support/warehouse-database.ts';

interface Way {
  readonly url: string;
  readonly tls?: Tls;
  readonly caFile?: string;
}

/** What meeting the database ends with: its code, or the word met. */
async function meet(way: Way): Promise<string> {
  try {
    const warehouse = createPostgresWarehouse({
      ...way,
      schema: 'crm',
      keeper,
      hasHistory: true,
      clock: systemClock,
      log: createRecordingLog(),
    });
    await warehouse.meet().finally(() => warehouse.close());
    return 'met';
  } catch (error) {
    const shown = `${error}\n${JSON.stringify(error)}\n${error instanceof Error ? error.stack : ''}`;
    expect(shown).not.toContain('s3cret');
    return String(error);
  }
}

describe('the address of a database', () => {
  it.each([
    ['postgres://me:s3cret@db/crm?sslmode=require', 'sslmode'],
    ['postgres://me:s3cret@db/crm?sslrootcert=/ca.pem', 'warehouse.caFile'],
    ['postgres://me:s3cret@db/crm?pgbouncer=true', 'pgbouncer'],
    ['mysql://me:s3cret@db/crm', 'not an address'],
    ['me:s3cret@db/crm', 'not an address'],
    ['postgres://db/crm', 'no user'],
    ['postgres://me:s3cret%zz@db/crm', 'percent'],
  ])('%s is refused with a word about “%s” and without its password', async (url, word) => {
    expect(await meet({ url })).toContain(word);
  });

  it('names server and database to people, and neither user nor password', () => {
    const url = 'postgres://me:s3cret@db.example:6432/crm%20one';
    const { name } = createPostgresWarehouse({
      url,
      schema: 'crm',
      keeper,
      hasHistory: true,
      clock: systemClock,
      log: createRecordingLog(),
    });
    expect(name).toBe('schema crm of database crm one on db.example:6432');
  });

  it('leads nowhere where no server listens', async () => {
    const url = `postgres://me:s3cret@127.0.0.1:${silentPort}/crm`;
    expect(await meet({ url })).toContain('ECONNREFUSED');
  });

  it('S16: is without its password in the words of a server that quotes it, unless people are shown the same word anyway', async () => {
    const port = await startQuotingPostgres();
    expect(await meet({ url: `postgres://me:s3cret@127.0.0.1:${port}/crm` })).toContain(
      'no such password: (a secret); 28P01',
    );
    expect(await meet({ url: `postgres://me:crm@127.0.0.1:${port}/crm` })).toContain(
      'no such password: crm; 28P01',
    );
  });

  it('is checked as that of another machine unless it is the machine itself', async () => {
    const url = `postgres://me:s3cret@0.0.0.0:${silentPort}/crm`;
    expect(await meet({ url, caFile: '/not/there.pem' })).toContain('warehouse.caFile');
  });
});

describe('a server with a certificate', () => {
  let server: PostgresServer;
  let caFile: string;
  let directory: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tls-'));
    chmodSync(directory, 0o755);
    ({ file: caFile } = createCertificate(directory, 'IP:127.0.0.1'));
    const key = join(dirname(caFile), 'tls-key.pem');
    const account = serverAccount();
    if (account) chownSync(key, account.uid, account.gid);
    server = await startOwnPostgres({ ssl: 'on', ssl_cert_file: caFile, ssl_key_file: key });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it('is met where its authority is trusted, and refused with advice where it is not', async () => {
    const url = server.urlOf('postgres');
    expect(await meet({ url, tls: 'verify', caFile })).toBe('met');
    expect(await meet({ url, tls: 'verify' })).toMatch(/certificate.*warehouse\.tls and warehouse\.caFile/);
  });

  it('is not met under a name that is not its own', async () => {
    const url = server.urlOf('postgres').replace('127.0.0.1', 'localhost');
    expect(await meet({ url, tls: 'verify', caFile })).toContain('altnames');
  });

  it('is met with any certificate, or none, where that is said', async () => {
    const url = server.urlOf('postgres');
    expect(await meet({ url, tls: 'encrypt' })).toBe('met');
    expect(await meet({ url, tls: 'off' })).toBe('met');
    expect(await meet({ url })).toBe('met');
  });

  it('takes no password from a variable that is meant for other programs', async () => {
    vi.stubEnv('PGPASSWORD', new URL(server.url).password);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await meet({ url: server.urlOf('postgres', 'postgres', '') })).toContain('password');
  });

  it('is another error than a login that is refused and a database that is not there', async () => {
    expect(await meet({ url: server.urlOf('postgres', 'postgres', 's3cret') })).toContain('28P01');
    expect(await meet({ url: server.urlOf('postgres', 'postgres', '') })).toContain('password');
    expect(await meet({ url: server.urlOf('nowhere') })).toContain('3D000');
  });
});
