import { isClaimToken } from '../../src/core/record.ts';
import type { FieldName } from '../../src/core/value.ts';
import { shownOf } from '../../src/core/waiting/brakes.ts';
import { conflictScope } from '../../src/core/waiting/scopes.ts';
import type { Brake, Hold } from '../../src/core/waiting/waiting.ts';
import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { giveUpNamesake, restoreHeaders } from './column-people.ts';
import { formulaOf } from './own-cells.ts';
import { isRecordId, type People } from './people.ts';
import { allTabs, keepNotes, priorities, statuses, tabCopies } from './sheet-people.ts';
import { formulaHeader, ourWords, type SeenRow, type TabView, tabEntities, typedFields } from './tab-view.ts';

/** People look at what waits for them, and mend it where they made a mistake. Answers whether there was anything to do. */
export function setRight(people: People, plan: Plan): boolean {
  const { revision } = people.stage.spreadsheet.file;
  for (const tab of allTabs(people)) {
    const layout = currentLayout(people.stage.link).find(({ entity }) => entity === tab.entity);
    giveUpNamesake(people, tab, plan.holds);
    restoreHeaders(people, tab, layout?.columns.map(({ header }) => header) ?? []);
  }
  // In a tab that stood still the daemon comes first: what it wrote there itself may have reached another row.
  if (people.stage.spreadsheet.file.revision !== revision) return true;
  for (const { sheetId } of tabCopies(people)) people.act({ kind: 'deleteTab', sheet: sheetId });
  for (const tab of allTabs(people)) keepNotes(people, tab);
  for (const entity of tabEntities) mendRows(people, entity);
  people.torn.clear();
  people.astray.clear();
  const hasMended = people.stage.spreadsheet.file.revision !== revision;
  return answer(people, plan, hasMended) || hasMended;
}

function mendRows(people: People, entity: (typeof tabEntities)[number]): void {
  dropPutBack(people, entity);
  dropCopies(people, entity);
  const torn = people.tab(entity);
  if (!torn) return;
  clearStrayIds(people, torn);
  clearLoneStatuses(people, torn);
  if (people.isOpenWriteLost || people.hasUncalled) fetchStrays(people, torn);
  const found = newestValues(people, torn);
  dropRemains(people, torn);
  const tab = people.tab(entity);
  if (!tab) return;
  for (const [row, owner] of findOwners(people, tab)) {
    mendId(people, tab, row, owner);
    takeForOriginal(people, tab, row);
    mendCells(people, tab, row, owner, found);
    if (people.torn.has(owner)) mendFormula(people, tab, row, owner);
  }
}

/** Rows that people put back after they left: they see that these do not belong there. */
function dropPutBack(people: People, entity: (typeof tabEntities)[number]): void {
  const tab = people.tab(entity);
  const rows = tab?.rows.filter(({ sync }) => sync.startsWith('Held: does not fit this tab')) ?? [];
  for (const { position } of rows.toReversed())
    people.act({ kind: 'deleteRows', sheet: tab?.sheetId ?? 0, row: position, count: 1 });
}

/** A formula of people's own that a sort of a part took to another row. */
function mendFormula(
  people: People,
  { columnOf, sheet, sheetId }: TabView,
  row: SeenRow,
  owner: string,
): void {
  const [column, text] = [columnOf(formulaHeader) ?? -1, formulaOf(owner)];
  const { formulaValue = text } = sheet.rows[row.position]?.[column]?.userEnteredValue ?? {};
  if (formulaValue !== text) people.act({ kind: 'edit', sheet: sheetId, row: row.position, column, text });
}

/**
 * Whom each row is about: what people keep beside it tells, then its values where they are all of one, then its ID, and last any of its
 * values. Where several rows seem to be about the same, it is the first that was told so.
 */
function findOwners(people: People, { entity, rows }: TabView): ReadonlyMap<SeenRow, string> {
  const owners = new Map<SeenRow, string>();
  const found = new Set<string>();
  const take = (row: SeenRow, candidates: readonly (string | undefined)[]) => {
    const owner = candidates.find((candidate) => candidate !== undefined && !found.has(candidate));
    if (owner === undefined || owners.has(row)) return;
    owners.set(row, owner);
    found.add(owner);
  };
  const named = (row: SeenRow) => people.ownerOfRecord.get(`${entity}-${row.id}`);
  const titled = (row: SeenRow) => people.claims.of(row.cells['title'])?.owner;
  const told = new Set(rows.map(({ owner }) => owner));
  /** A sort took it there from a row that is gone since, as its own note is, and ID and title agree whose row it is. */
  const isLeftOver = (row: SeenRow) =>
    people.recordOf(entity, row.owner) === undefined &&
    named(row) === titled(row) &&
    !told.has(named(row) ?? row.owner);
  const own = rows.filter((row) => row.owner === '' || isLeftOver(row));
  for (const row of rows) if (!own.includes(row)) take(row, [row.owner]);
  const valued = (row: SeenRow) => people.ownerOf(entity, { ...row, owner: '' });
  for (const row of own) if (valued(row) === named(row)) take(row, [named(row)]);
  for (const row of own) take(row, [valued(row)]);
  for (const row of own) {
    take(row, [named(row), titled(row), ...people.claimedOwners(entity, row)]);
  }
  return owners;
}

