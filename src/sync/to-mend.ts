import type { Labels } from '../core/fields/labels.ts';
import type { Entity } from '../core/record.ts';
import type { Brake, Hold, Refusal } from '../core/waiting/waiting.ts';
import type { SideReport } from './side.ts';

/** What nobody can answer: it goes when its cause does, or what is wrong in a row is mended there. */
export interface ToMend {
  /** Named as a row itself names it: an error is what the CRM did not take, or what cannot be sent. */
  readonly kind: 'stopped' | 'error' | 'held' | 'offered' | 'ignored';
  /** What the records that it is about are called. */
  readonly entityTitle: string;
  /** The record, where it is one. */
  readonly name?: string;
  /** Of a row that has no record. */
  readonly position?: number;
  readonly reason: string;
  /** Under which it is taken up again, where a user ignores it. */
  readonly scope?: string;
}

type Found = Pick<SideReport, 'brakes' | 'holds' | 'refusals'>;

/** Everything that stops something and is not among the scopes that are asked about. What is true of several kinds of record is said once. */
export function listToMend(found: Found, asked: ReadonlySet<string>, labels: Labels): ToMend[] {
  const isAsked = ({ decision }: Pick<Hold, 'decision'>) => decision !== undefined && asked.has(decision);
  const all = [
    ...found.brakes.filter(({ scope }) => !asked.has(scope)).map((brake) => ofBrake(brake, labels)),
    ...found.refusals.filter((refusal) => !isAsked(refusal)).map((refusal) => ofRefusal(refusal, labels)),
    ...found.holds.filter((hold) => !isAsked(hold)).map((hold) => ofHold(hold, labels)),
  ];
  const alike = Map.groupBy(all, ({ entityTitle: _, ...rest }) => JSON.stringify(rest));
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const titles = [first, ...others].map(({ entityTitle }) => entityTitle);
    return [{ ...first, entityTitle: [...new Set(titles)].join(', ') }];
  });
}

/** Whether it waits for a user. What is being found out, is only offered, or is ignored does not. */
export const isForUser = ({ kind }: ToMend): boolean => kind === 'error' || kind === 'held';

const ofBrake = ({ entity, reason }: Brake, labels: Labels): ToMend => ({
  kind: 'stopped',
  entityTitle: labels.titles[entity],
  reason,
});

const ofHold = (hold: Hold, labels: Labels): ToMend => ({
  kind: hold.isOffer ? 'offered' : 'held',
  ...placeOf(hold, labels),
  reason: hold.reason,
});

const ofRefusal = (refusal: Refusal, labels: Labels): ToMend => ({
  kind: refusal.isIgnored ? 'ignored' : 'error',
  ...placeOf(refusal, labels),
  reason: refusal.reason,
  ...(refusal.isIgnored && refusal.decision !== undefined ? { scope: refusal.decision } : {}),
});

interface Placed {
  readonly entity: Entity | 'question';
  readonly id?: string;
  readonly position?: number;
}

const placeOf = ({ entity, id, position }: Placed, labels: Labels) => ({
  entityTitle: entity === 'question' ? 'Questions' : labels.titles[entity],
  ...(id && entity !== 'question' ? { name: labels.nameOf({ entity, id }) } : {}),
  ...(position === undefined ? {} : { position }),
});
