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
  ['a bare array', paged((items) => ({ data: items }))],
  ['items', paged((items) => ({ data: { items } }))],
  ['data', paged((items) => ({ data: { data: items } }))],
  ['results', paged((items) => ({ data: { results: items } }))],
  ['records', paged((items) => ({ data: { records: items } }))],
  ['the entity’s name', paged((items) => ({ data: { tasks: items } }))],
  ['the entity’s name and items', paged((items) => ({ data: { tasks: { items } } }))],
  ['items with a total', paged((items, { total }) => ({ data: { items, total } }))],
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
  ['page and limit ignored', (tasks) => ({ data: tasks })],
  ['page and limit ignored, with a total', (tasks) => ({ data: { items: tasks, total: tasks.length } })],
];

describe.each(dialects)('a listing as %s', (_, dialect) => {
  it.each([0, 1, 7, 20, 99, 101, 230])('of %i records is read completely and ends', async (count) => {
    const { crm } = await serveTasks(count, dialect);
    const { ids } = await readAll(crm);
    expect(ids.toSorted()).toEqual(
      Array.from({ length: count }, (_unused, index) => `${index + 1}`).toSorted(),
    );
  });
});

describe.each(dialects.filter(([name]) => !name.includes('ignored')))('a listing as %s', (_, dialect) => {
  it.each([25, 100, 200])('that ends with a full page of %i is read completely', async (count) => {
    const { crm } = await serveTasks(count, dialect);
    expect((await readAll(crm)).ids).toHaveLength(count);
  });
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

  it.each([
    [100, 'has the size that was asked for', () => ({})],
    [40, 'comes with a larger total', () => ({ total: 90 })],
    [40, 'says that there is more', () => ({ has_more: true })],
  ])('of %i that repeat and whose answer %s can not be understood', async (size, _, facts) => {
    const { crm } = await serveTasks(size, (tasks) => ({ data: { items: tasks, ...facts() } }));
    await expect(readAll(crm)).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message:
        'GET /tasks, page 2, can not be understood: it repeats page 1, although there are more records.',
    });
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

  it('carry the moment at which they were asked for', async () => {
    const { crm, clock } = await serveTasks(
      1,
      paged((items) => ({ data: items })),
    );
    const page = await crm.listRecords('task', 1, 'sweep');
    expect([page.at, page.records[0]?.at]).toEqual([clock.now(), clock.now()]);
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

describe('a listing that can not be understood', () => {
  it.each([
    ['no data', undefined, 'no list of records is in the answer'],
    ['an object without a list', { data: { count: 3 } }, 'no list of records is in the answer'],
    ['a record without an id', { data: [{ id: 1 }, { title: 'Call' }] }, 'record 2: id'],
    ['a record with a wrong type', { data: [{ id: 1, status: 'open' }] }, 'record 1: status'],
  ])('fails as a whole: %s', async (_, content, reason) => {
    const { crm } = await serveTasks(0, () => content);
    await expect(crm.listRecords('task', 1, 'sweep')).rejects.toMatchObject({
      code: 'CRM_UNREADABLE',
      message: expect.stringContaining(reason),
    });
  });
});
