import { nextTick } from 'node:process';
import { neverSetBack } from '../../src/app/clock.ts';
import { facts } from '../../src/core/facts.ts';
import type { Mirror } from '../../src/core/mirror.ts';
import type { Crm, Log } from '../../src/core/ports.ts';
import { type ListedEntity, listedEntities } from '../../src/core/record.ts';
import type { BrakeLimits } from '../../src/core/waiting/brakes.ts';
import { createRequestBudget, type RequestBudget } from '../../src/crm/budget.ts';
import { createCrmClient } from '../../src/crm/client.ts';
import type { SheetsClient } from '../../src/google/client.ts';
import { createSheetTable } from '../../src/google/table.ts';
import type { CrmModel } from '../../src/sandbox/crm/model.ts';
import { createRandom, type Random } from '../../src/sandbox/crm/random.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { type Policy, titlesOf } from '../../src/sheet/policy.ts';
import type { Suspect } from '../../src/sheet/port/damage.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { rebaseCopy } from '../../src/sheet/rebase.ts';
import { rebaseTables } from '../../src/warehouse/recover.ts';
import { markTimes, namedInstance } from '../support/instances.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type MirrorInMemory, openMirrorInMemory } from '../support/memory-mirror.ts';
import { defaultBrakes } from '../support/policy.ts';
import { SheetEngine } from '../support/sheet-engine.ts';
import { type Behaviour, drawBehaviour } from './behaviour.ts';
import { createSimulatedQueue } from './queue.ts';
import { apiKey, baseUrl, type CrmWatcher, carryOn, drawSmallPages, openCrm } from './simulated-crm.ts';
import { openSpreadsheet, type SheetWatcher, type SimulatedSpreadsheet } from './spreadsheet.ts';
import { type SqlPlant, SqlSide } from './sql-side.ts';
import { Violation } from './violation.ts';
import { lateToCrmMs, Wire } from './wire.ts';

/** Puts a known mistake into the daemon, or into how it reaches a side. */
export type Plant = (link: SheetLink, lines: CrmLine & SheetLine) => SheetLink;

/** How the daemon reaches the CRM. */
export interface CrmLine {
  readonly budget: RequestBudget;
  connect(budget: RequestBudget): Crm;
}

/** How the daemon reaches the spreadsheet. */
export interface SheetLine {
  readonly sheets: SheetsClient;
  openTable(sheets: SheetsClient): Table;
}

export interface StageOptions {
  readonly seed: number;
  readonly plant?: Plant | undefined;
  readonly plantSql?: SqlPlant | undefined;
  /** Whether there is a database as well, which users edit by SQL. */
  readonly hasSql?: boolean | undefined;
  /** Whether the tab of the leads has some of them alone. */
  readonly hasRule?: boolean | undefined;
  /** Whether things go wrong: then lists may come in pages as well. */
  readonly hasMishaps: boolean;
  /** Whether every deed and every write is told in full. */
  readonly isTold?: boolean | undefined;
  readonly sheetWatcher: SheetWatcher;
  readonly watcher: CrmWatcher;
  /** Told of everything that a write of the daemon did to another row. */
  readonly onSuspect: (suspect: Suspect) => void;
}

/** How long the daemon waits for an answer of the CRM. */
const timeoutMs = 20_000;

const startAt = Date.UTC(2026, 0, 5, 9);

/** Often enough that people who wait do not wait long, within the requests that are allowed. */
const calmTimes: SheetLink['times'] = {
  pollMs: 3_000,
  quietPollMs: 0,
  typingPauseMs: 2_000,
  sweepMs: 5_000,
  readPauseMs: 500,
  contactsPauseMs: 2_000,
  catalogMs: 300_000,
  rereadAfterMs: 0,
  settleMs: 10_000,
  lagMs: 5_000,
  refillMs: 2_000,
  historyMs: 30 * 24 * 60 * 60 * 1_000,
  ...markTimes,
};

/** What a fault kept from being read in the catalog is made up for soon. */
const mishapTimes: SheetLink['times'] = { ...calmTimes, catalogMs: 20_000 };

/**
 * Resolves once nothing is left to run: a tick comes after all promises, also those that come of them. Nothing here waits for the world
 * outside, so that no turn of the event loop is needed, which costs more than most of what is done in it.
 */
const settle = (): Promise<void> => new Promise((resolve) => nextTick(resolve));

