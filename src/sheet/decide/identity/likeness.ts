import { once } from '../../../core/once.ts';
import type { RecordId } from '../../../core/record.ts';
import type { Agreement } from '../../../core/state.ts';
import { labelKey } from '../../../core/text/label-key.ts';
import type { FieldName, Fields } from '../../../core/value.ts';
import { isMarkedKnown } from '../../cells/sync-text.ts';
import { bareCell, type Cell, emptyCell, equalCells } from '../../port/cell.ts';
import type { ObservedRow } from '../../port/table.ts';
import {
  type Cells,
  type CellsOfRow,
  cellsOf,
  lookOf,
  lookOfValues,
  readRowValues,
  saysNothing,
} from '../rows/row-values.ts';
import type { TabIndex } from '../tab-index.ts';

/** So many values of a record are no coincidence, if one of them is that record's alone. */
const sharedMin = 2;

/** A record, and the cells of a row that shows it. */
export interface OwnCells {
  readonly id: RecordId;
  readonly own: ObservedRow['cells'];
}

/** Whether cells show so much of what a record has that they surely come from its row. */
export function showsPart(index: TabIndex, cells: ObservedRow['cells'], { id, own }: OwnCells): boolean {
  const shared = sharedNames(index, cells, own);
  // Nobody types into a column that only shows, so a value there counts twice.
  const weight = shared.length + shared.filter((name) => isShownOnly(index, name)).length;
  return weight >= sharedMin && shared.some((name) => isRare(index, name, id));
}

/** Whether cells show something that people type and that only this record has. */
export const showsRare = (index: TabIndex, cells: ObservedRow['cells'], { id, own }: OwnCells): boolean =>
  sharedNames(index, cells, own).some((name) => !isShownOnly(index, name) && isRare(index, name, id));

/** The cells that both show. A checkbox in a boxed column tells nothing of whose row it is: every row has one. */
const sharedNames = (index: TabIndex, cells: Cells, own: Cells): readonly FieldName[] =>
  Object.entries(cells).flatMap(([name, cell]) =>
    !saysNothing(index, name, cell) && equalCells(cell, own[name] ?? emptyCell) ? [name] : [],
  );

export const isShownOnly = ({ layout }: TabIndex, name: FieldName): boolean =>
  layout.columns.some(({ direction, field }) => field === name && direction === 'toTable');

/** Whether the record is the only one of its tab that has its value of the field. */
const isRare = ({ agreements, countAgreed }: TabIndex, name: FieldName, id: RecordId): boolean =>
  countAgreed(name, agreements.get(id)?.fields[name]) === 1;

/** What its row may show of a record: what was agreed when the row was last seen, what the CRM has now, and what our last writes replaced. */
function versionsOf(index: TabIndex, agreement: Agreement): readonly Fields[] {
  const known = baseOf(index, agreement);
  // A write that was on its way when the row lost its ID may have brought what the CRM has by now.
  const { fields: inCrm = known, written } = index.records.get(agreement.key.id) ?? {};
  // Somebody may have taken back in the sheet what was on its way to the CRM.
  return written ? [known, inCrm, { ...inCrm, ...written.earlier, ...written.before }] : [known, inCrm];
}

/**
 * Records by all that a row like `template` would show of them: at least those of which it would show exactly what one of the rows shows. There
 * may be tens of thousands of records, so the others are left out by one column, which costs a tenth of all columns.
 */
export function groupByLook(
  index: TabIndex,
  template: ObservedRow,
  rows: readonly ObservedRow[],
  agreements: readonly Agreement[],
): ReadonlyMap<string, readonly Agreement[]> {
  if (agreements.length === 0) return new Map();
  const column = index.layout.columns.find(({ field }) => field in template.cells)?.field ?? '';
  const partOf = ({ cells }: CellsOfRow): CellsOfRow => ({
    cells: { [column]: cells[column] ?? emptyCell },
  });
  const parts = new Set(rows.map((row) => lookOf(index, partOf(row))));
  const lookOfRecord = (row: CellsOfRow, agreement: Agreement) =>
    lookOfValues(index, row, baseOf(index, agreement), agreement.shown);
  const part = partOf(template);
  const alike = agreements.filter((agreement) => parts.has(lookOfRecord(part, agreement)));
  return Map.groupBy(alike, (agreement) => lookOfRecord(template, agreement));
}

/** Whether the row looks like the record's, although not for certain. */
export function isLike(index: TabIndex, row: ObservedRow, agreement: Agreement): boolean {
  const shown = readRowValues(index, row).fields;
  if (versionsOf(index, agreement).some((fields) => resembles(fields, shown))) return true;
  // Records that the CRM made in one minute have columns alike that only show.
  const typed = Object.fromEntries(Object.entries(row.cells).filter(([name]) => !isShownOnly(index, name)));
  const own = cellsOf(index, row, baseOf(index, agreement), agreement.shown);
  return showsPart(index, typed, { id: agreement.key.id, own });
}

/**
 * Finds those of the records that a row looks like, in their order. Many rows may be pasted while many records lack theirs, so a row is
 * compared only with records that share something telling with it: a value that no other record has, or their {@link sharedTrait}. To look through
 * one column of tens of thousands of records takes some milliseconds, so that is done once a row has something in it. A row that is typed anew
 * is none that left its tab by a rule, whatever both are called: else a usual name could never be used again.
 */
