import type { Command } from 'commander';
import type { StatusAnswer } from '../app/answers.ts';
import type { Environment } from '../app/config.ts';
import { whenDone } from './answer.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { localClock } from './local-time.ts';
import { needsPerson } from './stopped.ts';

export function addStatusCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('status')
    .description(
      'say whether the sides are in step, what waits for you and how to answer, and what does not work',
    )
    .option('--json', 'print the whole status as JSON')
    .action(async ({ json }: { json?: true }) => {
      const status = await callDaemon<StatusAnswer>(environment, 'GET', '/api/status');
      print(...(json ? [JSON.stringify(await withWholeLists(environment, status))] : describeStatus(status)));
      if (status.counts.waiting > 0 || status.forUser > 0 || needsPerson(status))
        finish(exitCodes.needsPerson);
    });
}

/** A status with all of each list that grows with the records. */
async function withWholeLists(environment: Environment, status: StatusAnswer): Promise<object> {
  const lists = Object.entries(status.counts).map(async ([name, count]) => {
    const items: unknown[] = [...status[name as keyof StatusAnswer['counts']]];
    while (items.length < count) {
      const path = `/api/status/${name}?from=${items.length}`;
      const part = await callDaemon<{ readonly items: readonly unknown[] }>(environment, 'GET', path);
      // It is shorter by now.
      if (part.items.length === 0) break;
      items.push(...part.items);
    }
    return [name, items] as const;
  });
  return { ...status, ...Object.fromEntries(await Promise.all(lists)) };
}

/** More questions than these are not read by anybody. */
const questionsMax = 50;

/** Conditions that say what other lines say one by one. */
const hasOwnLines = new Set<string>(['HELD', 'BRAKE', 'QUESTIONS', 'NOT_READ_YET']);

function describeStatus(status: StatusAnswer): string[] {
  const { counts, now, toMend, waiting } = status;
  const more = counts.waiting - questionsMax;
  const moreToMend = counts.toMend - toMend.length;
  return [
    describeStanding(status),
    ...section('Waits for you', [
      ...waiting.slice(0, questionsMax).flatMap((item) => describeWaiting(item, now)),
      ...(more > 0 ? [`And ${more} more questions: status --json has them all.`] : []),
      ...toMend.map(describeToMend),
      ...(moreToMend > 0 ? [`And ${moreToMend} more to mend: status --json has them all.`] : []),
    ]),
    ...section('Does not work', describeTroubles(status)),
    '',
    ...describeNumbers(status),
  ];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

/** Whether the sides are in step and since when, and how much waits for a person, in one sentence. */
function describeStanding({ forUser, lastCycleAt, now, standing }: StatusAnswer): string {
  const since = `${standing.title} since ${localClock(standing.since, now)}`;
  if (lastCycleAt === undefined && forUser === 0)
    return `${since}. It is not known yet what waits for you: not everything was compared since the daemon started.`;
  return forUser === 0 ? `${since}.` : `${since}; ${countThings(forUser)} for you.`;
}

const countThings = (count: number): string => (count === 1 ? '1 thing waits' : `${count} things wait`);

type Waiting = StatusAnswer['waiting'][number];

const labels = { crm: 'CRM has', table: 'sheet has', agreed: 'both had' };

function describeWaiting(item: Waiting, now: number): string[] {
  const { about, answered, answers, entityTitle, name, scope, since, stopped, url, what } = item;
  const place = [name, about['tab'] ?? entityTitle].filter(Boolean).join(', ');
  const seen = since === undefined ? '' : `, since ${localClock(since, now)}`;
  const values = Object.entries(labels).flatMap(([key, label]) =>
    about[key] === undefined ? [] : [`  ${label}: ${about[key]}`],
  );
  return [
    `${place || scope}${seen}`,
    `  ${what}`,
    ...(url === undefined ? [] : [`  ${url}`]),
    ...values,
    ...describeStopped(stopped).map((line) => `  ${line}`),
    answered === undefined
      ? `  answer ${questionWords(scope)} ${answers.join('|')}`
      : `  answered: ${answered}. ${whenDone}`,
  ];
}

/** A conflict is typed as its record and field; anything else may be one of several questions about its record. */
function questionWords(scope: string): string {
  const [, key, field] = /^conflict:([^:\s]+):(\S+)$/.exec(scope) ?? [];
  return field === undefined ? scope : `${key} ${field}`;
}

function describeStopped(stopped: Waiting['stopped']): string[] {
  if (!stopped) return [];
  const lines = stopped.shown.map(({ after, before, header, name, what }) => {
    if (header === undefined) return `${name}: ${what}`;
    // Where a cell cannot be read, there is no value after the change.
    const change =
      after === undefined ? [what, before].filter(Boolean).join(' from ') : `${before} → ${after}`;
    return `${name} · ${header}: ${change}`;
  });
  const more = stopped.count - stopped.shown.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

/** In the words of the row's own Sync cell. */
function describeToMend({
  entityTitle,
  kind,
  name,
  position,
  reason,
  scope,
}: StatusAnswer['toMend'][number]): string {
  // By the number that people see beside a row.
  const row = name === undefined && position !== undefined ? `row ${position + 1}` : undefined;
  const place = [name, entityTitle, row].filter(Boolean).join(', ');
  const again = scope === undefined ? '' : ` (answer ${scope} retry takes it up again)`;
  return `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}: ${place}: ${reason}${again}`;
}

/** What does not work, each once: what has just begun is no condition yet. */
function describeTroubles({ conditions, now, problems }: StatusAnswer): string[] {
  const isTold = (code: string) => conditions.some(({ name }) => name === code);
  const troubles = [
    ...conditions.filter(({ name }) => !hasOwnLines.has(name)),
    ...problems
      .filter(({ code }) => !isTold(code))
      .map(({ message, since, source }) => ({ since, words: `${source}: ${message}` })),
  ];
  return troubles.map(({ since, words }) => `Since ${localClock(since, now)}: ${words}`);
}

function describeNumbers({ isManual, queue, restlessRows, sides, tabs }: StatusAnswer): string[] {
  const header = ['', 'in CRM', ...sides.map(({ name }) => `in ${name}`)];
  const rows = tabs.map((tab) => [
    tab.title,
    String(tab.recordsInCrm),
    ...sides.map(({ name }) => String(tab.rows[name] ?? '')),
    ...[tab.pending, tab.refused, tab.conflicts, tab.held].map(String),
    tab.sweepAgeMs === undefined ? 'not yet' : `${describeAge(tab.sweepAgeMs)} ago`,
  ]);
  return [
    ...alignColumns([[...header, 'pending', 'errors', 'conflicts', 'held', 'all read'], ...rows]),
    `Queue: ${queue.kind === 'bullmq' ? 'BullMQ on Redis' : 'in process'}.`,
    ...(isManual ? ['Nothing is written by itself: see what waits with plan, and do it with apply.'] : []),
    ...tabs.flatMap(({ recordsLeftOut, title }) =>
      recordsLeftOut > 0
        ? [`${recordsLeftOut} records of “${title}” have no row by the rule of the tab.`]
        : [],
    ),
    ...(restlessRows > 0 ? [`${restlessRows} rows changed just now and are taken once they rest.`] : []),
  ];
}

function describeAge(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
