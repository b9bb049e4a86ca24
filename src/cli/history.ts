import type { Command } from 'commander';
import type { Environment } from '../app/config.ts';
import type { HistoryEntry } from '../core/history.ts';
import { recordKeyText } from '../core/record.ts';
import type { UndoPlan } from '../core/undo.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { show } from './stopped.ts';

/** Shows what was changed, and takes it back. */
export function addHistoryCommands(program: Command, context: CommandContext): void {
  addHistory(program, context);
  addUndo(program, context);
}

/** The options that choose lines of the history. */
const addSelectors = (command: Command): Command =>
  command
    .option('--record <record>', 'of one record, for example lead-42')
    .option('--field <field>', 'of one field, for example title')
    .option('--run <run>', 'of one run of the daemon')
    .option('--since <time>', 'not before a day or time, for example 2026-11-20 or 2026-11-20T08:00:00Z');

function addHistory(program: Command, { environment }: CommandContext): void {
  addSelectors(program.command('history'))
    .description('show what was changed, on which side, from what to what, and why; newest first')
    .option('--limit <count>', 'at most so many lines', '50')
    .option('--json', 'print the lines as JSON')
    .action(async ({ json, ...query }: Record<string, string> & { json?: true }) => {
      const entries = await readPages(environment, query);
      if (json) return print(JSON.stringify({ entries }));
      print(...(entries.length > 0 ? entries.flatMap(describeEntry) : ['Nothing fits.']));
    });
}

interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  /** The line before which the next page begins. */
  readonly next?: number;
}

/** The daemon answers fewer lines at a time than are wanted where they are long. */
async function readPages(
  environment: Environment,
  query: Readonly<Record<string, string>>,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
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

function describeEntry({ id, at, run, key, kind, side, before, after, lost, cause }: HistoryEntry): string[] {
  const head = `${id}  ${new Date(at).toISOString()}  run ${run}  ${recordKeyText(key)}: ${kind} ${places[side]}, ${cause}`;
  const lines = Object.keys({ ...before, ...after, ...lost }).map(
    (name) =>
      `    ${name}: ${show(before[name])} → ${show(after[name])}${name in lost ? ` (lost: ${show(lost[name])})` : ''}`,
  );
  return [head, ...lines];
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
      const body = { ...order, ...(line === undefined ? {} : { id: line }), isDryRun: dryRun ?? false };
      const plan = await callDaemon<UndoPlan>(environment, 'POST', '/api/undo', body);
      print(...(json ? [JSON.stringify(plan)] : describeUndo(plan, dryRun ? 'would be' : 'is')));
      if (plan.refusals.length > 0) finish(exitCodes.needsPerson);
    });
}

function describeUndo({ steps, refusals }: UndoPlan, tense: string): string[] {
  const lines = [
    ...steps.flatMap(({ key, kind, fields, base }) => {
      const name = recordKeyText(key);
      if (kind === 'update')
        return Object.entries(fields).map(
          ([field, value]) => `${name} ${field} ${tense} put back: ${show(base[field])} → ${show(value)}`,
        );
      return key.entity === 'contact'
        ? [`${name} ${tense} deleted for good: the CRM has no trash for contacts.`]
        : [`${name} ${tense} moved to the trash of the CRM.`];
    }),
    ...refusals.map(({ key, field, reason }) => `${recordKeyText(key)} ${field ?? ''} stays: ${reason}`),
  ];
  return lines.length > 0 ? lines : ['There is nothing to take back.'];
}
