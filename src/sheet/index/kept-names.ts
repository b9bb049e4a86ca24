import type { Catalog } from '../../core/fields/catalog.ts';
import type { Agreement, KnownRecord } from '../../core/state.ts';
import { createNames, type Names } from '../cells/codec.ts';
import { comingTitles, lazyTitles, lazyUserIds, singleTitles, titledChoiceOf } from '../cells/lead-names.ts';
import type { DecideInput } from '../plans/plan.ts';
import type { ObservedRow } from '../port/table.ts';
import type { ItemIndex } from './item-index.ts';

/** What names are made of, and the names. */
interface Made {
  readonly catalog: Catalog;
  readonly others: string;
  readonly names: Names;
}

/** The names that cells show, made anew only where one of them is another: there may be as many as records. */
export class KeptNames {
  #made: Made | undefined;
  #version = 0;

  /** To be called with each lead or task that changed. */
  noteRecord(old: KnownRecord | undefined, record: KnownRecord | undefined): void {
    if (!areSame(titlesOf(old), titlesOf(record))) this.#version += 1;
  }

  /** The same for what is agreed of them. */
  noteAgreement(old: Agreement | undefined, agreement: Agreement | undefined): void {
    if (!areSame(agreedTitlesOf(old), agreedTitlesOf(agreement))) this.#version += 1;
  }

  /** `rowsOf` returns the rows that may become records, of a tab that can be read. */
  namesFor(
    { known, table }: DecideInput,
    records: ItemIndex<KnownRecord>,
    agreements: ItemIndex<Agreement>,
    rowsOf: (entity: 'lead' | 'task') => readonly ObservedRow[],
  ): Names {
    const comingOf = (entity: 'lead' | 'task') =>
      comingTitles(rowsOf(entity), known.outbox, (id) => records.of(entity).get(id));
    const [leads, tasks] = [comingOf('lead'), comingOf('task')];
    const others = JSON.stringify([this.#version, table.timeZone, leads, tasks]);
    if (this.#made?.catalog !== known.catalog || this.#made.others !== others) {
      const indexFor = (entity: 'lead' | 'task', coming: readonly string[]) =>
        singleTitles(lazyTitles(entity, known, coming), (id) => {
          const record = records.of(entity).get(id);
          return record && titledChoiceOf(record, agreements.of(entity).get(id));
        });
      const names = {
        ...createNames(known.catalog, [], table.timeZone),
        leads: indexFor('lead', leads),
        tasks: indexFor('task', tasks),
      };
      this.#made = { catalog: known.catalog, others, names };
    }
    return { ...this.#made.names, userIds: lazyUserIds(known) };
  }
}

/** All that {@link titledChoiceOf} reads of a record. */
const titlesOf = (record: KnownRecord | undefined): readonly unknown[] => [
  record?.fields['title'],
  record?.written?.before['title'],
  record?.written?.earlier?.['title'],
  record?.presence,
];

/** All that it reads of what is agreed. */
const agreedTitlesOf = (agreement: Agreement | undefined): readonly unknown[] => [
  agreement?.fields['title'],
  agreement?.offered['title'],
];

const areSame = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.every((part, place) => part === after[place]);
