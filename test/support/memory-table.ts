import { bareCell, type Cell, emptyCell, equalCells } from '../../src/core/cell.ts';
import { SyncError } from '../../src/core/errors.ts';
import type { Mark, MarkChanges, Marks } from '../../src/core/instance.ts';
import type { Layout, TabKind, TabLayout } from '../../src/core/layout.ts';
import type { Receipt } from '../../src/core/open-write.ts';
import type { LaidOut, LayOutConsent, Table } from '../../src/core/ports.ts';
import type {
  AppendStep,
  DeleteStep,
  ObservedRow,
  ObservedTab,
  ObservedTable,
  RowStep,
  SetStep,
  StepEnd,
  WriteResult,
} from '../../src/core/table.ts';
import type { FieldName } from '../../src/core/value.ts';

/** A row of a tab, as users and the daemon change it. */
export interface SheetRow {
  id: Cell;
  sync: Cell;
  cells: Record<FieldName, Cell>;
  /** Under users' own columns, by header. */
  own?: Record<string, Cell>;
  isPaused?: true;
}

/** What becomes of a write that is sent: `late` lands only when it is told to. */
export type Fate = 'answered' | 'unanswered' | 'lost' | 'late';

/** Tabs of rows in memory, for users to change as they like. Several tables may be opened on it, as several processes do. */
export class MemorySheet {
  readonly identity: string = 'memory';
  readonly rows: Record<TabKind, SheetRow[]> = {
    lead: [],
    opportunity: [],
    task: [],
    contact: [],
    question: [],
  };
  /** The columns of the tabs that were laid out. */
  readonly columns = new Map<TabKind, Set<FieldName>>();
  /** Tabs that a user deleted. */
  readonly deletedTabs = new Set<TabKind>();
  /** Tabs that can not be read, with the reason. */
  readonly heldTabs = new Map<TabKind, string>();
  /** Tabs that users protected from the daemon. */
  readonly protectedTabs = new Set<TabKind>();
  /** Fields whose column a user deleted. */
  readonly hiddenFields = new Set<FieldName>();
  /** Fields of leads whose column a user made one of checkboxes. */
  readonly boxedFields = new Set<FieldName>();
  /** What the writes that landed have done, by their receipts. */
  readonly landed = new Map<Receipt, WriteResult>();
  /** The layout that was laid out last. */
  laidOut: Layout | undefined;
  lastWrite: string | undefined;
  marks: Marks = {};
  /** What becomes of the next write, and what a user does just before it arrives. */
  fate: Fate = 'answered';
  beforeNextWrite: () => void = () => undefined;
  /** Lets a write that is late arrive. */
  land: () => void = () => undefined;
  /** Rows keep their names however they move. */
  readonly #names = new WeakMap<SheetRow, number>();
  #given = 0;

  nameOf(row: SheetRow): number {
    const known = this.#names.get(row);
    if (known !== undefined) return known;
    this.#given += 1;
    this.#names.set(row, this.#given);
    return this.#given;
  }

  /** All that a read of it shows, as text. */
  describe(layout: Layout): string {
    const { boxedFields, columns, heldTabs, hiddenFields, lastWrite, marks, rows } = this;
    const tabs = [...columns].map(([kind, names]) => [kind, ...names]);
    const asked = layout.map(({ columns: all, entity, title }) => [
      entity,
      title,
      all.map(({ field }) => field),
    ]);
    return JSON.stringify([
      asked,
      rows,
      tabs,
      [...boxedFields, '', ...hiddenFields],
      [...heldTabs],
      lastWrite,
      marks,
    ]);
  }

  openTable(): Table {
    return new MemoryTable(this);
  }

