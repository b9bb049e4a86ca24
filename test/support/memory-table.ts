import type { Receipt } from '../../src/core/open-write.ts';
import type { FieldName } from '../../src/core/value.ts';
import { bareCell, type Cell, emptyCell, equalCells } from '../../src/sheet/port/cell.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { Mark, MarkChanges, Marks } from '../../src/sheet/port/instance.ts';
import { type Layout, type TabKind, type TabLayout, tabKinds, tabOf } from '../../src/sheet/port/layout.ts';
import type { LaidOut, LayOutConsent, Table } from '../../src/sheet/port/port.ts';
import type {
  AppendStep,
  ObservedRow,
  ObservedTab,
  ObservedTable,
  RowStep,
  SetStep,
  StepEnd,
  WriteResult,
} from '../../src/sheet/port/table.ts';
import type { Fate } from './table-stage.ts';

/** A row of a tab, as users and the daemon change it. */
export interface SheetRow {
  id: Cell;
  sync: Cell;
  cells: Record<FieldName, Cell>;
  /** Under users' own columns, by header. */
  own?: Record<string, Cell>;
  isPaused?: true;
}

const nothing = (): void => undefined;

/** Tabs of rows in memory, for users to change as they like. Several tables may be opened on it, as several processes do. */
export class MemorySheet {
  readonly rows = Object.fromEntries(tabKinds.map((kind) => [kind, []])) as unknown as Readonly<
    Record<TabKind, SheetRow[]>
  >;
  /** The fields that have a column, in the tabs that were laid out. */
  readonly columns = new Map<TabKind, ReadonlySet<FieldName>>();
  /** Tabs that a user deleted, and those that users protected from the daemon. */
  readonly deletedTabs = new Set<TabKind>();
  readonly protectedTabs = new Set<TabKind>();
  /** Tabs that can not be read, with the reason. */
  readonly heldTabs = new Map<TabKind, string>();
  /** Fields whose column a user deleted; `Sync` is one. */
  readonly hiddenFields = new Set<FieldName>();
  /** Fields of leads whose column a user made one of checkboxes. */
  readonly boxedFields = new Set<FieldName>();
  /** What writes were to do, and what those that landed did. */
  readonly planned = new Map<Receipt, PlannedWrite>();
  readonly landed = new Map<Receipt, WriteResult>();
  laidOut: Layout | undefined;
  lastWrite: string | undefined;
  marks: Marks = {};
  /** What becomes of the next write, and what a user does just before it arrives. */
  fate: Fate = 'answered';
  beforeNextWrite = nothing;
  /** Lets a write that is late arrive. */
  land = nothing;

  openTable = (): Table => new MemoryTable(this);

  /** The same tabs once more, which go on by themselves. */
  copy(): MemorySheet {
    const { columns, heldTabs, hiddenFields, laidOut, landed, lastWrite, marks, rows } = this;
    const content = structuredClone({ columns, heldTabs, hiddenFields, landed, marks, rows });
    return Object.assign(new MemorySheet(), content, { laidOut, lastWrite });
  }

  hasColumn = (kind: TabKind, name: FieldName): boolean =>
    this.columns.get(kind)?.has(name) === true && !this.hiddenFields.has(name);
}

/** A row as it was read. */
interface Look {
  readonly row: SheetRow;
  readonly seen: SheetRow;
}

/** Steps with the rows that they are about. */
interface PlannedWrite {
  readonly run: string;
  readonly steps: readonly (readonly [RowStep, Look])[];
}

/** A row is known however it moves, so that nothing is ever misdirected. */
class MemoryTable implements Table {
  readonly identity = 'memory';
  readonly #sheet: MemorySheet;
  #looks: ReadonlyMap<TabKind, readonly Look[]> | undefined;
  /** The keeper that the last read found. */
  #keeper: string | undefined;
  /** The last read, and all of it as text. */
  #last: { readonly text: string; readonly table: ObservedTable } | undefined;

  /** Rows by all that they hold, and by that and their place: what did not change is the same object. */
  readonly #cells = new Map<string, ObservedRow['cells']>();
  readonly #rows = new Map<string, ObservedRow>();

  constructor(sheet: MemorySheet) {
    this.#sheet = sheet;
  }

  look = (layout: Layout) => this.read(layout);

