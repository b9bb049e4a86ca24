import type { BoundTab } from '../read.ts';
import type { Answers } from './answers.ts';

/** A tab as a write is to take it, by what is known of Google: its hidden rows are those of which no copy is made. */
export function heed<Tab extends BoundTab>(
  tab: Tab,
  { filteredCopies, handHiddenCopies, tableGrowth }: Answers,
): Tab {
  const { handHiddenRows = new Set<number>(), hiddenRows } = tab;
  const byFilter = filteredCopies === 'copied' ? [] : hiddenRows;
  const byHand = handHiddenCopies === 'copied' ? [] : handHiddenRows;
  return { ...tab, hiddenRows: new Set([...byFilter, ...byHand]), tableGrowth };
}
