import { type Command, Option } from 'commander';
import { type Answer, answers, answersToAll } from '../core/waiting/answer.ts';
import { type CommandContext, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';

/** When an answer is carried out. */
export const whenDone = 'It is done in the next cycle; with manual writes, once the next plan is applied.';

/** What each answer comes to. */
const meanings: Readonly<Record<Answer, string>> = {
  approve: 'lets go on what is stopped',
  trash: 'moves the record to the trash of the CRM',
  restore: 'brings the row back',
  crm: 'takes what the CRM has',
  sheet: 'takes what the sheet has',
  new: 'makes the copy a new record',
  retry: 'sends once more what the CRM refused',
  revert: "puts the CRM's values back into the row; the row's own stay in the history",
  ignore: 'leaves both sides as they are until either changes',
  keep: 'leaves the row as it is',
};

interface AnswerOptions {
  readonly value?: string;
  readonly all?: string;
  readonly json?: true;
}

interface Named {
  readonly scope: string;
  readonly name: string;
}

interface Answered {
  readonly answered: readonly Named[];
  readonly left: readonly Named[];
}

/** The one command that answers what waits for a person. */
export function addAnswerCommand(program: Command, { environment }: CommandContext): void {
  const command = program.command('answer');
  const list = Object.entries(meanings).map(([answer, meaning]) => `  ${answer.padEnd(8)} ${meaning}`);
  command
    .description('answer something that waits for a person; status shows what waits, and what each takes')
    .argument(
      '[words...]',
      'what waits: a record by its id, its key like lead-42, or its title, with a field in a conflict, or what status shows, such as brake:lead:emptied; then the answer',
    )
    .option(
      '--value <value>',
      'in a conflict, put this value on both sides, read like one typed into the cell',
    )
    .addOption(
      new Option('--all <answer>', 'answer every conflict, or everything that the CRM refused').choices(
        answersToAll,
      ),
    )
    .option('--json', 'print what was answered as JSON')
    .addHelpText('after', `\nAnswers:\n${list.join('\n')}`)
    .action(async (words: readonly string[], options: AnswerOptions) => {
      const order = readOrder(words, options);
      if (!order)
        return command.error(
          `error: name one thing that waits, and then its answer (${answers.join(', ')}) or --value; or --all.`,
        );
      const done = await callDaemon<Answered>(environment, 'POST', '/api/answer', order);
      print(...(options.json ? [JSON.stringify(done)] : describeAnswered(done, words.at(-1), options)));
    });
}

/** The body of the request; `undefined` where the words do not say exactly one thing. */
function readOrder(words: readonly string[], { all, value }: AnswerOptions): object | undefined {
  if (all !== undefined) return words.length === 0 && value === undefined ? { all } : undefined;
  const [question, field, ...others] = value === undefined ? words.slice(0, -1) : words;
  if (question === undefined || others.length > 0) return undefined;
  const about = { question, ...(field === undefined ? {} : { field }) };
  if (value !== undefined) return { ...about, text: value };
  const answer = answers.find((each) => each === words.at(-1)?.toLowerCase());
  return answer && { ...about, answer };
}

function describeAnswered(
  { answered, left }: Answered,
  last: string | undefined,
  { all, value }: AnswerOptions,
): string[] {
  const given = value === undefined ? (all ?? last) : 'the value';
  const lines = [
    ...answered.map(({ name }) => `${name}: ${given}.`),
    ...left.map(({ name }) => `${name} is left: it is not in the CRM yet. Retry, ignore or delete its row.`),
  ];
  if (lines.length === 0) return ['Nothing waits that takes this answer.'];
  return answered.length > 0 ? [...lines, whenDone] : lines;
}