  async read(layout: Layout): Promise<ObservedTable> {
    const { lastWrite, marks, rows } = this.#sheet;
    const looks = new Map(tabKinds.map((kind) => [kind, rows[kind].map(lookAt)]));
    this.#looks = looks;
    this.#keeper = marks.keeper?.instance.id;
    const tabs = tabKinds
      .filter((kind) => kind !== 'question' || tabOf(layout, kind))
      .map((kind) => [kind, this.#observe(tabOf(layout, kind), looks.get(kind) ?? [])]);
    const table: ObservedTable = {
      tabs: Object.fromEntries(tabs),
      timeZone: 'UTC',
      ...(lastWrite === undefined ? {} : { lastWrite }),
      marks,
    };
    const text = JSON.stringify(table, (_key, value) => (value instanceof Set ? [...value] : value));
    if (this.#last?.text !== text) this.#last = { text, table };
    return this.#last.table;
  }

  #observe(tab: TabLayout | undefined, looks: readonly Look[]): ObservedTab {
    if (!tab) return { state: 'held', reason: 'It is not part of the layout.' };
    const { boxedFields, columns, hasColumn, heldTabs, hiddenFields } = this.#sheet;
    const { entity, title } = tab;
    if (!columns.has(entity)) return { state: 'held', reason: `There is no tab “${title}”.`, isAbsent: true };
    const reason = heldTabs.get(entity);
    if (reason !== undefined) return { state: 'held', reason };
    const names = tab.columns.map(({ field }) => field).filter((name) => hasColumn(entity, name));
    const rows = looks.flatMap(({ seen: { cells, own = {}, ...seen } }, index) => {
      const shown = Object.fromEntries(names.map((name) => [name, cells[name] ?? emptyCell]));
      const isBlank = [seen.id, seen.sync, ...Object.values(cells)].every(({ kind }) => kind === 'empty');
      const hasOwn = Object.values(own).some(({ kind }) => kind !== 'empty' && kind !== 'formula');
      const row = {
        ...seen,
        position: index + 1,
        cells: shown,
        ...(hasOwn ? { hasOwn: true as const } : {}),
      };
      return isBlank ? [] : this.#keep(entity, row);
    });
    const boxed = entity === 'lead' && boxedFields.size > 0 ? { boxed: new Set(boxedFields) } : {};
    return { state: 'read', rows, fields: new Set(names), hasSync: !hiddenFields.has('Sync'), ...boxed };
  }

  #keep(kind: TabKind, row: ObservedRow): ObservedRow {
    const text = JSON.stringify([kind, row.id, row.cells]);
    const cells = this.#cells.get(text) ?? row.cells;
    this.#cells.set(text, cells);
    const placed = JSON.stringify([text, row]);
    const kept = this.#rows.get(placed) ?? { ...row, cells };
    this.#rows.set(placed, kept);
    return kept;
  }

  prepare(steps: readonly RowStep[], run: string): Receipt {
    const looks = this.#looks;
    if (!looks) throw new Error('A write without a read before it.');
    const planned = steps.map((step) => {
      const look = step.kind === 'append' ? newLook() : looks.get(step.entity)?.[step.position - 1];
      if (!look) throw new Error('A step to a row that was not read.');
      return [step, look] as const;
    });
    const receipt = `${run} ${this.#sheet.planned.size}`;
    this.#sheet.planned.set(receipt, { run, steps: planned });
    return receipt;
  }

  async write(receipt: Receipt, _keep: unknown, mark?: Mark): Promise<WriteResult> {
    const sheet = this.#sheet;
    const { beforeNextWrite, fate } = sheet;
    Object.assign(sheet, { fate: 'answered', beforeNextWrite: nothing });
    beforeNextWrite();
    if (fate === 'late') sheet.land = () => this.#land(receipt, mark);
    else if (fate !== 'lost') this.#land(receipt, mark);
    const result = sheet.landed.get(receipt);
    if (fate === 'answered' && result) return result;
    throw newSheetError('SHEET_UNREACHABLE', 'There was no reply.');
  }

  #land(receipt: Receipt, mark: Mark | undefined): void {
    const sheet = this.#sheet;
    const { run = '', steps = [] } = sheet.planned.get(receipt) ?? {};
    const refused = new Set<number>();
    const done = new Map<number, StepEnd>();
    for (const [number, [step, look]] of steps.entries()) {
      const isRefused = sheet.protectedTabs.has(step.entity) || !isHoldable(step);
      const end = isRefused ? undefined : this.#take(step, look);
      if (isRefused) refused.add(number);
      if (end) done.set(number, end);
    }
    sheet.lastWrite = run;
    if (mark && sheet.marks.keeper?.instance.id === mark.instance.id)
      sheet.marks = { ...sheet.marks, keeper: mark };
    const error = newSheetError('SHEET_REFUSED', 'The table does not take this.');
    const refusal = refused.size > 0 ? { refusal: { error, steps: refused } } : {};
    sheet.landed.set(receipt, { done, undone: [], escalated: [], pending: [], isOver: true, ...refusal });
  }

