import { isDeepStrictEqual } from 'node:util';
import { describeEntity } from '../../src/core/fields/field.ts';
import type { RecordKey } from '../../src/core/record.ts';
import { readRecord } from '../../src/crm/records.ts';
import type { CrmAnswer } from '../../src/sandbox/crm/answers.ts';
import type { ExtendedValue } from '../../src/sandbox/sheets/cell.ts';
import { createNames, encode, titledChoice } from '../../src/sheet/cells/codec.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { Plan } from '../../src/sheet/plans/plan.ts';
import { booleanCell, type Cell, describeCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import { createdId, fieldsOfBody } from './crm-people.ts';
import type { People } from './people.ts';
import { isInTab } from './rule-people.ts';
import type { Call } from './simulated-crm.ts';
import { checkSqlCall, endedValues, mayTrash } from './sql-invariants.ts';
import { type SeenRow, type TabEntity, tabEntities } from './tab-view.ts';
import { Violation } from './violation.ts';

/** Looks at each write of the daemon to the CRM in the moment it arrives. */
export function checkCall(people: People, { method, path, body }: Call, answer: CrmAnswer): void {
  if (method === 'GET' || answer.status >= 400) return;
  const { entity, id } = recordOfPath(path);
  checkSqlCall(people, { entity, id }, method, body);
  if (method === 'POST') return checkCreate(people, entity, body, createdId(answer.body));
  const owner = people.ownerOfRecord.get(`${entity}-${id}`) ?? '';
  if (method === 'PUT') checkPlaces(people, owner, body);
  if (method === 'DELETE') checkDelete(people, owner, { entity, id });
}

/** What a path below the base address names. */
export function recordOfPath(path: string): { readonly entity: TabEntity; readonly id: string } {
  return { entity: path.startsWith('/leads') ? 'lead' : 'task', id: path.split('/')[2] ?? '' };
}

/** S3: one record for one row that somebody typed. */
function checkCreate(people: People, entity: TabEntity, body: Call['body'], id: string): void {
  const owner = people.claims.of(body['title'])?.owner;
  if (owner === undefined) throw new Violation('S2', `a ${entity} was created as ${JSON.stringify(body)}`);
  const twin = people
    .liveRecords(entity)
    .find((record) => people.ownerOfRecord.get(`${entity}-${record.id}`) === owner);
  if (twin)
    throw new Violation('S3', `${owner} was created a second time, as ${entity} ${id} beside ${twin.id}`);
  people.ownerOfRecord.set(`${entity}-${id}`, owner);
  checkPlaces(people, owner, body);
}

/** S2: a value is found only in the record and field where it was put. */
function checkPlaces(people: People, owner: string, body: Call['body']): void {
  for (const [field, value] of fieldsOfBody(body)) {
    const claim = people.claims.of(value);
    if (claim && (claim.owner !== owner || claim.field !== field)) {
      throw new Violation('S2', `“${value}” was sent to ${field} of ${owner}`);
    }
  }
}

/** S4: only what people deleted is deleted, and only where they want that. */
function checkDelete(people: People, owner: string, key: RecordKey): void {
  if (!people.deleted.has(owner))
    throw new Violation('S4', `${owner} was deleted, although nobody deleted it`);
  if (
    people.stage.policy.vanishedRows !== 'trash' &&
    !people.hasAgreedToTrash(key) &&
    !mayTrash(people, owner)
  )
    throw new Violation('S4', `${owner} was deleted, although nobody was asked`);
}

/** S5: over the brake nothing is written. */
export function checkBrakes({ brakes, table, outbox }: Plan): void {
  const held = new Set<string>(brakes.map(({ entity }) => entity));
  const written = [...table.map(({ write }) => write.entity), ...outbox.save.map(({ key }) => key.entity)];
  const entity = written.find((candidate) => held.has(candidate));
  if (entity) throw new Violation('S5', `${entity} was written over the brake`);
}

/** S9: only what the CRM has held counts as agreed. */
export function checkAgreed(people: People): void {
  for (const { key, fields } of people.stage.link.mirror.readAgreements()) {
    const early = Object.values(fields).find(
      (value) => people.claims.of(value) !== undefined && !people.heldByCrm.has(String(value)),
    );
    if (early !== undefined)
      throw new Violation('S9', `“${early}” is agreed for ${key.entity} ${key.id}, and never was in the CRM`);
  }
}

/** S11: no window holds more requests than the CRM allows, as long as the daemon can know of those that went before. */
export function checkBudget({ stage: { crm, isBudgetKnown } }: People): void {
  if (!isBudgetKnown) return;
  const { keys, requestsPerWindow } = crm.usage();
  for (const { largestWindow, refused } of Object.values(keys))
    if (largestWindow > requestsPerWindow)
      throw new Violation('S11', `${largestWindow} requests in one window, ${refused} of them refused`);
}

/** S6: every record has one row, and the row shows exactly what the record has. */
export function checkEqual(people: People): void {
  for (const entity of tabEntities) {
    const shown = shownRows(people, entity)
      .map(({ texts }) => texts)
      .toSorted(byId);
    const wanted = wantedRows(people, entity);
    if (isDeepStrictEqual(shown, wanted)) continue;
    const lines = (rows: readonly (readonly string[])[]) =>
      rows.map((row) => `\n  ${row.join(' | ')}`).join('');
    throw new Violation('S6', `${entity}: the sheet shows${lines(shown)}\n but the CRM has${lines(wanted)}`);
  }
}

function cellOf({ boolValue, formulaValue, numberValue, stringValue = '' }: ExtendedValue): Cell {
  if (formulaValue !== undefined) return { kind: 'formula', formula: formulaValue };
  if (numberValue !== undefined) return numberCell(numberValue);
  return boolValue === undefined ? textCell(stringValue) : booleanCell(boolValue);
}

const byId = (left: readonly string[], right: readonly string[]): number =>
  Number(left[0]) - Number(right[0]);

/** Rows of the tab that hold anything of ours. */
function shownRows(people: People, entity: TabEntity): (SeenRow & { readonly texts: readonly string[] })[] {
  const tab = people.tab(entity);
  const layout = currentLayout(people.stage.link).find((candidate) => candidate.entity === entity);
  if (!tab || !layout) return [];
  const columns = ['ID', ...layout.columns.map(({ header }) => header)].map(tab.columnOf);
  return tab.rows
    .map((row) => {
      const cells = columns.map((column) =>
        column === undefined ? undefined : tab.sheet.rows[row.position]?.[column],
      );
      return { ...row, texts: cells.map((cell) => describeCell(cellOf(cell?.userEnteredValue ?? {}))) };
    })
    .filter(({ texts }) => texts.some((text) => text !== '(empty)'));
}

function wantedRows(people: People, entity: TabEntity): string[][] {
  const { link, crm } = people.stage;
  const catalog = link.mirror.readCatalog();
  const layout = currentLayout(link).find((candidate) => candidate.entity === entity);
  if (!catalog || !layout) return [];
  const records = entity === 'lead' ? crm.records.leads.live() : crm.records.tasks.live();
  const leads = crm.records.leads.live().map(({ id, title }) => titledChoice(id, title));
  const names = createNames(catalog, leads, 'Etc/GMT');
  const definitions = new Map(describeEntity(entity, catalog).map((field) => [field.name, field]));
  return records
    .filter(({ id }) => isInTab(people, entity, String(id)))
    .map((stored) => {
      const record = readRecord(entity, stored, catalog.customFields);
      if ('problem' in record) throw new Error(record.problem);
      const cells = layout.columns.map(({ field }) => {
        const definition = definitions.get(field);
        return definition ? describeCell(encode(definition, record.fields[field] ?? null, names)) : '';
      });
      return [record.id, ...cells];
    })
    .toSorted(byId);
}

/** S1: what somebody typed is alive, or was replaced by somebody later, or stands in the journal. */
export function checkNothingLost(people: People): void {
  const kept = new Set([
    ...aliveValues(people),
    ...journalValues(people),
    ...people.withdrawn,
    ...endedValues(people),
  ]);
  for (const [value, { owner, field }] of people.claims.all()) {
    if (!kept.has(value)) throw new Violation('S1', `“${value}”, typed for ${field} of ${owner}, is lost`);
  }
}

/** All that records of the CRM have. */
export const aliveValues = (people: People): Set<string> =>
  new Set(
    tabEntities.flatMap((entity) =>
      people.liveRecords(entity).flatMap(({ values }) => Object.values(values).map(String)),
    ),
  );

export const journalValues = ({ stage }: People): Set<string> =>
  new Set(
    stage.link.mirror
      .searchJournal({ limit: 100_000 })
      .flatMap(({ before, after, lost }) =>
        [before, after, lost].flatMap((fields) => Object.values(fields).map(String)),
      ),
  );

/** S13: what people keep for themselves is as they left it. */
export function checkOwnCells(people: People): void {
  const found = people.own.differences(people.stage.spreadsheet.current());
  if (found.length > 0) throw new Violation('S13', `own cells changed: ${found.join('; ')}`);
}

/** How the Sync cell of a row begins that says why the row differs. */
const reasonStart = /^(Error|Conflict|Held|New row):|(leaves|no longer fits) this tab:/;

/** S15: whatever differs has a reason that people are told: of the whole tab, beside the row, or of the record. */
export function checkReasons(people: People, plan: Plan): void {
  for (const entity of tabEntities) {
    const holds = plan.holds.filter((hold) => hold.entity === entity);
    const isTabHeld = holds.some(({ id, position }) => id === undefined && position === undefined);
    const isBraked = plan.brakes.some((brake) => brake.entity === entity);
    if (isTabHeld || isBraked || lacksHeader(people, entity)) continue;
    const toldIds = new Set(holds.map(({ id }) => id));
    const missing = new Map(wantedRows(people, entity).map((row) => [row.join(' | '), row[0]]));
    const shown = shownRows(people, entity).map((row) => ({ ...row, text: row.texts.join(' | ') }));
    const isTold = ({ sync }: SeenRow) => reasonStart.test(sync);
    // Of two equal rows one is told that it is the copy.
    for (const row of shown.toSorted((one, other) => Number(isTold(one)) - Number(isTold(other)))) {
      if (missing.delete(row.text)) continue;
      if (!isTold(row)) throw new Violation('S15', `the row ${row.text} differs and says “${row.sync}”`);
      // A row that lost its ID says whose it may be.
      for (const id of [row.id, ...(row.sync.match(/\d+/g) ?? [])]) toldIds.add(id);
    }
    for (const [row, id] of missing)
      if (!toldIds.has(id)) throw new Violation('S15', `nobody is told why ${entity} ${row} is not shown`);
  }
}

/** A column whose header somebody renamed is left alone until it is called as before. */
function lacksHeader(people: People, entity: TabEntity): boolean {
  const layout = currentLayout(people.stage.link).find((candidate) => candidate.entity === entity);
  const headers = people.tab(entity)?.headers ?? [];
  return layout?.columns.some(({ header }) => !headers.includes(header)) ?? false;
}
