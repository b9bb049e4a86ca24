import { afterEach, describe, expect, it } from 'vitest';
import type { Crm, RecordPage } from '../../src/core/ports.ts';
import { createCrmBench } from '../support/crm-bench.ts';
import {
  answerFailure,
  answerJson,
  answerSuccess,
  type ScriptedServer,
  startScriptedServer,
} from '../support/scripted-server.ts';

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Task {
  readonly id: number;
  readonly title: string;
}

/** One page of a CRM that answers in some dialect; `query` is what was asked for. */
type Dialect = (tasks: readonly Task[], query: URLSearchParams) => unknown;

async function serveTasks(count: number, dialect: Dialect) {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: count - index, title: `Task ${index}` }));
  server = await startScriptedServer((response, { url }) => {
    const content = dialect(tasks, new URL(url, 'http://crm').searchParams);
    answerJson(response, 200, { http_code: 200, status: 'success', ...(content as object) });
  });
  return { ...createCrmBench(server.baseUrl), server };
}

const slice = (tasks: readonly Task[], query: URLSearchParams, sizeMax: number) => {
  const page = Number(query.get('page') ?? 1);
  const size = Math.min(sizeMax, Number(query.get('limit') ?? 25));
  return { page, size, items: tasks.slice((page - 1) * size, page * size) };
};

/** Reads to the end as a sweep does. */
async function readAll(crm: Crm, pagesMax = 40): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  for (let page = 1; page <= pagesMax; page += 1) {
    const { records, hasMore }: RecordPage = await crm.listRecords('task', page, 'sweep');
    ids.push(...records.map((record) => record.id));
    if (!hasMore) return { ids, pages: page };
  }
  throw new Error('the listing does not end');
}

const paged =
  (wrap: (items: readonly Task[], page: { page: number; size: number; total: number }) => object): Dialect =>
  (tasks, query) => {
    const { page, size, items } = slice(tasks, query, 100);
    return wrap(items, { page, size, total: tasks.length });
  };

const dialects: readonly [string, Dialect][] = [
  ['the entity’s name and items', paged((items) => ({ data: { tasks: { items } } }))],
  ['items with a total as text', paged((items, { total }) => ({ data: { items, total: String(total) } }))],
  ['items with a count of the page as total', paged((items) => ({ data: { items, total: items.length } }))],
  [
    'a bare array with a pagination object beside it',
    paged((items, { page, size, total }) => ({
      data: items,
      pagination: { page, limit: size, total_pages: Math.ceil(total / size) },
    })),
  ],
  [
    'items with has_more in meta',
    paged((items, { page, size, total }) => ({ data: { items, meta: { has_more: page * size < total } } })),
  ],
  ['a page size clamped to 10', (tasks, query) => ({ data: slice(tasks, query, 10).items })],
  [
    'a page size clamped to 10, with a total',
    (tasks, query) => ({ data: { items: slice(tasks, query, 10).items, total: tasks.length } }),
  ],
];

describe.each(dialects)('a listing as %s', (_, dialect) => {
  it.each([0, 1, 7, 20, 25, 99, 100, 101, 200, 230])(
    'of %i records is read completely and ends',
    async (count) => {
      const { crm } = await serveTasks(count, dialect);
      const { ids } = await readAll(crm);
      expect(ids.toSorted()).toEqual(
        Array.from({ length: count }, (_unused, index) => `${index + 1}`).toSorted(),
      );
    },
  );
});

