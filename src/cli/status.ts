import type { Command } from 'commander';
import type { StatusAnswer } from '../app/answers.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { describePlace, describeStopped, needsPerson } from './stopped.ts';

export function addStatusCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('status')
    .description('say what is the same on both sides and what waits, from the running daemon')
    .option('--json', 'print the whole status as JSON')
    .action(async ({ json }: { json?: true }) => {
      const status = await callDaemon<StatusAnswer>(environment, 'GET', '/api/status');
      print(...(json ? [JSON.stringify(status)] : describeStatus(status)));
      if (status.waiting.length > 0 || needsPerson(status)) finish(exitCodes.needsPerson);
    });
}

/** Conditions that say what other lines say one by one. */
const hasOwnLines = new Set<string>(['HELD', 'BRAKE', 'QUESTIONS']);

function describeStatus(status: StatusAnswer): string[] {
  const {
    brakes,
    conditions,
    holds,
    isManual,
    problems,
    queue,
    refusals,
    restlessRows,
    sides,
    tabs,
    waiting,
  } = status;
  const isTold = (code: string) => conditions.some(({ name }) => name === code);
  // What has just begun is no condition yet.
  const troubles = [
    ...conditions.filter(({ name }) => !hasOwnLines.has(name)),
    ...problems
      .filter(({ code }) => !isTold(code))
      .map(({ message, since, source }) => ({ since, words: `${source}: ${message}` })),
  ];
  const header = [
    '',
    'in CRM',
    ...sides.map(({ name }) => `in ${name}`),
    'pending',
    'refused',
    'conflicts',
    'held',
    'read',
    '95 % within',
  ];
  const rows = tabs.map((tab) => [
    tab.title,
    String(tab.recordsInCrm),
    ...sides.map(({ name }) => String(tab.rows[name] ?? '')),
    ...[tab.pending, tab.refused, tab.conflicts, tab.held].map(String),
    tab.sweepAgeMs === undefined ? 'not yet' : `${describeAge(tab.sweepAgeMs)} ago`,
    tab.recordAgeP95Ms === undefined ? '' : describeAge(tab.recordAgeP95Ms),
  ]);
  return [
    ...alignColumns([header, ...rows]),
    `Queue: ${queue.kind === 'bullmq' ? 'BullMQ on Redis' : 'in process'}.`,
    ...(isManual ? ['Nothing is written by itself: see what waits with plan, and do it with apply.'] : []),
    ...(restlessRows > 0 ? [`${restlessRows} rows changed just now and are taken once they rest.`] : []),
    ...troubles.map(({ since, words }) => `Since ${new Date(since).toISOString()}: ${words}`),
    ...brakes.flatMap((brake) =>
      waiting.some(({ scope }) => scope === brake.scope)
        ? []
        : [`Stopped: ${brake.reason}`, ...describeStopped(brake)],
    ),
    ...waiting.flatMap(({ scope, what, answered, answers }) => [
      `Waits: ${what} (${answered === undefined ? `approve ${scope} --choice ${answers.join('|')}` : `answered: ${answered}`})`,
      ...brakes.filter((brake) => brake.scope === scope).flatMap(describeStopped),
    ]),
    ...refusals.flatMap((refusal) => {
      const { entity, id, reason, decision, isIgnored } = refusal;
      if (isIgnored) return [`Ignored: ${entity}-${id}: ${reason} (retry ${entity}-${id} takes it up again)`];
      return decision === undefined ? [`Refused: ${describePlace(refusal)}: ${reason}`] : [];
    }),
    ...holds
      .filter(({ decision }) => decision === undefined)
      .map((hold) => `${hold.isOffer ? 'Offered' : 'Held'}: ${describePlace(hold)}: ${hold.reason}`),
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
