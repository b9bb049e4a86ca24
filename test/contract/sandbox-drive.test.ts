import { drive, type drive_v3 } from 'googleapis/build/src/apis/drive/index.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Emulator, refusalOf, startEmulator } from '../support/sandbox-sheets-client.ts';

const mimeType = 'application/vnd.google-apps.spreadsheet';
const EVERYTHING = { supportsAllDrives: true, includeItemsFromAllDrives: true } as const;

describe('files', () => {
  let emulator: Emulator;
  let api: drive_v3.Drive;

  beforeEach(async () => {
    let nowMs = 0;
    emulator = await startEmulator({ title: 'CRM', clock: () => (nowMs += 1_000) });
    api = drive({ version: 'v3', rootUrl: emulator.rootUrl, retry: false });
  });

  const create = async (name: string, ...parents: string[]) => {
    const { data } = await api.files.create({
      requestBody: { name, mimeType, ...(parents[0] && { parents }) },
    });
    return data.id ?? '';
  };
  const names = async (q?: string) => {
    const { data } = await api.files.list({ ...EVERYTHING, ...(q && { q }), fields: 'files(name)' });
    return data.files?.map(({ name }) => name);
  };

  test('are made, renamed, copied and deleted, and show four fields unless others are asked for', async () => {
    const { data } = await api.files.create({
      requestBody: { name: "Bob's", mimeType },
      supportsAllDrives: true,
    });
    const fileId = data.id ?? '';
    expect(data).toEqual({ kind: 'drive#file', id: fileId, name: "Bob's", mimeType });
    await api.files.update({ fileId, requestBody: { name: 'Bill' } });
    const copy = await api.files.copy({ fileId, requestBody: {} });
    expect(copy.data.name).toBe('Copy of Bill');
    const got = await api.files.get({ fileId, fields: 'name,trashed,ownedByMe,createdTime' });
    expect(got.data).toEqual({
      name: 'Bill',
      trashed: false,
      ownedByMe: true,
      createdTime: expect.stringMatching(/^1970-01-01T/),
    });
    expect((await api.files.delete({ fileId })).status).toBe(204);
    const gone = api.files.get({ fileId });
    expect(await refusalOf(gone)).toEqual({ code: 404, message: `File not found: ${fileId}.` });
  });

  test('are listed last changed first and page by page', async () => {
    await create('A');
    await create('B');
    expect(await names()).toEqual(['B', 'A', 'CRM']);
    const first = await api.files.list({ pageSize: 2, fields: 'nextPageToken,files(name)' });
    expect(first.data.files).toEqual([{ name: 'B' }, { name: 'A' }]);
    const pageToken = first.data.nextPageToken ?? '';
    const second = await api.files.list({ pageSize: 2, pageToken, fields: 'nextPageToken,files(name)' });
    expect(second.data).toEqual({ files: [{ name: 'CRM' }] });
  });

  test('are not listed by a page of no size or one that was never told of', async () => {
    expect(await refusalOf(api.files.list({ pageSize: 0 }))).toEqual({
      code: 400,
      message: "Invalid value '0'. Values must be within the range: [value: 1\n, value: 1000\n]",
    });
    const unknown = api.files.list({ pageToken: 'elsewhere' });
    expect(await refusalOf(unknown)).toEqual({ code: 400, message: 'Invalid Value' });
  });

  test('are found by name, kind, folder and trash, in any combination', async () => {
    await create('Deals 2026', 'folder1');
    const fileId = await create("Bob's deals");
    expect(await names(`mimeType="${mimeType}" and name = "Bob's deals"`)).toEqual(["Bob's deals"]);
    expect(await names(`name = 'Bob\\'s deals'`)).toEqual(["Bob's deals"]);
    expect(await names(`name contains 'deals' and not (name contains '2026')`)).toEqual(["Bob's deals"]);
    expect(await names(`'folder1' in parents or name = 'CRM'`)).toEqual(['Deals 2026', 'CRM']);
    await api.files.update({ fileId, requestBody: { trashed: true } });
    expect(await names('trashed = true')).toEqual(["Bob's deals"]);
    expect(await names('trashed = false')).toEqual(['Deals 2026', 'CRM']);
    expect(await refusalOf(names('name is unclear'))).toMatchObject({ code: 400 });
  });

  test('in the trash can still be written', async () => {
    const { spreadsheetId, fill, read } = emulator;
    await api.files.update({ fileId: spreadsheetId, requestBody: { trashed: true } });
    await fill([['x']]);
    expect(await read('A1')).toEqual([['x']]);
  });

  test('are exported as delimited text', async () => {
    const { spreadsheetId, fill } = emulator;
    await fill([['a,b', 'say "x"'], [1]]);
    const csv = await api.files.export({ fileId: spreadsheetId, mimeType: 'text/csv' });
    expect(csv.data).toBe('"a,b","say ""x"""\r\n1,');
    const picture = api.files.export({ fileId: spreadsheetId, mimeType: 'image/png' });
    expect(await refusalOf(picture)).toMatchObject({ code: 400 });
  });

  test('are shared, and a role is changed and taken away again', async () => {
    const fileId = emulator.spreadsheetId;
    const person = { type: 'user', role: 'reader', emailAddress: 'ada@example.com' };
    const { data } = await api.permissions.create({ fileId, requestBody: person, fields: '*' });
    expect(data).toMatchObject({ kind: 'drive#permission', ...person, deleted: false });
    const permissionId = data.id ?? '';
    await api.permissions.update({ fileId, permissionId, requestBody: { role: 'writer' } });
    await api.permissions.create({ fileId, requestBody: { type: 'anyone', role: 'reader' } });
    const list = async () =>
      (await api.permissions.list({ fileId, fields: 'permissions(type,role)' })).data.permissions;
    const owner = { type: 'user', role: 'owner' };
    const anyone = { type: 'anyone', role: 'reader' };
    expect(await list()).toEqual([owner, { type: 'user', role: 'writer' }, anyone]);
    await api.permissions.delete({ fileId, permissionId });
    expect(await list()).toEqual([owner, anyone]);
    const again = api.permissions.delete({ fileId, permissionId });
    expect(await refusalOf(again)).toEqual({ code: 404, message: `Permission not found: ${permissionId}.` });
  });

  test('get a new owner only when that is said twice', async () => {
    const fileId = emulator.spreadsheetId;
    const requestBody = { type: 'user', role: 'owner', emailAddress: 'ada@example.com' };
    expect(await refusalOf(api.permissions.create({ fileId, requestBody }))).toMatchObject({ code: 403 });
    await api.permissions.create({ fileId, requestBody, transferOwnership: true });
  });

  test('carry comments', async () => {
    const fileId = emulator.spreadsheetId;
    const { data } = await api.comments.create({
      fileId,
      fields: 'id,content',
      requestBody: { content: 'Look' },
    });
    expect(data.content).toBe('Look');
    const list = async () => (await api.comments.list({ fileId, fields: 'comments/content' })).data;
    expect(await list()).toEqual({ comments: [{ content: 'Look' }] });
    await api.comments.delete({ fileId, commentId: data.id ?? '' });
    expect(await list()).toEqual({ comments: [] });
    expect(await refusalOf(api.comments.list({ fileId }))).toMatchObject({ code: 400 });
  });
});
