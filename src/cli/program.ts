import { Command, CommanderError } from 'commander';
import { type Environment, linkVariable } from '../app/config.ts';
import { version } from '../app/version.ts';
import { type CommandContext, type ExitCode, exitCodes, reportError } from './command.ts';

type AddCommand = (program: Command, context: CommandContext) => void;

/** With the names of the commands, in the order of the help. To load what a command does not need is most of what it would take to start. */
const commandLoaders: readonly (readonly [names: readonly string[], load: () => Promise<AddCommand>])[] = [
  [['start'], async () => (await import('./start.ts')).addStartCommand],
  [['init'], async () => (await import('./init.ts')).addInitCommand],
  [['doctor'], async () => (await import('./doctor.ts')).addDoctorCommand],
  [['status'], async () => (await import('./status.ts')).addStatusCommand],
  [['plan', 'apply'], async () => (await import('./plan.ts')).addPlanCommands],
  [['resync'], async () => (await import('./resync.ts')).addResyncCommand],
  [['warehouse'], async () => (await import('./warehouse.ts')).addWarehouseCommand],
  [['answer'], async () => (await import('./answer.ts')).addAnswerCommand],
  [['history', 'undo'], async () => (await import('./history.ts')).addHistoryCommands],
  [['erase', 'export'], async () => (await import('./subject.ts')).addSubjectCommands],
  [['backup'], async () => (await import('./backup.ts')).addBackupCommand],
  [['settings', 'errors'], async () => (await import('./tables.ts')).addTableCommands],
  [['demo'], async () => (await import('./demo/demo.ts')).addDemoCommand],
  [['sandbox'], async () => (await import('./sandbox.ts')).addSandboxCommand],
];

/** Lines as they are typed behind the name of the program, which the help of each command ends with. */
const examples: Readonly<Record<string, readonly string[]>> = {
  start: ['start'],
  init: [
    'init',
    'init --crm-url https://crm.example.com/api/v1/external --crm-key-file secrets/crm-api-key --plan',
    'init --match-by Title --yes',
  ],
  doctor: ['doctor', 'doctor --json', 'doctor --probe'],
  status: ['status', 'status --json --link north'],
  plan: ['plan', 'plan --json'],
  apply: ['apply 3f9c2a7b1e04'],
  resync: ['resync', 'resync --json'],
  warehouse: ['warehouse sql', 'warehouse dbt', 'warehouse audit --json'],
  answer: [
    'answer lead-42 title crm',
    'answer "Acme Ltd" trash',
    'answer brake:lead:emptied approve',
    'answer lead-42 title --value "Acme Ltd"',
    'answer --all retry',
  ],
  history: ['history --record "Acme Ltd"', 'history --field Title --since 2d --json'],
  undo: ['undo --line 118', 'undo --record lead-42 --since 1h --dry-run'],
  erase: ['erase lead-42', 'erase anna@example.com --yes', 'erase "Acme Ltd" --past-only'],
  export: ['export lead-42', 'export anna@example.com'],
  backup: ['backup'],
  settings: ['settings'],
  errors: ['errors'],
  demo: ['demo', 'demo --check --no-redis'],
  sandbox: ['sandbox', 'sandbox --leads 5000 --seed 8'],
};

const exitCodesText =
  'Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 needs a person, 4 not reachable.';

/**
 * The commands that stand among the words, or all where none does, ready to be parsed; parsing throws where the library would end the
 * process.
 */
export async function buildProgram(context: CommandContext, words: readonly string[] = []): Promise<Command> {
  const program = new Command('crm-sheet-sync').description(
    "Keeps an agency's CRM and a Google Sheet the same, in both directions, and a PostgreSQL warehouse beside them.",
  );
  program.version(version, '-V, --version', 'print the version');
  program.option('--link <name>', `which link it is about, where there are several (${linkVariable})`);
  program.configureHelp({ showGlobalOptions: true });
  const named = commandLoaders.filter(([names]) => names.some((name) => words.includes(name)));
  for (const [, load] of named.length > 0 ? named : commandLoaders) (await load())(program, context);
  for (const command of program.commands) {
    const lines = examples[command.name()] ?? [];
    command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }
  program.addHelpText('after', `\n${exitCodesText}`);
  for (const command of [program, ...program.commands]) command.exitOverride();
  return program;
}

/** Runs one command line. Answers the exit code. */
export async function run(words: readonly string[], environment: Environment): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const finish = (code: ExitCode) => {
    exitCode = code;
  };
  // The option is one more way to give the variable, so that no command has to know of it.
  const own: Record<string, string | undefined> = { ...environment };
  try {
    const program = await buildProgram({ environment: own, finish }, words);
    program.hook('preAction', (parsed) => {
      const { link } = parsed.opts<{ link?: string }>();
      if (link !== undefined) own[linkVariable] = link;
    });
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The library has printed its message already: help and version end well, anything else was typed wrongly.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
    return reportError(error, own);
  }
}
