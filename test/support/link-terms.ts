import { z } from 'zod';

/** A time in which a process ran a link; epoch ms. */
export interface Term {
  readonly link: string;
  readonly from: number;
  readonly to: number;
}

const lineShape = z.object({ event: z.string(), link: z.string(), time: z.iso.datetime() });

/** The terms of a daemon by its log; a link that it did not leave it ran to the `end`. */
export function readTerms(said: string, end: number): Term[] {
  const moves = said
    .split('\n')
    .filter((line) => /"event":"link\.(taken|left)"/.test(line))
    .map((line) => lineShape.parse(JSON.parse(line)))
    .map(({ event, link, time }) => ({ link, at: Date.parse(time), isLeft: event === 'link.left' }));
  return moves.flatMap(({ at, isLeft, link }, index) => {
    if (isLeft) return [];
    const left = moves.slice(index).find((move) => move.isLeft && move.link === link);
    return [{ link, from: at, to: left?.at ?? end }];
  });
}

/** Terms of one link that have a moment in common. */
export const findOverlaps = (terms: readonly Term[]): (readonly [Term, Term])[] =>
  terms.flatMap((one, index) =>
    terms
      .slice(index + 1)
      .filter((other) => other.link === one.link && other.from < one.to && one.from < other.to)
      .map((other) => [one, other] as const),
  );
