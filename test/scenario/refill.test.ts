import { expect, onTestFinished, test } from 'vitest';
import { waitingStep } from '../../src/core/outbox.ts';
import { type RecordKey, recordKeyText } from '../../src/core/record.ts';
import { Engine } from '../../src/sync/engine.ts';
import { openLinkStage } from '../support/link-stage.ts';
import { until } from '../support/until.ts';

test('very many steps that wait are put into the queue again by and by, each of them', async () => {
  const { link } = await openLinkStage({ leads: 0, opportunities: 0, tasks: 0 });
  const keys = Array.from(
    { length: 1_200 },
    (_, index): RecordKey => ({ entity: 'lead', id: `${index + 1}` }),
  );
  const occasion = { now: link.clock.now(), run: 'w1' };
  const step = { kind: 'update', fields: { title: 'Typed' }, base: {} } as const;
  for (const key of keys) link.mirror.saveOutboxItem(waitingStep(occasion, key, step));
  const added: string[][] = [];
  const queue = {
    ...link.queue,
    start: async () => undefined,
    isReachable: async () => true,
    add: async (some: readonly RecordKey[]) => void added.push(some.map(recordKeyText)),
  };
  const engine = new Engine({ ...link, queue, times: { ...link.times, refillMs: 1 } }, []);
  onTestFinished(() => engine.stop(1_000));
  await engine.start();
  await until('each is added', async () => new Set(added.flat()).size === keys.length);
  expect(Math.max(...added.map(({ length }) => length))).toBeLessThan(keys.length);
});
