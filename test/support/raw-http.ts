import { connect } from 'node:net';

/** What came back for some bytes; `status` is undefined when the server only closed the connection. */
export interface RawAnswer {
  readonly status: number | undefined;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const headPattern = /^HTTP\/1\.\d (\d{3})[^\r\n]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/;

function readAnswer(text: string): RawAnswer | undefined {
  const [, status, head = '', body = ''] = headPattern.exec(text) ?? [];
  if (status === undefined) return undefined;
  const headers = head.split('\r\n').map((line): [string, string] => {
    const [name = '', ...value] = line.split(':');
    return [name.toLowerCase(), value.join(':').trim()];
  });
  return { status: Number(status), headers: new Map(headers), body };
}

/** A server may ask for the body first: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1 */
const withoutInterim = (text: string): string => text.replace(/^(HTTP\/1\.1 1\d\d [^\r\n]*\r\n\r\n)+/, '');

export interface RawRequest {
  readonly bytes: Buffer;
  /** Address of this machine to send from. */
  readonly localAddress: string;
  /** Hangs up after the bytes: a server that still waits for more of them then knows that none come. */
  readonly hangsUp: boolean;
}

/** Sends bytes as they are, which no HTTP client would, and resolves once the connection is closed or a stream of events begins. */
export async function sendRaw(url: string, { bytes, localAddress, hangsUp }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  const chunks: Buffer[] = [];
  const received = () => readAnswer(withoutInterim(Buffer.concat(chunks).toString('utf8')));
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (received()?.headers.get('content-type')?.startsWith('text/event-stream')) socket.destroy();
  });
  // The server may close while a large body is still on its way: what it said before counts.
  socket.on('error', () => socket.destroy());
  if (hangsUp) socket.end(bytes);
  else socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return received() ?? { status: undefined, headers: new Map(), body: '' };
}
