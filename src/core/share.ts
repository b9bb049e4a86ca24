/** Who runs what, as one process sees it. */
export interface ShareView {
  /** All links, in one order for all processes. */
  readonly links: readonly string[];
  /** The process that runs a link, by the link's name. */
  readonly holders: ReadonlyMap<string, string>;
  /** Every process that lives, this one among them. */
  readonly processes: readonly string[];
  readonly self: string;
  /** Links that this process could not start when it last tried; none where absent. */
  readonly failed?: ReadonlySet<string>;
}

/**
 * The next step of a process: the links to take, where others may be faster, and one to give to a process that runs at least two fewer.
 * Where everybody follows it all links are run, and no two processes are more than one link apart.
 */
export function nextShare({ failed, holders, links, processes, self }: ShareView) {
  const held = (process: string) => links.filter((link) => holders.get(link) === process);
  const mine = held(self);
  const free = links.filter((link) => !holders.has(link));
  const isFailed = (link: string) => failed?.has(link) ?? false;
  const fair = Math.ceil(links.length / Math.max(1, processes.length));
  if (free.length > 0) {
    // What failed comes last: tried first by everybody, it would take the turn of those that can be run.
    const inTurn = free.toSorted((left, right) => Number(isFailed(left)) - Number(isFailed(right)));
    // One that nobody can run stays free: whoever came later would wait for the others for ever. What this process has run and another one
    // could not take over tells that more of that would stand still.
    const give = mine.length > fair && free.every(isFailed) ? mine.at(-1) : undefined;
    return { take: inTurn.slice(0, Math.max(0, fair - mine.length)), give };
  }
  const fewest = Math.min(...processes.map((process) => held(process).length));
  return { take: [], give: mine.length - fewest >= 2 ? mine.at(-1) : undefined };
}
