import type { Command } from 'commander';
import type { RecordKey } from '../core/record.ts';
import { answersTo } from '../core/waiting/answer.ts';
import type { Plan } from '../sheet/plans/plan.ts';
import type { Condition } from '../sync/conditions.ts';
import type { PlanDifference } from '../sync/side.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { describePlace, describeStopped, needsPerson } from './stopped.ts';

interface PlanAnswer extends Plan {
  readonly id: string;
  readonly conditions: readonly Condition[];
}

interface ApplyAnswer {
  readonly isApplied: boolean;
  readonly differences: readonly PlanDifference[];
}

/** Shows what the next cycle would do, and does exactly that. */
export function addPlanCommands(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('plan')
    .description('show what the next cycle would write, without writing anything, with an id for apply')
    .option('--json', 'print the plan as JSON')
    .action(async ({ json }: { json?: true }) => {
      const plan = await callDaemon<PlanAnswer>(environment, 'POST', '/api/plan');
      print(...(json ? [JSON.stringify(plan)] : describePlan(plan)));
      if (plan.conflicts.length > 0 || needsPerson(plan)) finish(exitCodes.needsPerson);
    });
  program
    .command('apply')
    .description('do exactly what a plan showed, or say what is not as it was and do nothing')
    .argument('<id>', 'the id that plan printed')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const answer = await callDaemon<ApplyAnswer>(environment, 'POST', '/api/apply', { id });
      print(...(json ? [JSON.stringify(answer)] : describeApplied(id, answer)));
      if (!answer.isApplied) finish(exitCodes.needsPerson);
    });
}

function describeApplied(id: string, { differences, isApplied }: ApplyAnswer): string[] {
  if (isApplied) return [`Plan ${id} is applied. To take it back: undo --run ${id}`];
  return [
    'Nothing was done, because it is not as it was planned:',
    ...differences.map(
      ({ place, planned = 'nothing', now = 'nothing' }) => `${place}: planned ${planned}, now ${now}`,
    ),
    'Make a new plan to see how things stand.',
  ];
}

function describePlan(plan: PlanAnswer): string[] {
  const { id, outbox, table, conflicts, brakes, conditions, holds, refusals, restlessRows } = plan;
  const nameOf = ({ entity, id }: RecordKey) => `${entity} ${id}`;
  const lines = [
    ...outbox.save.map(({ key, kind, fields }) => `CRM    ${kind} ${nameOf(key)} ${describeFields(fields)}`),
    ...table.map(({ creates, journal, key, write, offers }) => {
      if (creates) return `CRM    create ${write.entity} (new row) ${describeFields(creates)}`;
      // What somebody typed is written as well, and offered to nobody.
      const written = { ...journal?.after, ...offers };
      const what =
        Object.keys(written).length === 0 && write.kind === 'set'
          ? '(its ID, Sync text or look)'
          : describeFields(written);
      return `Sheet  ${write.kind} ${write.entity} ${key?.id ?? '(new row)'} ${what}`;
    }),
    ...conflicts.map(({ key, field, crm, table: cell }) => {
      return `Conflict  ${nameOf(key)} ${field}: the CRM has ${JSON.stringify(crm)}, the sheet ${JSON.stringify(cell)}`;
    }),
    ...brakes.flatMap((brake) => [
      `Stopped  ${brake.reason}${answersTo(brake.scope).length > 0 ? ` To go on: approve ${brake.scope}` : ''}`,
      ...describeStopped(brake),
    ]),
    ...holds.map((hold) => `${hold.isOffer ? 'Offered' : 'Held'}  ${describePlace(hold)}: ${hold.reason}`),
    ...refusals.map((refusal) => `Refused  ${describePlace(refusal)}: ${refusal.reason}`),
  ];
  if (restlessRows > 0) lines.push(`${restlessRows} rows changed just now and are taken once they rest.`);
  const doubts = conditions.map(({ since, words }) => `Since ${new Date(since).toISOString()}: ${words}`);
  if (lines.length === 0)
    return doubts.length === 0
      ? ['Nothing to do: both sides are the same.']
      : ['Nothing to do by what is known of both sides.', ...doubts];
  return [...lines, ...doubts, `To do exactly this: apply ${id}`];
}

const describeFields = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
