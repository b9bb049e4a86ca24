import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { facts } from '../core/facts.ts';
import type { Clock } from '../core/ports.ts';
import { type Condition, ownConditions } from '../sync/conditions.ts';
import type { Engine } from '../sync/engine.ts';
import { type Health, isAlive, isReady } from '../sync/health.ts';
import { readUnderWay } from '../sync/pushing/under-way.ts';
import { type EntityStatus, readStatus } from '../sync/status.ts';
import { unlessUnreadable, type Watch } from '../sync/watch.ts';
import type { Access } from './guard.ts';

/** A link as it is measured. */
export interface Measured {
  /** Told with every number where there are several links. */
  readonly name?: string;
  readonly engine: Engine;
  readonly health: Health;
  readonly watch: Watch;
}

/** Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` for what only grows. */
const prefix = 'crm_sheet_sync_';

type Labels = Readonly<Record<string, string>>;
type Value = readonly [labels: Labels, value: number];

/** Adds a metric of everything of one sort: a number of each, several with labels, or nothing. */
type Add<Of> = (name: string, help: string, read: (of: Of) => number | undefined | readonly Value[]) => void;

/** `gauge` adds what is now, and `counter` what was counted since the start. */
type Define = Readonly<Record<'gauge' | 'counter', Add<Measured>>>;

/** A link that no process runs, with what keeps it from running: nothing else is known of it. */
type Unserved = readonly [link: string, conditions: readonly Condition[]];

/** Makes metrics of links that come and go. */
export function createMetrics(
  clock: Clock,
  version: string,
  access: Access,
  readUnserved: () => readonly Unserved[] = () => [],
) {
  const registry = new Registry();
  const links = new Set<Measured>();
  collectDefaultMetrics({ register: registry });
  defineInfo(registry, version);
  defineRefusals(registry, access);
  const listLinks = () => [...links].map((link) => [labelOf(link), link] as const);
  const define = { gauge: adder(registry, Gauge, listLinks), counter: adder(registry, Counter, listLinks) };
  const lag = defineLag(registry);
  const listHealth = () => [
    ...listLinks().map(([labels, { health }]) => [labels, health.read()] as const),
    ...readUnserved().map(([link, conditions]) => [{ link }, conditions] as const),
  ];
  addHealthMetrics(adder(registry, Gauge, listHealth), clock);
  // One look at the mirror for all that is asked for at once.
  const tabsOf = new WeakMap<Measured, readonly EntityStatus[]>();
  const listTabs = () =>
    [...links].flatMap((link) =>
      (tabsOf.get(link) ?? []).map((tab) => [{ tab: tab.title, ...labelOf(link) }, tab] as const),
    );
  define.gauge('records', 'Records that are known, by tab and side.', (link) => {
    tabsOf.delete(link);
    const { entities: tabs } = readStatus(link.engine, undefined);
    tabsOf.set(link, tabs);
    return tabs.flatMap(({ recordsInCrm, rows, title: tab }): Value[] => [
      [{ tab, side: 'crm' }, recordsInCrm],
      ...Object.entries(rows).map(([side, count]): Value => [{ tab, side }, count]),
    ]);
  });
  addTabMetrics(adder(registry, Gauge, listTabs));
  addEditMetrics(define);
  addWorkMetrics(define);
  addBudgetMetrics(define);
  return {
    /** Measures a link from now on. */
    add(link: Measured): void {
      links.add(link);
      link.engine.lags.onLag = (to, durationMs) => lag.observe({ ...labelOf(link), to }, durationMs / 1_000);
    },
    remove: (link: Measured) => void links.delete(link),
    /** Adds `/metrics` for Prometheus. All numbers are read when it asks. */
    addRoute(server: FastifyInstance): void {
      server.get('/metrics', async (_request, reply) =>
        reply.type(registry.contentType).send(await registry.metrics()),
      );
    },
  };
}

