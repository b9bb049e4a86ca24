import { isClaimToken, type RecordKey } from '../../src/core/record.ts';
import type { FieldName } from '../../src/core/value.ts';
import { vanishedScope } from '../../src/core/waiting/scopes.ts';
import { shadowTitle } from '../../src/google/write/shadow.ts';
import type { Row } from '../../src/sandbox/sheets/cell.ts';
import { formattedValue } from '../../src/sandbox/sheets/display/display.ts';
import { isHiddenByFilter } from '../../src/sandbox/sheets/grid/filtering.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import type { Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { MirrorInMemory } from '../support/memory-mirror.ts';
import { Accidents } from './accidents.ts';
import { Claims } from './claims.ts';
import { Masses, type Side } from './masses.ts';
import { OwnCells } from './own-cells.ts';
import { fitsRule, noteNotes } from './rule-notes.ts';
import { sheetIds } from './spreadsheet.ts';
import type { SqlWork } from './sql-work.ts';
import type { Stage } from './stage.ts';
import {
  lookAtTab,
  type SeenRow,
  type TabEntity,
  type TabView,
  tabEntities,
  typedFields,
} from './tab-view.ts';

/** A row in which a person may type. */
export interface WritableRow {
  readonly row: SeenRow;
  readonly owner: string;
}

/** A record that the CRM shows. */
export interface LiveRecord {
  readonly id: string;
  readonly values: Readonly<Record<FieldName, unknown>>;
}

