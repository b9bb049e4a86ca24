import type { Entity } from '../core/record.ts';
import type { Hold } from '../core/waiting/waiting.ts';
import { warehouseFacts } from './facts.ts';
import type { WarehouseLink } from './link.ts';
import type { WarehouseLayout } from './port/layout.ts';
import type { LayoutFault } from './port/port.ts';

/** What was laid out is looked at again after this time, sooner where something of it holds a table. */
const lookAgainMs = { whole: 60 * 60 * 1_000, held: 2_000 } as const;

/** The tables as they were laid out last, and what of them keeps rows from being written. */
export class LaidOut {
  readonly #link: WarehouseLink;
  /** `at` is monotonic ms. */
  #last: { readonly text: string; readonly faults: readonly LayoutFault[]; readonly at: number } | undefined;

  constructor(link: WarehouseLink) {
    this.#link = link;
  }

  /** To be called where the tables may be others than they were. */
  forget(): void {
    this.#last = undefined;
  }

  /** Lays out where the layout is another one, or where it is time to look again. */
  async keep(layout: WarehouseLayout): Promise<void> {
    const { clock, database, mirror } = this.#link;
    const [text, at] = [JSON.stringify(layout), clock.monotonicMs()];
    const againMs = this.faults.length > 0 ? lookAgainMs.held : lookAgainMs.whole;
    if (this.#last?.text === text && at - this.#last.at < againMs) return;
    this.#last = { text, faults: await database.layOut(layout), at };
    const gaps = this.#last.faults.flatMap(({ entity, isGap }) => (isGap && entity ? [entity] : []));
    if (gaps.length > 0)
      mirror.transaction(() => {
        for (const entity of gaps) mirror.saveFact(warehouseFacts.gap(entity), clock.now());
        mirror.dropFact(warehouseFacts.auditedAt);
      });
    // What is missing may come back without its content: all is compared then.
    if (this.faults.length > 0) mirror.dropFact(warehouseFacts.auditedAt);
  }

  /** What keeps tables from being written. */
  get faults(): readonly LayoutFault[] {
    return this.#last?.faults.filter(({ isHarmless }) => !isHarmless) ?? [];
  }

  /** Whether something keeps the table from being used, or all of them where none is named. */
  isHeld(entity?: Entity): boolean {
    return this.faults.some((fault) => fault.entity === undefined || fault.entity === entity);
  }

  /** The tables that are not as they were laid out. */
  get holds(): readonly Hold[] {
    const { entities } = this.#link;
    return this.faults.flatMap(({ entity, words }) =>
      (entity ? [entity] : entities).map((each): Hold => ({ entity: each, reason: words })),
    );
  }
}