/** The real engine between the models of both sides, with time, chance and the order of all answers in the simulation's hand. */
export class Stage {
  readonly wire = new Wire();
  /** What happened, in order. */
  readonly trace: string[] = [];
  readonly crm: CrmModel;
  readonly behaviour: Behaviour;
  readonly spreadsheet: SimulatedSpreadsheet;
  /** The tables that users edit by SQL, where there are any. */
  readonly sql: SqlSide | undefined;
  policy: Policy;
  clock: ManualClock = createManualClock(startAt, settle);
  engine: SheetEngine;
  /** Sweeps by entity that read every page. */
  readonly sweeps: Record<ListedEntity, number> = { lead: 0, opportunity: 0, task: 0 };
  readonly #options: StageOptions;
  readonly #random: Random;
  /** Requests that the CRM allows in a minute: with few of them there is always somebody who waits for one. */
  readonly #requests: number;
  #opened = openMirrorInMemory();
  /** What the daemon was told; a mistake that is planted may go by others. */
  readonly times: SheetLink['times'];
  /** Every other seed has a spreadsheet that passes for one too large to be read as a whole each time. */
  readonly #depth: { readonly wholeCellsMax?: number; readonly fullReadMs?: number };
  /** Whether the daemon's own account of its requests is there, and its times are right. */
  isBudgetKnown = true;
  /** Whether everything is prepared, so that what happens is worth telling. */
  isUnderWay = false;
  #words = 0;
  /** When the process started, epoch ms. */
  #startedAt = startAt;