/** Rows of which everything is about others that have rows, or about nobody that anyone knows. */
function dropRemains(people: People, tab: TabView): void {
  const owners = findOwners(people, tab);
  const remains = tab.rows.filter(
    (row) =>
      !owners.has(row) &&
      (isOfLostWrite(people, row) ||
        Object.values(row.cells).some((text) => people.claims.of(text) !== undefined) ||
        /^(New row: fill|Error: [^.]+ shows what belongs)/.test(row.sync)),
  );
  for (const { position } of remains.toReversed())
    people.act({ kind: 'deleteRows', sheet: tab.sheetId, row: position, count: 1 });
}

/** Whether all that a row shows was put there by a write that nobody knows of any more, in the moment in which its own row moved. */
const isOfLostWrite = (people: People, { cells, id, owner }: SeenRow): boolean =>
  people.isOpenWriteLost &&
  owner === '' &&
  !isRecordId(id) &&
  Object.values(cells).some((text) => text !== '') &&
  Object.values(cells).every((text) => people.claims.of(text) === undefined);

/** Whether the daemon says that the row's ID cell is for people to mend. */
const isAskedForId = ({ sync }: SeenRow): boolean =>
  /clear the (?:ID|token)|Put .* (?:into the ID cell|in place of the token)/i.test(sync);

/** IDs that stand in another row too, that are none, or that people are to clear, in rows that show nothing of anybody. */
function clearStrayIds(people: People, { columnOf, entity, rows, sheetId }: TabView): void {
  const column = columnOf('ID');
  for (const row of rows) {
    const { id, owner, position } = row;
    const isAlone = owner === '' && people.claimedOwners(entity, row).length === 0;
    const hasTwin = rows.some((other) => other.id === id && other.position !== position);
    const isNone = ourWords.test(id) && (!isClaimToken(id) || isAskedForId(row));
    if (column !== undefined && isAlone && ((isRecordId(id) && hasTwin) || isNone))
      people.act({ kind: 'edit', sheet: sheetId, row: position, column, text: '' });
  }
}

/** The only row of a record that is left, although it was told to be a copy. */
function takeForOriginal(people: People, { columnOf, sheetId }: TabView, { position, sync }: SeenRow): void {
  const column = columnOf('Sync');
  if (column !== undefined && /its Sync cell to make it the row/i.test(sync))
    people.act({ kind: 'edit', sheet: sheetId, row: position, column, text: '' });
}

/** Whom a row is about: where people keep nothing beside it, they go by its ID as long as no other row shows it. */
function ownerIn(people: People, { entity, rows }: TabView, row: SeenRow): string | undefined {
  const owner = people.ownerOfRecord.get(`${entity}-${row.id}`);
  const isOnly = rows.filter(({ id }) => id === row.id).length === 1;
  return row.owner === '' && isOnly && owner !== undefined ? owner : people.ownerOf(entity, row);
}

/** Of rows that are about the same, one stays: the one that has its ID, else the first. */
function dropCopies(people: People, entity: (typeof tabEntities)[number]): void {
  const tab = people.tab(entity);
  if (!tab) return;
  const groups = Map.groupBy(tab.rows, (row) => ownerIn(people, tab, row) ?? '');
  const surplus = [...groups].flatMap(([owner, rows]) => {
    if (owner === '') return [];
    const kept =
      rows.find(({ id }) => isRecordId(id) && people.ownerOfRecord.get(`${entity}-${id}`) === owner) ??
      rows[0];
    return rows.filter((row) => row !== kept);
  });
  for (const { position } of surplus.toSorted((one, other) => other.position - one.position)) {
    people.act({ kind: 'deleteRows', sheet: tab.sheetId, row: position, count: 1 });
  }
}