/** A number that is always 1, so that the label can be joined to any other: https://www.robustperception.io/exposing-the-software-version-to-prometheus */
function defineInfo(registry: Registry, version: string): void {
  const help = 'Which version of the program runs.';
  const info = new Gauge({ name: `${prefix}info`, help, labelNames: ['version'], registers: [registry] });
  info.set({ version }, 1);
}

function defineRefusals(registry: Registry, access: Access): void {
  const metric: Counter = new Counter({
    name: `${prefix}refused_tokens_total`,
    help: 'Requests with a wrong token since the start.',
    registers: [registry],
    collect() {
      metric.reset();
      metric.inc(access.readRefusals());
    },
  });
}

const labelOf = ({ name }: Measured): Labels => (name === undefined ? {} : { link: name });

const labelNames = ['condition', 'tab', 'side', 'lane', 'outcome', 'code', 'link'];

/** How to add metrics of a kind, which are read of all that is listed when Prometheus asks. */
function adder<Of>(
  registry: Registry,
  Kind: typeof Gauge | typeof Counter,
  list: () => readonly (readonly [own: Labels, of: Of])[],
): Add<Of> {
  return (name, help, read) => {
    const metric: Gauge | Counter = new Kind({
      name: prefix + name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        metric.reset();
        for (const [own, of] of list()) {
          // A link whose mirror cannot be read has no numbers but those of its health; all others have theirs.
          const found = unlessUnreadable(() => read(of)) ?? [];
          const values: readonly Value[] = typeof found === 'number' ? [[{}, found]] : found;
          for (const [labels, value] of values)
            if (metric instanceof Gauge) metric.set({ ...labels, ...own }, value);
            else metric.inc({ ...labels, ...own }, value);
        }
      },
    });
  };
}

/** From what a quick cycle takes to what nobody should wait for. */
const lagBucketsSeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900];

const defineLag = (registry: Registry): Histogram =>
  new Histogram({
    name: `${prefix}lag_seconds`,
    help: 'How long changes took at most, from the last look that did not have them: edits at a side to the answer of the CRM (to="crm"), and changes in the CRM until a side showed them (to="sheet", to="warehouse").',
    labelNames: ['to', 'link'],
    buckets: lagBucketsSeconds,
    registers: [registry],
  });

function addHealthMetrics(gauge: Add<readonly Condition[]>, clock: Clock): void {
  gauge('alive', 'Whether /healthz is green: 1 or 0.', (conditions) => Number(isAlive(conditions)));
  gauge('ready', 'Whether /readyz is green: 1 or 0.', (conditions) => Number(isReady(conditions)));
  gauge(
    'condition',
    'Whether a condition of the health holds: 1 or 0. Codes of errors only while they do.',
    (conditions) => {
      const open = new Set<string>(conditions.map(({ name }) => name));
      return [...new Set([...ownConditions, ...open])].map((name) => [
        { condition: name },
        Number(open.has(name)),
      ]);
    },
  );
  gauge('condition_age_seconds', 'For how long a condition of the health has held.', (conditions) =>
    conditions.map(({ name, since }) => [{ condition: name }, (clock.now() - since) / 1_000]),
  );
}

function addTabMetrics(gauge: Add<EntityStatus>): void {
  gauge('edits_waiting', 'Edits on their way to the CRM.', ({ pending }) => pending);
  gauge('refusals', 'Edits that cannot be sent, with the reason beside their row.', ({ refused }) => refused);
  gauge(
    'conflicts',
    'Fields that both sides changed and a person must choose for.',
    ({ conflicts }) => conflicts,
  );
  gauge('holds', 'Rows and columns that nothing is written for.', ({ held }) => held);
  gauge('sweep_age_seconds', 'Time since the last complete read of a list began.', ({ sweepAgeMs }) =>
    secondsBetween(0, sweepAgeMs),
  );
  gauge('sweep_duration_seconds', 'How long the last complete read of a list took.', ({ sweep }) =>
    secondsBetween(sweep?.startedAt, sweep?.finishedAt),
  );
  gauge('sweep_records', 'Records in the last complete read of a list.', ({ sweep }) => sweep?.records);
}

