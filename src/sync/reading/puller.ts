import { backoffMs } from '../../core/backoff.ts';
import { companyLists } from '../../core/cascade.ts';
import { isSyncError, SyncError } from '../../core/errors.ts';
import { mayLackField } from '../../core/fields/refusal-words.ts';
import type { RecordPage } from '../../core/ports.ts';
import type { ContactTurn } from '../../core/reading/contact-queue.ts';
import {
  emptyReading,
  findProof,
  firstSweepTurn,
  isShort,
  laneOf,
  nextPageTurn,
  nextSweepTurn,
  noteFailure,
  noteRead,
  type PageTurn,
  type Reading,
  type ReadingTimes,
} from '../../core/reading/reading.ts';
import { type Entity, type ListedEntity, listedEntities } from '../../core/record.ts';
import type { OutboxItem, Sweep } from '../../core/state.ts';
import type { Link } from '../link.ts';
import { Loop, type Pause } from '../loop.ts';
import type { Problems } from '../problems.ts';
import { expectKnownAccount, findAccountDoubt, noteAccount, recognizeAccount } from './account.ts';
import { readNextContacts } from './contacts.ts';
import type { KeyRefusal } from './key-refusal.ts';
import { LeftOut } from './left-out.ts';
import { readSwept } from './lists.ts';
import { absorbPage, finishSweep, noteProgress, proveGone, pullCatalog, pullPage } from './pull.ts';

/** No list is longer than this; one that seems to be does not end. */
const pagesMax = 20_000;

/** Pause between two looks whether the account is the known one again. */
const accountPauseMs = 1_000;

/** How problems name what is read: whose records these are, the catalog, and each list. */
const accountSource = 'crm:account';
const catalogSource = 'crm:catalog';
const sourceOf = (entity: ListedEntity): string => `crm:${entity}`;
const singlesSourceOf = (entity: ListedEntity): string => `crm:${entity}:single`;

/** What the puller reports to whoever runs it. */
export interface PullerOptions {
  readonly link: Link;
  readonly problems: Problems;
  readonly keyRefusal: KeyRefusal;
  /** The mirror learned something a cycle should see; the last look that did not have it was then, epoch ms, where that is known. */
  readonly onNews: (since?: number) => void;
  /** A list was read to its end, and nothing came of it but how fresh its records are. */
  readonly onSwept: () => void;
}

/** Called for each page: how many records of the entity are read so far, whether these are all, and how many there are where the CRM says so. */
export type OnRead = (entity: Entity, records: number, isWhole: boolean, total?: number) => void;

/** One thing the puller may do next. */
interface Task {
  /** Names it in problems. */
  readonly source: string;
  /** Not before, monotonic ms. */
  readonly at: number;
  /** Returns `false` where it would not have failed again although what failed before still does. */
  readonly work: () => Promise<boolean | undefined>;
}

/**
 * Reads the CRM: the catalog when it has grown old, and of each entity the page that is next. One request is on its way at a time; the
 * request budget paces them. What fails waits by itself while the others go on, and nothing is made up for afterwards.
 */
export class Puller extends Loop {
  readonly #options: PullerOptions;
  readonly #readings = new Map<ListedEntity, Reading>();
  /** The sweeps on their way, or the last ones. */
  readonly #sweeps = new Map<ListedEntity, { readonly sweep: Sweep; readonly total?: number }>();
  /** Of each page how many records it showed the last time, and what it showed without an id. */
  readonly #shown = new Map<
    ListedEntity,
    { readonly records: number; readonly nameless: readonly string[] }[]
  >();
  /** The last sweeps that came to their end. */
  readonly #finished = new Map<ListedEntity, Sweep>();
  /** When the first page, which has the newest records, was read last, epoch ms. */
  readonly #topReadAt = new Map<ListedEntity, number>();
  readonly #heldUntil = new Map<string, number>();
  readonly #servedAt = new Map<string, number>();
  #contactTurn: ContactTurn = 'any';
  #catalogAt = Number.NEGATIVE_INFINITY;
  #leftOut: LeftOut;

