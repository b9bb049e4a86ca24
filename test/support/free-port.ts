import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';

/**
 * Each process has its own ports, below those that the system gives to whoever asks for any: of those somebody else gets one while its
 * server is started again.
 */
const [portsPerProcess, lowestPort] = [100, 12_000];
const ownPortsFrom = lowestPort + (process.pid % 200) * portsPerProcess;
let portsTaken = 0;

/** A port for a server that is started at once, and maybe again. */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < portsPerProcess; tries += 1) {
    const port = ownPortsFrom + (portsTaken % portsPerProcess);
    portsTaken += 1;
    if (await isFree(port)) return port;
  }
  throw new Error(`Of the ports from ${ownPortsFrom} on none is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return isListening;
}
