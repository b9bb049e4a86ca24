import type { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { addSelectors, show } from './history.ts';
import { exitCodes } from './outcome.ts';
import { print } from './print.ts';

const keyShape = z.object({ entity: z.string(), id: z.string() });
const fieldsShape = z.record(z.string(), z.unknown());
const planShape = z.object({
  steps: z.array(
    z.object({ key: keyShape, kind: z.enum(['update', 'delete']), fields: fieldsShape, base: fieldsShape }),
  ),
  refusals: z.array(z.object({ key: keyShape, field: z.string().optional(), reason: z.string() })),
});
type UndoPlan = z.infer<typeof planShape>;

type UndoOptions = Record<string, string> & { readonly dryRun?: true; readonly json?: true };

export function addUndoCommand(program: Command, { environment, finish }: CommandContext): void {
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
      const answer = await callDaemon(environment, 'POST', '/api/undo', body);
      const plan = planShape.parse(answer);
      print(...(json ? [JSON.stringify(answer)] : describeUndo(plan, dryRun ? 'would be' : 'is')));
      if (plan.refusals.length > 0) finish(exitCodes.needsPerson);
    });
}

function describeUndo({ steps, refusals }: UndoPlan, tense: string): string[] {
  const lines = [
    ...steps.flatMap(({ key, kind, fields, base }) =>
      kind === 'delete'
        ? [
            key.entity === 'contact'
              ? `${key.entity}-${key.id} ${tense} deleted for good: the CRM has no trash for contacts.`
              : `${key.entity}-${key.id} ${tense} moved to the trash of the CRM.`,
          ]
        : Object.keys(fields).map(
            (name) =>
              `${key.entity}-${key.id} ${name} ${tense} put back: ${show(base[name])} → ${show(fields[name])}`,
          ),
    ),
    ...refusals.map(({ key, field, reason }) => `${key.entity}-${key.id} ${field ?? ''} stays: ${reason}`),
  ];
  return lines.length > 0 ? lines : ['There is nothing to take back.'];
}
