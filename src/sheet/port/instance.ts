/** One start of the program for one link. A state directory names none: it may be copied. */
export interface Instance {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When it started, epoch ms by its own clock: for people alone, because clocks may be hours apart. */
  readonly since: number;
  /** Names the run of its process, so that the same machine can look it up; absent where none can. */
  readonly process?: string | undefined;
  /** Names what lets one instance at a time in, so that the next one knows that this one is out; absent where nothing does. */
  readonly locks?: readonly string[] | undefined;
}

/** What an instance leaves in a table. As long as it lives, the count goes on. */
export interface Mark {
  readonly instance: Instance;
  readonly count: number;
}

/** Of the instance that keeps a table the same with the CRM, and of one that waits until it may. */
export interface Marks {
  readonly keeper?: Mark;
  readonly waiting?: Mark;
}

/** Marks to be written in the place of those that were read last; `none` takes one away. */
export interface MarkChanges {
  readonly keeper?: Mark | 'none';
  readonly waiting?: Mark | 'none';
}

/** This instance, and what it can find out about others. */
export interface OwnInstance {
  readonly instance: Instance;
  /** True if it is proved that the other one has ended. False proves nothing. */
  isOver(other: Instance): boolean;
}

/** A mark as it was seen again and again. Times are monotonic ms. */
export interface Sighting {
  readonly mark: Mark;
  /** Since when it has shown this count while it was looked at. */
  readonly since: number;
  readonly lookedAt: number;
  /** Whether its count was seen to move: then its instance lived. */
  readonly hasMoved: boolean;
}

/** Looks at a mark again. Looks that are more than `gapMs` apart see nothing of the time between them: both may have been cut off. */
export function sight(
  before: Sighting | undefined,
  mark: Mark | undefined,
  now: number,
  gapMs: number,
): Sighting | undefined {
  if (!mark) return undefined;
  if (before?.mark.instance.id !== mark.instance.id)
    return { mark, since: now, lookedAt: now, hasMoved: false };
  if (before.mark.count !== mark.count) return { mark, since: now, lookedAt: now, hasMoved: true };
  const since = now - before.lookedAt > gapMs ? now : before.since;
  return { ...before, mark, since, lookedAt: now };
}

/** In words that people can find it by. */
export const describeInstance = ({ host, pid, since }: Instance): string =>
  `host ${host}, process ${pid}, since ${new Date(since).toISOString()}`;
