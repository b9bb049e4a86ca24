import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createSheetsClient, type SheetsClient } from '../../src/google/client.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function openClient(
  source: { rootUrl: string } | { credentialsFile: string },
  timeoutMs = 10_000,
): SheetsClient {
  return createSheetsClient({
    ...source,
    spreadsheetId: 'sheet-1',
    readsPerMinute: 60,
    writesPerMinute: 60,
    timeoutMs,
    clock: { now: () => 0, monotonicMs: () => 0, sleep: async () => {} },
    random: () => 0,
    log: createRecordingLog(),
  });
}

/** A server that answers every request in the same way. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const reply =
  (status: number, body: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };

const refusal = (status: number, message: string, reason?: string): RequestListener =>
  reply(
    status,
    JSON.stringify({ error: { code: status, message, ...(reason && { details: [{ reason }] }) } }),
  );

describe('answers of Google', () => {
  test.each<[string, RequestListener, string, string]>([
    ['a refused token', refusal(401, 'Invalid Credentials'), 'SHEET_UNAUTHORIZED', 'Invalid Credentials'],
    [
      'a spreadsheet that is not shared',
      refusal(403, 'The caller does not have permission'),
      'SHEET_FORBIDDEN',
      'The caller does not have permission',
    ],
    [
      'an API that is not enabled',
      refusal(403, 'Google Sheets API has not been used', 'SERVICE_DISABLED'),
      'SHEET_FORBIDDEN',
      'is not enabled',
    ],
    [
      'a personal login that was not made for spreadsheets',
      refusal(403, 'Request had insufficient authentication scopes.', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT'),
      'SHEET_UNAUTHORIZED',
      'auth/spreadsheets',
    ],
    ['a quota refused as 403', refusal(403, 'Quota', 'rateLimitExceeded'), 'SHEET_LIMITED', 'too many'],
    [
      'an unknown spreadsheet',
      refusal(404, 'Requested entity was not found.'),
      'SHEET_NOT_FOUND',
      'not found',
    ],
    [
      'an Excel file',
      refusal(400, 'This operation is not supported for this document'),
      'SHEET_REFUSED',
      'Save as Google Sheets',
    ],
    [
      'a protected range',
      refusal(400, 'You are trying to edit a protected cell or object. Please contact the owner.'),
      'SHEET_REFUSED',
      'protected range',
    ],
    [
      'a token that could not be renewed',
      reply(400, '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}'),
      'SHEET_UNAUTHORIZED',
      'create a new key',
    ],
    [
      'a spreadsheet that is full',
      refusal(
        400,
        'This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
      ),
      'SHEET_REFUSED',
      'delete rows',
    ],
    ['a tab that is gone', refusal(400, 'No grid with id: 7'), 'SHEET_UNREACHABLE', 'renamed, removed'],
    [
      'a tab that ends before the first row of a write',
      refusal(
        400,
        'Invalid requests[3].updateCells: GridCoordinate.rowIndex[9] is after last row in grid[6]',
      ),
      'SHEET_UNREACHABLE',
      'shortened meanwhile',
    ],
    ['a page of a proxy', reply(502, '<html>Bad gateway</html>'), 'SHEET_UNREACHABLE', 'HTTP 502'],
    ['a page of something else', reply(404, '<html>Nothing</html>'), 'SHEET_UNREADABLE', "not Google's"],
    ['an answer that was cut off', reply(200, '{"sheets": ['), 'SHEET_UNREADABLE', 'is not one'],
    ['an answer without a body', reply(200, 'null'), 'SHEET_UNREADABLE', 'is not one'],
  ])('%s', async (_, answer, code, words) => {
    const client = openClient({ rootUrl: await serve(answer) });
    const expected = { code, message: expect.stringContaining(words) };
    await expect(client.get('sheets')).rejects.toMatchObject(expected);
    await expect(client.batchUpdate([], 'sheets', [])).rejects.toMatchObject(expected);
  });

  test.each<[string, RequestListener, string, string]>([
    ['a quota', refusal(429, 'Quota exceeded'), 'SHEET_LIMITED', 'too many'],
    [
      'an unknown spreadsheet',
      refusal(404, 'Requested entity was not found.'),
      'SHEET_NOT_FOUND',
      'not found',
    ],
    [
      'a token',
      reply(400, '{"error":"invalid_grant","error_description":"Invalid JWT Signature."}'),
      'SHEET_UNAUTHORIZED',
      'create a new key',
    ],
    ['a page of a proxy', reply(502, '<html>Bad gateway</html>'), 'SHEET_UNREACHABLE', 'HTTP 502'],
    [
      'an answer that breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"valueRanges": [');
        setImmediate(() => response.destroy());
      },
      'SHEET_UNREACHABLE',
      'ECONNRESET',
    ],
  ])('%s is the same error where values alone are asked for', async (_, answer, code, words) => {
    const client = openClient({ rootUrl: await serve(answer) });
    const expected = { code, message: expect.stringContaining(words) };
    await expect(client.values([])).rejects.toMatchObject(expected);
  });

  test('no values come of a tab that is gone', async () => {
    const client = openClient({ rootUrl: await serve(refusal(400, 'No grid with id: 7')) });
    expect(await client.values([])).toBeUndefined();
  });

  test('values that are the same as before are the same object', async () => {
    const answers = [
      '{"valueRanges":[1]}',
      '{"valueRanges":[1]}',
      '{"valueRanges":[2]}',
      '{"valueRanges":[]}',
    ];
    const client = openClient({
      rootUrl: await serve((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(answers.shift());
      }),
    });
    const first = await client.values([]);
    expect(await client.values([], first)).toBe(first);
    const changed = await client.values([], first);
    expect(changed?.toString()).toBe('{"valueRanges":[2]}');
    expect((await client.values([], changed))?.toString()).toBe('{"valueRanges":[]}');
  });

  test('no answer in time is SHEET_UNREACHABLE', async () => {
    const client = openClient({ rootUrl: await serve(() => {}) }, 50);
    await expect(client.get('sheets')).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
      message: 'Could not read the spreadsheet: TimeoutError.',
    });
  });

  test('a host that refuses connections is SHEET_UNREACHABLE', async () => {
    const client = openClient({ rootUrl: 'http://127.0.0.1:1' });
    await expect(client.get('sheets')).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
      message: 'Could not read the spreadsheet: ECONNREFUSED.',
    });
  });

  test.each([301, 302, 303, 307, 308])('a redirect by %i is refused and not followed', async (status) => {
    const reached: (string | undefined)[] = [];
    const elsewhere = await serve((request, response) => {
      reached.push(request.url);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sheets":[]}');
    });
    const rootUrl = await serve((request, response) => {
      response.writeHead(status, { location: `${elsewhere}${request.url}` }).end();
    });
    const client = openClient({ rootUrl });
    const expected = { code: 'SHEET_UNREADABLE', message: expect.stringContaining(`HTTP ${status}`) };
    await expect(client.get('sheets')).rejects.toMatchObject(expected);
    await expect(client.batchUpdate([], 'sheets', [])).rejects.toMatchObject(expected);
    expect(reached).toEqual([]);
  });

  test('the root address keeps its path', async () => {
    const urls: (string | undefined)[] = [];
    const root = await serve((request, response) => {
      urls.push(request.url);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sheets":[]}');
    });
    await openClient({ rootUrl: `${root}/google/` }).get('sheets');
    expect(urls).toEqual([expect.stringMatching(/^\/google\/v4\/spreadsheets\/sheet-1\?/)]);
  });
});

describe('logins', () => {
  async function writeCredentials(text: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'credentials-'));
    closers.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'key.json');
    await writeFile(file, text);
    return file;
  }

  test('a credentials file that does not exist', async () => {
    await expect(openClient({ credentialsFile: '/nowhere/key.json' }).get('sheets')).rejects.toMatchObject({
      code: 'SHEET_UNAUTHORIZED',
      message: 'Could not log in to Google: the credentials file does not exist.',
    });
  });

  const account = { type: 'service_account', client_email: 'a@b.c' };
  const federation = {
    type: 'external_account',
    audience: 'pool',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
  };
  test.each<[string, unknown, string]>([
    ['is not JSON', 'secret-4711 {', 'is not JSON as Google writes it'],
    ['is a list', ['secret-4711'], 'is not JSON as Google writes it'],
    ['has no usable key', { ...account, private_key: 'secret-4711' }, 'can not be used'],
    [
      'has no key',
      { ...account, private_key_id: 'secret-4711' },
      'is the key of a service account (service_account), but its private_key is missing',
    ],
    [
      'has no type',
      { client_id: 'secret-4711' },
      'has no type, which would be one of service_account, authorized_user',
    ],
    ['has a secret as its type', { type: 'secret-4711' }, 'has no type'],
    [
      'is of another type',
      { type: 'gdch_service_account' },
      'has the type “gdch_service_account”, which is not one of',
    ],
    ['is an OAuth client', { installed: { client_secret: 'secret-4711' } }, 'is an OAuth client'],
    [
      'is a personal login without its token',
      { type: 'authorized_user', client_id: 'me', client_secret: 'secret-4711' },
      'its refresh_token is missing',
    ],
    [
      'impersonates nobody',
      { type: 'impersonated_service_account', service_account_impersonation_url: 'https://secret-4711' },
      'its service_account_impersonation_url is missing or is none',
    ],
    ['is a federation without a source', federation, 'its credential_source is missing'],
    [
      'leads to a token that is not there',
      { ...federation, credential_source: { file: '/nowhere/secret-4711' } },
      'what the credential_source of the credentials file leads to can not be read',
    ],
  ])(
    'S16: a credentials file that %s is refused with what is wrong, without showing it',
    async (_, content, words) => {
      const text = typeof content === 'string' ? content : JSON.stringify(content);
      const client = openClient({ credentialsFile: await writeCredentials(text) });
      const error: unknown = await client.get('sheets').catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'SHEET_UNAUTHORIZED', message: expect.stringContaining(words) });
      expect(error).not.toHaveProperty('cause');
      expect(String(error)).not.toContain('secret-4711');
    },
  );

  test('what a federation is refused with is in the error, and keys that an organisation forbids have an advice', async () => {
    const description = 'The request violates constraints/iam.disableServiceAccountKeyCreation';
    const answer = reply(400, JSON.stringify({ error: 'invalid_target', error_description: description }));
    const source = { file: await writeCredentials('identity-of-the-workload') };
    const file = { ...federation, token_url: await serve(answer), credential_source: source };
    const client = openClient({ credentialsFile: await writeCredentials(JSON.stringify(file)) });
    await expect(client.get('sheets')).rejects.toMatchObject({
      code: 'SHEET_UNAUTHORIZED',
      message: expect.stringMatching(/invalid_target, The request violates .*Log in without a key/),
    });
  });

  test('a login that is not answered in time is SHEET_UNREACHABLE, whatever the file is', async () => {
    const source = { file: await writeCredentials('identity-of-the-workload') };
    const file = { ...federation, token_url: await serve(() => {}), credential_source: source };
    const client = openClient({ credentialsFile: await writeCredentials(JSON.stringify(file)) }, 50);
    await expect(client.get('sheets')).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  });
});