describe('pages', () => {
  it('are asked for with the largest documented size, newest first', async () => {
    const { crm, server } = await serveTasks(
      3,
      paged((items) => ({ data: items })),
    );
    await crm.listRecords('task', 1, 'newest');
    expect(server.requests[0]?.url).toBe('/tasks?page=1&limit=100&order=desc');
  });

  it('need no request behind the last when a total says so', async () => {
    const { crm } = await serveTasks(
      130,
      paged((items, { total }) => ({ data: { items, total } })),
    );
    expect((await readAll(crm)).pages).toBe(2);
  });

  it('need no request behind a short first page once the page size was seen', async () => {
    let left = 130;
    const { crm } = await serveTasks(130, (tasks, query) => ({
      data: slice(tasks.slice(0, left), query, 100).items,
    }));
    await readAll(crm);
    left = 60;
    expect((await readAll(crm)).pages).toBe(1);
  });

  const byLimit: Dialect = (tasks, query) => ({ data: tasks.slice(0, Number(query.get('limit') ?? 25)) });
  const byOrder: Dialect = (tasks, query) => ({
    data: (query.get('order') === 'asc' ? tasks.toReversed() : tasks).slice(0, 25),
  });
  const withFacts =
    (facts: object): Dialect =>
    (tasks) => ({ data: { items: tasks, ...facts } });

  it.each([
    ['that come to the asked size', 230, byLimit],
    ['that hold other records in the other order', 26, byOrder],
    ['with a larger total', 40, withFacts({ total: 90 })],
    ['that say that there is more', 40, withFacts({ has_more: true })],
    ['that count further pages', 40, withFacts({ total_pages: 2 })],
  ])('that repeat, %s, can not be understood', async (_, count, dialect) => {
    const { crm } = await serveTasks(count, dialect);
    await expect(readAll(crm)).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message:
        'GET /tasks, page 2, can not be understood: it repeats what came before, although there are more records.',
    });
  });

  it('that repeat are not understood when they are read again either', async () => {
    const { crm } = await serveTasks(40, withFacts({ total: 90 }));
    await crm.listRecords('task', 1, 'sweep');
    for (const page of [2, 2])
      await expect(crm.listRecords('task', page, 'sweep')).rejects.toMatchObject({ code: 'CRM_UNREADABLE' });
  });

  it('that repeat the last one because so many records came since go on', async () => {
    const { crm } = await serveTasks(150, (tasks, query) => {
      const asked = Number(query.get('page'));
      const fresh = tasks.slice(0, 100).map((task, index) => ({ ...task, id: 1000 + index }));
      const all = asked === 1 ? tasks : [...fresh, ...tasks];
      return {
        data: {
          items: all.slice((asked - 1) * 100, asked * 100),
          total_pages: Math.ceil(all.length / 100),
        },
      };
    });
    const { ids, pages } = await readAll(crm);
    expect([new Set(ids).size, pages]).toEqual([150, 3]);
  });

  it('that repeat the last one end, where records came and went while the list was read', async () => {
    const fresh = { id: 1000, title: 'New' };
    const { crm } = await serveTasks(201, (tasks, query) => {
      const asked = Number(query.get('page'));
      const all = [tasks, [fresh, ...tasks], [fresh, ...tasks.slice(0, 199)]][asked - 1] ?? [];
      const page = Math.min(asked, Math.ceil(all.length / 100));
      return { data: { items: all.slice((page - 1) * 100, page * 100), total: all.length } };
    });
    expect(new Set((await readAll(crm)).ids).size).toBe(199);
  });

  it.each([
    [99, byLimit],
    [25, byOrder],
  ])('that repeat all of %i records end', async (count, dialect) => {
    const { crm } = await serveTasks(count, dialect);
    expect((await readAll(crm)).ids).toHaveLength(count);
  });

  it('fault 14: that go round in a circle end', async () => {
    const { crm } = await serveTasks(200, (tasks, query) => {
      const page = 2 - (Number(query.get('page')) % 2);
      return { data: tasks.slice((page - 1) * 100, page * 100) };
    });
    expect((await readAll(crm)).ids).toHaveLength(200);
  });

  it('of one lane do not disturb those of another', async () => {
    const { crm } = await serveTasks(100, (tasks) => ({ data: tasks }));
    await crm.listRecords('task', 1, 'sweep');
    await crm.listRecords('task', 2, 'newest');
    expect(await crm.listRecords('task', 2, 'sweep')).toEqual({ records: [], hasMore: false });
  });

  it('that overlap because a record was added meanwhile do not end the listing', async () => {
    let added = 0;
    const { crm } = await serveTasks(250, (tasks, query) => {
      const fresh = Array.from({ length: added }, (_, index) => ({ id: 1000 + index, title: 'New' }));
      added += 1;
      return { data: slice([...fresh, ...tasks], query, 100).items };
    });
    expect(new Set((await readAll(crm)).ids).size).toBe(250);
  });

  it('that hold nothing but an overlap end the listing', async () => {
    const { crm } = await serveTasks(100, (tasks, query) => {
      const isFirst = query.get('page') === '1';
      const all = isFirst ? tasks : [{ id: 1000, title: 'New' }, ...tasks];
      return { data: { items: slice(all, query, 100).items, total: isFirst ? 100 : 101 } };
    });
    expect(new Set((await readAll(crm)).ids).size).toBe(100);
  });

  it('can be read again out of turn without misleading the sweep about its end', async () => {
    const { crm } = await serveTasks(450, (tasks, query) => ({ data: slice(tasks, query, 100).items }));
    const sizes: number[] = [];
    for (let page = 1, hasMore = true; hasMore; page += 1) {
      const answer = await crm.listRecords('task', page, 'sweep');
      sizes.push(answer.records.length);
      hasMore = answer.hasMore;
      for (const other of [2, 5]) {
        if (other !== page + 1)
          expect((await crm.listRecords('task', other, 'sweep')).records).not.toEqual([]);
      }
    }
    expect(sizes).toEqual([100, 100, 100, 100, 50]);
  });

  it('ends for a sweep that passes over pages which were read out of turn', async () => {
    const { crm } = await serveTasks(450, (tasks, query) => ({ data: slice(tasks, query, 100).items }));
    const read = (page: number) => crm.listRecords('task', page, 'sweep');
    for (const page of [1, 2, 1]) await read(page);
    for (const page of [3, 2]) expect(await read(page)).toMatchObject({ hasMore: true });
    expect(await read(4)).toMatchObject({ hasMore: true });
    const last = await read(5);
    expect(last).toMatchObject({ hasMore: false });
    expect(last.records).toHaveLength(50);
  });

  it('leave out what tells that it is in the trash, and go on to their end all the same', async () => {
    const { crm } = await serveTasks(
      230,
      paged((items) => ({
        data: items.map((item) => ({ ...item, deleted_at: item.id > 20 ? '2026-01-01' : null })),
      })),
    );
    const { ids, pages } = await readAll(crm);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => String(20 - index)));
    expect(pages).toBe(3);
  });

  it('carry the moment at which they were asked for', async () => {
    const { crm, clock } = await serveTasks(
      1,
      paged((items) => ({ data: items })),
    );
    const page = await crm.listRecords('task', 1, 'sweep');
    expect(page.records[0]?.at).toBe(clock.now());
  });

  it('are asked for with fewer parameters where the CRM refuses some', async () => {
    server = await startScriptedServer((response, { url }) => {
      if (url.includes('order')) return answerFailure(response, 400, 'order: Unrecognized key');
      answerSuccess(response, []);
    });
    const { crm } = createCrmBench(server.baseUrl);
    await crm.listRecords('lead', 1, 'sweep');
    await crm.listRecords('lead', 1, 'sweep');
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/leads?page=1&limit=100&order=desc',
      '/leads?page=1&limit=100',
      '/leads?page=1&limit=100',
    ]);
  });
});

