import process from 'node:process';
import { reportError } from './cli/command.ts';
import { run } from './cli/program.ts';

// Node would show all that hangs on an error, and the errors of libraries carry what was sent, with the keys in it.
process.on('uncaughtException', (error) => process.exit(reportError(error)));

// Google's library warns of a machine that may not be Google's; what that comes to is said in words of ours.
const warners = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name !== 'MetadataLookupWarning') for (const warn of warners) warn(warning);
});

const exitCode = await run(process.argv.slice(2), process.env);

// More than a pipe holds is lost where the process ends before its reader has taken it.
const { stdout } = process;
if (stdout.writableLength > 0) await new Promise<void>((resolve) => stdout.write('', () => resolve()));

// Libraries may hold timers after everything is closed; the process ends when the command has.
process.exit(exitCode);
