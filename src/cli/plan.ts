import type { Command } from 'commander';
import type { RecordKey } from '../core/record.ts';
import { answersTo } from '../core/waiting/answer.ts';
import type { Brake, Hold } from '../core/waiting/waiting.ts';
import type { Plan } from '../sheet/plans/plan.ts';
import type { Condition } from '../sync/conditions.ts';
import type { PlanDifference } from '../sync/side.ts';
import type { WarehousePlan } from '../warehouse/plan.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { localTime } from './local-time.ts';
import { describePlace, describeStopped, needsPerson } from './stopped.ts';

type SidePlan = (Plan | WarehousePlan) & { readonly id: string };

/** The plan of the first side, with those of the others beside it. */
type PlanAnswer = SidePlan & {
  readonly others?: readonly SidePlan[];
  readonly conditions: readonly Condition[];
};

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
      print(...(json ? [JSON.stringify(plan)] : describePlans(plan)));
      if (listPlans(plan).some(asksPerson)) finish(exitCodes.needsPerson);
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

const listPlans = (answer: PlanAnswer): readonly SidePlan[] => [answer, ...(answer.others ?? [])];

const isOfWarehouse = (plan: SidePlan): plan is WarehousePlan & SidePlan => 'side' in plan;

const asksPerson = (plan: SidePlan): boolean =>
  isOfWarehouse(plan)
    ? needsPerson({ ...plan, refusals: [] })
    : plan.conflicts.length > 0 || needsPerson(plan);

function describePlans(answer: PlanAnswer): string[] {
  const told = listPlans(answer).flatMap((plan) => {
    const lines = isOfWarehouse(plan) ? describeWarehousePlan(plan) : describePlan(plan);
    return lines.length === 0 ? [] : [{ lines, plan }];
  });
  const { conditions } = answer;
  const doubts = conditions.map(({ since, words }) => `Since ${localTime(since)}: ${words}`);
  if (told.length === 0)
    return doubts.length === 0
      ? ['Nothing to do: both sides are the same.']
      : ['Nothing to do by what is known of both sides.', ...doubts];
  const ways = told.map(({ plan }) => {
    const where = told.length > 1 ? ` at the ${isOfWarehouse(plan) ? 'warehouse' : 'sheet'}` : '';
    return `To do exactly this${where}: apply ${plan.id}`;
  });
  return [...told.flatMap(({ lines }) => lines), ...doubts, ...ways];
}

const describeWarehousePlan = ({ brakes, deletes, holds, records }: WarehousePlan): string[] => [
  ...describeCounts('write', records),
  ...describeCounts('delete', deletes),
  ...brakes.flatMap(describeBrake),
  ...holds.map(describeHold),
];

const describeCounts = (verb: string, counts: WarehousePlan['records']): string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([entity, count]) => `Warehouse  ${verb} ${count} ${entity}`);

const describeBrake = (brake: Brake): string[] => [
  `Stopped  ${brake.reason}${answersTo(brake.scope).length > 0 ? ` To go on: answer ${brake.scope} approve` : ''}`,
  ...describeStopped(brake),
];

const describeHold = (hold: Hold): string =>
  `${hold.isOffer ? 'Offered' : 'Held'}  ${describePlace(hold)}: ${hold.reason}`;

function describePlan(plan: Plan): string[] {
  const { outbox, table, conflicts, brakes, holds, refusals, restlessRows } = plan;
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
    ...brakes.flatMap(describeBrake),
    ...holds.map(describeHold),
    ...refusals.map((refusal) => `Error  ${describePlace(refusal)}: ${refusal.reason}`),
  ];
  if (restlessRows > 0) lines.push(`${restlessRows} rows changed just now and are taken once they rest.`);
  return lines;
}

const describeFields = (fields: Readonly<Record<string, unknown>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
