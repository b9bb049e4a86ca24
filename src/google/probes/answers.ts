import { z } from 'zod';
import { filteredCopies, handHiddenCopies } from './copies.ts';
import { tableGrowth } from './growth.ts';
import type { Unknown } from './unknown.ts';

/** What no document says, by the names under which the answers are kept. */
export const unknowns = { filteredCopies, handHiddenCopies, tableGrowth };

export type Unknowns = typeof unknowns;
export type UnknownName = keyof Unknowns;

type AnswerOf<One> = One extends Unknown<infer Answer> ? Answer : never;

/** How Google is taken to behave. */
export type Answers = { readonly [Name in UnknownName]: AnswerOf<Unknowns[Name]> } & {
  /** How long a cell takes to read, in microseconds; absent where it was not measured. */
  readonly cellMicros?: number;
};

/** What was found out; names of what was not are missing. */
export type Found = Partial<Answers>;

export const names = Object.keys(unknowns) as UnknownName[];

/** To be raised whenever an unknown is added or asked in another way: then all are asked anew. */
const version = 1;

/** What is kept of a run of the probes. */
export interface KeptAnswers {
  /** Epoch ms. */
  readonly at: number;
  readonly found: Found;
}

const keptShape = z.object({
  version: z.literal(version),
  spreadsheetId: z.string(),
  at: z.number(),
  found: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** The answers in the form in which they are kept. */
export const keepAnswers = (
  spreadsheetId: string,
  { at, found }: KeptAnswers,
): z.infer<typeof keptShape> => ({
  version,
  spreadsheetId,
  at,
  found: { ...found },
});

/** What is kept, where it is of this spreadsheet and was asked as it is asked now. */
export function readKept(content: unknown, spreadsheetId: string): KeptAnswers | undefined {
  const { data: kept } = keptShape.safeParse(content);
  if (kept?.spreadsheetId !== spreadsheetId) return undefined;
  const { cellMicros, ...others } = kept.found;
  const known = names.filter((name) => Object.hasOwn(unknowns[name].answers, others[name] ?? ''));
  const found: Found = Object.fromEntries(known.map((name) => [name, others[name]]));
  return { at: kept.at, found: { ...found, ...(typeof cellMicros === 'number' ? { cellMicros } : {}) } };
}

/** What the adapter goes by: where nothing was found out, the safest. */
export function answersBy(found: Found = {}): Answers {
  const { cellMicros, filteredCopies: byFilter, handHiddenCopies: byHand, tableGrowth: growth } = found;
  return {
    filteredCopies: byFilter ?? filteredCopies.safest,
    handHiddenCopies: byHand ?? handHiddenCopies.safest,
    tableGrowth: growth ?? tableGrowth.safest,
    ...(cellMicros === undefined ? {} : { cellMicros }),
  };
}

/** What was found out, in a sentence each. */
export function describeFound({ cellMicros, ...found }: Found): string[] {
  const sentences = names.flatMap((name) => {
    const words: Readonly<Record<string, string>> = unknowns[name].answers;
    return words[found[name] ?? ''] ?? [];
  });
  return cellMicros === undefined ? sentences : [...sentences, describeTime(cellMicros)];
}

const describeTime = (cellMicros: number): string =>
  `10,000 cells take ${Number((cellMicros / 100).toPrecision(2))} s to read.`;