/** By owner and field, the newest of the values that stand anywhere in the tab. */
function newestValues(people: People, { entity, rows }: TabView): Map<string, string> {
  const found = new Map<string, string>();
  for (const value of rows.flatMap(({ cells }) => typedFields[entity].map((field) => cells[field] ?? ''))) {
    const claim = people.claims.of(value);
    if (!claim) continue;
    const place = `${claim.owner} ${claim.field}`;
    const other = people.claims.of(found.get(place) ?? '');
    if (!other || other.number < claim.number) found.set(place, value);
  }
  return found;
}

/**
 * What stands under no header, because a write that nobody knows of any more has put it there while columns moved, or because a copy of a
 * column was given up: it goes where it belongs, unless something newer stands there.
 */
function fetchStrays(people: People, tab: TabView): void {
  const { entity, headers, rows, sheet, sheetId } = tab;
  for (const [position, cells] of sheet.rows.entries()) {
    for (const [column, cell] of cells.entries()) {
      const text = formattedValue(cell);
      const claim = people.claims.of(text);
      if (headers[column] !== '' || position === 0 || !claim) continue;
      const row = rows.find((candidate) => people.ownerOf(entity, candidate) === claim.owner);
      const other = people.claims.of(row?.cells[claim.field]);
      if (row && (!other || other.number < claim.number)) type(people, tab, row, claim.field, text);
      people.act({ kind: 'edit', sheet: sheetId, row: position, column, text: '' });
    }
  }
}

/** A record's row has the record's ID; a row without a record has none, unless its create is on its way. */
function mendId(people: People, tab: TabView, row: SeenRow, owner: string): void {
  const column = tab.columnOf('ID');
  // Of a record that is gone they do what the row says.
  const [, told = ''] = /Put (\d+) into the ID cell/.exec(row.sync) ?? [];
  const wanted = people.recordOf(tab.entity, owner) ?? told;
  if (column === undefined || row.id === wanted) return;
  const isOnItsWay = isClaimToken(row.id) && !isAskedForId(row);
  if (isOnItsWay) return;
  people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text: wanted });
}

/** Values that stand in the wrong row or column go back to where they belong. */
function mendCells(
  people: People,
  tab: TabView,
  row: SeenRow,
  owner: string,
  found: ReadonlyMap<string, string>,
): void {
  const isWrong = (field: string, shown: string) => {
    const claim = people.claims.of(shown);
    // An ID, say, that a write put under a column that had moved, and that nobody knows of any more who would mend it.
    const isNobodys = people.isOpenWriteLost && !claim && shown !== '';
    if (ourWords.test(shown) || isNobodys) return true;
    return claim !== undefined && (claim.owner !== owner || claim.field !== field);
  };
  const record = people
    .liveRecords(tab.entity)
    .find(({ id }) => people.ownerOfRecord.get(`${tab.entity}-${id}`) === owner);
  for (const field of typedFields[tab.entity]) {
    const column = tab.columnOfField(field);
    const belongs = found.get(`${owner} ${field}`) ?? String(record?.values[field] ?? '');
    const shown = row.cells[field] ?? '';
    const isEmptyTitle = field === 'title' && shown === '';
    const isTorn = people.torn.has(owner) && shown !== belongs;
    // A write among moved columns may leave its format of days.
    const isDated = field === 'custom.budget' && /^\d+-\d\d-\d\d/.test(shown);
    if (column === undefined || !(isWrong(field, shown) || isEmptyTitle || isTorn || isDated)) continue;
    const text = isEmptyTitle && belongs === '' ? people.typeValue(owner, field) : belongs;
    people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text });
    if (isDated) showAsNumber(people, tab, row, column);
  }
  // What stands beside a row of a tab that is stopped may be of before.
  const { priority = '', status_name: status = '' } = row.cells;
  if (status !== '' && !statuses.includes(status)) type(people, tab, row, 'status_name', 'New');
  const isEmptied = priority === '' && row.sync.includes('Priority can not be empty');
  const isNone = priority !== '' && !priorities.includes(priority);
  if (isEmptied || (people.isOpenWriteLost && isNone)) type(people, tab, row, 'priority', 'Medium');
}

function type(
  people: People,
  { columnOfField, sheetId }: TabView,
  row: SeenRow,
  field: FieldName,
  text: string,
): void {
  const column = columnOfField(field);
  if (column !== undefined) people.act({ kind: 'edit', sheet: sheetId, row: row.position, column, text });
}

function showAsNumber(
  people: People,
  { sheetId: sheet }: TabView,
  { position }: SeenRow,
  column: number,
): void {
  const range = { startRow: position, endRow: position + 1, startColumn: column, endColumn: column + 1 };
  people.act({ kind: 'formatNumbers', sheet, range });
}

