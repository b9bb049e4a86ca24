import { Command, CommanderError } from 'commander';
import type { Environment } from '../app/config.ts';
import { addApproveCommand } from './approve.ts';
import type { CommandContext } from './command.ts';
import { addDemoCommand } from './demo.ts';
import { addInitCommand } from './init.ts';
import { type ExitCode, exitCodes, reportError } from './outcome.ts';
import { addPlanCommand } from './plan.ts';
import { addResyncCommand } from './resync.ts';
import { addSandboxCommand } from './sandbox.ts';
import { addSettingsCommand } from './settings.ts';
import { addStartCommand } from './start.ts';
import { addStatusCommand } from './status.ts';

/** Runs one command line. Answers the exit code. */
export async function run(words: readonly string[], environment: Environment): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.done;
  const context: CommandContext = {
    environment,
    finish: (code) => {
      exitCode = code;
    },
  };
  const program = new Command('crm-sheet-sync')
    .description("Keeps an agency's CRM and a Google Sheet the same, in both directions.")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  const add = [
    addStartCommand,
    addInitCommand,
    addStatusCommand,
    addPlanCommand,
    addResyncCommand,
    addApproveCommand,
    addSettingsCommand,
    addDemoCommand,
    addSandboxCommand,
  ];
  for (const addCommand of add) addCommand(program, context);
  program.commands.forEach((command) => {
    command.exitOverride();
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
