import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of a statement: it goes on, or the line is cut before it, or after it and before its reply, or falls silent. */
export type Fate = 'pass' | 'cut' | 'cutReply' | 'silence';

/** Decides about each statement of a client, before the server has seen it. */
export type Interception = (sql: string) => Promise<Fate> | Fate;

/** The line between a client and its PostgreSQL, on which a test can do what networks do in bad moments. */
export interface PostgresLine extends AsyncDisposable {
  /** The address of the server, by way of this line. */
  through(url: string): string;
  /** From now on decides about every statement; `undefined` lets all of them pass. */
  intercept(interception: Interception | undefined): void;
  /** Leads to another server from now on, as a name does after a failover; what is connected is cut. */
  retarget(url: string): void;
}

export async function openPostgresLine(targetUrl: string): Promise<PostgresLine> {
  let target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let interception: Interception | undefined;
  // Small messages that wait for an acknowledgement would make each statement cost 40 ms.
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(target.port), host: target.hostname, noDelay: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      // Messages go on one by one: each would wait until the one before is acknowledged.
      socket.setNoDelay();
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    far.pipe(near);
    far.on('close', () => near.destroy());
    near.on('close', () => far.end());
    void forward(near, far, async (sql) => (await interception?.(sql)) ?? 'pass');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    through(url) {
      const own = new URL(url);
      own.port = String(port);
      return own.href;
    },
    intercept(next) {
      interception = next;
    },
    retarget(url) {
      target = new URL(url);
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

/** Hands on whole messages in order, each statement as its fate is. */
async function forward(near: Socket, far: Socket, decide: (sql: string) => Promise<Fate>): Promise<void> {
  try {
    for await (const message of messagesOf(near)) {
      const sql = statementOf(message);
      const fate = sql === undefined ? 'pass' : await decide(sql);
      // A socket that is no longer read is destroyed.
      if (fate === 'silence') return void (await once(near, 'close'));
      if (fate === 'cut') return void near.destroy();
      if (fate === 'cutReply') {
        // The server gets it, works on it for as long as it takes, and finds out when it replies.
        far
          .unpipe(near)
          .resume()
          .once('data', () => far.destroy());
        near.removeAllListeners('close');
        far.write(message);
        return void near.destroy();
      }
      far.write(message);
    }
  } catch {
    far.destroy();
  }
}

const lengthBytes = 4;

/** The first message has no type, all others have one in front of their length. */
async function* messagesOf(socket: Socket): AsyncGenerator<Buffer> {
  let waiting: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= typeBytes + lengthBytes) {
      const length = typeBytes + waiting.readInt32BE(typeBytes);
      if (waiting.length < length) break;
      yield waiting.subarray(0, length);
      waiting = waiting.subarray(length);
      typeBytes = 1;
    }
  }
}

/** The text of a query, or of a statement that is prepared without a name. */
function statementOf(message: Buffer): string | undefined {
  const type = String.fromCharCode(message[0] ?? 0);
  if (type === 'Q') return message.subarray(5, -1).toString();
  if (type !== 'P') return undefined;
  const [, sql] = message.subarray(5).toString().split('\0');
  return sql;
}
