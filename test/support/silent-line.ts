import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a TCP server on this machine that can fall silent, as a network does in which the other end is gone, or lead elsewhere. */
export interface SilentLine {
  readonly port: number;
  /** Forwards nothing any more, on all connections that there are. New ones work. */
  fallSilent(): void;
  /** New connections go to this port, as where a name has got another address. */
  leadTo(target: number): void;
}

export async function openSilentLine(firstTarget: number): Promise<SilentLine> {
  let target = firstTarget;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port.');
  return {
    port: address.port,
    fallSilent() {
      for (const socket of open) socket.unpipe().pause();
    },
    leadTo(next) {
      target = next;
    },
  };
}
