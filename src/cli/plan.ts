import type { Command } from 'commander';
import type { ToldPlan } from '../sheet/told-plan.ts';
import type { Condition } from '../sync/conditions.ts';
import type { PlanDifference } from '../sync/side.ts';
import type { WarehousePlan } from '../warehouse/plan.ts';
import { type CommandContext, exitCodes, print } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { localTime } from './local-time.ts';
import { needsPerson } from './stopped.ts';

type SidePlan = (ToldPlan | WarehousePlan) & { readonly id: string };

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
  const plans = listPlans(answer).filter(({ told }) => told.length > 0);
  const { conditions } = answer;
  const doubts = conditions.map(({ since, words }) => `Since ${localTime(since)}: ${words}`);
  if (plans.length === 0)
    return doubts.length === 0
      ? ['Nothing to do: both sides are the same.']
      : ['Nothing to do by what is known of both sides.', ...doubts];
  const ways = plans.map((plan) => {
    const where = plans.length > 1 ? ` at the ${isOfWarehouse(plan) ? 'warehouse' : 'sheet'}` : '';
    return `To do exactly this${where}: apply ${plan.id}`;
  });
  return [...plans.flatMap(({ told }) => told), ...doubts, ...ways];
}
