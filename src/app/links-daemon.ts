import { randomBytes } from 'node:crypto';
import type { Alerts } from '../alerts/alerts.ts';
import { createLeaseBoard } from '../bullmq/lease-board.ts';
import { explainError, isSyncError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import { nextShare } from '../core/share.ts';
import { type Front, type LinkEntry, startFront } from '../http/front.ts';
import { openSharedBudget, type SharedBudget } from '../sqlite/shared-budget.ts';
import type { Condition, ConditionName } from '../sync/conditions.ts';
import type { BoardView, Holder, Lease, LeaseBoard } from '../sync/lease.ts';
import { systemClock } from './clock.ts';
import { createAlerts, type Daemon, graceOf, once, openRunningLink, type RunningLink } from './daemon.ts';
import { linkNameOf, type RereadKeys, sidesNameOf } from './link.ts';
import { logOfLink } from './logger.ts';
import type { LinkSettings, Settings } from './settings.ts';
import { shortHash } from './short-hash.ts';
import { version } from './version.ts';

interface RunnerOptions {
  readonly links: LinkSettings;
  readonly log: Log;
  readonly rereadKeysOf: (link: string) => RereadKeys;
  readonly sharedBudget: SharedBudget;
  /** Where the links are shared with other processes. */
  readonly board?: LeaseBoard | undefined;
}

/** Leases last ten times as long. */
const lookEveryMs = 3_000;

/** For what a link that failed to start had begun. */
const closingMs = 2_000;

/** What keeps something from going on, since when (epoch ms). */
interface Trouble {
  readonly error: unknown;
  readonly since: number;
}

/** What this process has to do with a link. */
interface Post {
  readonly name: string;
  readonly settings: Settings;
  readonly log: Log;
  /** Report what keeps the link from running; a link that runs has alerts of its own. */
  readonly alerts: Alerts | undefined;
  running?: RunningLink | undefined;
  lease?: Lease | undefined;
  /** A start or a stop that is under way. */
  move?: Promise<void> | undefined;
  holder?: Holder | undefined;
  trouble?: Trouble | undefined;
}

/** The only process there is. */
const alone = '';

/** Runs this process's share of the links: takes what no process runs, and stops what another one may run. */
export class LinkRunner {
  readonly #options: RunnerOptions;
  readonly #posts: readonly Post[];
  readonly #stopping = new AbortController();
  readonly #startedAt = systemClock.now();
  #trouble: Trouble | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#posts = options.links.map((settings) => {
      const name = linkNameOf(settings);
      const log = logOfLink(options.log, name);
      return { name, settings, log, alerts: createAlerts(settings, log) };
    });
  }

  /** All links, also those that others run. */
  list(): LinkEntry[] {
    return this.#posts.map((post) => {
      const { holder, name, running } = post;
      return { name, side: running?.side, url: holder?.url, conditions: this.#conditionsOf(post) };
    });
  }

  #conditionsOf({ holder, running, settings, trouble }: Post): Condition[] {
    const told = describeTrouble(trouble, settings);
    if (told.length > 0 || running || holder) return told;
    return [
      { name: 'NOT_READ_YET', since: this.#startedAt, words: 'No process runs it yet.', makes: 'notReady' },
    ];
  }

  /** The conditions of a link that no running link reports. */
  #untoldOf(post: Post): Condition[] {
    if (post.running) return [];
    return post.holder ? this.#conditionsOf(post) : [...this.conditions(), ...this.#conditionsOf(post)];
  }

  /** What keeps this process from running any link. */
  conditions(): Condition[] {
    return describeTrouble(this.#trouble, this.#options.links[0]);
  }

  /** Looks and moves on and on until stopped; resolves when all links are. */
  async run(front: Front): Promise<void> {
    const telling = Promise.all(this.#posts.map(({ alerts }) => alerts?.start()));
    while (!this.#stopping.signal.aborted) {
      await this.#turn(front);
      for (const post of this.#posts) post.alerts?.note(this.#untoldOf(post));
      await systemClock.sleep(lookEveryMs, this.#stopping.signal);
    }
    for (const { alerts } of this.#posts) void alerts?.stop();
    const isDone = new AbortController();
    const left = Promise.all(this.#posts.map((post) => this.#finish(post, front))).finally(() =>
      isDone.abort(),
    );
    // What is under way goes on for as long as its lease does.
    while (!isDone.signal.aborted) {
      await systemClock.sleep(lookEveryMs, isDone.signal);
      if (!isDone.signal.aborted) await this.#note(async () => void (await this.#look(front)));
    }
    await Promise.all([left, telling]);
  }

  /** Stops every link, within the time that its settings allow. */
  stop(): void {
    this.#stopping.abort();
  }

  #turn(front: Front): Promise<void> {
    return this.#note(async () => {
      const view = await this.#look(front);
      for (const post of this.#posts) this.#follow(post, view, front);
      const holders = new Map([...view.holders].map(([link, { process }]) => [link, process]));
      const links = this.#posts.map(({ name }) => name);
      const { processes } = view;
      const failed = new Set(this.#posts.flatMap(({ name, trouble }) => (trouble ? [name] : [])));
      const { give, take } = nextShare({ links, holders, processes, self: this.#self, failed });
      for (const post of this.#posts)
        if (take.includes(post.name)) this.#move(post, () => this.#enter(post, front));
      // One after the other: what is being given away still counts as held.
      const given = this.#posts.find(({ name }) => name === give);
      if (given && this.#posts.every(({ move }) => move === undefined))
        this.#move(given, () => this.#leave(given, front));
    });
  }

  /** Does what concerns all links; a failure is reported until it goes well again. */
  async #note(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#trouble = undefined;
    } catch (error) {
      if (!isSyncError(error)) throw error;
      this.#trouble = { error, since: this.#trouble?.since ?? systemClock.now() };
    }
  }

  get #self(): string {
    return this.#options.board?.process ?? alone;
  }

  #look({ url }: Front): Promise<BoardView> | BoardView {
    const { board } = this.#options;
    if (board) return board.look(url);
    const here = this.#posts.filter(({ running }) => running);
    return { holders: new Map(here.map(({ name }) => [name, { process: alone, url }])), processes: [alone] };
  }

  /** Takes note of who runs a link, and lets go of one that was lost. */
  #follow(post: Post, { holders }: BoardView, front: Front): void {
    const before = post.holder;
    post.holder = holders.get(post.name);
    // Seen twice, it is more than a try of the other process.
    const isElsewhere = post.holder !== undefined && post.holder.process !== this.#self;
    if (isElsewhere && before?.process === post.holder?.process) post.trouble = undefined;
    if (!post.running || !post.lease?.isLost) return;
    if (this.#move(post, () => this.#leave(post, front)))
      post.log.warn('link.lost', { token: post.lease.token });
  }

  /** Starts or stops a link, one thing at a time. A failure is its trouble, and is tried again. */
  #move(post: Post, work: () => Promise<void>): boolean {
    if (post.move) return false;
    const move = async () => {
      try {
        await work();
      } catch (error) {
        // It is tried again every few seconds: what is the same was said.
        if (!post.trouble || nameOf(post.trouble.error) !== nameOf(error)) {
          if (!isSyncError(error)) post.log.error('link.failed', { error });
          else post.log.warn('link.not_run', { code: error.code, message: error.message });
        }
        post.trouble = { error, since: post.trouble?.since ?? systemClock.now() };
      }
      post.move = undefined;
    };
    post.move = move();
    return true;
  }

  async #finish(post: Post, front: Front): Promise<void> {
    await post.move;
    this.#move(post, () => this.#leave(post, front));
    await post.move;
  }

  async #enter(post: Post, front: Front): Promise<void> {
    const { board, rereadKeysOf, sharedBudget } = this.#options;
    const { log, name, settings } = post;
    const lease = await board?.take(name);
    if (board && !lease) return;
    post.lease = lease;
    let running: RunningLink | undefined;
    try {
      running = openRunningLink(settings, log, { rereadKeys: rereadKeysOf(name), sharedBudget, lease });
      if (lease) await board?.noteOpened(lease);
      await front.open(name, running.side);
      await running.start();
    } catch (error) {
      try {
        await front.shut(name);
        await running?.stop(closingMs);
      } finally {
        // Also where a full disk could not take a note of it: with its mirror open no try could ever succeed.
        await running?.close();
        post.lease = undefined;
        if (lease) await board?.release(lease);
      }
      throw error;
    }
    post.running = running;
    post.trouble = undefined;
    log.info('link.taken', { token: lease?.token });
  }

  async #leave(post: Post, front: Front): Promise<void> {
    const { lease, log, name, running, settings } = post;
    if (!running) return;
    try {
      await running.stop(graceOf(settings));
    } finally {
      // What was stopped does not go on by itself, also where a full disk could not take a note of it.
      await front.shut(name);
      await running.close();
      post.running = undefined;
      post.lease = undefined;
      post.trouble = undefined;
      log.info('link.left', { token: lease?.token });
      if (lease) await this.#options.board?.release(lease);
    }
  }
}

