import { SyncError } from '../core/errors.ts';
import { emptyCatalog } from '../core/fields/catalog.ts';
import { type FieldDefinition, findField } from '../core/fields/field.ts';
import type { Entity, RecordId } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import { listFew, quoteText } from '../core/text/cut-text.ts';
import { labelKey } from '../core/text/label-key.ts';
import type { Value } from '../core/value.ts';
import type { Engine } from '../sync/engine.ts';
import { readAllContacts } from '../sync/reading/contacts.ts';
import type { OnRead } from '../sync/reading/puller.ts';
import { beginWrite, sendWrite } from './apply.ts';
import { decode, type Names } from './cells/codec.ts';
import { namesOf } from './cells/lead-names.ts';
import { idCell } from './cells/shown.ts';
import { describeValue } from './cells/sync-text.ts';
import type { BoundRow } from './decide/identity/bind.ts';
import type { SheetLink } from './link.ts';
import { type Cell, describeCell, equalCells } from './port/cell.ts';
import { newSheetError } from './port/errors.ts';
import { type Column, type Layout, recordTabs, type TabLayout } from './port/layout.ts';
import { isBlank, type ObservedRow, type ObservedTable, type SetStep } from './port/table.ts';
import { saveRebase } from './rebase.ts';
import { tableLayout } from './tab-columns.ts';

/** What matching came to in one tab. */
export interface TabAdoption extends Adoption {
  readonly entity: Entity;
  readonly title: string;
}

/**
 * Reads from the CRM what the rows may be: the catalog, all records that it lists and, where the tab of contacts has the column, the contacts
 * of every lead, which costs a request for each. Fails like {@link planAdoption}.
 */
export async function readCandidates(
  engine: Pick<Engine, 'pullAll'>,
  link: SheetLink,
  column: string,
  onRead: OnRead,
): Promise<void> {
  const wanted = await planAdoption(link, column);
  await engine.pullAll(onRead);
  if (wanted.some(({ entity }) => entity === 'contact')) onRead('contact', await readAllContacts(link), true);
}

/**
 * What matching the rows of all tabs by a column would come to; `column` is its header or field. Reads the table and writes nothing. Fails
 * with CONFIG_INVALID when no tab has such a column.
 */
export async function planAdoption(link: SheetLink, column: string): Promise<readonly TabAdoption[]> {
  const layout = tableLayout(link);
  return matchTabs(link, layout, await link.table.read(layout), column);
}

/** Rows that keep moving are put right so often. */
const roundsMax = 4;

/**
 * Writes the IDs of their records into the rows that are certain, as they are now, in one batch, and reads all of it again: a row that holds
 * another ID than it should gets its own.
 * Fails with SHEET_UNREACHABLE when rows go on moving.
 */
export async function adoptRows(link: SheetLink, column: string): Promise<readonly TabAdoption[]> {
  const layout = tableLayout(link);
  const before = await link.table.read(layout);
  const adoptions = matchTabs(link, layout, before, column);
  // Whoever has IDs written agrees that the tab is joined, unless IDs stand there that may be numbers of its own.
  for (const { entity, unclear } of adoptions)
    if (unclear.every(({ row }) => row.id.kind === 'empty')) saveRebase(link.mirror, entity, '');
  const wanted = new Map(adoptions.map((adoption) => [adoption.entity, wantedIds(adoption, before)]));
  let now = before;
  for (let round = 1; round <= roundsMax; round += 1) {
    const steps = adoptions.flatMap(({ entity }) => idSteps(entity, wanted.get(entity), now));
    if (steps.length === 0) return adoptions;
    const decided = { at: link.clock.now(), run: `adopt-${link.newWord()}` };
    const written = steps.map((write) => ({ write }));
    const open = link.mirror.transaction(() => beginWrite(link, decided, written));
    const { refusal } = await sendWrite(link, open, { undoneWrites: 0, escalatedWrites: 0 });
    if (refusal) throw refusal;
    now = await link.table.read(layout);
  }
  throw newSheetError('SHEET_UNREACHABLE', 'Rows moved again and again while their IDs were written.');
}