  /** Does a step, unless a user deleted its row or changed its ID; `undefined` for nothing done. */
  #take(step: RowStep, { row, seen }: Look): StepEnd | undefined {
    const rows = this.#sheet.rows[step.entity];
    if (step.kind === 'append') {
      const added = newLook();
      rows.push(added.row);
      return this.#set(step, added);
    }
    if (!rows.includes(row) || !equalCells(bareCell(row.id), bareCell(step.idSeen))) return undefined;
    if (step.kind === 'set') return this.#set(step, { row, seen });
    if (JSON.stringify(row) !== JSON.stringify(seen)) return undefined;
    rows.splice(rows.indexOf(row), 1);
    return { edited: [], ...(row.own ? { own: row.own } : {}) };
  }

  /** Writes the cells, but for those that a user edited since the read. */
  #set({ cells, entity, id, kind, own = {}, sync }: SetStep | AppendStep, { row, seen }: Look): StepEnd {
    const names = Object.keys(cells).filter((name) => this.#sheet.hasColumn(entity, name));
    const cellIn = (from: Pick<SheetRow, 'cells'>, name: FieldName) => from.cells[name] ?? emptyCell;
    const isEdited = (name: FieldName) =>
      ![seen, { cells }].some((other) => equalCells(cellIn(row, name), cellIn(other, name)));
    const edited = names.filter(isEdited);
    for (const name of names) {
      const isNoCell = kind === 'append' && cellIn({ cells }, name).kind === 'empty';
      if (!edited.includes(name) && !isNoCell) row.cells[name] = cellIn({ cells }, name);
    }
    row.id = id ?? row.id;
    row.sync = sync ?? row.sync;
    for (const [header, { before, written }] of Object.entries(own))
      if (kind === 'append' || equalCells(row.own?.[header] ?? emptyCell, written))
        row.own = { ...row.own, [header]: before };
    return { edited };
  }

  async recover(receipt: Receipt): Promise<WriteResult | undefined> {
    return this.#sheet.landed.get(receipt);
  }

  async sign(changes: MarkChanges): Promise<Marks> {
    const sheet = this.#sheet;
    const marks = Object.entries({ ...sheet.marks, ...changes }).filter(([, mark]) => mark !== 'none');
    if (sheet.marks.keeper?.instance.id === this.#keeper) sheet.marks = Object.fromEntries(marks);
    this.#keeper = sheet.marks.keeper?.instance.id;
    return sheet.marks;
  }

  async offerLeads(): Promise<readonly string[]> {
    return [];
  }

  async layOut(layout: Layout, mode: 'create' | 'refresh', consent: LayOutConsent = {}): Promise<LaidOut> {
    const { columns, deletedTabs, hasColumn, hiddenFields, rows } = this.#sheet;
    const { addColumns = false, adopt = false } = consent;
    const deleted = layout.filter(({ entity }) => deletedTabs.has(entity) && !adopt);
    const offered: string[] = [];
    for (const tab of layout) {
      const isThere = columns.has(tab.entity);
      const mayFill = !isThere || addColumns || rows[tab.entity].length === 0;
      const lacking = tab.columns.filter(({ field }) => !hasColumn(tab.entity, field));
      if (deleted.includes(tab)) continue;
      if (mode === 'create' && mayFill) {
        columns.set(tab.entity, new Set(tab.columns.map(({ field }) => field)));
        for (const { field } of lacking) hiddenFields.delete(field);
      } else if (isThere) offered.push(...lacking.map(({ header }) => header));
    }
    return { held: deleted.map(({ title }) => `“${title}” was deleted.`), offered };
  }
}

function lookAt(row: SheetRow): Look {
  const own = row.own ? { own: { ...row.own } } : {};
  return { row, seen: { ...row, cells: { ...row.cells }, ...own } };
}

const newLook = (): Look => lookAt({ id: emptyCell, sync: emptyCell, cells: {} });

/** No cell holds a longer text. */
function isHoldable(step: RowStep): boolean {
  const cells = step.kind === 'delete' ? [] : [step.id, step.sync, ...Object.values(step.cells)];
  return cells.every(
    (cell) => cell?.kind !== 'text' || (cell.text.length <= 50_000 && cell.text.isWellFormed()),
  );
}
