import type { Command } from 'commander';
import { z } from 'zod';
import { answersTo } from '../core/waiting/answer.ts';
import type { CommandContext } from './command.ts';
import { callDaemon } from './daemon-client.ts';
import { exitCodes } from './outcome.ts';
import { print } from './print.ts';
import { brakeShape, describePlace, describeStopped, needsPerson } from './stopped.ts';

const keyShape = z.object({ entity: z.string(), id: z.string() });
/** A hold or a refusal. */
const reasonShape = z.looseObject({
  entity: z.string(),
  id: z.string().optional(),
  position: z.number().optional(),
  reason: z.string(),
  isIgnored: z.boolean().optional(),
  isOffer: z.boolean().optional(),
});
const planShape = z.looseObject({
  id: z.string(),
  outbox: z.object({
    save: z.array(
      z.looseObject({ key: keyShape, kind: z.string(), fields: z.record(z.string(), z.unknown()) }),
    ),
    drop: z.array(keyShape),
  }),
  table: z.array(
    z.looseObject({
      key: keyShape.optional(),
      offers: z.record(z.string(), z.unknown()),
      creates: z.record(z.string(), z.unknown()).optional(),
      journal: z.looseObject({ after: z.record(z.string(), z.unknown()) }).optional(),
      write: z.looseObject({ kind: z.enum(['set', 'append', 'delete']), entity: z.string() }),
    }),
  ),
  conflicts: z.array(
    z.looseObject({ key: keyShape, field: z.string(), crm: z.unknown(), table: z.unknown() }),
  ),
  brakes: z.array(brakeShape),
  holds: z.array(reasonShape),
  refusals: z.array(reasonShape),
  restlessRows: z.number(),
  conditions: z.array(z.looseObject({ words: z.string(), since: z.number() })).default([]),
});
type Plan = z.infer<typeof planShape>;

export function addPlanCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('plan')
    .description('show what the next cycle would write, without writing anything, with an id for apply')
    .option('--json', 'print the plan as JSON')
    .action(async ({ json }: { json?: true }) => {
      const answer = await callDaemon(environment, 'POST', '/api/plan');
      const plan = planShape.parse(answer);
      print(...(json ? [JSON.stringify(answer)] : describePlan(plan)));
      if (plan.conflicts.length > 0 || needsPerson(plan)) finish(exitCodes.needsPerson);
    });
}

function describePlan(plan: Plan): string[] {
  const { id, outbox, table, conflicts, brakes, conditions, holds, refusals, restlessRows } = plan;
  const nameOf = (key: z.infer<typeof keyShape> | undefined, entity: string) =>
    `${entity} ${key?.id ?? '(new row)'}`;
  const lines = [
    ...outbox.save.map(
      ({ key, kind, fields }) => `CRM    ${kind} ${nameOf(key, key.entity)} ${describeFields(fields)}`,
    ),
    ...table.map(({ creates, journal, key, write, offers }) => {
      if (creates) return `CRM    create ${nameOf(undefined, write.entity)} ${describeFields(creates)}`;
      // What somebody typed is written as well, and offered to nobody.
      const written = { ...journal?.after, ...offers };
      const what =
        Object.keys(written).length === 0 && write.kind === 'set'
          ? '(its ID, Sync text or look)'
          : describeFields(written);
      return `Sheet  ${write.kind} ${nameOf(key, write.entity)} ${what}`;
    }),
    ...conflicts.map(({ key, field, crm, table: cell }) => {
      return `Conflict  ${nameOf(key, key.entity)} ${field}: the CRM has ${JSON.stringify(crm)}, the sheet ${JSON.stringify(cell)}`;
    }),
    ...brakes.flatMap((brake) => [
      `Stopped  ${brake.reason}${answersTo(brake.scope).length > 0 ? ` To go on: approve ${brake.scope}` : ''}`,
      ...describeStopped(brake),
    ]),
    ...holds.map(
      ({ reason, isOffer, ...place }) =>
        `${isOffer ? 'Offered' : 'Held'}  ${describePlace(place)}: ${reason}`,
    ),
    ...refusals.map(({ reason, ...place }) => `Refused  ${describePlace(place)}: ${reason}`),
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
