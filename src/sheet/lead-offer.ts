import type { KnownRecord } from '../core/state.ts';
import { digest } from '../core/text/digest.ts';
import { labelKey } from '../core/text/label-key.ts';
import { titledLabel } from './cells/lead-names.ts';
import { sheetFacts } from './facts.ts';
import type { SheetLink } from './link.ts';
import type { Layout } from './port/layout.ts';

/** The list of names costs a write of all of them, so it may be behind by this much. */
const everyMs = 10 * 60 * 1_000;

/** Of so many names the keys are made before anything else gets its turn. */
const sliceMax = 2_000;

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
    const leads = records().filter(({ key, presence }) => key.entity === 'lead' && presence === 'present');
    const names = leads.map(titledLabel);
    const offered = digest(names.join('\n'));
    if (names.length === 0 || mirror.readFact(sheetFacts.offeredLeads) === offered) return;
    await table.offerLeads(await this.#sort(names));
    mirror.saveFact(sheetFacts.offeredLeads, offered);
  }

  /**
   * Sorts names as people look for them. With 40,000 a collation takes a second, and a comparison of our own 0.1 s; as bare texts they are sorted in
   * 0.03 to 0.04 s. No key has a line break in it.
   */
  async #sort(names: readonly string[]): Promise<string[]> {
    const keyed: string[] = [];
    for (let start = 0; start < names.length; start += sliceMax) {
      if (start > 0) await this.#link.clock.sleep(0);
      for (const name of names.slice(start, start + sliceMax)) keyed.push(`${labelKey(name)}\n${name}`);
    }
    return keyed.sort().map((text) => text.slice(text.indexOf('\n') + 1));
  }
}
