import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { exitCodes } from './outcome.ts';
import { print, whenDone } from './print.ts';

const answerShape = z.object({
  waiting: z.array(
    z.looseObject({
      scope: z.string(),
      what: z.string(),
      answers: z.array(z.string()),
      about: z.record(z.string(), z.string()),
      since: z.number().optional(),
      answered: z.string().optional(),
    }),
  ),
  lastCycleAt: z.number().optional(),
});
type Waiting = z.infer<typeof answerShape>['waiting'][number];

export function addConflictsCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('conflicts')
    .description('list what waits for a person, with what both sides have and how to answer')
    .option('--json', 'print the list as JSON')
    .action(async ({ json }: { json?: true }) => {
      const answer = await callDaemon(environment, 'GET', '/api/conflicts');
      const { lastCycleAt, waiting } = answerShape.parse(answer);
      const isKnown = lastCycleAt !== undefined || waiting.length > 0;
      if (json) print(JSON.stringify(answer));
      else if (!isKnown) print(unknown);
      else print(...(waiting.length > 0 ? waiting.flatMap(describeWaiting) : ['Nothing waits.']));
      if (!isKnown) finish(exitCodes.failed);
      if (waiting.length > 0) finish(exitCodes.needsPerson);
    });
}

const unknown =
  'It is not known what waits: both sides were not compared since the daemon started. status says what keeps it.';

const labels = [
  ['crm', 'CRM has'],
  ['table', 'sheet has'],
  ['agreed', 'both had'],
] as const;

function describeWaiting({ scope, what, answered, answers, about, since }: Waiting): string[] {
  const subject = [about['tab'], about['record'] && `#${about['record']}`, about['title']].filter(Boolean);
  const values = labels.flatMap(([name, label]) =>
    about[name] === undefined ? [] : [`    ${label}: ${about[name]}`],
  );
  const way = scope.startsWith('conflict:')
    ? `resolve ${scope} theirs|ours, or --value <value>`
    : `approve ${scope} --choice ${answers.join('|')}`;
  const seen = since === undefined ? '' : ` (since ${new Date(since).toISOString()})`;
  const how = answered === undefined ? `answer: ${way}` : `answered: ${answered}. ${whenDone}`;
  return [`${subject.join(' ')}: ${what}${seen}`, ...values, `    ${how}`];
}