  /** The same tabs once more, which go on by themselves. */
  copy(): MemorySheet {
    const copy = new MemorySheet();
    for (const [kind, rows] of Object.entries(this.rows) as [TabKind, SheetRow[]][])
      for (const row of rows) {
        const other = copyRow(row);
        copy.#names.set(other, this.nameOf(row));
        copy.rows[kind].push(other);
      }
    for (const [kind, names] of this.columns) copy.columns.set(kind, new Set(names));
    for (const [receipt, result] of this.landed) copy.landed.set(receipt, result);
    copy.#given = this.#given;
    copy.laidOut = this.laidOut;
    copy.lastWrite = this.lastWrite;
    copy.marks = this.marks;
    return copy;
  }
}

/** A planned step with the name of its row, and what that showed. */
type PlannedStep =
  | AppendStep
  | (SetStep & { readonly row: number; readonly seen: SheetRow })
  | (DeleteStep & { readonly row: number; readonly seen: SheetRow });

interface PlannedWrite {
  readonly run: string;
  readonly steps: readonly PlannedStep[];
}

/** A row that moved is found by its name, so that nothing is ever misdirected. */
class MemoryTable implements Table {
  readonly identity;
  readonly #sheet: MemorySheet;
  #read: Readonly<Record<TabKind, readonly { row: SheetRow; seen: SheetRow }[]>> | undefined;
  #marks: Marks = {};
  /** The last read, and all of it as text. */
  #last: { readonly text: string; readonly table: ObservedTable } | undefined;

  constructor(sheet: MemorySheet) {
    this.#sheet = sheet;
    this.identity = sheet.identity;
  }

  async read(layout: Layout): Promise<ObservedTable> {
    const { marks, rows } = this.#sheet;
    const look = (kind: TabKind) => rows[kind].map((row) => ({ row, seen: copyRow(row) }));
    this.#read = {
      lead: look('lead'),
      opportunity: look('opportunity'),
      task: look('task'),
      contact: look('contact'),
      question: look('question'),
    };
    this.#marks = marks;
    const text = this.#sheet.describe(layout);
    if (this.#last?.text !== text) this.#last = { text, table: this.#observeAll(layout) };
    return this.#last.table;
  }

