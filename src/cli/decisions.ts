import { type Command, Option } from 'commander';
import { answers } from '../core/waiting/answer.ts';
import type { WaitingItem } from '../sync/status.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';

/** When an answer is carried out. */
const whenDone = 'It is done in the next cycle; with manual writes, once the next plan is applied.';

/** The commands that show and answer what waits for a person, in the order of the help. */
export function addDecisionCommands(program: Command, context: CommandContext): void {
  addConflicts(program, context);
  addResolve(program, context);
  addApprove(program, context);
  addRefused(program, context);
}

interface ConflictsAnswer {
  readonly waiting: readonly WaitingItem[];
  readonly lastCycleAt?: number;
}

function addConflicts(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('conflicts')
    .description('list what waits for a person, with what both sides have and how to answer')
    .option('--json', 'print the list as JSON')
    .action(async ({ json }: { json?: true }) => {
      const answer = await callDaemon<ConflictsAnswer>(environment, 'GET', '/api/conflicts');
      const { lastCycleAt, waiting } = answer;
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

const labels = { crm: 'CRM has', table: 'sheet has', agreed: 'both had' };

function describeWaiting({ scope, what, answered, answers, about, since }: WaitingItem): string[] {
  const subject = [about['tab'], about['record'] && `#${about['record']}`, about['title']].filter(Boolean);
  const values = Object.entries(labels).flatMap(([name, label]) =>
    about[name] === undefined ? [] : [`    ${label}: ${about[name]}`],
  );
  const way = scope.startsWith('conflict:')
    ? `resolve ${scope} theirs|ours, or --value <value>`
    : `approve ${scope} --choice ${answers.join('|')}`;
  const seen = since === undefined ? '' : ` (since ${new Date(since).toISOString()})`;
  const how = answered === undefined ? `answer: ${way}` : `answered: ${answered}. ${whenDone}`;
  return [`${subject.join(' ')}: ${what}${seen}`, ...values, `    ${how}`];
}

const sides = { theirs: 'crm', ours: 'sheet' } as const;
type Winner = keyof typeof sides;

interface ResolveOptions {
  readonly value?: string;
  readonly all?: Winner;
  readonly json?: true;
}

function addResolve(program: Command, { environment }: CommandContext): void {
  const command = program.command('resolve');
  command
    .description('settle a conflict: theirs takes what the CRM has, ours what the sheet has')
    .argument('[words...]', 'a scope, or a record and a field, and then theirs or ours')
    .option('--value <value>', 'put this value on both sides, read like one typed into the cell')
    .addOption(new Option('--all <winner>', 'settle every conflict that waits').choices(Object.keys(sides)))
    .option('--json', 'print the answer as JSON')
    .action(async (words: readonly string[], options: ResolveOptions) => {
      const order = readOrder(words, options);
      if (!order) return command.error('error: name one conflict, and theirs, ours or --value; or --all.');
      const answer = await callDaemon<{ scopes: string[] }>(environment, 'POST', '/api/resolve', order);
      if (options.json) return print(JSON.stringify(answer));
      for (const scope of answer.scopes) print(`${scope}: settled. ${whenDone}`);
      if (answer.scopes.length === 0) print('No conflict waits.');
    });
}

/** The body of the request; `undefined` where the words do not say exactly one thing. */
function readOrder(words: readonly string[], { all, value }: ResolveOptions): object | undefined {
  if (all !== undefined) return words.length === 0 && value === undefined ? { all: sides[all] } : undefined;
  const [first, field, ...others] = value === undefined ? words.slice(0, -1) : words;
  if (first === undefined || others.length > 0) return undefined;
  const scope = field === undefined ? first : `conflict:${first}:${field}`;
  if (value !== undefined) return { scope, text: value };
  const winner = words.at(-1);
  return winner === 'theirs' || winner === 'ours' ? { scope, side: sides[winner] } : undefined;
}

function addApprove(program: Command, { environment }: CommandContext): void {
  program
    .command('approve')
    .description('let something go on that waits for a person; status shows the scopes')
    .argument(
      '<scope>',
      'what waits, for example vanished:lead-42, conflict:lead-42:title or brake:lead:emptied',
    )
    .addOption(
      new Option(
        '--choice <choice>',
        'approve a brake; trash the record or restore the row; take the value of the crm or the sheet; make a copy a new record; retry, revert or ignore what the CRM refused',
      )
        .choices(answers)
        .default('approve'),
    )
    .option('--json', 'print the answer as JSON')
    .action(async (scope: string, { choice, json }: { choice: string; json?: true }) => {
      const answer = await callDaemon(environment, 'POST', '/api/approve', { scope, choice });
      print(json ? JSON.stringify(answer) : `${scope}: ${choice}. ${whenDone}`);
    });
}

interface RefusedAnswer {
  readonly records: readonly string[];
  readonly left: readonly string[];
}

/** What can be done about what the CRM did not take. */
const waysOut = [
  ['retry', 'send once more what the CRM refused', 'is sent once more'],
  [
    'revert',
    "put the CRM's values back into a row of which the CRM refused something; the row's own stay in the history",
    "gets the CRM's values back",
  ],
  [
    'ignore',
    'leave both sides as they are where the CRM refused something, until either changes',
    'stays as it is on both sides until either changes',
  ],
] as const;

function addRefused(program: Command, { environment }: CommandContext): void {
  for (const [name, description, becomes] of waysOut) {
    program
      .command(name)
      .description(description)
      .argument('[record]', 'for example lead-42; status shows them')
      .option('--all', 'everything that was refused')
      .option('--json', 'print the answer as JSON')
      .action(
        async (record: string | undefined, { all, json }: { all?: true; json?: true }, command: Command) => {
          if ((record === undefined) === (all === undefined)) command.error('Name a record, or --all.');
          const body = all ? { all } : { record };
          const answer = await callDaemon<RefusedAnswer>(environment, 'POST', `/api/${name}`, body);
          if (json) return print(JSON.stringify(answer));
          const { records, left } = answer;
          for (const text of records) print(`${text} ${becomes}.`);
          for (const text of left)
            print(`${text} is left: it is not in the CRM yet. Retry, ignore or delete its row.`);
          if (records.length > 0) print(whenDone);
          if (records.length + left.length === 0) print('The CRM refused nothing.');
        },
      );
  }
}
