import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../support/manual-clock.ts';
import { leads, openWarehouseDatabase, version } from '../support/warehouse-database.ts';

/** The way to a server on which, from some moment on, nothing passes: neither what is sent, nor that an end closes. */
async function openSilentWay(url: string) {
  const target = new URL(url);
  let isSilent = false;
  let lost: () => void = () => undefined;
  const sockets: Socket[] = [];
  const pass = (from: Socket, to: Socket) =>
    from
      .on('error', () => undefined)
      .on('data', (piece) => (isSilent ? lost() : to.write(piece)))
      .on('end', () => !isSilent && to.end());
  const server: Server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(target.port), target.hostname);
    sockets.push(near, far);
    pass(near, far);
    pass(far, near);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const own = new URL(url);
  const address = server.address();
  own.port = String(typeof address === 'object' && address?.port);
  return {
    url: own.href,
    /** Resolves when something was sent that will never arrive. */
    fallSilent: () =>
      new Promise<void>((resolve) => {
        lost = resolve;
        isSilent = true;
      }),
  };
}

async function openStage() {
  const database = await openWarehouseDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const way = await openSilentWay(database.url);
  const clock = createManualClock();
  return { clock, way, warehouse: database.open({ url: way.url, clock }) };
}

afterEach(() => {
  vi.useRealTimers();
});

const unreachable = expect.objectContaining({ code: 'WAREHOUSE_UNREACHABLE' });

it('a connection that is not used ends although the line has fallen silent', async () => {
  const { clock, way, warehouse } = await openStage();
  await warehouse.meet();
  const lost = way.fallSilent();
  const closed = warehouse.close();
  await lost;
  await clock.advance(2_000);
  await closed;
});

it.each(['layOut', 'inspect'] as const)('%s is given up on a line that has fallen silent', async (call) => {
  const { way, warehouse } = await openStage();
  await warehouse.meet();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const lost = way.fallSilent();
  const result = warehouse[call]({ schema: 'crm', tables: [leads], hasHistory: true }).catch(
    (error: unknown) => error,
  );
  await lost;
  await vi.advanceTimersByTimeAsync(90_000);
  expect(await result).toEqual(unreachable);
});

it('a scan is given up on a line that falls silent in the middle, and not for a slow reader', async () => {
  const { clock, way, warehouse } = await openStage();
  const rows = Array.from({ length: 1_000 }, (_each, id) => version(id, { title: 'x'.repeat(20_000) }));
  await warehouse.fill('run-1', 0, leads, rows);
  const scan = warehouse.scan(leads)[Symbol.asyncIterator]();
  await scan.next();
  await clock.advance(1_000_000);
  await scan.next();
  const lost = way.fallSilent();
  const rest = (async () => {
    while (!(await scan.next()).done);
  })().catch((error: unknown) => error);
  await lost;
  await clock.advance(100_000);
  expect(await rest).toEqual(unreachable);
});
