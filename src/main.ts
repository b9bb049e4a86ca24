import process from 'node:process';
import { reportError } from './cli/command.ts';
import { run } from './cli/program.ts';

// Node would show all that hangs on an error, and the errors of libraries carry what was sent, with the keys in it.
process.on('uncaughtException', (error) => process.exit(reportError(error)));

// Libraries may hold timers after everything is closed; the process ends when the command has.
process.exit(await run(process.argv.slice(2), process.env));