  constructor(options: PullerOptions) {
    super(options.link.clock, () => this.#takeTurn());
    this.#options = options;
    this.#leftOut = new LeftOut(options.link);
  }

  /** Reads something for a command, alone. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.lock.run(async () => {
      if (this.isStopping) throw new Error('Nothing is read from the CRM after the stop.');
      return work();
    });
  }

  async #takeTurn(): Promise<Pause> {
    const { link, problems } = this.#options;
    try {
      // A command may have read until after the stop.
      const work = async () => (this.isStopping ? 0 : this.#runNextTask());
      return { waitMs: await this.lock.run(work) };
    } catch (error) {
      // What a task fails over is its own; without the mirror nobody knows which is next.
      const waitMs = backoffMs(link.backoff, problems.begin('mirror', error), link.random());
      return { waitMs, isBackingOff: true };
    }
  }

  /** Counts a push that failed. Where the CRM may lack a field by now, the catalog is read at once. */
  readonly notePushFailure = (error: SyncError, item: OutboxItem): void => {
    this.#options.problems.count(error.code);
    if (!mayLackField(error, item)) return;
    this.#catalogAt = Number.NEGATIVE_INFINITY;
    this.kick();
  };

  /** Reads the catalog and all records once, beginning now. Throws what fails. */
  async pullAll(onRead: OnRead): Promise<void> {
    await this.#alone(async () => {
      await recognizeAccount(this.#options.link);
      expectKnownAccount(this.#options.link);
      await this.#pullCatalog();
    });
    for (const entity of listedEntities) {
      const sweep = await this.#sweepAnew(entity, onRead);
      this.#options.problems.end(sourceOf(entity));
      onRead(entity, sweep.records, true);
    }
  }

  /**
   * Whether a delete has to wait because a list that may hold what goes with it was not read to its end since the start: nobody knows then
   * what colleagues have added or moved meanwhile. Of a list that the key may not read nobody ever knows, nor of one that was never read and
   * can not be understood.
   */
  isTooEarlyFor({ key, kind }: Pick<OutboxItem, 'key' | 'kind'>): boolean {
    const { link, problems } = this.#options;
    const isUnread = (entity: ListedEntity) => {
      if (this.#readingOf(entity).sweepsDone > 0) return false;
      const code = problems.list().find(({ source }) => source === sourceOf(entity))?.code;
      return code !== 'CRM_FORBIDDEN' && (code !== 'CRM_UNREADABLE' || readSwept(link.mirror).has(entity));
    };
    return kind === 'delete' && companyLists[key.entity].some(isUnread);
  }

  /** How many records the list has by the page that was read last, where that says so; absent once it was read to its end. */
  totalOf(entity: ListedEntity): number | undefined {
    return this.#sweeps.get(entity)?.total;
  }

  /** Reads a list from its first page to its end. Other reading goes on in between, and what was read may have to be read once more. */
  async #sweepAnew(entity: ListedEntity, onRead: OnRead): Promise<Sweep> {
    const { clock } = this.#options.link;
    const before = await this.#alone(async () => {
      const last = this.#finished.get(entity);
      await this.#read(entity, firstSweepTurn(clock.monotonicMs()));
      return last;
    });
    for (;;) {
      const finished = this.#finished.get(entity);
      if (finished && finished !== before) return finished;
      const { sweep, total } = this.#sweeps.get(entity) ?? {};
      onRead(entity, sweep?.records ?? 0, false, total);
      const nextTurn = () =>
        nextSweepTurn(this.#readingOf(entity), clock.monotonicMs(), this.#readingTimes());
      await this.#alone(() => this.#read(entity, nextTurn()));
    }
  }