  #observeAll(layout: Layout): ObservedTable {
    const { lastWrite, marks } = this.#sheet;
    const tab = (kind: TabKind) => this.#observe(layout, kind);
    const hasQuestions = layout.some(({ entity }) => entity === 'question');
    return {
      tabs: {
        lead: tab('lead'),
        opportunity: tab('opportunity'),
        task: tab('task'),
        contact: tab('contact'),
        ...(hasQuestions ? { question: tab('question') } : {}),
      },
      timeZone: 'UTC',
      ...(lastWrite === undefined ? {} : { lastWrite }),
      marks,
    };
  }

  #observe(layout: Layout, kind: TabKind): ObservedTab {
    const { boxedFields, columns, heldTabs, hiddenFields } = this.#sheet;
    const tab = layout.find(({ entity }) => entity === kind);
    if (!tab) return { state: 'held', reason: 'It is not part of the layout.' };
    const found = columns.get(kind);
    if (!found) return { state: 'held', reason: `There is no tab “${tab.title}”.`, isAbsent: true };
    const reason = heldTabs.get(kind);
    if (reason !== undefined) return { state: 'held', reason };
    const names = tab.columns.map(({ field }) => field).filter((name) => this.#hasColumn(kind, name));
    const looks = this.#read?.[kind] ?? [];
    return {
      state: 'read',
      rows: looks.flatMap(({ seen }, index) => (isBlank(seen) ? [] : observeRow(seen, index + 1, names))),
      fields: new Set(names),
      hasSync: !hiddenFields.has('Sync'),
      ...(kind === 'lead' && boxedFields.size > 0 ? { boxed: new Set(boxedFields) } : {}),
      ownRows: looks.flatMap(({ seen }, index) =>
        isBlank(seen) && seen.own ? [{ position: index + 1, cells: Object.values(seen.own) }] : [],
      ),
    };
  }

  #hasColumn(kind: TabKind, name: FieldName): boolean {
    const { columns, hiddenFields } = this.#sheet;
    return (columns.get(kind)?.has(name) ?? false) && !hiddenFields.has(name);
  }

  prepare(steps: readonly RowStep[], run: string): Receipt {
    const read = this.#read;
    if (!read) throw new Error('A write without a read before it.');
    const planned = steps.map((step): PlannedStep => {
      if (step.kind === 'append') return step;
      const look = read[step.entity][step.position - 1];
      if (!look) throw new Error(`There is no row ${step.position} to ${step.kind}.`);
      return { ...step, row: this.#sheet.nameOf(look.row), seen: look.seen };
    });
    return JSON.stringify({ run, steps: planned } satisfies PlannedWrite);
  }

  async write(receipt: Receipt, _keep: unknown, mark?: Mark): Promise<WriteResult> {
    const sheet = this.#sheet;
    const { beforeNextWrite, fate } = sheet;
    sheet.fate = 'answered';
    sheet.beforeNextWrite = () => undefined;
    beforeNextWrite();
    const land = () => {
      const result = this.#land(JSON.parse(receipt) as PlannedWrite);
      if (mark && sheet.marks.keeper?.instance.id === mark.instance.id)
        sheet.marks = { ...sheet.marks, keeper: mark };
      sheet.landed.set(receipt, result);
      return result;
    };
    if (fate === 'late') sheet.land = land;
    if (fate === 'lost' || fate === 'late') throw noReply();
    const result = land();
    if (fate === 'unanswered') throw noReply();
    return result;
  }

  #land({ run, steps }: PlannedWrite): WriteResult {
    const { protectedTabs } = this.#sheet;
    const refused = new Set<number>();
    const done = new Map<number, StepEnd>();
    for (const [number, step] of steps.entries()) {
      const isWritable = step.kind === 'delete' || cellsOf(step).every(isHoldable);
      const isProtected = protectedTabs.has(step.entity);
      const end = isProtected || !isWritable ? undefined : this.#take(step);
      if (isProtected || !isWritable) refused.add(number);
      else if (end) done.set(number, end);
    }
    this.#sheet.lastWrite = run;
    const error = new SyncError('SHEET_REFUSED', 'The table does not take this.');
    const refusal = refused.size > 0 ? { refusal: { error, steps: refused } } : {};
    return { done, undone: [], escalated: [], pending: [], isOver: true, ...refusal };
  }

  /** Does a step, unless a user deleted its row or took its ID away; `undefined` for nothing done. */
  #take(step: PlannedStep): StepEnd | undefined {
    const rows = this.#sheet.rows[step.entity];
    if (step.kind === 'append') {
      const { cells, id = emptyCell, own = {}, sync = emptyCell } = step;
      const filled = Object.entries(cells).filter(
        ([name, { kind }]) => kind !== 'empty' && this.#hasColumn(step.entity, name),
      );
      const ownCells = Object.entries(own).map(([header, { before }]) => [header, before]);
      rows.push({
        id,
        sync,
        cells: Object.fromEntries(filled),
        ...(ownCells.length > 0 ? { own: Object.fromEntries(ownCells) } : {}),
      });
      return { edited: [] };
    }
    const row = rows.find((each) => this.#sheet.nameOf(each) === step.row);
    if (!row || !equalCells(bareCell(row.id), bareCell(step.idSeen))) return undefined;
    if (step.kind === 'set') return { edited: this.#set(row, step) };
    if (JSON.stringify(row) !== JSON.stringify(step.seen)) return undefined;
    rows.splice(rows.indexOf(row), 1);
    return { edited: [], ...(row.own ? { own: row.own } : {}) };
  }

  /** Returns the fields that a user edited since the read. */
  #set(
    row: SheetRow,
    { cells, entity, id, own = {}, seen, sync }: PlannedStep & SetStep & { seen: SheetRow },
  ) {
    const names = Object.keys(cells).filter((name) => this.#hasColumn(entity, name));
    const isEdited = (name: FieldName) => {
      const [now, before, next] = [row, seen, { cells }].map((each) => each.cells[name] ?? emptyCell);
      return ![before, next].some((cell) => equalCells(now ?? emptyCell, cell ?? emptyCell));
    };
    const edited = names.filter(isEdited);
    for (const name of names) if (!edited.includes(name)) row.cells[name] = cells[name] ?? emptyCell;
    row.id = id ?? row.id;
    row.sync = sync ?? row.sync;
    for (const [header, { before, written }] of Object.entries(own))
      if (equalCells(row.own?.[header] ?? emptyCell, written)) row.own = { ...row.own, [header]: before };
    return edited;
  }

  async recover(receipt: Receipt): Promise<WriteResult | undefined> {
    return this.#sheet.landed.get(receipt);
  }

  async sign({ keeper, waiting }: MarkChanges): Promise<Marks> {
    const sheet = this.#sheet;
    const isMeanwhile = sheet.marks.keeper?.instance.id !== this.#marks.keeper?.instance.id;
    if (!isMeanwhile) sheet.marks = withMark(withMark(sheet.marks, 'keeper', keeper), 'waiting', waiting);
    this.#marks = sheet.marks;
    return sheet.marks;
  }

  async layOut(layout: Layout, mode: 'create' | 'refresh', consent: LayOutConsent = {}): Promise<LaidOut> {
    const results = layout.map((tab) => this.#layOutTab(tab, mode, consent));
    return {
      held: results.flatMap(({ held }) => held ?? []),
      offered: results.flatMap(({ offered }) => offered ?? []),
    };
  }

  #layOutTab(
    { columns, entity, title }: TabLayout,
    mode: 'create' | 'refresh',
    { addColumns = false, adopt = false }: LayOutConsent,
  ): { held?: string; offered?: readonly string[] } {
    const sheet = this.#sheet;
    if (sheet.deletedTabs.has(entity) && !adopt) return { held: `“${title}” was deleted.` };
    const isThere = sheet.columns.has(entity);
    if (!isThere && mode === 'refresh') return {};
    sheet.deletedTabs.delete(entity);
    const lacking = columns.filter(({ field }) => !this.#hasColumn(entity, field));
    const isTaken = !isThere || (mode === 'create' && (addColumns || sheet.rows[entity].length === 0));
    if (!isTaken) return { offered: lacking.map(({ header }) => header) };
    sheet.columns.set(entity, new Set(columns.map(({ field }) => field)));
    for (const { field } of columns) sheet.hiddenFields.delete(field);
    return {};
  }
}

const copyRow = (row: SheetRow): SheetRow => ({
  ...row,
  cells: { ...row.cells },
  ...(row.own ? { own: { ...row.own } } : {}),
});

const noReply = () => new SyncError('SHEET_UNREACHABLE', 'There was no reply.');

/** A table holds no longer text in one cell. */
const isHoldable = (cell: Cell): boolean =>
  cell.kind !== 'text' || (cell.text.length <= 50_000 && cell.text.isWellFormed());

const cellsOf = ({ cells, id = emptyCell, sync = emptyCell }: SetStep | AppendStep): Cell[] => [
  id,
  sync,
  ...Object.values(cells),
];

/** True if none of the managed cells is filled. */
const isBlank = ({ cells, id, sync }: SheetRow): boolean =>
  [id, sync, ...Object.values(cells)].every(({ kind }) => kind === 'empty');

const observeRow = (
  { cells, id, isPaused, sync }: SheetRow,
  position: number,
  names: readonly FieldName[],
): ObservedRow => ({
  position,
  id,
  sync,
  cells: Object.fromEntries(names.map((name) => [name, cells[name] ?? emptyCell])),
  ...(isPaused ? { isPaused } : {}),
});

function withMark(marks: Marks, name: keyof Marks, mark: Mark | 'none' | undefined): Marks {
  if (!mark) return marks;
  const { [name]: _before, ...others } = marks;
  return mark === 'none' ? others : { ...others, [name]: mark };
}
