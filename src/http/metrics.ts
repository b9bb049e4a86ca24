import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../core/ports.ts';
import { type Condition, ownConditions } from '../sync/conditions.ts';
import type { Engine } from '../sync/engine.ts';
import { type Health, isAlive, isReady } from '../sync/health.ts';
import { readUnderWay } from '../sync/pushing/under-way.ts';
import { type EntityStatus, readStatus } from '../sync/status.ts';
import { unlessUnreadable, type Watch } from '../sync/watch.ts';

/** A link as it is measured. */
export interface Measured {
  /** Told with every number where there are several links. */
  readonly name?: string;
  readonly engine: Engine;
  readonly health: Health;
  readonly watch: Watch;
}

/** A link that no process runs: of it nothing but what keeps it from running can be told. */
export interface Unserved {
  readonly name: string;
  readonly conditions: readonly Condition[];
}

export interface Metrics {
  /** Measures a link from now on; a link of the same name before it no more. */
  add(link: Measured): void;
  remove(link: Measured): void;
  /** Adds `/metrics` for Prometheus. All numbers are read when it asks. */
  addRoute(server: FastifyInstance): void;
}

type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` for what only grows. */
const prefix = 'crm_sheet_sync_';

/** Makes metrics of links that come and go. */
export function createMetrics(clock: Clock, readUnserved: () => readonly Unserved[] = () => []): Metrics {
  const registry = new Registry();
  const links = new Set<Measured>();
  collectDefaultMetrics({ register: registry });
  const define = defineOn(registry, links);
  const lag = defineLag(registry);
  addHealthMetrics(define, () => [
    ...[...links].map((link) => ({
      labels: labelOf(link),
      conditions: link.health.read(),
      now: clock.now(),
    })),
    ...readUnserved().map(({ conditions, name }) => ({
      labels: { link: name },
      conditions,
      now: clock.now(),
    })),
  ]);
  addTabMetrics(define);
  addEditMetrics(define);
  addWorkMetrics(define);
  addBudgetMetrics(define);
  return {
    add(link) {
      links.add(link);
      link.engine.lags.onLag = (side, durationMs) =>
        lag.observe({ ...labelOf(link), to: side === 'crm' ? 'crm' : 'sheet' }, durationMs / 1_000);
    },
    remove: (link) => void links.delete(link),
    addRoute(server) {
      server.get('/metrics', async (_request, reply) =>
        reply.type(registry.contentType).send(await registry.metrics()),
      );
    },
  };
}

const labelOf = ({ name }: Measured) => (name === undefined ? {} : { link: name });

type Read = (link: Measured) => readonly Value[];

interface Define {
  /** What is now. */
  gauge(name: string, help: string, read: Read): void;
  /** The same, where the values name their links themselves. */
  gaugeOfAll(name: string, help: string, read: () => readonly Value[]): void;
  /** What was counted since the start. */
  counter(name: string, help: string, read: Read): void;
}

function defineOn(registry: Registry, links: ReadonlySet<Measured>): Define {
  const common = (name: string, help: string) => ({ name: prefix + name, help, registers: [registry] });
  const readAll = (read: Read): Value[] =>
    [...links].flatMap((link) =>
      // Of a link whose mirror can not be read there are no numbers, but for those of its health, and those of the others.
      (unlessUnreadable(() => read(link)) ?? []).map(
        ([labels, value]): Value => [{ ...labels, ...labelOf(link) }, value],
      ),
    );
  const gaugeOfAll: Define['gaugeOfAll'] = (name, help, read) => {
    const labelNames = ['condition', 'tab', 'side', 'lane', 'link'];
    const gauge: Gauge = new Gauge({
      ...common(name, help),
      labelNames,
      collect() {
        gauge.reset();
        for (const [labels, value] of read()) gauge.set(labels, value);
      },
    });
  };
  return {
    gaugeOfAll,
    gauge: (name, help, read) => gaugeOfAll(name, help, () => readAll(read)),
    counter(name, help, read) {
      const counter: Counter = new Counter({
        ...common(name, help),
        labelNames: ['outcome', 'side', 'code', 'lane', 'link'],
        collect() {
          counter.reset();
          for (const [labels, value] of readAll(read)) counter.inc(labels, value);
        },
      });
    },
  };
}

/** From what a quick cycle takes to what nobody should wait for. */
const lagBucketsSeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900];

const defineLag = (registry: Registry): Histogram =>
  new Histogram({
    name: `${prefix}lag_seconds`,
    help: 'How long changes took at most, from the last look that did not have them: edits in the sheet to the answer of the CRM (to="crm"), and changes in the CRM until the sheet showed them (to="sheet").',
    labelNames: ['to', 'link'],
    buckets: lagBucketsSeconds,
    registers: [registry],
  });

const alone = (value: number): Value[] => [[{}, value]];

interface MeasuredHealth {
  readonly labels: Readonly<Record<string, string>>;
  readonly conditions: readonly Condition[];
  /** Epoch ms. */
  readonly now: number;
}

function addHealthMetrics({ gaugeOfAll }: Define, readHealth: () => readonly MeasuredHealth[]): void {
  const gauge = (name: string, help: string, read: (health: MeasuredHealth) => readonly Value[]) =>
    gaugeOfAll(name, help, () =>
      readHealth().flatMap((health) =>
        read(health).map(([labels, value]): Value => [{ ...labels, ...health.labels }, value]),
      ),
    );
  gauge('alive', 'Whether /healthz is green: 1 or 0.', ({ conditions }) =>
    alone(Number(isAlive(conditions))),
  );
  gauge('ready', 'Whether /readyz is green: 1 or 0.', ({ conditions }) => alone(Number(isReady(conditions))));
  gauge(
    'condition',
    'Whether a condition of the health holds: 1 or 0. Codes of errors only while they do.',
    ({ conditions }) => {
      const open = new Set<string>(conditions.map(({ name }) => name));
      return [...new Set([...ownConditions, ...open])].map((name) => [
        { condition: name },
        Number(open.has(name)),
      ]);
    },
  );
  gauge('condition_age_seconds', 'For how long a condition of the health has held.', ({ conditions, now }) =>
    conditions.map(({ name, since }) => [{ condition: name }, (now - since) / 1_000]),
  );
}

function addTabMetrics({ gauge }: Define): void {
  // One look at the mirror for all that is asked for at once.
  const tabsOf = new WeakMap<Measured, readonly EntityStatus[]>();
  const perTab =
    (read: (tab: EntityStatus) => number | undefined) =>
    (link: Measured): Value[] =>
      (tabsOf.get(link) ?? []).flatMap((tab): Value[] => {
        const value = read(tab);
        return value === undefined ? [] : [[{ tab: tab.title }, value]];
      });
  gauge('records', 'Records that are known, by tab and side.', (link) => {
    tabsOf.delete(link);
    const { entities: tabs } = readStatus(link.engine, undefined);
    tabsOf.set(link, tabs);
    return tabs.flatMap(({ recordsInCrm, recordsInTable, title: tab }): Value[] => [
      [{ tab, side: 'crm' }, recordsInCrm],
      [{ tab, side: 'sheet' }, recordsInTable],
    ]);
  });
  const sweepMs = ({ sweep }: EntityStatus) =>
    sweep?.finishedAt === undefined ? undefined : sweep.finishedAt - sweep.startedAt;
  gauge(
    'edits_waiting',
    'Edits on their way to the CRM.',
    perTab(({ pending }) => pending),
  );
  gauge(
    'refusals',
    'Edits that cannot be sent, with the reason beside their row.',
    perTab(({ refused }) => refused),
  );
  gauge(
    'conflicts',
    'Fields that both sides changed and a person must choose for.',
    perTab(({ conflicts }) => conflicts),
  );
  gauge(
    'holds',
    'Rows and columns that nothing is written for.',
    perTab(({ held }) => held),
  );
  gauge(
    'sweep_age_seconds',
    'Time since the last complete read of a list began.',
    perTab(({ sweepAgeMs }) => inSeconds(sweepAgeMs)),
  );
  gauge(
    'sweep_duration_seconds',
    'How long the last complete read of a list took.',
    perTab((tab) => inSeconds(sweepMs(tab))),
  );
  gauge(
    'sweep_records',
    'Records in the last complete read of a list.',
    perTab(({ sweep }) => sweep?.records),
  );
}

const inSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1_000);

function addEditMetrics({ gauge }: Define): void {
  gauge(
    'oldest_edit_age_seconds',
    'How long the oldest edit has waited to be sent to the CRM; 0 for none.',
    ({ engine }) => {
      const taken = readUnderWay(engine.link).map(({ createdAt }) => createdAt);
      return alone(taken.length > 0 ? (engine.link.clock.now() - Math.min(...taken)) / 1_000 : 0);
    },
  );
  gauge('brakes', 'Tabs that are stopped until a person approves.', ({ engine }) =>
    alone(engine.reports.flatMap(({ brakes }) => brakes).length),
  );
  gauge('questions', 'Questions that wait for a person, brakes among them.', ({ engine }) =>
    alone(engine.reports.flatMap(({ questions }) => questions).length),
  );
}

function addWorkMetrics({ counter, gauge }: Define): void {
  counter('cycles_total', 'Cycles over the sheet that ended.', ({ engine: { tally } }) => [
    [{ outcome: 'done' }, tally.cycles],
    [{ outcome: 'failed' }, tally.failedCycles],
  ]);
  counter('cycle_seconds_total', 'Time spent in cycles.', ({ engine }) =>
    alone(engine.tally.cycleMs / 1_000),
  );
  counter(
    'writes_total',
    'Rows written to the sheet and records written to the CRM.',
    ({ engine: { tally } }) => [
      [{ side: 'sheet' }, tally.tableSteps],
      [{ side: 'crm' }, tally.crmWrites],
    ],
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
    engine.lastCycleAt === undefined ? [] : alone((engine.link.clock.now() - engine.lastCycleAt) / 1_000),
  );
}

function addBudgetMetrics({ counter, gauge }: Define): void {
  gauge('budget_requests', 'Requests to the CRM that are allowed in the rolling window now.', ({ watch }) =>
    alone(watch.readUsage().requests),
  );
  gauge('budget_taken', 'Requests to the CRM that count in the rolling window now.', ({ watch }) =>
    alone(watch.readUsage().taken),
  );
  gauge('budget_waiting', 'Requests to the CRM that wait for their turn.', ({ watch }) =>
    Object.entries(watch.readUsage().waiting).map(([lane, count]) => [{ lane }, count]),
  );
  gauge('budget_pause_seconds', 'For how long the CRM asked not to be called.', ({ watch }) =>
    alone(watch.readUsage().parkedMs / 1_000),
  );
  counter('requests_total', 'Requests to the CRM that were let go, by lane.', ({ watch }) =>
    Object.entries(watch.readUsage().sent).map(([lane, count]) => [{ lane }, count]),
  );
  counter('limit_replies_total', 'Replies of the CRM that refused a request for its rate.', ({ watch }) =>
    alone(watch.readUsage().limitReplies),
  );
}
