import type { FieldDefinition } from '../../core/fields/field.ts';
import type { Entity, RecordId } from '../../core/record.ts';
import type { KnownRecord } from '../../core/state.ts';
import type { Value } from '../../core/value.ts';
import { type Condition, isAnyOf } from './rule.ts';

/**
 * Whether a record fits a rule. `unknown` where not enough of it was read from the CRM: then nothing comes and nothing goes. `until` is the first
 * moment (epoch ms) at which it may be another answer although nothing of it changes: `now` where it has to be judged each time. `why` is a
 * function because tens of thousands may be unfit, and few are asked why.
 */
export type Fit =
  | { readonly kind: 'fits'; readonly until: number }
  | { readonly kind: 'unfit'; readonly why: () => string }
  | {
      readonly kind: 'unknown';
      readonly until: number;
      /** The CRM has not reported what the rule goes by. */
      readonly isUnreported?: boolean;
      /** It may not fit although it did: that it has no row says nothing then. */
      readonly mayBeOut?: boolean;
    };

/** What judging a record has to know besides. */
export interface FitSurroundings {
  readonly now: number;
  readonly findLead: (id: RecordId) => KnownRecord | undefined;
  readonly findField: (entity: Entity, name: string) => FieldDefinition | undefined;
  /** Whether the CRM is known to have the stage, in any pipeline. */
  readonly isStage: (id: Value) => boolean;
  /** A value as people know it. */
  readonly show: (field: FieldDefinition, value: Value) => string;
}

/** When time alone may make it another answer, epoch ms. */
export const lastsUntil = (fit: Fit): number => (fit.kind === 'unfit' ? forEver : fit.until);

const forEver = Number.POSITIVE_INFINITY;
const fits: Fit = { kind: 'fits', until: forEver };
const unknown: Fit = { kind: 'unknown', until: forEver };
const unreported: Fit = { ...unknown, isUnreported: true };
const dayMs = 24 * 60 * 60 * 1_000;

/** Whether a record meets all conditions, and why not in words. */
export function judgeFit(
  conditions: readonly Condition[],
  record: KnownRecord,
  around: FitSurroundings,
): Fit {
  return joinFits(conditions.map((condition) => judgeCondition(condition, record, around)));
}

/** What does not fit one condition fits none of it; what is not known of one is not known of all. */
function joinFits(all: readonly Fit[]): Fit {
  const unfit = all.find(({ kind }) => kind === 'unfit');
  if (unfit) return unfit;
  const until = Math.min(...all.map(lastsUntil), forEver);
  const unknowns = all.filter((fit) => fit.kind === 'unknown');
  if (unknowns.length === 0) return { kind: 'fits', until };
  return {
    kind: 'unknown',
    until,
    isUnreported: unknowns.some(({ isUnreported }) => isUnreported),
    mayBeOut: unknowns.some(({ mayBeOut }) => mayBeOut),
  };
}

function judgeCondition(condition: Condition, record: KnownRecord, around: FitSurroundings): Fit {
  switch (condition.kind) {
    case 'values':
      return judgeValue(condition, record, around);
    case 'pipeline':
      return judgeStage(condition, record, around);
    case 'updated':
      return judgeAge(condition.days, record, around);
    case 'lead':
      return judgeLead(condition, record, around);
  }
}

type ConditionOf<Kind> = Extract<Condition, { readonly kind: Kind }>;

function judgeValue(
  { field: name, values }: ConditionOf<'values'>,
  record: KnownRecord,
  around: FitSurroundings,
): Fit {
  const value = record.fields[name];
  const field = around.findField(record.key.entity, name);
  // A field that is off is read as empty of every record, whatever it held.
  if (!field || field.held !== undefined) return unknown;
  if (value === undefined) return unreported;
  if (isAnyOf(value, values)) return fits;
  // A name that the list of options lacks may be a new name of one of them, which is read with the catalog.
  const isRenamed = [value].flat().some((each) => field.options?.includes(String(each)) === false);
  return isRenamed && value !== null
    ? unknown
    : { kind: 'unfit', why: () => describeValue(field, value, around) };
}

function judgeStage({ stages }: ConditionOf<'pipeline'>, record: KnownRecord, around: FitSurroundings): Fit {
  const value = record.fields['stage_id'];
  const field = around.findField(record.key.entity, 'stage_id');
  if (value === undefined || !field) return unreported;
  if (isAnyOf(value, stages)) return fits;
  // A new stage is read with the catalog, and may be one of these pipelines'.
  return value !== null && !around.isStage(value)
    ? unknown
    : { kind: 'unfit', why: () => describeValue(field, value, around) };
}

function judgeAge(days: number, { fields, lastSeenAt }: KnownRecord, { now }: FitSurroundings): Fit {
  const updatedAt = Date.parse(String(fields['updated_at']));
  if (Number.isNaN(updatedAt)) return unknown;
  const until = updatedAt + days * dayMs;
  if (now < until) return { kind: 'fits', until };
  // What was not read since may have changed in the CRM all the while. It may be read at any time.
  if (lastSeenAt < until) return { kind: 'unknown', until: now, mayBeOut: true };
  const unit = days === 1 ? 'day' : 'days';
  return { kind: 'unfit', why: () => `it was not updated in the CRM for ${days} ${unit}` };
}

function judgeLead({ conditions }: ConditionOf<'lead'>, record: KnownRecord, around: FitSurroundings): Fit {
  const { lead_id: id } = record.fields;
  if (id === undefined) return unreported;
  if (id === null) return { kind: 'unfit', why: () => 'it has no lead' };
  const lead = around.findLead(String(id));
  if (lead?.presence !== 'present') return unknown;
  const fit = judgeFit(conditions, lead, around);
  return fit.kind === 'unfit' ? { kind: 'unfit', why: () => `of its lead, ${fit.why()}` } : fit;
}

const describeValue = (field: FieldDefinition, value: Value, { show }: FitSurroundings): string =>
  `${field.header} is ${show(field, value)}`;
