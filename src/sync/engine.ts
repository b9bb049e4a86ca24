import { backoffMs } from '../core/backoff.ts';
import type { Plan } from '../core/decide/plan.ts';
import { isSyncError, SyncError } from '../core/errors.ts';
import { type Entity, entities, type RecordKey } from '../core/record.ts';
import { wake } from './apply.ts';
import { recoverOutbox } from './create.ts';
import { dryRun, runCycle } from './cycle.ts';
import { currentLayout } from './layout.ts';
import type { Link } from './link.ts';
import { Lock } from './lock.ts';
import { Problems } from './problems.ts';
import { pullCatalog, sweepEntity } from './pull.ts';
import { pushRecord } from './push.ts';
import { emptyMemory, type Memory } from './rest.ts';
import { Signal } from './signal.ts';

/** Two cycles never start closer together: reading and writing the sheet stays within Google's quota. */
const cycleGapMs = 1_500;
/** After a refused key nothing is sent for so long; then one call finds out whether it is accepted again. */
const refusedKeyPauseMs = 60_000;

/** What the engine did since it started; for status and for telling whether a resync changed anything. */
export interface Tally {
  cycles: number;
  tableSteps: number;
  crmWrites: number;
}

/**
 * Runs one link: pulls the CRM, cycles over the table, pushes what the outbox holds. Every loop works at its own pace, tells
 * `problems` what does not work, and tries again; none of them stops another.
 */
export class Engine {
  readonly link: Link;
  readonly problems: Problems;
  readonly tally: Tally = { cycles: 0, tableSteps: 0, crmWrites: 0 };
  /** The plan of the last cycle, for status. */
  lastPlan: Plan | undefined;
  lastCycleAt: number | undefined;
  /** When a cycle last ended, well or badly; monotonic ms. */
  progressAt: number;

  readonly #stopping = new AbortController();
  readonly #cycleSignal: Signal;
  readonly #cycleLock = new Lock();
  readonly #pullLock = new Lock();
  readonly #createLock = new Lock();
  readonly #sweptAt = new Map<Entity, number>();
  #memory: Memory = emptyMemory;
  #catalogAt = Number.NEGATIVE_INFINITY;
  #needsLayOut = true;
  #refusedUntil = Number.NEGATIVE_INFINITY;
  #loops: Promise<void>[] = [];

  constructor(link: Link) {
    this.link = link;
    this.progressAt = link.clock.monotonicMs();
    this.problems = new Problems(link.clock, link.log);
    this.#cycleSignal = new Signal(link.clock, this.#stopping.signal);
  }

  /** Recovers what a crash left behind and starts the loops. */
  async start(): Promise<void> {
    recoverOutbox(this.link);
    await this.link.queue.start((key) => this.#push(key));
    this.#loops = [this.#pullLoop(), this.#cycleLoop(), this.#refillLoop()];
  }

  /** Stops taking new work and waits for what runs, at most `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock, queue } = this.link;
    const finished = Promise.all([...this.#loops, queue.close(graceMs)]);
    await Promise.race([finished, clock.sleep(graceMs)]);
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Asks for a cycle soon. */
  kick(): void {
    this.#cycleSignal.raise();
  }

  /** What the next cycle would do, by the same decision, without doing it. */
  plan(): Promise<Plan> {
    return this.#cycleLock.run(() => dryRun(this.link, this.#memory));
  }

  /** One cycle now. */
  cycle(): Promise<Plan> {
    return this.#cycleLock.run(async () => {
      if (this.#needsLayOut) await this.#layOut();
      const { memory, plan } = await runCycle(this.link, this.#memory);
      this.#memory = memory;
      this.lastPlan = plan;
      this.lastCycleAt = this.link.clock.now();
      this.tally.cycles += 1;
      this.tally.tableSteps += plan.table.length;
      return plan;
    });
  }

  /** Reads the catalog and all records of the CRM now; `onSwept` is told after each entity. */
  async pullAll(onSwept: (entity: Entity, records: number) => void): Promise<void> {
    await this.#pullLock.run(async () => {
      await this.#pullCatalog();
      for (const entity of entities) onSwept(entity, (await this.#sweep(entity)).records);
    });
  }

  async #layOut(): Promise<void> {
    await this.link.table.layOut(currentLayout(this.link), 'refresh');
    this.#needsLayOut = false;
  }

