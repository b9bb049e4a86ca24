import process from 'node:process';
import { run } from './cli/program.ts';

// Libraries may hold timers after everything is closed; the process ends when the command has.
process.exit(await run(process.argv.slice(2), process.env));
