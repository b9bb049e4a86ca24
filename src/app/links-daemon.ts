import { randomBytes } from 'node:crypto';
import { createLeaseBoard } from '../bullmq/lease-board.ts';
import type { Log } from '../core/ports.ts';
import { startFront } from '../http/front.ts';
import { openSharedBudget } from '../sqlite/shared-budget.ts';
import type { LeaseBoard } from '../sync/lease.ts';
import { systemClock } from './clock.ts';
import { type Daemon, once } from './daemon.ts';
import type { RereadKeys } from './link.ts';
import { LinkRunner } from './link-runner.ts';
import type { LinkSettings } from './settings.ts';
import { shortHash } from './short-hash.ts';

/**
 * Starts the daemon of several links. With Redis it shares them with every other process that has the same; without, it runs them all, and
 * the locks of the mirrors keep others out. A link that can not be opened keeps none of the others from running.
 */
export async function startLinksDaemon(
  links: LinkSettings,
  log: Log,
  rereadKeysOf: (link: string) => RereadKeys,
): Promise<Daemon> {
  // What is not of crm or sheet is common to all links.
  const [common] = links;
  await using opening = new AsyncDisposableStack();
  const sharedBudget = openSharedBudget(common.link?.commonDirectory ?? common.state.directory);
  opening.defer(() => sharedBudget.close());
  const board = openBoard(links, log);
  opening.defer(() => board?.close().catch((error: unknown) => log.warn('links.not_left', { error })));
  const runner = new LinkRunner({ links, log, rereadKeysOf, sharedBudget, board });
  const front = await startFront({
    ...common.http,
    clock: systemClock,
    log,
    readLinks: () => runner.list(),
    readConditions: () => runner.conditions(),
  });
  opening.defer(() => front.close());
  const opened = opening.move();
  const loop = runner.run(front);
  log.info('daemon.started', { url: front.url, queue: board ? 'bullmq' : 'inprocess', links: links.length });
  return {
    url: front.url,
    stop: once(async () => {
      log.info('daemon.stopping', {});
      runner.stop();
      await loop;
      await opened.disposeAsync();
      log.info('daemon.stopped', {});
    }),
  };
}

function openBoard(links: LinkSettings, log: Log): LeaseBoard | undefined {
  const [{ queue }] = links;
  if (queue.redisUrl === undefined) return undefined;
  const ids = new Map(links.map(({ link, sheet }) => [link?.name ?? '', shortHash(sheet.spreadsheetId)]));
  return createLeaseBoard({
    redisUrl: queue.redisUrl,
    links: ids,
    group: shortHash([...ids.values()].toSorted().join(' ')),
    process: randomBytes(6).toString('hex'),
    clock: systemClock,
    log,
  });
}
