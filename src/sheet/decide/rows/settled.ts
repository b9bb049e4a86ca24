import { describeCell } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import type { TabIndex } from '../tab-index.ts';
import type { Verdict } from '../verdict.ts';

/** Says that a row is decided once it rests, because a user may still be typing there; `undefined` where it rests. */
export const findUnsettled = ({ entity, input }: TabIndex, row: ObservedRow): Verdict | undefined =>
  input.isRestless(entity, row) ? { unsettled: [describeCell(row.id)] } : undefined;
