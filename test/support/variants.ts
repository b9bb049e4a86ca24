import process from 'node:process';
import { firstSeedOfTheDay } from './seeds-of-the-day.ts';

/** Whether all variants of a test run, as in the long tests. */
export const areAllWanted = process.env['VARIANTS'] === 'all';

/** As many of these as the commit draws: each commit tries some, and the long tests try all. */
export function drawSome<Variant>(variants: readonly Variant[], count: number): Variant[] {
  if (areAllWanted) return [...variants];
  const start = firstSeedOfTheDay().seed % variants.length;
  return [...variants, ...variants].slice(start, start + Math.min(count, variants.length));
}

/** The first of these variants, and so many others as the commit draws. */
export function drawVariants<Variant>([first, ...others]: readonly Variant[], count: number): Variant[] {
  return first === undefined ? [] : [first, ...drawSome(others, count)];
}
