import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { exitCodes } from './outcome.ts';
import { print } from './print.ts';
import { brakeShape, describePlace, describeStopped, needsPerson } from './stopped.ts';

const statusShape = z.looseObject({
  queue: z.looseObject({ kind: z.string() }),
  isManual: z.boolean(),
  restlessRows: z.number(),
  tabs: z.array(
    z.looseObject({
      title: z.string(),
      recordsInCrm: z.number(),
      recordsInTable: z.number(),
      pending: z.number(),
      refused: z.number(),
      conflicts: z.number(),
      held: z.number(),
      sweepAgeMs: z.number().optional(),
      recordAgeP95Ms: z.number().optional(),
    }),
  ),
  problems: z.array(
    z.looseObject({ source: z.string(), code: z.string(), message: z.string(), since: z.number() }),
  ),
  conditions: z.array(z.looseObject({ name: z.string(), words: z.string(), since: z.number() })),
  brakes: z.array(brakeShape),
  waiting: z.array(
    z.looseObject({
      scope: z.string(),
      what: z.string(),
      answers: z.array(z.string()),
      answered: z.string().optional(),
    }),
  ),
  refusals: z.array(
    z.looseObject({
      entity: z.string(),
      id: z.string().optional(),
      position: z.number().optional(),
      reason: z.string(),
      decision: z.string().optional(),
      isIgnored: z.boolean().optional(),
    }),
  ),
  holds: z.array(
    z.looseObject({
      entity: z.string(),
      id: z.string().optional(),
      position: z.number().optional(),
      reason: z.string(),
      decision: z.string().optional(),
      isOffer: z.boolean().optional(),
    }),
  ),
});

export function addStatusCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('status')
    .description('say what is the same on both sides and what waits, from the running daemon')
    .option('--json', 'print the whole status as JSON')
    .action(async ({ json }: { json?: true }) => {
      const answer = await callDaemon(environment, 'GET', '/api/status');
      const status = statusShape.parse(answer);
      print(...(json ? [JSON.stringify(answer)] : describeStatus(status)));
      if (status.waiting.length > 0 || needsPerson(status)) finish(exitCodes.needsPerson);
    });
}

/** Conditions that say what other lines say one by one. */
const hasOwnLines = new Set(['HELD', 'BRAKE', 'QUESTIONS']);

function describeStatus({
  tabs,
  problems,
  conditions,
  waiting,
  brakes,
  holds,
  refusals,
  queue,
  isManual,
  restlessRows,
}: z.infer<typeof statusShape>): string[] {
  const isTold = (code: string) => conditions.some(({ name }) => name === code);
  // What has just begun is no condition yet.
  const troubles = [
    ...conditions.filter(({ name }) => !hasOwnLines.has(name)),
    ...problems
      .filter(({ code }) => !isTold(code))
      .map(({ message, since, source }) => ({ since, words: `${source}: ${message}` })),
  ];
  const header = ['', 'in CRM', 'in sheet', 'pending', 'refused', 'conflicts', 'held', 'read', '95 % within'];
  const rows = tabs.map((tab) => [
    tab.title,
    ...[tab.recordsInCrm, tab.recordsInTable, tab.pending, tab.refused, tab.conflicts, tab.held].map(String),
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
    ...refusals.flatMap(({ entity, id, position, reason, decision, isIgnored }) => {
      if (isIgnored) return [`Ignored: ${entity}-${id}: ${reason} (retry ${entity}-${id} takes it up again)`];
      return decision === undefined ? [`Refused: ${describePlace({ entity, id, position })}: ${reason}`] : [];
    }),
    ...holds.flatMap(({ reason, decision, isOffer, ...place }) =>
      decision === undefined ? [`${isOffer ? 'Offered' : 'Held'}: ${describePlace(place)}: ${reason}`] : [],
    ),
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
