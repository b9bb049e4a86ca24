import type { SheetLink } from '../../src/sheet/link.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { SheetSide } from '../../src/sheet/side.ts';
import type { ToldPlan } from '../../src/sheet/told-plan.ts';
import { Engine } from '../../src/sync/engine.ts';
import type { Side } from '../../src/sync/side.ts';

/** The engine of a link whose first side is a spreadsheet, with that side's own plans. */
export class SheetEngine extends Engine {
  declare readonly link: SheetLink;
  readonly #side: SheetSide;

  constructor(link: SheetLink, others: readonly Side[] = []) {
    const side = new SheetSide(link);
    super(link, [side, ...others]);
    this.#side = side;
  }

  /** The plan of the last cycle. */
  get lastPlan(): Plan | undefined {
    return this.#side.lastPlan;
  }

  /** How many cycles of the sheet there were. */
  get sheetCycles(): number {
    return this.#first.counts.cycles;
  }

  /** One cycle now. Returns what was applied. */
  override cycle(): Promise<Plan> {
    return this.#first.cycle() as Promise<Plan>;
  }

  plan(): Promise<ToldPlan> {
    return this.#first.plan() as Promise<ToldPlan>;
  }

  get #first() {
    const [runner] = this.runners;
    if (!runner) throw new Error('The engine has no side.');
    return runner;
  }
}
