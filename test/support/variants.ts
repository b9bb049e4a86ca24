import process from 'node:process';
import { firstSeedOfTheDay } from './seeds-of-the-day.ts';

/** Whether all variants of a test run, as in the long tests. */
export const areAllWanted = process.env['VARIANTS'] === 'all';

/** The first of these variants, and so many others as the commit draws: each commit tries some, and the long tests try all. */
export function drawVariants<Variant>([first, ...others]: readonly Variant[], count: number): Variant[] {
  if (first === undefined) return [];
  if (areAllWanted) return [first, ...others];
  const start = firstSeedOfTheDay().seed % others.length;
  return [first, ...[...others, ...others].slice(start, start + count)];
}
