import type { Command } from 'commander';
import type { Check } from '../app/doctor/check.ts';
import { type Diagnosis, diagnose } from '../app/doctor/doctor.ts';
import { type CommandContext, type ExitCode, exitCodes, print } from './command.ts';

/** The exit code for what was found. */
export const codeOf: Readonly<Record<Diagnosis['outcome'], ExitCode>> = {
  well: exitCodes.done,
  settings: exitCodes.wrongUsage,
  failed: exitCodes.failed,
  unreachable: exitCodes.unreachable,
};

export function addDoctorCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('doctor')
    .description('check everything the daemon needs: settings, CRM, spreadsheet, Redis and this machine')
    .option('--json', 'print all checks as one JSON object')
    .option('--probe', 'find out on a hidden tab, which is gone in the end, what no document says of Google')
    .addHelpText(
      'after',
      '\nIt writes nothing to the CRM and, without --probe, nothing to the spreadsheet. It spends at most 25 requests, and one more for each key' +
        '\nwhere there are several, and up to five for one that is new; where the budget is used up it waits.',
    )
    .action(async ({ json, probe }: { json?: true; probe?: true }) => {
      const { checks, outcome } = await diagnose(environment, undefined, { probes: probe === true });
      print(...(json ? [JSON.stringify({ checks })] : describeChecks(checks)));
      finish(codeOf[outcome]);
    });
}

const signs: Readonly<Record<Check['state'], string>> = { ok: '✓', warning: '!', failed: '✗', skipped: '–' };

/** Wide enough for most names. */
const nameWidth = 29;
const indent = ' '.repeat(nameWidth + 2);

/** Checks in a row that found the same share a line: where one fails, whatever needs it is skipped. */
export function describeChecks(checks: readonly Check[]): string[] {
  const groups: Check[] = [];
  for (const check of checks) {
    const last = groups.at(-1);
    const isSame = last?.state === check.state && last.found === check.found && last.advice === check.advice;
    if (isSame) groups[groups.length - 1] = { ...check, name: `${last.name}, ${check.name}` };
    else groups.push(check);
  }
  return groups.flatMap(describeCheck);
}

/** Only settings that are not valid come in several lines, in which nothing is from outside. */
function describeCheck({ name, state, found, advice }: Check): string[] {
  const lines = [
    ...(name === 'settings' ? found.trim().split('\n') : [found]),
    ...(advice === undefined ? [] : [`→ ${advice}`]),
  ];
  const isShort = name.length < nameWidth;
  const head = `${signs[state]} ${name.padEnd(nameWidth)}`;
  return isShort
    ? lines.map((line, index) => (index === 0 ? head : indent) + line)
    : [head, ...lines.map((line) => indent + line)];
}
