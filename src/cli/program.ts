import { Command, CommanderError } from 'commander';
import { type Environment, linkVariable } from '../app/config.ts';
import { addApplyCommand } from './apply.ts';
import { addApproveCommand } from './approve.ts';
import { addBackupCommand } from './backup.ts';
import type { CommandContext } from './command.ts';
import { addConflictsCommand } from './conflicts.ts';
import { addDemoCommand } from './demo.ts';
import { addDoctorCommand } from './doctor.ts';
import { addErrorsCommand } from './errors.ts';
import { examples } from './examples.ts';
import { addHistoryCommand } from './history.ts';
import { addInitCommand } from './init.ts';
import { type ExitCode, exitCodes, reportError } from './outcome.ts';
import { addPlanCommand } from './plan.ts';
import { addRefusedCommands } from './refused.ts';
import { addResolveCommand } from './resolve.ts';
import { addResyncCommand } from './resync.ts';
import { addSandboxCommand } from './sandbox.ts';
import { addSettingsCommand } from './settings.ts';
import { addStartCommand } from './start.ts';
import { addStatusCommand } from './status.ts';
import { addUndoCommand } from './undo.ts';

const addCommands = [
  addStartCommand,
  addInitCommand,
  addDoctorCommand,
  addStatusCommand,
  addPlanCommand,
  addApplyCommand,
  addResyncCommand,
  addConflictsCommand,
  addResolveCommand,
  addApproveCommand,
  addRefusedCommands,
  addHistoryCommand,
  addUndoCommand,
  addBackupCommand,
  addSettingsCommand,
  addErrorsCommand,
  addDemoCommand,
  addSandboxCommand,
];

const exitCodesText =
  'Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 needs a person, 4 not reachable.';

/** All commands, ready to be parsed; parsing throws where the library would end the process. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command('crm-sheet-sync').description(
    "Keeps an agency's CRM and a Google Sheet the same, in both directions.",
  );
  program.option('--link <name>', `which link it is about, where there are several (${linkVariable})`);
  program.configureHelp({ showGlobalOptions: true });
  for (const addCommand of addCommands) addCommand(program, context);
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
  const program = buildProgram({ environment: own, finish }).hook('preAction', (parsed) => {
    const { link } = parsed.opts<{ link?: string }>();
    if (link !== undefined) own[linkVariable] = link;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    // The library has printed its message already: help and version end well, anything else was typed wrongly.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
    return reportError(error);
  }
}
