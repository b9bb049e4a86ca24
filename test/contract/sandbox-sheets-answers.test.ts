import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startEmulator } from '../support/sandbox-sheets-client.ts';

/** One GET with exactly these headers, and the bytes of its answer. */
function bytesOf(url: string, headers: Record<string, string> = {}) {
  return new Promise<{ bytes: Buffer; encoding: string | undefined; type: string | undefined }>(
    (resolve, reject) => {
      const sent = request(url, { headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        const { 'content-encoding': encoding, 'content-type': type } = answer.headers;
        answer.on('end', () => resolve({ bytes: Buffer.concat(chunks), encoding, type }));
      });
      sent.on('error', reject);
      sent.end();
    },
  );
}

/** Addresses of Sheets and Drive, answers and refusals. */
async function addresses() {
  const { rootUrl, spreadsheetId, fill } = await startEmulator();
  await fill([['a', 1], ['b']]);
  return [
    `${rootUrl}/v4/spreadsheets/${spreadsheetId}?fields=sheets.properties`,
    `${rootUrl}/v4/spreadsheets/${spreadsheetId}/values/A1:B2?majorDimension=ROWS`,
    `${rootUrl}/v4/spreadsheets/${spreadsheetId}/values/Nowhere!A1?alt=json`,
    `${rootUrl}/v4/spreadsheets/no-such-spreadsheet?alt=json`,
    `${rootUrl}/drive/v3/files/${spreadsheetId}?fields=*`,
    `${rootUrl}/drive/v3/files/no-such-file?fields=*`,
  ];
}

test('answers and refusals are indented by two spaces and end with a line break', async () => {
  for (const url of await addresses()) {
    const { bytes, type } = await bytesOf(url);
    const text = bytes.toString();
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    expect(type).toBe('application/json; charset=UTF-8');
  }
});

test('answers and refusals are compact where the request says prettyPrint=false', async () => {
  for (const url of await addresses()) {
    const [indented, compact] = [await bytesOf(url), await bytesOf(`${url}&prettyPrint=false`)];
    const text = compact.bytes.toString();
    expect(text).toBe(JSON.stringify(JSON.parse(text)));
    expect(JSON.parse(text)).toEqual(JSON.parse(indented.bytes.toString()));
  }
});

test('the parameters that every Google API takes change nothing else', async () => {
  for (const url of await addresses()) {
    const plain = await bytesOf(url);
    const more = await bytesOf(`${url}&$.xgafv=2&quotaUser=somebody&key=k&$alt=json`);
    expect(more.bytes.toString()).toBe(plain.bytes.toString());
  }
});

test('answers and refusals are compressed for a client that unpacks gzip, and for no other', async () => {
  for (const url of await addresses()) {
    const plain = await bytesOf(url, { 'accept-encoding': 'identity, gzip;q=0' });
    const packed = await bytesOf(url, { 'accept-encoding': 'gzip, deflate', 'user-agent': 'client (gzip)' });
    expect(plain.encoding).toBeUndefined();
    expect(packed.encoding).toBe('gzip');
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.bytes.toString());
  }
});
