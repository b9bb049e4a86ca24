import type { SheetLink } from '../../src/sheet/link.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { SheetSide } from '../../src/sheet/side.ts';
import { Engine } from '../../src/sync/engine.ts';

/** The engine of a link whose only side is a spreadsheet, with that side's own plans. */
export class SheetEngine extends Engine {
  declare readonly link: SheetLink;
  readonly #side: SheetSide;

  constructor(link: SheetLink) {
    const side = new SheetSide(link);
    super(link, [side]);
    this.#side = side;
  }

  /** The plan of the last cycle. */
  get lastPlan(): Plan | undefined {
    return this.#side.lastPlan;
  }

  /** One cycle now. Returns what was applied. */
  override cycle(): Promise<Plan> {
    return this.#only.cycle() as Promise<Plan>;
  }

  plan(): Promise<Plan> {
    return this.#only.plan() as Promise<Plan>;
  }

  get #only() {
    const [runner] = this.runners;
    if (!runner) throw new Error('The engine has no side.');
    return runner;
  }
}
