import { type Sample, sampleEveryMs } from './samples.ts';

/** A large piece of work on its way. Times are epoch ms. */
export interface Progress {
  readonly work: 'reading' | 'filling' | 'resync';
  /** What is counted: the title of a kind, or of all. */
  readonly title: string;
  readonly done: number;
  /** Absent while nobody can know. */
  readonly total?: number;
  /** When it ends if it goes on like this. Absent while that can not be told. */
  readonly endsAt?: number | undefined;
}

/** Less than this was not measured for long enough to tell an end. */
const measuredMinMs = 2_000;

/** When `total` is reached at the pace since `startedAt`; `undefined` while that is a guess, or when there is more than was expected. */
export function endAtPace(
  { done, total }: { readonly done: number; readonly total: number },
  startedAt: number,
  now: number,
): number | undefined {
  const measuredMs = now - startedAt;
  if (done <= 0 || done > total || measuredMs < measuredMinMs) return undefined;
  return now + Math.round((measuredMs / done) * (total - done));
}

/** So many of the newest samples tell the pace of writing rows: the minute before is another day. */
const paceSamples = 6;

/** When so many rows are written at the pace of the newest samples; `undefined` when none was written in them. */
export function endOfWriting(missing: number, samples: readonly Sample[], now: number): number | undefined {
  const newest = samples.slice(-paceSamples);
  const rows = newest.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
  if (rows === 0) return undefined;
  return now + Math.round((missing / rows) * newest.length * sampleEveryMs);
}
