import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestUsage } from '../core/samples.ts';
import { isOnItsWay } from '../core/state.ts';
import { ownConditions } from '../sync/conditions.ts';
import type { Engine } from '../sync/engine.ts';
import { type Health, isAlive, isReady } from '../sync/health.ts';
import { readStatus, type TabStatus } from '../sync/status.ts';

export interface MetricsOptions {
  readonly engine: Engine;
  readonly health: Health;
  readonly readUsage: () => RequestUsage;
}

type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` for what only grows. */
const prefix = 'crm_sheet_sync_';

/** Adds `/metrics` for Prometheus. All numbers are read when it asks; a registry of its own keeps several links apart. */
export function addMetricsRoute(server: FastifyInstance, options: MetricsOptions): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const define = defineOn(registry);
  addLag(registry, options.engine);
  addHealthMetrics(define, options);
  addTabMetrics(define, options);
  addEditMetrics(define, options);
  addWorkMetrics(define, options);
  addBudgetMetrics(define, options);
  server.get('/metrics', async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

interface Define {
  /** What is now. */
  gauge(name: string, help: string, read: () => readonly Value[]): void;
  /** What was counted since the start. */
  counter(name: string, help: string, read: () => readonly Value[]): void;
}

function defineOn(registry: Registry): Define {
  const common = (name: string, help: string) => ({ name: prefix + name, help, registers: [registry] });
  return {
    gauge(name, help, read) {
      const labelNames = ['condition', 'tab', 'side', 'lane'];
      const gauge: Gauge = new Gauge({
        ...common(name, help),
        labelNames,
        collect() {
          gauge.reset();
          for (const [labels, value] of read()) gauge.set(labels, value);
        },
      });
    },
    counter(name, help, read) {
      const counter: Counter = new Counter({
        ...common(name, help),
        labelNames: ['outcome', 'side', 'code', 'lane'],
        collect() {
          counter.reset();
          for (const [labels, value] of read()) counter.inc(labels, value);
        },
      });
    },
  };
}

/** From what a quick cycle takes to what nobody should wait for. */
const lagBucketsSeconds = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900];

function addLag(registry: Registry, { lags }: Engine): void {
  const lag = new Histogram({
    name: `${prefix}lag_seconds`,
    help: 'From taking an edit in the sheet to the answer of the CRM (to="crm"), and from reading a change in the CRM to showing it (to="sheet").',
    labelNames: ['to'],
    buckets: lagBucketsSeconds,
    registers: [registry],
  });
  lags.onLag = (side, durationMs) =>
    lag.observe({ to: side === 'crm' ? 'crm' : 'sheet' }, durationMs / 1_000);
}

const alone = (value: number): Value[] => [[{}, value]];

function addHealthMetrics({ gauge }: Define, { engine, health }: MetricsOptions): void {
  const { clock } = engine.link;
  gauge('alive', 'Whether /healthz is green: 1 or 0.', () => alone(Number(isAlive(health.read()))));
  gauge('ready', 'Whether /readyz is green: 1 or 0.', () => alone(Number(isReady(health.read()))));
  gauge(
    'condition',
    'Whether a condition of the health holds: 1 or 0. Codes of errors only while they do.',
    () => {
      const open = new Set<string>(health.read().map(({ name }) => name));
      return [...new Set([...ownConditions, ...open])].map((name) => [
        { condition: name },
        Number(open.has(name)),
      ]);
    },
  );
  gauge('condition_age_seconds', 'For how long a condition of the health has held.', () =>
    health.read().map(({ name, since }) => [{ condition: name }, (clock.now() - since) / 1_000]),
  );
}

function addTabMetrics({ gauge }: Define, { engine }: MetricsOptions): void {
  // One look at the mirror for all that is asked for at once.
  let tabs: readonly TabStatus[] = [];
  const perTab = (read: (tab: TabStatus) => number | undefined) => (): Value[] =>
    tabs.flatMap((tab): Value[] => {
      const value = read(tab);
      return value === undefined ? [] : [[{ tab: tab.title }, value]];
    });
  gauge('records', 'Records that are known, by tab and side.', () => {
    ({ tabs } = readStatus(engine, undefined));
    return tabs.flatMap(({ recordsInCrm, recordsInTable, title: tab }): Value[] => [
      [{ tab, side: 'crm' }, recordsInCrm],
      [{ tab, side: 'sheet' }, recordsInTable],
    ]);
  });
  const sweepMs = ({ sweep }: TabStatus) =>
    sweep?.finishedAt === undefined ? undefined : sweep.finishedAt - sweep.startedAt;
  gauge(
    'edits_waiting',
    'Edits on their way to the CRM.',
    perTab(({ pending }) => pending),
  );
  gauge(
    'refusals',
    'Edits that can not be sent and are told beside their row.',
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

function addEditMetrics({ gauge }: Define, { engine }: MetricsOptions): void {
  const { clock, mirror } = engine.link;
  gauge(
    'oldest_edit_age_seconds',
    'How long the oldest edit has waited to be sent to the CRM; 0 for none.',
    () => {
      const taken = mirror.readOutbox().flatMap((item) => (isOnItsWay(item) ? [item.createdAt] : []));
      return alone(taken.length > 0 ? (clock.now() - Math.min(...taken)) / 1_000 : 0);
    },
  );
  gauge('brakes', 'Tabs that are stopped until a person approves.', () =>
    alone(engine.lastPlan?.brakes.length ?? 0),
  );
  gauge('questions', 'Questions that wait for a person, brakes among them.', () =>
    alone(engine.lastPlan?.questions.length ?? 0),
  );
}

function addWorkMetrics({ counter, gauge }: Define, { engine }: MetricsOptions): void {
  const { problems, tally } = engine;
  counter('cycles_total', 'Cycles over the sheet that ended.', () => [
    [{ outcome: 'done' }, tally.cycles],
    [{ outcome: 'failed' }, tally.failedCycles],
  ]);
  counter('cycle_seconds_total', 'Time spent in cycles.', () => alone(tally.cycleMs / 1_000));
  counter('writes_total', 'Rows written to the sheet and records written to the CRM.', () => [
    [{ side: 'sheet' }, tally.tableSteps],
    [{ side: 'crm' }, tally.crmWrites],
  ]);
  counter('errors_total', 'Failures of reading, cycling and queueing, by their code.', () =>
    [...problems.counts].map(([code, count]) => [{ code }, count]),
  );
  gauge('last_cycle_age_seconds', 'Time since the last cycle succeeded.', () =>
    engine.lastCycleAt === undefined ? [] : alone((engine.link.clock.now() - engine.lastCycleAt) / 1_000),
  );
}

function addBudgetMetrics({ counter, gauge }: Define, { readUsage }: MetricsOptions): void {
  gauge('budget_requests', 'Requests to the CRM that are allowed in the rolling window now.', () =>
    alone(readUsage().requests),
  );
  gauge('budget_taken', 'Requests to the CRM that count in the rolling window now.', () =>
    alone(readUsage().taken),
  );
  gauge('budget_waiting', 'Requests to the CRM that wait for their turn.', () =>
    Object.entries(readUsage().waiting).map(([lane, count]) => [{ lane }, count]),
  );
  gauge('budget_pause_seconds', 'For how long the CRM asked not to be called.', () =>
    alone(readUsage().parkedMs / 1_000),
  );
  counter('requests_total', 'Requests to the CRM that were let go, by lane.', () =>
    Object.entries(readUsage().sent).map(([lane, count]) => [{ lane }, count]),
  );
  counter('limit_replies_total', 'Replies of the CRM that refused a request for its rate.', () =>
    alone(readUsage().limitReplies),
  );
}
