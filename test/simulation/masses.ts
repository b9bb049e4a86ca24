import type { TabEntity } from './tab-view.ts';
import { Violation } from './violation.ts';

export type Side = 'CRM' | 'sheet';

/** What somebody deleted at one stroke, more than may go before a person agrees. */
interface Mass {
  readonly entity: TabEntity;
  /** Where it was deleted. */
  readonly side: Side;
  readonly ids: readonly string[];
  /** Which of them the other side had when somebody last did something. */
  readonly standing: readonly string[];
  /** Which of those went with what the daemon has written to the sheet since. */
  readonly missing: readonly string[];
}

/** What both sides have now. */
interface Sides {
  idsOn(side: Side, entity: TabEntity): ReadonlySet<string>;
  /** Whether a rule leaves the record out of the sheet: that its row is gone is no delete any longer. */
  isLeftOut(entity: TabEntity, id: string): boolean;
  /** How many may go at once. */
  readonly deletesMax: number;
}

/** The mass deletes that nobody has agreed to. */
export class Masses {
  #all: readonly Mass[] = [];
  readonly #sides: Sides;

  constructor(sides: Sides) {
    this.#sides = sides;
  }

  add(mass: Omit<Mass, 'standing' | 'missing'>): void {
    this.#all = [...this.#all, { ...mass, standing: mass.ids, missing: [] }];
    this.look();
  }

  /** Somebody agreed to what stops a tab, or nobody remembers any more what was there. */
  forget(entity?: string): void {
    this.#all = this.#all.filter((mass) => entity !== undefined && mass.entity !== entity);
  }

  /** Somebody deleted it elsewhere as well. */
  forgetRecord(entity: TabEntity, id: string): void {
    this.#all = this.#all.map((mass) =>
      mass.entity === entity ? { ...mass, ids: mass.ids.filter((each) => each !== id) } : mass,
    );
    this.look();
  }

  /** Nobody can tell any more what went at once on this side. */
  forgetSide(side: Side): void {
    this.#all = this.#all.filter((mass) => mass.side !== side);
  }

  /**
   * People did something: what came back, was left out by a rule, or went from the other side by their hands, does not count any more.
   */
  look(): void {
    this.#all = this.#all.flatMap((mass) => {
      const [here, there] = this.#ids(mass);
      const isLeftOut = (id: string) => mass.side === 'sheet' && this.#sides.isLeftOut(mass.entity, id);
      const isThere = (id: string) => there.has(id) || mass.missing.includes(id);
      const standing = mass.ids.filter((id) => !here.has(id) && isThere(id) && !isLeftOut(id));
      return standing.length > this.#sides.deletesMax ? [{ ...mass, standing }] : [];
    });
  }

  /** The daemon wrote to the sheet: a write that lands twice, or among moved rows, may take others with it, and gives them back. */
  noteMissing(): void {
    this.#all = this.#all.map((mass) => {
      const [, there] = this.#ids(mass);
      return { ...mass, missing: mass.standing.filter((id) => !there.has(id)) };
    });
  }

  /** S5: the daemon wrote, and nothing of it is left to mend; what so much else went with stays on the other side. */
  check(): void {
    for (const mass of this.#all) {
      const [here, there] = this.#ids(mass);
      // A row without its ID may have stood beside the one that was deleted: it has it back, and nothing went.
      const isCounted = (id: string) => !here.has(id) && !this.#sides.isLeftOut(mass.entity, id);
      const standing = mass.standing.filter(isCounted);
      const id = standing.find((candidate) => !there.has(candidate));
      if (id === undefined || standing.length <= this.#sides.deletesMax) continue;
      const what = `${mass.entity} ${id} went after ${mass.ids.length} deleted in the ${mass.side}`;
      throw new Violation('S5', `${what}, and nobody agreed`);
    }
  }

  /** What is left where it was deleted, and what on the other side. */
  #ids({ entity, side }: Mass): [here: ReadonlySet<string>, there: ReadonlySet<string>] {
    const other = side === 'CRM' ? 'sheet' : 'CRM';
    return [this.#sides.idsOn(side, entity), this.#sides.idsOn(other, entity)];
  }
}
