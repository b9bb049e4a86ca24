import type { Rows } from './shown-tables.ts';

/** A field that a version has otherwise than the one before it. */
export interface FieldChange {
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What the CRM had of a record for some time. Instants are texts of PostgreSQL. */
export interface ShownVersion {
  readonly validFrom: string | null;
  /** The change was after this; `null` where that is not known. */
  readonly validAfter: string | null;
  /** `null` for the version of now. */
  readonly validUntil: string | null;
  readonly ended: string | null;
  readonly madeBy: string | null;
  /** Empty for the first version. */
  readonly changes: readonly FieldChange[];
}

const boundNames = ['id', 'valid_from', 'valid_after', 'valid_until', 'ended', 'made_by'];

/** The versions of one record, in the order in which they are given: the newest first. */
export function describeVersions({ columns, rows }: Rows): readonly ShownVersion[] {
  const names = columns.map(({ name }) => name);
  return rows.map((row, index) => {
    const valueIn = (name: string) => row[names.indexOf(name)] ?? null;
    const earlier = rows[index + 1];
    const changes = names.flatMap((column, at): FieldChange[] => {
      if (!earlier || boundNames.includes(column)) return [];
      const [before, after] = [earlier[at] ?? null, row[at] ?? null];
      return before === after ? [] : [{ column, before, after }];
    });
    return {
      validFrom: valueIn('valid_from'),
      validAfter: valueIn('valid_after'),
      validUntil: valueIn('valid_until'),
      ended: valueIn('ended'),
      madeBy: valueIn('made_by'),
      changes,
    };
  });
}