export function createLikeSearch(index: TabIndex, agreements: readonly Agreement[]) {
  const byColumn = new Map<FieldName, Places>();
  const shared = once(() =>
    placesBy(agreements, (agreement) => versionsOf(index, agreement).map(sharedTrait)),
  );
  const placesIn = (name: FieldName): Places => {
    const known = byColumn.get(name);
    if (known) return known;
    const found = placesBy(agreements, (agreement) =>
      isRare(index, name, agreement.key.id) ? formsIn(index, name, agreement) : [],
    );
    byColumn.set(name, found);
    return found;
  };
  const findIn = (name: FieldName, cell: Cell): readonly number[] =>
    traitsIn({ [name]: bareCell(cell) }).flatMap((trait) => placesIn(name).get(trait) ?? []);
  return (row: ObservedRow): readonly Agreement[] => {
    if (agreements.length === 0) return [];
    const telling = Object.entries(row.cells).flatMap(([name, cell]) => findIn(name, cell));
    const trait = sharedTrait(readRowValues(index, row).fields);
    const alike = trait === undefined ? [] : (shared().get(trait) ?? []);
    const places = new Set([...telling, ...alike]);
    const found = [...places].toSorted((left, right) => left - right);
    const isNew = isTypedAnew(index, row);
    return found
      .flatMap((place) => agreements[place] ?? [])
      .filter((agreement) => !(isNew && agreement.leave?.state === 'left') && isLike(index, row, agreement));
  };
}

/** Whether a row has nothing that only the daemon writes: the row of a record that a user puts back brings that along. */
function isTypedAnew(index: TabIndex, row: ObservedRow): boolean {
  const shownOnly = Object.entries(row.cells).filter(([name]) => isShownOnly(index, name));
  const isBare = shownOnly.length > 0 && shownOnly.every(([name, cell]) => saysNothing(index, name, cell));
  return isBare && !isMarkedKnown(row);
}

/** All that a row may show of a record in a column: its value in the usual form, and in each that it once had. */
function formsIn(index: TabIndex, name: FieldName, agreement: Agreement): string[] {
  const row = { cells: { [name]: emptyCell } };
  const forms = (agreement.shown?.[name] ?? []).map((form) => ({ [name]: [form] }));
  return [undefined, ...forms].flatMap((shown) => {
    const { [name]: cell = emptyCell } = cellsOf(index, row, baseOf(index, agreement), shown);
    return traitsIn({ [name]: bareCell(cell) });
  });
}

/** The places of records in their list, by what they have. */
type Places = ReadonlyMap<string, readonly number[]>;

function placesBy(
  agreements: readonly Agreement[],
  find: (agreement: Agreement) => readonly (string | undefined)[],
): Places {
  const places = new Map<string, number[]>();
  for (const [place, agreement] of agreements.entries())
    for (const trait of new Set(find(agreement))) {
      if (trait === undefined) continue;
      const known = places.get(trait);
      if (known) known.push(place);
      else places.set(trait, [place]);
    }
  return places;
}

/** What cells show, each as one text. */
export const traitsIn = (cells: Cells): string[] =>
  Object.entries(cells).flatMap(([name, cell]) =>
    cell.kind === 'empty' ? [] : [`${name} ${JSON.stringify(cell)}`],
  );

/**
 * Whether two records are likely one: the same title; or, where they have none, the same lead and stage, or the same lead and the same
 * name or e-mail address for contacts.
 */
export function resembles(left: Fields, right: Fields): boolean {
  const hasEither = (name: FieldName) => left[name] !== undefined || right[name] !== undefined;
  const isSameText = (name: FieldName) => {
    const [one, other] = [left[name], right[name]];
    return typeof one === 'string' && typeof other === 'string' && labelKey(one) === labelKey(other);
  };
  if (hasEither('title')) return isSameText('title');
  const { lead_id: leadId } = left;
  if (leadId === undefined || leadId !== right['lead_id']) return false;
  if (hasEither('full_name')) return isSameText('full_name') || isSameText('email');
  return left['stage_id'] === right['stage_id'];
}

/** What all that resembles a record has as well, in one text: the title, or the lead of what has none. `undefined` where nothing can. */
function sharedTrait({ lead_id: leadId, title }: Fields): string | undefined {
  if (title !== undefined) return typeof title === 'string' ? `called ${labelKey(title)}` : undefined;
  return leadId === undefined ? undefined : `of ${JSON.stringify(leadId)}`;
}

/** What is known of a record whose row is not there: of one whose row went before the CRM told anything of it, what was sent. */
export const baseOf = (index: TabIndex, { key, fields }: Agreement): Fields =>
  Object.keys(fields).length > 0 ? fields : (index.findOrigin(key.id)?.fields ?? {});

/** Whether a record has a row, or had one with the token of its create. */
export const isInTable = (index: TabIndex, { fields, key }: Agreement): boolean =>
  Object.keys(fields).length > 0 || index.findOrigin(key.id) !== undefined;

/** Whether the read before lacked the row of a record as well, also one that still had the token of its create. */
export function wasMissing(index: TabIndex, { key }: Agreement): boolean {
  const origin = index.findOrigin(key.id);
  return index.input.wasMissing(key) && (!origin || index.input.wasMissing(origin.key));
}

const namedMax = 5;

/** What to say of a row that looks like these records, after a beginning such as {@link likeMark}, and what can be done instead of giving it an ID. */
export function suspectReason(start: string, ids: readonly RecordId[], orElse: string): string {
  const [only, ...others] = ids;
  if (others.length === 0)
    return `${start} record ${only}, and may be its row. Put ${only} into the ID cell, or ${orElse}.`;
  const named = [...ids.slice(0, namedMax), ...(ids.length > namedMax ? ['…'] : [])].join(', ');
  return `${start} the records ${named}, and may be the row of one of them. Put the right one into the ID cell, or ${orElse}.`;
}
