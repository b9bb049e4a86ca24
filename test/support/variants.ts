import process from 'node:process';
import { firstSeedOfTheDay } from './seeds-of-the-day.ts';

/** Whether all variants of a test run, as in the long tests. */
export const areAllWanted = process.env['VARIANTS'] === 'all';

/** The first of these variants, and another one that the commit draws; in the long tests all. */
export function drawVariants<Variant>(variants: readonly Variant[]): readonly Variant[] {
  if (areAllWanted) return variants;
  const drawn = 1 + (firstSeedOfTheDay().seed % (variants.length - 1));
  return variants.filter((_, index) => index === 0 || index === drawn);
}
