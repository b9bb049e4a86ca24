import { expect, test } from 'vitest';
import { LinksFill } from '../../src/cli/fill/links-fill.ts';

interface ScriptedLink {
  readonly status?: object;
  readonly url?: string;
  readonly trouble?: string;
}

const reading = (done: number, total?: number, endsAt?: number) => ({
  standing: { state: 'filling' },
  progress: [{ work: 'reading', title: 'Leads', done, total, endsAt }],
  tabs: [],
  brakes: [],
  holds: [],
});
const filling = (done: number, total: number, endsAt?: number) => ({
  standing: { state: 'filling' },
  progress: [{ work: 'filling', title: 'Leads', done, total, ...(endsAt === undefined ? {} : { endsAt }) }],
  tabs: [{ title: 'Leads', recordsInTable: done, recordsWanted: total }],
  brakes: [],
  holds: [],
});
const inStep = { standing: { state: 'inStep' }, progress: [], tabs: [], brakes: [] as object[], holds: [] };
const stopped = { ...inStep, standing: { state: 'asking' }, brakes: [{ scope: 'brake:lead:first' }] };

/** A daemon whose links are what they are told to be. */
function openDaemon() {
  const links = new Map<string, ScriptedLink>();
  const answer = (name: string | undefined) =>
    name !== undefined
      ? links.get(name)?.status
      : {
          links: [...links].map(([name, { status, trouble = 'NOT_READ_YET', url }]) => ({
            name,
            isHere: status !== undefined,
            ...(url === undefined ? {} : { url }),
            conditions: status || url ? [] : [{ name: trouble }],
          })),
        };
  const ask = async <Answer>(_path: string, name?: string) => answer(name) as Answer;
  const fill = new LinksFill();
  return {
    read: () => fill.read(ask),
    become(states: Readonly<Record<string, ScriptedLink>>) {
      for (const [name, state] of Object.entries(states)) links.set(name, state);
    },
  };
}

test('the fills of all links count as one, and one that ends takes nothing off the sum', async () => {
  const daemon = openDaemon();
  daemon.become({ north: { status: reading(30) }, south: { status: filling(5, 200) } });
  expect(await daemon.read()).toEqual({ phase: 'reading', done: 230 });
  daemon.become({ north: { status: filling(10, 40, 2_000) }, south: { status: filling(50, 200, 9_000) } });
  expect(await daemon.read()).toEqual({ phase: 'filling', done: 60, total: 240, endsAt: 9_000 });
  daemon.become({ north: { status: inStep } });
  expect(await daemon.read()).toEqual({ phase: 'filling', done: 90, total: 240, endsAt: 9_000 });
  daemon.become({ south: { status: inStep } });
  expect(await daemon.read()).toBeUndefined();
});

test('the reading of links has a total and an end once each of them has', async () => {
  const daemon = openDaemon();
  daemon.become({ north: { status: reading(30, 90, 4_000) }, south: { status: reading(10) } });
  expect(await daemon.read()).toEqual({ phase: 'reading', done: 40 });
  daemon.become({ south: { status: reading(10, 50, 3_000) } });
  expect(await daemon.read()).toEqual({ phase: 'reading', done: 40, total: 140, endsAt: 4_000 });
  daemon.become({ south: { status: filling(5, 50, 9_000) } });
  expect(await daemon.read()).toEqual({ phase: 'reading', done: 80, total: 140, endsAt: 4_000 });
});

test('once all others are done a link that a brake stops is told, and not that all is done', async () => {
  const daemon = openDaemon();
  daemon.become({ north: { status: stopped }, south: { status: filling(5, 200) } });
  expect(await daemon.read()).toEqual({ phase: 'filling', done: 5, total: 200 });
  daemon.become({ south: { status: inStep } });
  expect(await daemon.read()).toMatchObject({ isStopped: true });
});

test('no end is told while that of one link is not known', async () => {
  const daemon = openDaemon();
  daemon.become({ north: { status: filling(10, 40, 2_000) }, south: { status: filling(5, 200) } });
  expect((await daemon.read())?.endsAt).toBeUndefined();
});

test('a link that is still to be taken is waited for, with nothing told of it', async () => {
  const daemon = openDaemon();
  daemon.become({ north: { status: inStep }, south: {} });
  expect(await daemon.read()).toMatchObject({ done: 0, total: 0 });
  daemon.become({ south: { status: inStep } });
  expect(await daemon.read()).toBeUndefined();
});

test.each([{ url: 'http://127.0.0.1:8081' }, { trouble: 'STATE_BROKEN' }])(
  'a link that this process does not run is not waited for: %j',
  async (elsewhere) => {
    const daemon = openDaemon();
    daemon.become({ north: { status: filling(10, 40) }, south: { status: filling(5, 200) } });
    await daemon.read();
    daemon.become({ south: elsewhere });
    expect(await daemon.read()).toMatchObject({ done: 10, total: 40 });
    daemon.become({ north: { status: inStep } });
    expect(await daemon.read()).toBeUndefined();
  },
);
