import type { Cell } from './cell.ts';
import type { Entity } from './record.ts';
import type { JournalEntry } from './state.ts';
import type { DeleteStep, ObservedRow, SetStep } from './table.ts';
import type { FieldName } from './value.ts';

/** Google ends a request after three minutes: https://developers.google.com/workspace/sheets/api/limits. Until then an unanswered one may land. */
export const lateLandingMs = 180_000;

/** A row as it was read before a write that might have hit it. */
export type RowBefore = Pick<ObservedRow, 'id' | 'cells'> & { readonly entity: Entity };

/**
 * A write to the table that is not over: it is durable before it is sent, and is forgotten once it was confirmed, or once what it did to
 * other rows is mended. Whoever finds it after a crash or a lost answer knows what may stand where nobody put it.
 */
export interface OpenWrite {
  /** The run that planned it. */
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** `answered`: the reply told which steps went astray, and only those are left. `unknown`: no reply came. */
  readonly outcome: 'unknown' | 'answered';
  /** An unknown write may still land until then, epoch ms. */
  readonly settlesAt: number;
  readonly sets: readonly SentSet[];
  readonly deletes: readonly DeleteStep[];
  /** What a write astray may have replaced: rows that showed something else than is agreed, and all rows of a tab in which rows were deleted. */
  readonly before: readonly RowBefore[];
}

/** A set that was sent, without its Sync cell: that one is written again anyway. */
export type SentSet = Pick<SetStep, 'entity' | 'position' | 'idSeen' | 'id' | 'cells'> & {
  /** ID of the row in which it did damage, as the reply showed it: another one than its own, or its own where somebody typed. */
  readonly idFound?: Cell;
  /** What it replaced in the row that it reached, by field, where the reply showed that. */
  readonly replaced?: Readonly<Record<FieldName, Cell>>;
  /** It puts back what stood there, perhaps an edit that nobody has taken yet. */
  readonly isRepair?: true;
  /** What the journal says once it is known to have landed. */
  readonly journal?: JournalEntry;
};
