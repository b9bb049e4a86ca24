import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../core/ports.ts';

/** Connections at a time; a browser opens six for all its pages. */
const connectionsMax = 500;
/** Connections of one address, so that one reader does not take all. */
const connectionsPerAddressMax = 100;
/** Bytes of answers that wait for their readers at a time, of all links together. */
const waitingBytesMax = 32 * 1024 * 1024;
/** An answer up to this size needs no room: those who watch the health are answered even if others read slowly. */
const smallBytes = 16 * 1024;
/** A reader that takes longer than this, and longer than a slow line needs for the bytes, is cut off. */
const takeMs = 30_000;
const slowLineBytesPerMs = 250;

/** For how long an answer may wait for its reader. */
export const patienceMs = (bytes: number): number => takeMs + bytes / slowLineBytesPerMs;

/** Room for what is on its way to readers: without a bound, slow readers of long answers take all memory. */
export class Room {
  #bytes = 0;

  /** Returns how to give it back, or `undefined` where there is none. What is larger than all of it fits where nothing else waits. */
  take(bytes: number): (() => void) | undefined {
    const isFull = this.#bytes > 0 && this.#bytes + bytes > waitingBytesMax;
    if (isFull && bytes > smallBytes) return undefined;
    this.#bytes += bytes;
    let isTaken = true;
    return () => {
      if (isTaken) this.#bytes -= bytes;
      isTaken = false;
    };
  }
}

const noRoom = JSON.stringify({
  error: 'Too many long answers wait for their readers. Try again in a moment.',
});

/** What answers are bound by: one for all servers of a process. */
export interface Bounds {
  readonly room: Room;
  readonly clock: Clock;
}

/** Gives every answer its room until it is read, and cuts off who does not read it; streams look after themselves. */
export function boundAnswers(server: FastifyInstance, { clock, room }: Bounds): void {
  boundConnections(server);
  server.addHook('onSend', async (_request, reply, payload) => {
    const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload);
    // A connection that has ended by now emits no further close.
    if (!isWhole || reply.raw.destroyed) return payload;
    const bytes = Buffer.byteLength(payload);
    const giveBack = room.take(bytes);
    if (!giveBack) {
      reply.code(503).header('retry-after', 1).type('application/json; charset=utf-8');
      return noRoom;
    }
    const read = new AbortController();
    reply.raw.once('close', () => {
      giveBack();
      read.abort();
    });
    void clock.sleep(patienceMs(bytes), read.signal).then(() => {
      if (!read.signal.aborted) reply.raw.destroy();
    });
    return payload;
  });
}

function boundConnections({ server }: FastifyInstance): void {
  server.maxConnections = connectionsMax;
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address = '' } = socket;
    const count = (counts.get(address) ?? 0) + 1;
    if (count > connectionsPerAddressMax) return void socket.destroy();
    counts.set(address, count);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) counts.set(address, left);
      else counts.delete(address);
    });
  });
}
