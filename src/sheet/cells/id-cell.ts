import { isClaimToken, type RecordId } from '../../core/record.ts';
import { type Cell, textCell } from '../port/cell.ts';

/** The ID cell of a record's row: a number where the id is one, so that the column sorts well. */
export function idCell(id: RecordId): Cell {
  const number = Number(id);
  return !isClaimToken(id) && Number.isSafeInteger(number) && String(number) === id
    ? { kind: 'number', number }
    : textCell(id);
}
