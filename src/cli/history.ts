import type { Command } from 'commander';
import { z } from 'zod';
import type { Environment } from '../app/config.ts';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { print } from './print.ts';

const fieldsShape = z.record(z.string(), z.unknown());
const keyShape = z.object({ entity: z.string(), id: z.string() });
const answerShape = z.object({
  entries: z.array(
    z.looseObject({
      id: z.number(),
      at: z.number(),
      run: z.string(),
      key: keyShape,
      kind: z.string(),
      side: z.string(),
      before: fieldsShape,
      after: fieldsShape,
      lost: fieldsShape,
      cause: z.string(),
    }),
  ),
  next: z.number().optional(),
});
type Entry = z.infer<typeof answerShape>['entries'][number];

/** The options that choose lines of the history. */
export const addSelectors = (command: Command): Command =>
  command
    .option('--record <record>', 'of one record, for example lead-42')
    .option('--field <field>', 'of one field, for example title')
    .option('--run <run>', 'of one run of the daemon')
    .option('--since <time>', 'not before a day or time, for example 2026-11-20 or 2026-11-20T08:00:00Z');

export function addHistoryCommand(program: Command, { environment }: CommandContext): void {
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

/** The daemon answers fewer lines at a time than are wanted where they are long. */
async function readPages(
  environment: Environment,
  query: Readonly<Record<string, string>>,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let page: Record<string, string> | undefined = query; page; ) {
    const answer = answerShape.parse(
      await callDaemon(environment, 'GET', `/api/history?${new URLSearchParams(page)}`),
    );
    entries.push(...answer.entries);
    const left = Number(query['limit']) - entries.length;
    page =
      answer.next !== undefined && left > 0
        ? { ...query, limit: String(left), before: String(answer.next) }
        : undefined;
  }
  return entries;
}

function describeEntry({ id, at, run, key, kind, side, before, after, lost, cause }: Entry): string[] {
  const where = side === 'table' ? 'in the sheet' : side === 'crm' ? 'in the CRM' : 'on both sides';
  const head = `${id}  ${new Date(at).toISOString()}  run ${run}  ${key.entity}-${key.id}: ${kind} ${where}, ${cause}`;
  const names = [...new Set([before, after, lost].flatMap((fields) => Object.keys(fields)))];
  const lines = names.map(
    (name) =>
      `    ${name}: ${show(before[name])} → ${show(after[name])}${name in lost ? ` (lost: ${show(lost[name])})` : ''}`,
  );
  return [head, ...lines];
}

export const show = (value: unknown): string => (value === undefined ? '–' : JSON.stringify(value));