/** Of two times in ms, of which either may be unknown. */
const secondsBetween = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : (to - from) / 1_000;

function addEditMetrics({ gauge }: Define): void {
  gauge(
    'oldest_edit_age_seconds',
    'How long the oldest edit has waited to be sent to the CRM; 0 for none.',
    ({ engine: { link } }) => {
      const taken = readUnderWay(link).map(({ createdAt }) => createdAt);
      return taken.length > 0 ? (link.clock.now() - Math.min(...taken)) / 1_000 : 0;
    },
  );
  gauge(
    'brakes',
    'Tabs that are stopped until a person approves.',
    ({ engine }) => engine.found.brakes.length,
  );
  gauge(
    'questions',
    'Questions that wait for a person, brakes among them.',
    ({ engine }) => engine.found.questions.length,
  );
}

function addWorkMetrics({ counter, gauge }: Define): void {
  counter('cycles_total', 'Cycles over the sides that ended.', ({ engine: { tally } }) => [
    [{ outcome: 'done' }, tally.cycles],
    [{ outcome: 'failed' }, tally.failedCycles],
  ]);
  counter('cycle_seconds_total', 'Time spent in cycles.', ({ engine }) => engine.tally.cycleMs / 1_000);
  counter(
    'writes_total',
    'Rows written to each side and records written to the CRM.',
    ({ engine: { sides, tally } }) => [
      ...sides.map(({ name, tally: { tableSteps } }): Value => [{ side: name }, tableSteps]),
      [{ side: 'crm' }, tally.crmWrites],
    ],
  );
  counter(
    'forgotten_lines_total',
    'Lines of the history that were forgotten because they were too old.',
    ({ engine }) => engine.link.mirror.readFact(facts.forgotten)?.lines ?? 0,
  );
  counter(
    'misdirected_writes_total',
    'Rows of the sheet that a write met by mistake, because rows or columns moved at that moment: it was undone, or escalated to a question.',
    ({ engine: { tally } }) => [
      [{ outcome: 'undone' }, tally.undoneWrites],
      [{ outcome: 'escalated' }, tally.escalatedWrites],
    ],
  );
  counter(
    'errors_total',
    'Failures of reading, cycling and queueing, and of steps towards the CRM, by their code.',
    ({ engine }) => [...engine.problems.counts].map(([code, count]) => [{ code }, count]),
  );
  gauge('last_cycle_age_seconds', 'Time since the last cycle succeeded.', ({ engine }) =>
    secondsBetween(engine.lastCycleAt, engine.link.clock.now()),
  );
}

function addBudgetMetrics({ counter, gauge }: Define): void {
  const byLane = (counts: Readonly<Record<string, number>>): Value[] =>
    Object.entries(counts).map(([lane, count]) => [{ lane }, count]);
  gauge(
    'budget_requests',
    'Requests to the CRM that are allowed in the rolling window now.',
    ({ watch }) => watch.readUsage().requests,
  );
  gauge(
    'budget_taken',
    'Requests to the CRM that count in the rolling window now.',
    ({ watch }) => watch.readUsage().taken,
  );
  gauge('budget_waiting', 'Requests to the CRM that wait for their turn.', ({ watch }) =>
    byLane(watch.readUsage().waiting),
  );
  gauge(
    'budget_pause_seconds',
    'For how long the CRM asked not to be called.',
    ({ watch }) => watch.readUsage().parkedMs / 1_000,
  );
  counter('requests_total', 'Requests to the CRM that were let go, by lane.', ({ watch }) =>
    byLane(watch.readUsage().sent),
  );
  counter(
    'limit_replies_total',
    'Replies of the CRM that refused a request for its rate.',
    ({ watch }) => watch.readUsage().limitReplies,
  );
}