/** Everybody who works on either side, with what they did and what they meant by it. */
export class People {
  readonly claims = new Claims();
  readonly own = new OwnCells();
  readonly masses = new Masses(this);
  /** Values that somebody replaced or took away on purpose. */
  readonly withdrawn = new Set<string>();
  /** Every value that the CRM has ever held. */
  readonly heldByCrm = new Set<string>();
  /** Whom a record of the CRM is about, by the text of its key. */
  readonly ownerOfRecord = new Map<string, string>();
  /** Owners whose rows somebody tore apart, until somebody puts them together again. */
  readonly torn = new Set<string>();
  /** Owners whose row lost its ID by mistake: nobody types there before it is back. */
  readonly astray = new Set<string>();
  /** What people agreed to move to the trash: scopes of questions, and tabs whose rows are gone. */
  readonly trashed = new Set<string>();
  readonly accidents = new Accidents(() => this.claims.nextMoment());
  /** Opens the last copy of the mirror. */
  copy: (() => MirrorInMemory) | undefined;
  /** The mirror was lost that knew what a write had put into other columns than its own: from then on that is for people to mend. */
  isOpenWriteLost = false;
  /** Whether a column that has no header any more may have the only copy of something. */
  hasUncalled = false;
  /** Owners whose row or record somebody deleted. */
  readonly deleted = new Set<string>();
  /** Rows that a write of the daemon took away, by what stood under each header. */
  readonly left: Readonly<Record<string, string>>[] = [];
  /** What people wrote beside rows so that they stay. */
  readonly notes = new Set<string>();
  /** Those who edit by SQL, where there are tables for that. */
  sql: SqlWork | undefined;
  stage!: Stage;
  /** What somebody typed last, by owner and field. */
  readonly #typed = new Map<string, string>();
  readonly #values = {
    shown: new WeakMap<Spreadsheet, ReadonlySet<string>>(),
    'kept too': new WeakMap<Spreadsheet, ReadonlySet<string>>(),
  };
  /** Whom the deeds that tore rows apart were about. */
  readonly #tears = new WeakMap<object, readonly string[]>();

  /** A new value for a cell of the owner's row: it takes the place of whatever people typed there before. */
  typeValue(owner: string, field: FieldName): string {
    const place = `${owner} ${field}`;
    const before = this.#typed.get(place);
    if (before !== undefined) this.withdrawn.add(before);
    const value = this.claims.newValue(owner, field);
    this.#typed.set(place, value);
    return value;
  }

  /** What somebody does in the spreadsheet, all or nothing; notes what is gone by it. */
  act(...actions: PersonActionInput[]): boolean {
    const before = this.stage.spreadsheet.current();
    if (!this.stage.spreadsheet.act(actions)) return false;
    const after = this.stage.spreadsheet.current();
    const left = this.valuesIn(after);
    for (const value of this.valuesIn(before)) if (!left.has(value)) this.withdrawn.add(value);
    this.own.notePerson(
      before,
      after,
      actions.some(({ kind }) => kind === 'undo'),
    );
    noteNotes(this, before, after);
    this.masses.look();
    return true;
  }

  /** The last thing that somebody did in the spreadsheet and that can be taken back. */
  get lastDeed() {
    return this.#history?.done.at(-1);
  }

  get #history() {
    return [...this.stage.spreadsheet.sandbox.histories.values()][0];
  }

  /** The last deed tore the rows of these owners apart. */
  noteTear(owners: readonly string[]): void {
    if (this.lastDeed) this.#tears.set(this.lastDeed.after, owners);
  }

  takeBack(): void {
    const { lastDeed } = this;
    if (!lastDeed || !this.act({ kind: 'undo' })) return;
    // What was typed is taken back even where it did not stand any more.
    const before = this.valuesIn(lastDeed.before);
    for (const value of this.valuesIn(lastDeed.after)) if (!before.has(value)) this.withdrawn.add(value);
    const owners = this.#tears.get(lastDeed.after);
    const undone = this.#history?.undone.at(-1);
    for (const owner of owners ?? []) this.torn.delete(owner);
    if (owners && undone) this.#tears.set(undone.before, owners);
  }

  /** What was taken back is done again, unless that would tear rows apart which others have worked on since. */
  redo(): void {
    const undone = this.#history?.undone.at(-1);
    if (undone && !this.#tears.has(undone.before)) this.act({ kind: 'redo' });
  }

  tab(entity: TabEntity): TabView | undefined {
    return lookAtTab(this.stage, currentLayout(this.stage.link), entity);
  }

  /** Whom a person takes the row to be about. */
  ownerOf(entity: TabEntity, row: SeenRow): string | undefined {
    if (row.owner !== '') return row.owner;
    const owners = new Set(this.claimedOwners(entity, row));
    const [owner] = owners;
    return owners.size === 1 ? owner : undefined;
  }

  /** Whom the values of a row were typed for. */
  claimedOwners(entity: TabEntity, row: SeenRow): string[] {
    return typedFields[entity].flatMap((field) => this.claims.of(row.cells[field])?.owner ?? []);
  }

  /** Rows in which a person may type: it is clear whom they are about, and nobody made a mistake there. */
  writableRows(tab: TabView): WritableRow[] {
    const rows = tab.rows.flatMap((row) => {
      const owner = this.ownerOf(tab.entity, row);
      return owner === undefined ? [] : [{ row, owner }];
    });
    const counts = Map.groupBy(rows, ({ owner }) => owner);
    const isAstray = ({ owner, row }: WritableRow) =>
      this.astray.has(owner) && this.recordOf(tab.entity, owner) !== row.id;
    // For a moment a write may have put another row's owner there: the title tells that.
    const isDoubtful = ({ owner, row }: WritableRow) =>
      row.owner !== '' && (this.claims.of(row.cells['title'])?.owner ?? owner) !== owner;
    // What a write meant for a row that somebody deleted has landed in a blank one: nobody takes that up again.
    const isRest = ({ owner, row }: WritableRow) =>
      row.id === '' && row.owner === '' && this.deleted.has(owner);
    return rows.filter(
      (each) =>
        counts.get(each.owner)?.length === 1 &&
        !this.torn.has(each.owner) &&
        ![isAstray, isDoubtful, isRest].some((isUnclear) => isUnclear(each)),
    );
  }

  /** Whether the row shows what its record has, and nothing is on its way. */
  isAtRest(entity: TabEntity, row: SeenRow): boolean {
    const record = this.liveRecords(entity).find(({ id }) => id === row.id);
    if (!record || this.stage.link.mirror.findOutboxItem({ entity, id: row.id })) return false;
    return typedFields[entity].every(
      (field) => String(record.values[field] ?? '') === (row.cells[field] ?? ''),
    );
  }

  /** The record that is about the owner, if it is there. */
  recordOf(entity: TabEntity, owner: string): string | undefined {
    const live = this.liveRecords(entity);
    return live.find(({ id }) => this.ownerOfRecord.get(`${entity}-${id}`) === owner)?.id;
  }

  liveRecords(entity: TabEntity): LiveRecord[] {
    const { leads, tasks } = this.stage.crm.records;
    if (entity === 'task') {
      return tasks
        .live()
        .map(({ id, title, description }) => ({ id: String(id), values: { title, description } }));
    }
    return leads.live().map(({ id, title, meta_data: meta, custom_fields: custom }) => ({
      id: String(id),
      values: {
        title,
        'about.description': meta?.about?.description,
        'about.url': meta?.about?.url,
        'custom.city': custom['city'],
        'custom.budget': custom['budget'],
      },
    }));
  }

  /** The CRM may hold something else by now. */
  noteCrm(): void {
    for (const entity of tabEntities)
      for (const { values } of this.liveRecords(entity))
        for (const value of Object.values(values)) this.heldByCrm.add(String(value));
  }

  hasAgreedToTrash(key: RecordKey): boolean {
    return this.trashed.has(vanishedScope(key)) || this.trashed.has(key.entity);
  }

  idsOn(side: Side, entity: TabEntity): ReadonlySet<string> {
    if (side === 'CRM') return new Set(this.liveRecords(entity).map(({ id }) => id));
    // A row with an ID by mistake is not the one of its record.
    const isOwn = ({ cells, id }: SeenRow) => {
      const titled = this.claims.of(cells['title'])?.owner;
      const isFilled = Object.values(cells).some((text) => text !== '');
      return isFilled && (titled === undefined || titled === this.ownerOfRecord.get(`${entity}-${id}`));
    };
    const rows = this.tab(entity)?.rows ?? [];
    return new Set(rows.filter(isOwn).map(({ id }) => id));
  }

  /** Whether the rule of a tab leaves a record of the CRM out of it. */
  isLeftOut(entity: TabEntity, id: string): boolean {
    return entity === 'lead' && this.stage.hasRule && !fitsRule(this.stage, id);
  }

  /** How many may go at once of as few as there are here. */
  get deletesMax(): number {
    return Math.max(this.stage.policy.brakes.deletesMin, 2);
  }

  /** Values that stand in rows which a filter hides. */
  filteredValues({ sheets }: Spreadsheet): string[] {
    return sheets.flatMap((sheet) =>
      sheet.rows.flatMap((row, index) =>
        isHiddenByFilter(sheet, index) ? textsOf(row).filter((text) => this.claims.of(text)) : [],
      ),
    );
  }

  /** All values with a claim that stand in the spreadsheet, or also those that writes have kept of it. */
  valuesIn(spreadsheet: Spreadsheet, which: 'shown' | 'kept too' = 'shown'): ReadonlySet<string> {
    const known = this.#values[which];
    // A spreadsheet is never changed, only replaced, and nobody types what stands there already.
    const values = known.get(spreadsheet) ?? this.#findValues(spreadsheet, which);
    known.set(spreadsheet, values);
    return values;
  }

  #findValues({ sheets }: Spreadsheet, which: 'shown' | 'kept too'): ReadonlySet<string> {
    const found = new Set<string>();
    for (const { rows, sheetId, title } of sheets) {
      if (sheetId === sheetIds.other || (title === shadowTitle && which === 'shown')) continue;
      for (const row of rows) for (const text of textsOf(row)) if (this.claims.of(text)) found.add(text);
    }
    return found;
  }
}

const known = new WeakMap<Row, readonly string[]>();

/** Rows are never changed, only replaced. */
function textsOf(row: Row): readonly string[] {
  const before = known.get(row);
  if (before) return before;
  // A number that shows as a date because of a format that a write left there is still the number.
  const texts = row.flatMap((cell) =>
    cell?.userEnteredValue ? [formattedValue(cell), String(cell.userEnteredValue.numberValue)] : [],
  );
  known.set(row, texts);
  return texts;
}

/** Whether an ID cell names a record, not a create on its way. */
export const isRecordId = (id: string): boolean => id !== '' && !isClaimToken(id);

export const pick = <Item>(list: readonly Item[], which: number): Item | undefined =>
  list[which % list.length];