describe('a refusal', () => {
  /** A CRM of small pages that answers nothing about the whole list, and refuses what `isRefused` names. */
  async function serveRefusing(isRefused: (query: URLSearchParams) => boolean) {
    const tasks = Array.from({ length: 20 }, (_, index) => ({ id: 20 - index, title: 'Task' }));
    server = await startScriptedServer((response, { url }) => {
      const query = new URL(url, 'http://crm').searchParams;
      if (isRefused(query)) return answerFailure(response, 400, 'page: Too big');
      answerSuccess(response, slice(tasks, query, 100).items);
    });
    const add = (count: number) => {
      const first = tasks.length + 1;
      for (let id = first; id < first + count; id += 1) tasks.unshift({ id, title: 'Task' });
    };
    return { ...createCrmBench(server.baseUrl), tasks, add };
  }

  it('of a page behind the last one is the end, and the list is read to its end when it has grown', async () => {
    const crm = await serveRefusing((query) => {
      const page = Number(query.get('page') ?? 1);
      return page > 1 && (page - 1) * Number(query.get('limit') ?? 25) >= crm.tasks.length;
    });
    expect((await readAll(crm.crm)).ids).toHaveLength(20);
    crm.add(130);
    expect((await readAll(crm.crm)).ids).toHaveLength(150);
  });

  it('of every query for a while, as of an agency whose bill is open, does not shorten what is read later', async () => {
    let isClosed = true;
    const { crm, add } = await serveRefusing(() => isClosed);
    add(130);
    await expect(readAll(crm)).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message: 'GET /tasks, page 1, can not be understood: the CRM refuses it: page: Too big.',
    });
    isClosed = false;
    expect((await readAll(crm)).ids).toHaveLength(150);
  });

  it('of a page that the first one told of is not the end', async () => {
    server = await startScriptedServer((response, { url }) => {
      const page = Number(new URL(url, 'http://crm').searchParams.get('page'));
      if (page > 1) return answerFailure(response, 400, 'page: Too deep');
      answerSuccess(response, { items: [{ id: 1 }, { id: 2 }], total: 4 });
    });
    await expect(readAll(createCrmBench(server.baseUrl).crm)).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message: expect.stringContaining('page 2, can not be understood: the CRM refuses it: page: Too deep'),
    });
  });
});

describe('a listing that can not be understood', () => {
  it.each([
    ['no data', undefined, 'no list of records is in the answer'],
    ['an object without a list', { data: { count: 3 } }, 'no list of records is in the answer'],
  ])('fault 10: fails as a whole: %s', async (_, content, reason) => {
    const { crm } = await serveTasks(0, () => content);
    await expect(crm.listRecords('task', 1, 'sweep')).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message: expect.stringContaining(reason),
    });
  });
});

describe('how many records a list has', () => {
  const withTotal = (total: (all: number, here: number) => number) =>
    paged((items, { total: all }) => ({ data: { items, total: total(all, items.length) } }));

  it('comes with each page but the last where the CRM says it', async () => {
    const { crm } = await serveTasks(
      230,
      withTotal((all) => all),
    );
    const totals: (number | undefined)[] = [];
    for (const page of [1, 2, 3]) totals.push((await crm.listRecords('task', page, 'sweep')).total);
    expect(totals).toEqual([230, 230, undefined]);
  });

  it('is not known where the total is the count of the page', async () => {
    const { crm } = await serveTasks(
      230,
      withTotal((_all, here) => here),
    );
    expect(await crm.listRecords('task', 1, 'sweep')).toMatchObject({ hasMore: true });
    expect(await crm.listRecords('task', 1, 'sweep')).not.toHaveProperty('total');
  });
});