  constructor(options: StageOptions) {
    const { seed, hasMishaps } = options;
    this.#options = options;
    this.times = hasMishaps ? mishapTimes : calmTimes;
    this.#depth = seed % 2 === 0 ? { wholeCellsMax: 0, fullReadMs: seed % 4 === 0 ? 60_000 : 300_000 } : {};
    this.#random = createRandom(seed ^ 0x51a9e);
    // Not drawn: another draw would give every seed another run.
    const updatesMax = seed % 3 === 0 ? 1 : 100;
    const policy = { ...drawPolicy(this.#random, hasMishaps), updatesMax };
    this.policy = options.hasRule ? withRule(policy) : policy;
    this.#requests = hasMishaps ? this.#random.pick([40, 100]) : 100;
    this.crm = openCrm(seed, this.#requests, hasMishaps ? drawSmallPages(this.#random) : undefined);
    this.behaviour = drawBehaviour(seed);
    this.spreadsheet = openSpreadsheet({
      seed,
      choices: this.behaviour.choices,
      now: this.trueTime,
      tell: this.tell,
      watcher: options.sheetWatcher,
    });
    this.sql = options.hasSql ? new SqlSide(seed, hasMishaps) : undefined;
    this.engine = this.#createEngine();
  }

  /** Adds to the trace what only a person who looks into a failure wants to know. */
  readonly tell = (text: () => string): void => {
    if (this.#options.isTold && this.isUnderWay) this.trace.push(`    ${text()}`);
  };

  /** What a clock shows that nobody sets, epoch ms. */
  readonly trueTime = (): number => Math.floor(this.#startedAt + this.clock.monotonicMs());

  get hasRule(): boolean {
    return this.#options.hasRule ?? false;
  }

  get hasMishaps(): boolean {
    return this.#options.hasMishaps;
  }

  get link(): SheetLink {
    return this.engine.link;
  }

  /** Lets whatever was resolved run until it waits again. */
  settleDown = settle;

  async start(): Promise<void> {
    void this.engine.start();
    await this.settleDown();
  }

  /** The process ends in the middle of whatever it does, and a new one starts on its mirror, or on what somebody put in its place. */
  async restart(mirror = this.#opened): Promise<void> {
    this.wire.cut();
    this.#startedAt = this.trueTime();
    this.clock = createManualClock(this.clock.now(), settle);
    const now = Math.floor(this.clock.now());
    if (mirror !== this.#opened) this.close();
    this.#opened = mirror.reopen(now);
    if (this.sql && this.#opened.mirror.readFact(facts.copiedAt))
      rebaseTables(this.#opened.mirror.of('warehouse'), now);
    if (this.#opened.mirror.readFact(facts.copiedAt))
      rebaseCopy(this.#opened.mirror, { now, newWord: this.#newWord() });
    this.engine = this.#createEngine();
    await this.start();
  }

  /** Copies the mirror; answers what opens the copy. */
  backUp(): () => MirrorInMemory {
    return this.#opened.backUp(Math.floor(this.clock.now()));
  }

  /** Lays the tabs out, as `init` does before the first start. */
  async layOut(): Promise<void> {
    const done = this.engine
      .pullAll(() => undefined)
      .then(() => this.link.table.layOut(currentLayout(this.link), 'create'));
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    await this.settleDown();
    while (!isDone) await this.proceed();
    await done;
  }

  /** The next thing that is due: the oldest request goes on, or time goes on to the next thing that somebody waits for. */
  async proceed(): Promise<string> {
    if (this.wire.size > 0) {
      const done = this.wire.advance(0, true);
      await this.settleDown();
      return done;
    }
    const waitMs = this.clock.nextWakeMs();
    if (!Number.isFinite(waitMs)) throw new Violation('S15', 'the daemon waits for nothing');
    await this.clock.advance(waitMs);
    return 'time goes on';
  }

  close(): void {
    this.#opened.mirror.close();
  }

  #newWord(): string {
    this.#words += 1;
    return String(this.#words).padStart(12, '0');
  }

  #createEngine(): SheetEngine {
    const { wire, crm, spreadsheet } = this;
    const clock = { ...this.clock, now: neverSetBack(this.clock.now, this.clock.monotonicMs) };
    const log = this.#createLog();
    const random = () => this.#random.next();
    const budget = createRequestBudget({
      keys: [{ name: 'key', secret: apiKey }],
      requests: this.#requests,
      ipRequests: 200,
      windowMs: 60_000,
      holdMs: timeoutMs + lateToCrmMs,
      clock,
      log: this.#opened.budgetLog,
    });
    const carry = carryOn(wire, crm, this.trueTime, this.#options.watcher);
    const connect = (through: RequestBudget) =>
      createCrmClient({ baseUrl, timeoutMs, budget: through, clock, random, log, carry });
    const sheets = spreadsheet.connect(wire);
    const openTable = (client: SheetsClient) =>
      createSheetTable(client, {
        ...this.behaviour,
        ...this.#depth,
        spreadsheetId: 'agency',
        account: baseUrl,
        clock,
        log,
      });
    const link: SheetLink = {
      entities,
      titles: titlesOf(this.policy),
      name: 'simulation',
      mirror: this.#watchedMirror(),
      crm: connect(budget),
      table: openTable(sheets),
      // It starts on the machine on which the one before it has ended.
      own: namedInstance(this.#newWord(), () => true),
      queue: createSimulatedQueue(wire, log),
      clock,
      log,
      policy: this.policy,
      times: this.times,
      backoff: { firstMs: 1_000, maxMs: 8_000 },
      random,
      newWord: () => this.#newWord(),
    };
    const planted = this.#options.plant?.(link, { budget, connect, sheets, openTable }) ?? link;
    if (!this.sql) return new SheetEngine(planted);
    planted.mirror.setFollowers(['warehouse'], entities);
    return new SheetEngine(planted, [this.sql.open(planted, wire, this.#options.plantSql)]);
  }

  #watchedMirror(): Mirror {
    const { mirror } = this.#opened;
    const saveSuspect = (suspect: Suspect) => {
      mirror.saveSuspect(suspect);
      this.#options.onSuspect(suspect);
    };
    return { ...mirror, saveSuspect };
  }

  /** Nobody reads the log; what it tells of bugs ends the run. */
  #createLog(): Log {
    const fail = (event: string, fields: Readonly<Record<string, unknown>> = {}) => {
      const isBug = event === 'queue.wake-up-failed' || fields['code'] === 'UNEXPECTED';
      if (isBug) this.bug ??= new Violation('S15', `${event} ${JSON.stringify(fields)}`);
    };
    return {
      debug: (event, fields) => {
        if (event === 'sweep.finished' && fields?.['isUnbroken'] === true)
          this.sweeps[fields?.['entity'] as ListedEntity] += 1;
      },
      info: () => undefined,
      warn: fail,
      error: fail,
    };
  }

  /** A failure that no code foresees. */
  bug: Violation | undefined;
}

const entities: readonly ListedEntity[] = ['lead', 'task'];

function drawPolicy(random: Random, hasMishaps: boolean): Omit<Policy, 'updatesMax'> {
  const tab = (title: string) => ({
    title,
    conflict: random.pick(['crm', 'table', 'ask'] as const),
    columns: {},
  });
  const hidden = { direction: 'off' } as const;
  const shown = (title: string, fields: readonly string[]) => ({
    ...tab(title),
    columns: Object.fromEntries(fields.map((field) => [field, hidden])),
  });
  return {
    tabs: {
      lead: tab('Leads'),
      opportunity: tab('Opportunities'),
      task: shown('Tasks', ['start_date', 'due_date', 'lead_id', 'parent_task_id', 'created_at', 'status']),
      contact: tab('Contacts'),
    },
    vanishedRows: random.pick(['ask', 'ask', 'trash', 'restore'] as const),
    brakes: hasMishaps ? drawBrakes(random) : defaultBrakes,
    appendsMax: 100,
  };
}

/** The statuses that leads have in a tab with a rule; every other lead has no row. */
export const fittingStatuses = [null, 'new', 'contacted'] as const;

const withRule = (policy: Policy): Policy => {
  const lead = { ...policy.tabs.lead, only: { status: fittingStatuses } };
  return { ...policy, tabs: { ...policy.tabs, lead } };
};

/** Few enough that as few rows as there are here can be too many. */
const drawBrakes = (random: Random): BrakeLimits => ({
  ...defaultBrakes,
  deletesMin: random.integer(1, 2),
  changesMin: random.pick([3, defaultBrakes.changesMin, defaultBrakes.changesMin]),
});

/** How often the daemon has looked at everything since it had swept each list so often. */
export const sweepsSince = ({ sweeps }: Stage, before: Stage['sweeps']): number =>
  Math.min(...listedEntities.map((entity) => sweeps[entity] - before[entity]));
