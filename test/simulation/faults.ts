import type { Fault } from '../../src/sandbox/crm/faults.ts';
import type { Operation, OperationKind } from './operation.ts';
import { pick } from './people.ts';
import type { Stage } from './stage.ts';

type Mishap = (stage: Stage, operation: Operation) => Promise<string> | string;

/** What the CRM answers instead of what it should; nothing is done. */
const crmFaults: readonly Fault[] = [
  { kind: 'status', path: '*', times: 1, delayMs: 0, status: 503, afterCommit: false },
  { kind: 'rateLimited', path: '*', times: 1, delayMs: 0 },
  { kind: 'garbage', path: '*', times: 1, delayMs: 0 },
  { kind: 'emptyList', path: '*', times: 1, delayMs: 0 },
  { kind: 'staleList', path: '/leads', times: 1, delayMs: 0 },
  { kind: 'staleList', path: '/tasks', times: 1, delayMs: 0 },
];

/** What goes wrong, by the name of the operation. */
const mishaps: Partial<Record<OperationKind, Mishap>> = {
  'lose a request': ({ wire }, { which }) => wire.lose(which),
  'lose an answer': ({ wire }, { which }) => wire.loseAnswer(which),
  'carry out late': ({ trueTime, wire }, { which }) => wire.delay(which, trueTime()),
  'arrive late': ({ trueTime, wire }) => wire.arriveLate(trueTime()),
  'break the CRM': ({ crm }, { which, what }) => {
    const fault = pick(crmFaults, which) ?? crmFaults[0];
    if (fault) crm.faults.order({ clear: false, faults: [{ ...fault, times: 1 + (what % 3) }] });
    return fault?.kind ?? 'nothing';
  },
  'flush the queue': ({ wire }) => `${wire.drop((label) => label.startsWith('job '))} jobs`,
  'set the clock': ({ clock }, { which, how }) => {
    const jumpMs = (how % 7_200_000) * (which % 2 === 0 ? 1 : -1);
    clock.setWallClock(clock.now() + jumpMs);
    return `${jumpMs} ms`;
  },
  crash: async (stage, { what }) => {
    // What was on its way may still arrive.
    if (what % 2 === 0) stage.wire.delayAll(stage.trueTime());
    await stage.restart();
    return 'and a new start';
  },
};

export const isMishap = (kind: OperationKind): boolean => kind in mishaps;

/** Lets something go wrong; answers what. */
export async function mishap(stage: Stage, operation: Operation): Promise<string> {
  const done = (await mishaps[operation.kind]?.(stage, operation)) ?? 'nothing';
  await stage.settleDown();
  return done;
}

/** Nothing goes wrong any more; what is late arrives. */
export async function endMishaps(stage: Stage): Promise<void> {
  stage.crm.faults.order({ clear: true, faults: [] });
  while (stage.wire.arriveLate(stage.trueTime()) !== 'nothing') await stage.settleDown();
}
