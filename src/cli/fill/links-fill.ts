import type { LinkAnswer, StatusAnswer } from '../../app/answers.ts';
import { type FillProgress, LinkFill, lastEnd, sumOf } from './fill-progress.ts';

/** Asks the daemon, about one of its links where it is named. */
type Ask = <Answer>(path: string, link?: string) => Promise<Answer>;

/** Follows the first fills of the links that a process runs, as one. */
export class LinksFill {
  /** Of each link that had something to fill, also when it has ended: else the sum would shrink. */
  readonly #fills = new Map<string, FillProgress>();
  readonly #followed = new Map<string, LinkFill>();

  /** How far all of them are; `undefined` once they are done, and none is still to be taken by a process or stopped. */
  async read(ask: Ask): Promise<FillProgress | undefined> {
    const { links } = await ask<{ links: LinkAnswer[] }>('/api/links');
    let [isAnyFilled, stopped]: [boolean, FillProgress?] = [false];
    for (const { isHere, name } of links) {
      const followed = this.#followed.get(name) ?? new LinkFill();
      this.#followed.set(name, followed);
      const told = isHere ? followed.read(await ask<StatusAnswer>('/api/status', name)) : undefined;
      if (told?.isStopped) stopped = told;
      const fill = told?.isStopped ? undefined : told;
      if (fill) isAnyFilled = true;
      this.#note(name, isHere, fill);
    }
    return isAnyFilled || links.some(isToCome) ? sumFills([...this.#fills.values()]) : stopped;
  }

  #note(name: string, isHere: boolean, fill: FillProgress | undefined): void {
    const before = this.#fills.get(name);
    if (fill) this.#fills.set(name, fill);
    // What another process goes on with is told there.
    else if (!isHere) this.#fills.delete(name);
    else if (before) this.#fills.set(name, endOf(before));
  }
}

/** What can not be run is no reason to wait. */
const isToCome = ({ conditions, isHere, url }: LinkAnswer): boolean =>
  !isHere && url === undefined && conditions.every(({ name }) => name === 'NOT_READ_YET');

function endOf({ done, total = done }: FillProgress): FillProgress {
  return { phase: 'filling', done: total, total };
}

/** While any link reads, what others have to fill counts as read. The last one ends the sum. */
function sumFills(fills: readonly FillProgress[]): FillProgress {
  const phase = fills.some((fill) => fill.phase === 'reading') ? 'reading' : 'filling';
  const counted = fills.map((fill) => (fill.phase === phase ? fill : endOf(fill)));
  return { phase, ...sumOf(counted), endsAt: lastEnd(counted.filter(({ done, total }) => done !== total)) };
}