  async #pullCatalog(): Promise<void> {
    const before = JSON.stringify(this.link.mirror.readCatalog());
    await pullCatalog(this.link, 'newest');
    this.#catalogAt = this.link.clock.monotonicMs();
    if (JSON.stringify(this.link.mirror.readCatalog()) !== before) this.#needsLayOut = true;
  }

  async #sweep(entity: Entity) {
    this.#sweptAt.set(entity, this.link.clock.monotonicMs());
    return await sweepEntity(this.link, entity, 'sweep');
  }

  async #pullLoop(): Promise<void> {
    const { clock, times } = this.link;
    while (!this.isStopping) {
      const isCatalogDue = clock.monotonicMs() - this.#catalogAt >= times.catalogMs;
      if (isCatalogDue)
        await this.#guardCrm('crm:catalog', () => this.#pullLock.run(() => this.#pullCatalog()));
      for (const entity of entities) {
        const sweptAt = this.#sweptAt.get(entity) ?? Number.NEGATIVE_INFINITY;
        if (this.isStopping || clock.monotonicMs() - sweptAt < times.sweepMs) continue;
        await this.#guardCrm(`crm:${entity}`, () => this.#pullLock.run(() => this.#sweep(entity)));
        this.kick();
      }
      const oldest = Math.min(...entities.map((entity) => this.#sweptAt.get(entity) ?? 0));
      await clock.sleep(Math.max(250, oldest + times.sweepMs - clock.monotonicMs()), this.#stopping.signal);
    }
  }

  /** Runs a part of the pull; its failure is noted and waited for, and never ends the loop. */
  async #guardCrm(source: string, work: () => Promise<unknown>): Promise<void> {
    const { backoff, clock, random } = this.link;
    if (clock.monotonicMs() < this.#refusedUntil) return;
    try {
      await work();
      this.problems.end(source);
      this.problems.end('crm');
    } catch (error) {
      if (this.isStopping) return;
      this.#noteRefusedKey(error);
      const failures = this.problems.begin(source, error);
      await clock.sleep(backoffMs(backoff, failures, random()), this.#stopping.signal);
    }
  }

  #noteRefusedKey(error: unknown): void {
    if (!isSyncError(error, 'CRM_UNAUTHORIZED')) return;
    this.problems.begin('crm', error);
    this.#refusedUntil = this.link.clock.monotonicMs() + refusedKeyPauseMs;
  }

  async #cycleLoop(): Promise<void> {
    const { backoff, clock, random, times } = this.link;
    while (!this.isStopping) {
      let waitMs = times.pollMs;
      try {
        const plan = await this.cycle();
        this.problems.end('sheet');
        this.problems.end('mirror');
        if (plan.restlessRows > 0) waitMs = Math.min(waitMs, times.typingPauseMs);
      } catch (error) {
        const isOfMirror = isSyncError(error) && error.code.startsWith('STATE_');
        const failures = this.problems.begin(isOfMirror ? 'mirror' : 'sheet', error);
        const retryMs = isSyncError(error) ? error.retryAfterMs : undefined;
        waitMs = Math.max(waitMs, retryMs ?? backoffMs(backoff, failures, random()));
      }
      this.progressAt = clock.monotonicMs();
      await clock.sleep(Math.min(cycleGapMs, waitMs), this.#stopping.signal);
      await this.#cycleSignal.wait(waitMs - cycleGapMs);
    }
  }

  /** Puts what is due into the queue again: jobs may be lost, the outbox is not. */
  async #refillLoop(): Promise<void> {
    const { clock, mirror, queue, times } = this.link;
    while (!this.isStopping) {
      const now = clock.now();
      const due = mirror
        .readOutbox()
        .filter(({ state, dueAt }) => (state === 'waiting' || state === 'unknown') && dueAt <= now)
        .map(({ key }) => key);
      if (await queue.isReachable()) {
        this.problems.end('queue');
        await wake(this.link, due);
      } else this.problems.begin('queue', new SyncError('QUEUE_UNREACHABLE', 'The queue does not answer.'));
      await clock.sleep(times.refillMs, this.#stopping.signal);
    }
  }

  /** The queue's wake-up, one at a time for a record. Creates go one after another, so that a newcomer has one possible origin. */
  async #push(key: RecordKey): Promise<void> {
    const { clock, mirror } = this.link;
    if (this.isStopping || clock.monotonicMs() < this.#refusedUntil) return;
    try {
      const isCreate = mirror.findOutboxItem(key)?.kind === 'create';
      const push = () => pushRecord(this.link, key);
      const result = await (isCreate ? this.#createLock.run(push) : push());
      if (result === 'nothing') return;
      this.tally.crmWrites += 1;
      this.kick();
    } catch (error) {
      this.#noteRefusedKey(error);
      if (!isSyncError(error)) throw error;
    }
  }
}
