import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

const authenticationCleartextPassword = 3;

/** A message of the server: its type, its length, and the rest. */
function message(type: string, rest: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(rest.length + 4, 1);
  return Buffer.concat([head, rest]);
}

/** A server, or something in front of one, that wants the password as it is and quotes it in its refusal. Resolves with its port. */
export async function startQuotingPostgres(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      // The first message of a client has no type.
      if (piece[0] !== 'p'.charCodeAt(0)) {
        const wanted = Buffer.alloc(4);
        wanted.writeInt32BE(authenticationCleartextPassword);
        return void socket.write(message('R', wanted));
      }
      const password = piece.subarray(5, -1).toString();
      const fields = ['SFATAL', 'VFATAL', 'C28P01', `Mno such password: ${password}`, `D${password}`, ''];
      socket.end(message('E', Buffer.from(fields.map((field) => `${field}\0`).join(''))));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
