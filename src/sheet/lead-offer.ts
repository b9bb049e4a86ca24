import type { KnownRecord } from '../core/state.ts';
import { digest } from '../core/text/digest.ts';
import { labelKey } from '../core/text/label-key.ts';
import { titledChoices } from './cells/lead-names.ts';
import { sheetFacts } from './facts.ts';
import type { SheetLink } from './link.ts';
import type { Layout } from './port/layout.ts';

/** The list of names costs a write of all of them, so it may be behind by this much. */
const everyMs = 10 * 60 * 1_000;

/** Keeps the names that dropdowns of leads offer up to date. */
export class LeadOffer {
  readonly #link: Pick<SheetLink, 'clock' | 'mirror' | 'table'>;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(link: Pick<SheetLink, 'clock' | 'mirror' | 'table'>) {
    this.#link = link;
  }

  /** Writes them where they are others than before, and it was not looked lately. */
  async renew(layout: Layout, records: () => readonly KnownRecord[]): Promise<void> {
    const { clock, mirror, table } = this.#link;
    const isWanted = layout.some(({ columns }) =>
      columns.some(({ direction, kind }) => kind === 'lead' && direction === 'both'),
    );
    if (!isWanted || clock.monotonicMs() - this.#lookedAt < everyMs) return;
    this.#lookedAt = clock.monotonicMs();
    const present = records().filter(({ presence }) => presence === 'present');
    const names = titledChoices('lead', present).map(({ label }) => label);
    const sorted = sortNames(names);
    const offered = digest(sorted.join('\n'));
    if (sorted.length === 0 || mirror.readFact(sheetFacts.offeredLeads) === offered) return;
    await table.offerLeads(sorted);
    mirror.saveFact(sheetFacts.offeredLeads, offered);
  }
}

/** As people look for them. Of tens of thousands a collation would keep everything else waiting for a second. */
const sortNames = (names: readonly string[]): string[] =>
  names
    .map((name) => [labelKey(name), name] as const)
    .sort(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .map(([, name]) => name);
