import { expect, test } from 'vitest';
import { nextShare } from '../../src/core/share.ts';

/** Lets processes follow the rule one after the other until none has a step left; answers how many links each runs. */
function settle(
  links: readonly string[],
  processes: readonly string[],
  holders: Map<string, string>,
): number[] {
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    for (const self of processes) {
      const { give, take } = nextShare({ links, holders, processes, self });
      for (const link of take) holders.set(link, self);
      if (give !== undefined) holders.delete(give);
      isMoving ||= take.length > 0 || give !== undefined;
    }
  }
  return processes.map((process) => links.filter((link) => holders.get(link) === process).length);
}

const linksOf = (count: number) => Array.from({ length: count }, (_, index) => `link-${index}`);

test.each([
  [3, 1],
  [3, 2],
  [4, 3],
  [7, 3],
  [10, 4],
  [2, 5],
])('%i links are all run by %i processes, none of which runs two more than another', (count, size) => {
  const processes = Array.from({ length: size }, (_, index) => `process-${index}`);
  for (const holders of [new Map(), new Map(linksOf(count).map((link) => [link, 'process-0']))]) {
    const shares = settle(linksOf(count), processes, holders);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(count);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
  }
});

test('a link stays where it is when moving it would balance nothing', () => {
  const holders = new Map([
    ['link-0', 'a'],
    ['link-1', 'a'],
    ['link-2', 'b'],
  ]);
  const view = { links: linksOf(3), holders, processes: ['a', 'b'] };
  for (const self of ['a', 'b']) expect(nextShare({ ...view, self })).toEqual({ take: [], give: undefined });
});

test('nothing is taken that a process which is not among the living still has', () => {
  const holders = new Map([['link-0', 'dead']]);
  expect(nextShare({ links: linksOf(1), holders, processes: ['a'], self: 'a' })).toEqual({
    take: [],
    give: undefined,
  });
});

test('a link that a process could not start keeps none of the others waiting', () => {
  const view = { links: ['broken', 'whole'], holders: new Map(), processes: ['a', 'b'], self: 'a' };
  expect(nextShare({ ...view, failed: new Set() }).take).toEqual(['broken']);
  expect(nextShare({ ...view, failed: new Set(['broken']) }).take).toEqual(['whole']);
  const holders = new Map([['whole', 'b']]);
  expect(nextShare({ ...view, holders, failed: new Set(['broken']) }).take).toEqual(['broken']);
});

test('a link that nobody can run keeps a process that comes later from none of the others', () => {
  const links = [...linksOf(5), 'broken'];
  const holders = new Map(linksOf(5).map((link) => [link, 'a']));
  const shareOf = (self: string, failed: ReadonlySet<string>) =>
    nextShare({ links, holders, processes: ['a', 'b'], self, failed });
  const failed = new Set(['broken']);
  for (const given of ['link-4', 'link-3']) {
    expect(shareOf('a', failed)).toEqual({ take: [], give: given });
    holders.delete(given);
    expect(shareOf('b', failed).take).toEqual([given, 'broken']);
    holders.set(given, 'b');
  }
  expect(shareOf('a', failed)).toEqual({ take: [], give: undefined });
});

test('a process that can run none of the links is not given one after the other', () => {
  const links = linksOf(6);
  const holders = new Map(links.map((link) => [link, 'a']));
  const step = () => nextShare({ links, holders, processes: ['a', 'b'], self: 'a', failed: new Set() });
  const { give = '' } = step();
  holders.delete(give);
  expect(step()).toEqual({ take: [], give: undefined });
});
