import type { KnownRecord } from '../core/state.ts';
import { digest } from '../core/text/digest.ts';
import { titledLabel } from './cells/lead-names.ts';
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

  /** Sees to them where it was not looked lately: they may be others than before, their tab may be gone, and columns may be new. */
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
    if (names.length === 0) return;
    const areWritten = mirror.readFact(sheetFacts.offeredLeads) === offered;
    const before = mirror.readFact(sheetFacts.leadColumns);
    const columns = await table.offerLeads(names, { areWritten, columns: before });
    if (!areWritten) mirror.saveFact(sheetFacts.offeredLeads, offered);
    if (columns.join() !== before?.join()) mirror.saveFact(sheetFacts.leadColumns, columns);
  }
}
