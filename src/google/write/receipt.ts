import type { Receipt } from '../../core/open-write.ts';
import type { Damage } from '../../sheet/port/damage.ts';
import { tabKinds } from '../../sheet/port/layout.ts';
import type { StepEnd } from '../../sheet/port/table.ts';
import type { GridDamage } from './judge.ts';
import { type Batch, endOfBatch, type PlannedStep } from './planned.ts';

/** The inverse of what a write did to other rows. */
interface Inverse {
  readonly batch: Batch;
  /** What each of its steps undoes. */
  readonly damageOf: ReadonlyMap<number, GridDamage>;
  /** What is known already, and comes true with it; absent in receipts of earlier versions. */
  readonly ends?: Ends;
}

/** What is known of the steps of a write once its damage is looked at. */
export interface Ends {
  readonly done: ReadonlyMap<number, StepEnd>;
  readonly undone: readonly GridDamage[];
  readonly escalated: readonly Damage[];
}

export const noEnds: Ends = { done: new Map(), undone: [], escalated: [] };

/** What is to be known of a write after a lost reply or a crash. */
export interface StoredWrite {
  readonly batch: Batch;
  /** The steps of which nothing is known so far; all where absent. */
  readonly left?: ReadonlySet<number>;
  /** Steps of writes that had no reply when it was planned. */
  readonly others: readonly PlannedStep[];
  /** Sent, or about to be. */
  readonly inverse?: Inverse;
  /** The run of an inverse that is over, whose rows of the hidden tab bear it; absent where there was none. */
  readonly inverted?: string;
}

/** A write of an earlier version, in which another part of the program mended what it did. */
export interface EarlierWrite {
  readonly earlier: unknown;
}

const mapName = '#map';
const setName = '#set';

export const writeReceipt = (write: StoredWrite): Receipt => JSON.stringify(plain(write));

/** Steps are most of a write and hold neither maps nor sets: to look for those in a thousand of them takes four milliseconds. */
const plainNames: readonly string[] = ['steps', 'others'] satisfies (keyof Batch | keyof StoredWrite)[];

/** The value with objects in place of maps and sets. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return { [mapName]: plain([...value]) };
  if (value instanceof Set) return { [setName]: [...value] };
  if (Array.isArray(value)) return value.map(plain);
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, each]) => [name, plainNames.includes(name) ? each : plain(each)]),
  );
}

/** Checks nothing: only {@link writeReceipt} makes receipts. */
export const readReceipt = (receipt: Receipt): StoredWrite | EarlierWrite =>
  JSON.parse(receipt, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (mapName in value) return new Map(value[mapName] as [unknown, unknown][]);
    return setName in value ? new Set(value[setName] as unknown[]) : value;
  });

export const isEarlier = (write: StoredWrite | EarlierWrite): write is EarlierWrite => 'earlier' in write;

/** The first row of the hidden tab that a write does not need: behind its own rows there is room for those of its inverse. */
export function endOfWrite(write: StoredWrite | EarlierWrite): number {
  if (isEarlier(write)) {
    const { height = 0, keeping } = write.earlier as { height?: number; keeping?: { from?: number } };
    return (keeping?.from ?? 0) + height;
  }
  return endOfBatch(write.batch) + tabKinds.length + write.batch.steps.length;
}