/** The ID that belongs into a row, by what the row shows. */
type WantedIds = ReadonlyMap<string, Cell>;

const lookOf = ({ cells }: ObservedRow): string => JSON.stringify(cells);

function wantedIds({ entity, matches }: TabAdoption, { tabs }: ObservedTable): WantedIds {
  const tab = tabs[entity];
  const found = new Map(matches.map(({ row, id }) => [row, idCell(id)]));
  const groups = Map.groupBy(tab.state === 'held' ? [] : tab.rows, lookOf);
  return new Map(
    [...groups].flatMap(([look, [row, ...same]]) =>
      row && same.length === 0 ? [[look, found.get(row) ?? row.id] as const] : [],
    ),
  );
}

/** What brings every row that is known again to its ID; a row that was edited meanwhile is nobody's to judge. */
function idSteps(entity: Entity, wanted: WantedIds | undefined, { tabs }: ObservedTable): SetStep[] {
  const tab = tabs[entity];
  return (tab.state === 'held' ? [] : tab.rows).flatMap((row) => {
    const id = wanted?.get(lookOf(row));
    if (!id || equalCells(id, row.id)) return [];
    return [{ kind: 'set', entity, position: row.position, idSeen: row.id, id, cells: {} }];
  });
}

function matchTabs(
  { mirror }: SheetLink,
  layout: Layout,
  table: ObservedTable,
  column: string,
): readonly TabAdoption[] {
  const catalog = mirror.readCatalog() ?? emptyCatalog;
  const records = mirror.readRecords().filter(({ presence }) => presence === 'present');
  const names = namesOf({ catalog, records }, table.timeZone);
  const keyed = recordTabs(layout).flatMap((tab) => {
    const key = findColumn(tab, column);
    return key ? [{ tab, key }] : [];
  });
  if (keyed.length === 0) throw new SyncError('CONFIG_INVALID', describeColumns(layout, column));
  return keyed.flatMap(({ tab: { entity, title }, key }) => {
    const observed = table.tabs[entity];
    const field = findField(entity, key.field, catalog);
    if (observed.state === 'held' || !field) return [];
    const own = records.filter((record) => record.key.entity === entity);
    const keyField = { ...field, header: key.header };
    return [{ entity, title, ...matchRows({ rows: observed.rows, records: own, key: keyField, names }) }];
  });
}

const findColumn = ({ columns }: TabLayout, text: string): Column | undefined =>
  columns.find(({ field, header }) => field === text || labelKey(header) === labelKey(text));

const describeColumns = (layout: Layout, column: string): string =>
  [
    `No tab has a column “${column}” to match by.`,
    ...recordTabs(layout).map(
      ({ title, columns }) => `${title} has ${columns.map(({ header }) => header).join(', ')}.`,
    ),
  ].join(' ');

/** What becomes of the rows of a tab that users filled before the daemon came. */
interface Adoption {
  /** Rows that carry the ID of a record already, and show it in the key column. */
  readonly identified: number;
  /** Rows without an ID, and the only record that each can be. */
  readonly matches: readonly BoundRow[];
  /** Rows for which a person has to say which record they are, or that they are new ones. */
  readonly unclear: readonly { readonly row: ObservedRow; readonly reason: string }[];
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
    const isRead = record !== undefined && read(row)?.kind === 'value';
    return isRead && keyOf(row) === comparisonKey(keyValueOf(record));
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
    const [record, ...same] = recordsByKey.get(text) ?? [];
    if (!record) return { reason: `No record of the CRM has ${shown}.` };
    if (same.length > 0) {
      const ids = [record, ...same].map((each) => each.key.id);
      return { reason: `Several records of the CRM have ${shown}: ${listFew(ids, namedMax)}.` };
    }
    const { id } = record.key;
    const alike = (rowsByKey.get(text) ?? []).filter((other) => other !== row);
    const holder = holders.get(id);
    const rivals = [...alike, ...(holder ? [holder] : [])].map(rowNumber);
    const others = `${shown} also stands in row ${listFew(rivals, namedMax)}`;
    return rivals.length > 0 ? { reason: `${others}, and only record ${id} has it.` } : id;
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