const nameOf = (error: unknown): string => (isSyncError(error) ? error.code : String(error));

/** These are everyday while a link goes from one process to another. */
const mayPass = (error: unknown) => isSyncError(error, 'LEASE_ENDED', 'QUEUE_UNREACHABLE', 'STATE_LOCKED');

function describeTrouble(trouble: Trouble | undefined, { health }: Settings): Condition[] {
  if (!trouble) return [];
  const { error, since } = trouble;
  if (mayPass(error) && systemClock.now() - since < health.graceMs) return [];
  const name: ConditionName = isSyncError(error) ? error.code : 'UNEXPECTED';
  const words = isSyncError(error) ? explainError(error) : 'An error that nobody foresaw; the log says more.';
  return [{ name, since, words, makes: 'notReady' }];
}

/**
 * Starts the daemon of several links. With Redis it shares them with every other process that has the same; without, it runs them all, and
 * the locks of the mirrors keep others out. A link that can not be opened keeps none of the others from running.
 */
export async function startLinksDaemon(
  links: LinkSettings,
  log: Log,
  rereadKeysOf: (link: string) => RereadKeys,
): Promise<Daemon> {
  // What is not of the CRM or a side is common to all links.
  const [common] = links;
  await using opening = new AsyncDisposableStack();
  const sharedBudget = openSharedBudget(common.link?.commonDirectory ?? common.state.directory);
  opening.defer(() => sharedBudget.close());
  const board = openBoard(links, log);
  opening.defer(() => board?.close().catch((error: unknown) => log.warn('links.not_left', { error })));
  const runner = new LinkRunner({ links, log, rereadKeysOf, sharedBudget, board });
  const front = await startFront({
    ...common.http,
    version,
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
  const ids = new Map(links.map((settings) => [settings.link?.name ?? '', shortHash(sidesNameOf(settings))]));
  return createLeaseBoard({
    redisUrl: queue.redisUrl,
    links: ids,
    group: shortHash([...ids.values()].toSorted().join(' ')),
    process: randomBytes(6).toString('hex'),
    clock: systemClock,
    log,
  });
}
