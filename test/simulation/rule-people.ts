import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import type { Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { leaveAfterMs } from '../../src/sheet/only/leave.ts';
import { callCrm } from './crm-people.ts';
import type { Operation, OperationKind } from './operation.ts';
import { formulaOf } from './own-cells.ts';
import { isRecordId, type People, pick } from './people.ts';
import { ownerText } from './sheet-people.ts';
import { sheetIds } from './spreadsheet.ts';
import { fittingStatuses } from './stage.ts';
import { formulaHeader, noteHeader, ownerHeader, type TabEntity } from './tab-view.ts';

/*
 * People at work on a tab that has some of the leads alone: they make leads fit and not fit, put rows back that left, and write beside rows
 * that are about to leave.
 */

const deeds: Partial<Record<OperationKind, (people: People, operation: Operation) => void>> = {
  'set a status in the CRM': setStatus,
  'type a status': typeStatus,
  'put a row back': putBack,
  'write a note': writeNote,
  'clear a note': clearNote,
};

export const isOfRule = (kind: OperationKind): boolean => kind in deeds || kind === 'wait for minutes';

export async function workOnRule(people: People, operation: Operation): Promise<string> {
  const { stage } = people;
  if (operation.kind !== 'wait for minutes') {
    deeds[operation.kind]?.(people, operation);
    return 'done';
  }
  // Half of them wait for a row that is to leave, and some are there when it does.
  if (operation.how % 2 === 0) setStatus(people, { ...operation, what: fittingStatuses.length });
  const until = stage.clock.monotonicMs() + leaveAfterMs + (operation.what % 40_000) - 10_000;
  while (stage.clock.monotonicMs() < until) await stage.proceed();
  return 'minutes went by';
}

const ownHeaders = [ownerHeader, formulaHeader, noteHeader];

/** Whether a lead has to have a row: it fits, or something beside its row keeps it there, which a late write may have put there. No formula does. */
export function isInTab(people: People, entity: TabEntity, id: string): boolean {
  if (entity !== 'lead' || !people.isLeftOut(entity, id)) return true;
  const tab = people.tab('lead');
  const row = tab?.rows.find((each) => each.id === id);
  const cells = row && tab?.sheet.rows[row.position];
  const isWritten = (header: string) => {
    const cell = cells?.[tab?.columnOf(header) ?? -1];
    return formattedValue(cell) !== '' && cell?.userEnteredValue?.formulaValue === undefined;
  };
  return ownHeaders.some(isWritten);
}

/**
 * Whether the row of an owner may go although its record stays: the daemon has seen that it does not fit. It may see that it fits again while
 * the write that takes the row away is on its way: what is agreed still says that it did not.
 */
export function mayLeave(people: People, owner: string): boolean {
  const id = people.stage.hasRule ? people.recordOf('lead', owner) : undefined;
  if (id === undefined) return false;
  const { mirror } = people.stage.link;
  const known = [mirror.findRecord({ entity: 'lead', id }), mirror.findAgreement({ entity: 'lead', id })];
  return known.some((each) => {
    const status = each?.fields['status_name'] ?? null;
    return !fittingStatuses.some((fitting) => fitting === status);
  });
}

/** Keeps the rows that a write took away, as people saw them. */
export function keepLeft(people: People, before: Spreadsheet, after: Spreadsheet): void {
  if (!people.stage.hasRule) return;
  const [was, is] = [rowsById(before), rowsById(after)];
  for (const [id, row] of was) if (!is.has(id) && isRecordId(id)) people.left.push(row);
}

function rowsById({ sheets }: Spreadsheet): Map<string, Readonly<Record<string, string>>> {
  const { rows = [] } = sheets.find(({ sheetId }) => sheetId === sheetIds.lead) ?? {};
  const headers = (rows[0] ?? []).map((cell) => formattedValue(cell));
  const all = rows
    .slice(1)
    .map((row) => Object.fromEntries(headers.map((header, column) => [header, formattedValue(row[column])])));
  return new Map(all.map((row) => [row['ID'] ?? '', row]));
}

function setStatus(people: People, { what, which }: Operation): void {
  const record = pick(people.liveRecords('lead'), which);
  const status = pick([...fittingStatuses, 'qualified', 'qualified', 'qualified'], what) ?? null;
  if (record) callCrm(people, 'PUT', `/leads/${record.id}`, { status_name: status });
}

function typeStatus(people: People, { what, which }: Operation): void {
  const tab = people.tab('lead');
  const row = tab && pick(people.writableRows(tab), which)?.row;
  const column = tab?.columnOfField('status_name');
  const text = pick(['New', 'Qualified', 'Qualified'], what) ?? 'New';
  if (tab && row && column !== undefined)
    people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text });
}

/**
 * A row that left, with its ID, below all others; what nobody's own cells were is not put back. Where it is there already, if without its
 * ID, it would be a copy of it, and one without an ID is a new lead.
 */
function putBack(people: People, { which }: Operation): void {
  const tab = people.tab('lead');
  const row = pick(people.left, which);
  if (!tab || !row) return;
  const { ID: id = '' } = row;
  const owner = people.ownerOfRecord.get(`lead-${id}`) ?? '';
  const isThere = tab.rows.some((each) => each.id === id || (owner !== '' && each.owner === owner));
  const isLive = people.liveRecords('lead').some((each) => each.id === id);
  if (isThere || !isLive) return;
  const position = (tab.rows.at(-1)?.position ?? 0) + 1;
  const texts = {
    ...row,
    [ownerHeader]: ownerText(people, owner),
    [formulaHeader]: formulaOf(owner),
    [noteHeader]: '',
    Created: '',
  };
  const edits = Object.entries(texts).flatMap(([header, text]) => {
    const column = tab.columnOf(header);
    return column === undefined || text === '' || header === ''
      ? []
      : [{ kind: 'edit' as const, sheet: tab.sheetId, row: position, column, text }];
  });
  people.act(...edits);
}

function writeNote(people: People, { how, which }: Operation): void {
  const tab = people.tab('lead');
  const target = tab && pick(people.writableRows(tab), which);
  const column = tab?.columnOf(noteHeader);
  if (!tab || !target || column === undefined || !isRecordId(target.row.id)) return;
  const text = `keep ${target.owner} ${how}`;
  people.act({ kind: 'edit', sheet: tab.sheetId, row: target.row.position, column, text });
}

function clearNote(people: People, { which }: Operation): void {
  const tab = people.tab('lead');
  const column = tab?.columnOf(noteHeader);
  if (!tab || column === undefined) return;
  const noted = tab.rows.filter(({ position }) => formattedValue(tab.sheet.rows[position]?.[column]) !== '');
  const row = pick(noted, which);
  if (row) people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text: '' });
}
