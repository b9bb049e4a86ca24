import type { FieldDefinition } from '../core/fields/field.ts';
import type { RecordId } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import { listFew, quoteText } from '../core/text/cut-text.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { Value } from '../core/value.ts';
import { decode, type Names } from './cells/codec.ts';
import { describeValue } from './cells/describe-value.ts';
import { describeCell } from './port/cell.ts';
import { isBlank, type ObservedRow } from './port/table.ts';

/** A row without an ID, and the only record that it can be. */
export interface Match {
  readonly row: ObservedRow;
  readonly id: RecordId;
}

/** A row for which a person has to say which record it is, or that it is a new one. */
export interface UnclearRow {
  readonly row: ObservedRow;
  readonly reason: string;
}

/** What becomes of the rows of a tab that somebody filled before the daemon came. */
export interface Adoption {
  /** Rows that carry the ID of a record already, and show it in the key column. */
  readonly identified: number;
  readonly matches: readonly Match[];
  readonly unclear: readonly UnclearRow[];
}

/** What matching has to know: the rows of a tab, the records of its kind that are in the CRM, and the field that tells them apart. */
export interface AdoptionInput {
  readonly rows: readonly ObservedRow[];
  readonly records: readonly StoredRecord[];
  readonly key: FieldDefinition;
  readonly names: Names;
}

/**
 * Finds the record of every row: by its ID, else by what it shows in the key column. Only a value that one row and one record have is a
 * match; whatever is less certain is left to a person. So is an ID whose record has another value there: people number their lists, and
 * call that ID as well.
 */
export function matchRows({ rows, records, key, names }: AdoptionInput): Adoption {
  const filled = rows.filter((row) => row.id.kind !== 'empty' || !isBlank(row));
  const known = new Map(records.map((record) => [record.key.id, record]));
  const recordById = (row: ObservedRow) => known.get(describeCell(row.id));
  const holders = new Map(filled.filter(recordById).map((row) => [describeCell(row.id), row]));
  const read = (row: ObservedRow) => {
    const cell = row.cells[key.name];
    return cell && decode(key, cell, names);
  };
  const keyOf = (row: ObservedRow): string | undefined => {
    const seen = read(row);
    return seen?.kind === 'value' ? comparisonKey(seen.value) : undefined;
  };
  const keyValueOf = ({ fields }: StoredRecord): Value => fields[key.name] ?? null;
  const isIdentified = (row: ObservedRow): boolean => {
    const record = recordById(row);
    return (
      record !== undefined && read(row)?.kind === 'value' && keyOf(row) === comparisonKey(keyValueOf(record))
    );
  };
  const unnamed = filled.filter((row) => row.id.kind === 'empty');
  const rowsByKey = Map.groupBy(unnamed, keyOf);
  const recordsByKey = Map.groupBy(records, (record) => comparisonKey(keyValueOf(record)));

  /** The record of a row, or why it has none. */
  function judge(row: ObservedRow): RecordId | { readonly reason: string } {
    const named = recordById(row);
    if (named) {
      const value = describeValue(key, keyValueOf(named), names);
      return { reason: `Its ID is that of record ${named.key.id}, whose ${key.header} is “${value}”.` };
    }
    if (row.id.kind !== 'empty')
      return { reason: `No record of the CRM has the ID ${quoteText(describeCell(row.id))}.` };
    const text = keyOf(row);
    if (text === undefined) return { reason: `${key.header} is empty or can not be read.` };
    const shown = `${key.header} ${quoteText(describeCell(row.cells[key.name] ?? row.id))}`;
    const [record, ...others] = recordsByKey.get(text) ?? [];
    if (!record) return { reason: `No record of the CRM has ${shown}.` };
    if (others.length > 0) {
      const ids = [record, ...others].map((each) => each.key.id);
      return { reason: `Several records of the CRM have ${shown}: ${listFew(ids, namedMax)}.` };
    }
    const { id } = record.key;
    const same = (rowsByKey.get(text) ?? []).filter((other) => other !== row);
    const holder = holders.get(id);
    const rivals = [...same, ...(holder ? [holder] : [])].map(rowNumber);
    if (rivals.length > 0)
      return {
        reason: `${shown} also stands in row ${listFew(rivals, namedMax)}, and only record ${id} has it.`,
      };
    return id;
  }

  const judged = filled.filter((row) => !isIdentified(row)).map((row) => ({ row, found: judge(row) }));
  return {
    identified: filled.length - judged.length,
    matches: judged.flatMap(({ row, found }) => (typeof found === 'string' ? [{ row, id: found }] : [])),
    unclear: judged.flatMap(({ row, found }) => (typeof found === 'string' ? [] : [{ row, ...found }])),
  };
}

/** Where a column tells nothing apart, thousands of rows would each name thousands of others. */
const namedMax = 5;

/** The number that people see beside the row. */
export const rowNumber = (row: ObservedRow): number => row.position + 1;

/** Equal for values that people would call the same; `undefined` for none. */
function comparisonKey(value: Value): string | undefined {
  if (value === null) return undefined;
  return typeof value === 'string' ? labelKey(value) : JSON.stringify(value);
}
