import type { Command } from 'commander';
import { systemClock } from '../app/clock.ts';
import type { Environment } from '../app/config.ts';
import { SyncError } from '../core/errors.ts';
import type { CommandEntry } from '../core/history.ts';
import type { LabelledEntry, LabelledUndo } from '../sync/labels.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { localTime, localZone, readSince } from './local-time.ts';

/** Shows what was changed, and takes it back. */
export function addHistoryCommands(program: Command, context: CommandContext): void {
  addHistory(program, context);
  addUndo(program, context);
}

/** The options that choose lines of the history. */
const addSelectors = (command: Command): Command =>
  command
    .option('--record <record>', 'of one record: its id, its key like lead-42, or its title')
    .option('--field <field>', 'of one field: its header, for example Title, or its name')
    .option('--run <run>', 'of one run of the daemon')
    .option('--since <time>', 'not before: 30m, 1h, 2d, 2026-11-20, or "2026-11-20 08:00" of this time zone');

/** The words of the selectors as the daemon takes them. */
const readSelectors = <Query extends Readonly<Record<string, string>>>(query: Query) => ({
  ...query,
  zone: localZone(),
  ...(query['since'] === undefined ? {} : { since: readSince(query['since'], systemClock.now()) }),
});

interface HistoryOptions {
  readonly commands?: true;
  readonly json?: true;
}

function addHistory(program: Command, { environment }: CommandContext): void {
  addSelectors(program.command('history'))
    .description('show what was changed, on which side, from what to what, and why; newest first')
    .option('--limit <count>', 'at most so many lines', '50')
    .option('--commands', 'show instead which commands were given, and by which token')
    .option('--json', 'print the lines as JSON')
    .action(async ({ commands, json, ...query }: Record<string, string> & HistoryOptions) => {
      if (commands) {
        const others = Object.keys(query).filter((name) => name !== 'limit');
        if (others.length > 0)
          throw new SyncError(
            'COMMAND_UNCLEAR',
            `--commands goes with --limit alone, not with --${others.join(', --')}.`,
          );
        return showCommands(environment, query['limit'] ?? '', json);
      }
      const entries = await readPages(environment, readSelectors(query));
      if (json) return print(JSON.stringify({ entries }));
      print(...(entries.length > 0 ? entries.flatMap(describeEntry) : ['Nothing fits.']));
    });
}

interface CommandPage {
  readonly commands: readonly (Omit<CommandEntry, 'at'> & { readonly at: string })[];
}

async function showCommands(environment: Environment, limit: string, json?: true): Promise<void> {
  const path = `/api/commands?${new URLSearchParams({ limit })}`;
  const { commands } = await callDaemon<CommandPage>(environment, 'GET', path);
  if (json) return print(JSON.stringify({ commands }));
  const lines = commands.map(({ about, at, by, name }) =>
    [localTime(Date.parse(at)), by, name, about].join('  ').trim(),
  );
  print(...(lines.length > 0 ? lines : ['No command was given.']));
}

interface HistoryPage {
  readonly entries: readonly LabelledEntry[];
  /** The line before which the next page begins. */
  readonly next?: number;
}

/** The daemon answers fewer lines at a time than are wanted where they are long. */
async function readPages(
  environment: Environment,
  query: Readonly<Record<string, string>>,
): Promise<LabelledEntry[]> {
  const entries: LabelledEntry[] = [];
  let page: Readonly<Record<string, string>> | undefined = query;
  while (page) {
    const path: string = `/api/history?${new URLSearchParams(page)}`;
    const answer = await callDaemon<HistoryPage>(environment, 'GET', path);
    entries.push(...answer.entries);
    const left = Number(query['limit']) - entries.length;
    const hasMore = answer.next !== undefined && left > 0;
    page = hasMore ? { ...query, limit: String(left), before: String(answer.next) } : undefined;
  }
  return entries;
}

const places = { crm: 'in the CRM', table: 'in the sheet', both: 'on both sides' };

/** One line where one field was changed, as nearly always; else a line for each below the record. */
function describeEntry({
  at,
  cause,
  changes,
  entityTitle,
  id,
  kind,
  name,
  run,
  side,
}: LabelledEntry): string[] {
  const lines = changes.map(
    ({ after, before, header, lost }) =>
      `${header}: ${before} → ${after}${lost === undefined ? '' : ` (lost: ${lost})`}`,
  );
  const [only, ...others] = lines;
  const head = `${localTime(at)}  ${name}`;
  const about = `${entityTitle}: ${kind} ${places[side]}, ${cause} · line ${id}, run ${run}`;
  return only === undefined || others.length > 0
    ? [head, ...lines.map((line) => `    ${line}`), `    ${about}`]
    : [`${head} · ${only}`, `    ${about}`];
}

type UndoOptions = Record<string, string> & { readonly dryRun?: true; readonly json?: true };

function addUndo(program: Command, { environment, finish }: CommandContext): void {
  addSelectors(program.command('undo'))
    .description('take back a run, a record, a field or one line of the history, on both sides')
    .option('--line <number>', 'one line, by its number in the history')
    .option('--dry-run', 'only say what would be taken back')
    .option('--json', 'print what is taken back as JSON')
    .addHelpText(
      'after',
      '\nWhat was edited since stays as it is, and is named; so does a created record that was edited since, or to which something was added. The exit code is 3 then. What the CRM does not take after all is in the history as not taken back.',
    )
    .action(async ({ dryRun, json, line, ...order }: UndoOptions) => {
      const body = {
        ...readSelectors(order),
        ...(line === undefined ? {} : { id: line }),
        isDryRun: dryRun ?? false,
      };
      const plan = await callDaemon<LabelledUndo>(environment, 'POST', '/api/undo', body);
      print(...(json ? [JSON.stringify(plan)] : describeUndo(plan, dryRun ? 'would be' : 'is')));
      if (plan.refusals.length > 0) finish(exitCodes.needsPerson);
    });
}

function describeUndo({ steps, refusals }: LabelledUndo, tense: string): string[] {
  const lines = [
    ...steps.flatMap(({ changes, key, kind, name }) => {
      if (kind === 'update')
        return changes.map(
          ({ after, before, header }) => `${name} · ${header} ${tense} put back: ${before} → ${after}`,
        );
      return key.entity === 'contact'
        ? [`${name} ${tense} deleted for good: the CRM has no trash for contacts.`]
        : [`${name} ${tense} moved to the trash of the CRM.`];
    }),
    ...refusals.map(
      ({ header, name, reason }) => `${name}${header === undefined ? '' : ` · ${header}`} stays: ${reason}`,
    ),
  ];
  return lines.length > 0 ? lines : ['There is nothing to take back.'];
}