  /** Does what is due, if anything is; answers in how long something will be. */
  async #runNextTask(): Promise<number> {
    const { link, problems } = this.#options;
    const { clock } = link;
    noteAccount(link);
    const isDoubtful = findAccountDoubt(link) !== undefined;
    // The doubt may have ended without it: by the old key, by a person, or by who read everything.
    if (!isDoubtful) problems.end(accountSource);
    const tasks = isDoubtful ? this.#accountTask() : this.#tasks();
    const due = tasks.filter(({ at }) => at <= clock.monotonicMs());
    const [task] = due.toSorted(
      (left, right) => this.#servedAtOf(left.source) - this.#servedAtOf(right.source),
    );
    if (!task) return Math.min(...tasks.map(({ at }) => at)) - clock.monotonicMs();
    await this.#guard(task);
    return 0;
  }

  #tasks(): Task[] {
    const { link } = this.#options;
    const now = link.clock.monotonicMs();
    const times = this.#readingTimes();
    return this.#heldBack([
      {
        source: catalogSource,
        at: this.#catalogAt + link.times.catalogMs,
        work: async () => {
          await this.#pullCatalog();
        },
      },
      ...listedEntities.map((entity) => {
        const turn = nextPageTurn(this.#readingOf(entity), now, times);
        const work = async () => {
          await this.#read(entity, turn);
          // The newest page may be well while a sweep stands before a page that is not.
          return turn.kind === 'sweep';
        };
        return { source: sourceOf(entity), at: turn.at, work };
      }),
      ...listedEntities.map((entity) => this.#singlesTask(entity)),
      ...(link.entities.includes('contact') ? [this.#contactsTask()] : []),
    ]);
  }

  /** One record at a time, of what its list leaves out. */
  #singlesTask(entity: ListedEntity): Task {
    const { onNews } = this.#options;
    return {
      source: singlesSourceOf(entity),
      at: this.#leftOut.nextAt(entity),
      work: async () => {
        const { isNews, since } = await this.#leftOut.readNext(entity);
        if (isNews) onNews(since);
      },
    };
  }

  /** Nothing else is read before it is known whose records these are. */
  #accountTask(): Task[] {
    const { link, onNews, problems } = this.#options;
    const work: Task['work'] = async () => {
      // What was read so far of lists may be of another account than what follows.
      this.#readings.clear();
      this.#sweeps.clear();
      this.#shown.clear();
      this.#leftOut = new LeftOut(link);
      this.#catalogAt = Number.NEGATIVE_INFINITY;
      if (await recognizeAccount(link)) onNews();
      // It answers again; whether the lists can be read is seen when they are.
      for (const { source } of this.#tasks()) problems.end(source);
    };
    // Another account stays one until its key is exchanged or a person takes it: that is looked for now and then.
    const at = this.#servedAtOf(accountSource) + accountPauseMs;
    return this.#heldBack([{ source: accountSource, at, work }]);
  }

  #heldBack(tasks: readonly Task[]): Task[] {
    const { keyRefusal } = this.#options;
    return tasks.map((task) => {
      const heldUntil = this.#heldUntil.get(task.source) ?? Number.NEGATIVE_INFINITY;
      return { ...task, at: Math.max(task.at, heldUntil, keyRefusal.until) };
    });
  }

  /** One lead's contacts at a time. */
  #contactsTask(): Task {
    const { link } = this.#options;
    return {
      source: 'crm:contact',
      at: this.#servedAtOf('crm:contact') + link.times.contactsPauseMs,
      work: async () => {
        // Else leads that change all the time would keep the others from ever being read.
        this.#contactTurn = this.#contactTurn === 'changed' ? 'any' : 'changed';
        await readNextContacts(link, this.#contactTurn);
      },
    };
  }

  /** Runs a task; its failure is noted and waited for, and stops none of the others. */
  async #guard({ source, work }: Task): Promise<void> {
    const { keyRefusal, problems } = this.#options;
    const { backoff, clock, random } = this.#options.link;
    this.#servedAt.set(source, clock.monotonicMs());
    try {
      if ((await work()) !== false) problems.end(source);
      keyRefusal.end();
    } catch (error) {
      if (this.isStopping) return;
      keyRefusal.note(error);
      const failures = problems.begin(source, error);
      const retryMs = isSyncError(error) ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(retryMs, backoffMs(backoff, failures, random()));
      this.#heldUntil.set(source, clock.monotonicMs() + waitMs);
    }
  }

  async #pullCatalog(): Promise<void> {
    const { link, problems } = this.#options;
    await pullCatalog(link, 'newest');
    this.#catalogAt = link.clock.monotonicMs();
    // Whoever read it: its own turn comes only once it has grown old.
    problems.end(catalogSource);
  }

  /** Reads a page, and ends the sweep that ends with it. */
  async #read(entity: ListedEntity, turn: PageTurn): Promise<void> {
    const { link, onNews, problems } = this.#options;
    const { clock } = link;
    const before = this.#readingOf(entity);
    const begunAt = clock.now();
    try {
      if (turn.page > pagesMax)
        throw new SyncError('CRM_UNREADABLE', `The list of ${entity} records does not end.`);
      const answer = await pullPage(link, entity, turn.page, laneOf(turn));
      const listedAt = turn.page === 1 ? this.#topReadAt.get(entity) : this.#finished.get(entity)?.startedAt;
      const { changed, since } = absorbPage(link, answer, listedAt);
      if (turn.page === 1) this.#topReadAt.set(entity, begunAt);
      const { hasMore, nameless = [], records } = answer;
      const found = { ids: records.map(({ id }) => id), changed, hasMore };
      this.#shownOf(entity)[turn.page - 1] = { records: records.length, nameless };
      this.#readings.set(entity, noteRead(before, turn, found, clock.monotonicMs()));
      const isAbridged = turn.page === 1 && this.#leftOut.noteList(entity, answer.records);
      if (turn.page === 1 && !isAbridged) problems.end(singlesSourceOf(entity));
      if (changed.length > 0 && before.sweepsDone > 0) onNews(Number.isFinite(since) ? since : undefined);
      if (turn.kind === 'sweep') await this.#advanceSweep(before, turn, begunAt, { entity, ...answer });
    } catch (error) {
      this.#readings.set(entity, noteFailure(this.#readingOf(entity), turn));
      throw error;
    }
  }

  async #advanceSweep(
    before: Reading,
    turn: PageTurn,
    begunAt: number,
    { entity, hasMore, total }: RecordPage & { readonly entity: ListedEntity },
  ): Promise<void> {
    const { link, onNews, onSwept } = this.#options;
    const begun: Sweep = { entity, startedAt: begunAt, isComplete: false, pages: 0, records: 0 };
    const { sweep = begun } = (turn.page > 1 && this.#sweeps.get(entity)) || {};
    const shown = this.#shownOf(entity).slice(0, turn.page);
    const records = shown.reduce((sum, page) => sum + page.records, 0);
    const advanced = { ...sweep, pages: turn.page, records };
    this.#sweeps.set(entity, { sweep: advanced, ...(total === undefined ? {} : { total }) });
    if (hasMore) return noteProgress(link, advanced);
    this.#shown.set(entity, shown);
    const nameless = shown.flatMap((page) => page.nameless);
    const proof = findProof(before, turn, this.#readingOf(entity));
    const { finished, missed } = finishSweep(link, advanced, proof, nameless);
    this.#sweeps.set(entity, { sweep: finished });
    this.#finished.set(entity, finished);
    if (missed.length > 0 || before.sweepsDone === 0) onNews();
    else onSwept();
    await proveGone(link, missed);
  }

  #shownOf(entity: ListedEntity) {
    const shown = this.#shown.get(entity) ?? [];
    this.#shown.set(entity, shown);
    return shown;
  }

  #readingOf(entity: ListedEntity): Reading {
    return this.#readings.get(entity) ?? emptyReading;
  }

  /** Long lists share the idle pace. */
  #readingTimes(): ReadingTimes {
    const { sweepMs, readPauseMs } = this.#options.link.times;
    const long = [...this.#readings.values()].filter((reading) => !isShort(reading)).length;
    return { sweepMs, idlePauseMs: long * readPauseMs };
  }

  #servedAtOf(source: string): number {
    return this.#servedAt.get(source) ?? Number.NEGATIVE_INFINITY;
  }
}