/** A status that somebody filled down over blank rows. */
function clearLoneStatuses(people: People, tab: TabView): void {
  for (const row of tab.rows) {
    const { cells, id, owner } = row;
    const filled = Object.keys(cells).filter((field) => cells[field] !== '');
    if (id === '' && owner === '' && filled.join() === 'status_name')
      type(people, tab, row, 'status_name', '');
  }
}

/** What only an answer settles. Nobody approves rows in disorder that were just put in order: the daemon may not have seen that yet. */
function answer(people: People, plan: Plan, hasMended: boolean): boolean {
  if (!hasMended) for (const brake of plan.brakes) agree(people, brake);
  answerSingle(people, plan, ({ decision }) => !hasMended || !decision?.startsWith('swap:'));
  return plan.brakes.length + plan.conflicts.length + plan.holds.length + plan.refusals.length > 0;
}

/** Rows that are gone because people meant it go from the CRM too, or come back: some want this and some that. */
function agree(people: People, brake: Brake): void {
  const { changes, entity, scope } = brake;
  const isMeant = changes.shown.every(({ id }) =>
    people.deleted.has(people.ownerOfRecord.get(`${entity}-${id}`) ?? ''),
  );
  const isTrash = /:(vanished|emptied)$/.test(scope) && isMeant && changes.count % 2 === 1;
  decide(people, scope, `${isTrash ? 'trash' : 'restore'}:${shownOf(brake)}`);
  if (isTrash) people.trashed.add(entity);
  if (/:(vanished|emptied|gone)$/.test(scope)) people.masses.forget(entity);
}

/** What is asked about single records. What stands in a cell by mistake is nobody's choice. */
function answerSingle(people: People, plan: Plan, isClear: (hold: Hold) => boolean): void {
  for (const { key, field, table } of plan.conflicts) {
    const claim = people.claims.of(table);
    const owner = people.ownerOfRecord.get(`${key.entity}-${key.id}`);
    const isAstray = claim !== undefined && (claim.owner !== owner || claim.field !== field);
    decide(people, conflictScope(key, field), isAstray || Number(key.id) % 2 === 0 ? 'crm' : 'table');
  }
  for (const hold of plan.holds) {
    const { entity, id, decision } = hold;
    if (decision === undefined || !isClear(hold)) continue;
    const owner = people.ownerOfRecord.get(`${entity}-${id}`) ?? '';
    const isMeant = people.deleted.has(owner) && Number(id) % 2 === 0;
    const isTrash = isMeant && !decision.startsWith('damage:');
    // Nobody puts anything back into a row that they deleted.
    decide(people, decision, isTrash ? 'trash' : isMeant ? 'keep' : 'restore');
    if (isTrash) people.trashed.add(decision);
  }
}

function decide({ stage: { link } }: People, scope: string, choice: string): void {
  link.mirror.saveDecision({ scope, choice, at: link.clock.now() });
}

/** While others work, somebody answers what the daemon asks, unless rows are in a disorder that has to be mended first. */
export function answerQuestions(people: People): string {
  const { lastPlan } = people.stage.engine;
  if (!lastPlan || people.torn.size + people.astray.size > 0) return 'nothing';
  for (const brake of lastPlan.brakes) if (mayApprove(people, brake)) agree(people, brake);
  answerSingle(people, lastPlan, ({ decision }) => decision?.startsWith('vanished:') ?? false);
  return `${lastPlan.questions.length} asked`;
}

/**
 * Whoever agrees to new records has looked whether they are there already, and that the daemon knows of those that are. After a mirror was
 * lost with a write of which no reply came, they also look whether that has reached another row, as nobody else knows of it.
 */
function mayApprove(people: People, { entity, scope }: Brake): boolean {
  const tab = allTabs(people).find((candidate) => candidate.entity === entity);
  const hasLost = tab?.rows.some((row) => {
    const owner = people.ownerOf(tab.entity, row);
    if (people.isOpenWriteLost && owner !== undefined && showsOthers(people, row, owner)) return true;
    if (isOfLostWrite(people, row)) return true;
    if (isRecordId(row.id) || owner === undefined) return false;
    const isTwice = tab.rows.some((other) => other !== row && people.ownerOf(tab.entity, other) === owner);
    return isTwice || people.recordOf(tab.entity, owner) !== undefined;
  });
  const known = people.stage.link.mirror.readRecords(entity).filter(({ presence }) => presence === 'present');
  return !scope.endsWith(':torn') && hasLost === false && known.length > 0;
}

const showsOthers = (people: People, { cells }: SeenRow, owner: string): boolean =>
  Object.entries(cells).some(([field, text]) => {
    const claim = people.claims.of(text);
    return claim !== undefined && (claim.owner !== owner || claim.field !== field);
  });
