import type { Clock } from '../../core/ports.ts';
import { newSheetError } from '../../sheet/port/errors.ts';
import type { SheetsClient } from '../client.ts';
import { gridFields } from '../grid.ts';
import { part, timed } from './scratch.ts';

/** How often the large read is done: what disturbs one seldom disturbs the next. */
const readsMin = 2;

const countOf = (rows: number): number => rows * timed.columns;

/**
 * How long a cell takes to read, in microseconds: what many rows take more than one. It is the time until the answer was read here, line and
 * all, because that is what a request may not take too much of.
 */
export async function measureCell(client: SheetsClient, clock: Clock): Promise<number> {
  const timeOf = async (rows: number): Promise<number> => {
    const start = clock.monotonicMs();
    if (!(await client.get(gridFields, [part(timed.top, 0, rows, timed.columns)])))
      throw newSheetError('SHEET_UNREACHABLE', 'The tab of the probes was removed while they ran.');
    return clock.monotonicMs() - start;
  };
  const few = await timeOf(1);
  const many: number[] = [];
  while (many.length < readsMin) many.push(await timeOf(timed.rows));
  const moreMs = Math.max(0, Math.min(...many) - few);
  return (moreMs * 1_000) / (countOf(timed.rows) - countOf(1));
}
