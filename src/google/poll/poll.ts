import type { sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import type { Clock } from '../../core/ports.ts';
import { finishInTurns } from '../../core/slices.ts';
import { emptyCell, isComputed } from '../../sheet/port/cell.ts';
import { AnswerBuffer } from '../answer-buffer.ts';
import type { SheetsClient } from '../client.ts';
import type { Rows } from '../grid.ts';
import {
  alignRows,
  type ChangedRows,
  findChangedRows,
  type PolledColumn,
  rowsMax,
  shiftKept,
  type ValueAt,
  type Values,
} from './changed-rows.ts';
import { type ColumnChange, findChange } from './column-change.ts';
import { readColumn, splitColumns } from './split-columns.ts';

/** A tab as it is polled. */
export interface PolledTab {
  readonly sheetId: number;
  /** Zero-based places of its managed columns, from left to right. */
  readonly columns: readonly number[];
  readonly idColumn: number;
  readonly rows: Rows;
}

/** What a poll found in a tab that is not as it is kept; `undefined` in place of rows where all of it has to be read. */
export interface TabNews {
  readonly changed: ChangedRows | undefined;
  readonly valueAt: ValueAt;
}

/** What a poll came to. */
export interface Polled {
  /** By the numeric id of a tab; one in which nothing is new is absent. */
  readonly news: ReadonlyMap<number, TabNews>;
  /** To be called once the news were made use of: until then the next poll brings them again. */
  readonly accept: () => void;
}

export const nothingNew: Polled = { news: new Map(), accept: () => {} };

/** A column as it was polled last. */
interface KeptColumn {
  readonly bytes: Buffer;
  readonly height: number;
  /** What was read of some rows since is not what the column showed: all of it is compared with what is kept. */
  readonly isDoubtful?: true;
}

/**
 * Asks for the values of the managed columns alone, which are a fifteenth of what the cells say in full. Nothing of an answer is read that
 * is the same as in the one before.
 */
export class Poll {
  readonly #client: SheetsClient;
  readonly #clock: Clock;
  #tabs: readonly PolledTab[] = [];
  #answer: Buffer | undefined;
  /** Holds the answer. The spare one is for the next, and absent while a look has it. */
  #buffer = new AnswerBuffer();
  #spare: AnswerBuffer | undefined;
  /** The columns of the last look whose news were made use of: what is kept of their rows was read after it. */
  #columns = new Map<string, KeptColumn>();
  /** The columns of the last look, whether its news were made use of or not. */
  #looked: ReadonlyMap<string, KeptColumn> = new Map();

  constructor(client: SheetsClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Begins anew with tabs that were read as a whole. */
  start(tabs: readonly PolledTab[]): void {
    this.#tabs = tabs;
    this.#answer = undefined;
    this.#columns = new Map();
  }

  /** Goes on with the rows of the tabs that were read since. */
  keep(tabs: readonly PolledTab[]): void {
    this.#tabs = tabs;
  }

  /** The next look compares all of these columns with the rows that are kept, also where their values are those of the last look. */
  doubt(sheetId: number, columns: Iterable<number>): void {
    for (const column of columns) {
      const name = nameOf(sheetId, column);
      const known = this.#columns.get(name);
      if (known) this.#columns = new Map(this.#columns).set(name, { ...known, isDoubtful: true });
      this.#answer = undefined;
    }
  }

  /** Whether all IDs are where the last look found them: what was read since is of rows that did not move meanwhile. */
  async areIdsThere(): Promise<boolean> {
    const tabs = this.#tabs.filter(({ idColumn }) => idColumn >= 0);
    if (tabs.length === 0) return true;
    const answer = await this.#client.values(
      tabs.flatMap((tab) => rangesOf({ ...tab, columns: [tab.idColumn] })),
    );
    if (!answer) return false;
    const names = tabs.map(({ idColumn, sheetId }) => nameOf(sheetId, idColumn));
    const ids = columnsIn(
      answer,
      names.map((name) => this.#looked.get(name)?.bytes ?? noValues),
    );
    return names.every((name) => this.#looked.get(name)?.bytes.equals(ids.get(name) ?? noValues));
  }

  /** Asks anew. `undefined` where a tab is gone. */
  async look(): Promise<Polled | undefined> {
    if (this.#tabs.length === 0) return nothingNew;
    const buffer = this.#spare ?? new AnswerBuffer();
    this.#spare = undefined;
    const answer = await this.#client.values(this.#tabs.flatMap(rangesOf), this.#answer, buffer);
    if (!answer) return undefined;
    if (answer === this.#answer) {
      this.#spare = buffer;
      this.#looked = this.#columns;
      return nothingNew;
    }
    const known = [...this.#columns.values()].map(({ bytes }) => bytes);
    const polled = columnsIn(answer, known);
    const news = new Map<number, TabNews>();
    const columns = new Map<string, KeptColumn>();
    for (const tab of this.#tabs) {
      const found = await this.#compare(tab, polled, columns);
      if (found) news.set(tab.sheetId, found);
    }
    this.#looked = columns;
    const accept = () => {
      this.#answer = answer;
      this.#columns = columns;
      [this.#buffer, this.#spare] = [buffer, this.#buffer];
    };
    return { news, accept };
  }

  /** Compares the columns of a tab with those of the poll before, and adds them to `columns`. */
  async #compare(
    tab: PolledTab,
    polled: ReadonlyMap<string, Buffer>,
    columns: Map<string, KeptColumn>,
  ): Promise<TabNews | undefined> {
    const changes = new Map<number, ColumnChange>();
    const others = new Set<number>();
    for (const index of tab.columns) {
      const name = nameOf(tab.sheetId, index);
      const [bytes, known] = [polled.get(name) ?? noValues, this.#columns.get(name)];
      const before = known?.isDoubtful ? undefined : known;
      const isSame = before?.bytes.equals(bytes) ?? false;
      const change = isSame ? undefined : before && findChange(before.bytes, bytes);
      if (change) changes.set(index, change);
      else if (!isSame) others.add(index);
      const grown = change ? change.now.length - change.before.length : 0;
      columns.set(name, { bytes, height: (before?.height ?? 0) + grown });
    }
    if (changes.size + others.size === 0) return undefined;
    const rows = others.size === 0 ? rowsOfChanges(changes.values()) : undefined;
    if (rows) return rows.length === 0 ? undefined : { changed: { rows }, valueAt: valuesIn(changes) };
    const values = new Map<number, Values>();
    for (const index of [...changes.keys(), ...others]) {
      const { bytes = noValues } = columns.get(nameOf(tab.sheetId, index)) ?? {};
      const now = await this.#read(bytes);
      values.set(index, now);
      columns.set(nameOf(tab.sheetId, index), { bytes, height: now.length });
    }
    return this.#compareAll(tab, columns, values);
  }

  async #compareAll(
    tab: PolledTab,
    columns: ReadonlyMap<string, KeptColumn>,
    values: Map<number, Values>,
  ): Promise<TabNews | undefined> {
    const heights = {
      now: heightIn(columns, tab) ?? 0,
      // Rows may be kept that no poll has seen: somebody typed them before they were read, and took them away again.
      before: Math.max(heightIn(this.#columns, tab) ?? 0, heightOf(tab)),
    };
    const columnOf = (index: number, now: Values): PolledColumn => {
      const before = this.#columns.get(nameOf(tab.sheetId, index));
      return before && tab.rows.some((row) => isComputed(row[index] ?? emptyCell))
        ? { index, now, before: readColumn(before.bytes) }
        : { index, now };
    };
    const isAsHigh = heights.now === heights.before;
    const own = [...values].map(([index, now]) => columnOf(index, now));
    let changed = isAsHigh ? findChangedRows(tab.rows, own, heights.now) : undefined;
    if (!changed) {
      for (const index of tab.columns)
        if (!values.has(index))
          values.set(index, await this.#read(columns.get(nameOf(tab.sheetId, index))?.bytes ?? noValues));
      const all = [...values].map(([index, now]) => columnOf(index, now));
      const work = alignRows(tab.rows, { columns: all, idColumn: tab.idColumn }, heights);
      changed = await finishInTurns(work, this.#clock);
    }
    if (changed) changed = withRows(changed, this.#unseenFormulas(tab, values.keys()));
    if (changed?.rows.length === 0 && !changed.origins) return undefined;
    return {
      changed,
      valueAt(column, row) {
        const own = values.get(column);
        return own ? (own[row] ?? '') : undefined;
      },
    };
  }

  /**
   * The rows with formulas in columns that were not polled so far: what those came to is not known, and somebody may have typed over them. Of
   * more than a few the turns tell.
   */
  #unseenFormulas({ rows, sheetId }: PolledTab, columns: Iterable<number>): number[] {
    const unseen = [...columns].filter((index) => !this.#columns.has(nameOf(sheetId, index)));
    const found = rows.flatMap((row, place) =>
      unseen.some((index) => isComputed(row[index] ?? emptyCell)) ? [place] : [],
    );
    return found.length > formulasMax ? [] : found;
  }

  async #read(bytes: Buffer): Promise<Values> {
    if (bytes.length > longMin) await this.#clock.sleep(0);
    return readColumn(bytes);
  }
}

/** The same with rows that are to be read besides, in rows as they were kept. */
function withRows(changed: ChangedRows, kept: readonly number[]): ChangedRows {
  const moved = shiftKept(new Set(kept), changed.origins);
  return {
    ...changed,
    rows: [...new Set([...changed.rows, ...moved])].toSorted((one, other) => one - other),
  };
}

/** They are asked for again after each read of everything. */
const formulasMax = 200;

/** To read a column of so many bytes takes some milliseconds: all columns of a tab in a row would keep everything else waiting. */
const longMin = 100_000;

const noValues = Buffer.from('[]');

const nameOf = (sheetId: number, index: number): string => `${sheetId} ${index}`;

/** The columns of an answer by their names. */
const columnsIn = (answer: Buffer, known?: readonly Buffer[]): Map<string, Buffer> =>
  new Map(
    splitColumns(answer, known).flatMap(({ columns, sheetId, startColumn }) =>
      columns.map((bytes, place) => [nameOf(sheetId, startColumn + place), bytes] as const),
    ),
  );

/** The rows of changes that leave all others where they are; `undefined` where they are too many to be that. */
function rowsOfChanges(changes: Iterable<ColumnChange>): number[] | undefined {
  const [rows, above] = [new Set<number>(), new Set<number>()];
  for (const { before, now, start } of changes) {
    for (let place = 0; place < Math.max(before.length, now.length); place += 1) {
      const old = before[place] ?? '';
      const value = now[place] ?? '';
      if (old === value) continue;
      rows.add(start + place);
      // Rows that came behind the last one, or went from there, are never too many.
      if (place < before.length && place < now.length) above.add(start + place);
    }
  }
  return above.size > rowsMax ? undefined : [...rows].toSorted((one, other) => one - other);
}

/** The values of changes. */
const valuesIn =
  (changes: ReadonlyMap<number, ColumnChange>): ValueAt =>
  (column, row) => {
    const change = changes.get(column);
    const place = row - (change?.start ?? Number.POSITIVE_INFINITY);
    const isAmong = change && place >= 0 && (change.isTail || place < change.now.length);
    return isAmong ? (change.now[place] ?? '') : undefined;
  };

/** The filled rows of a tab as it was polled; `undefined` before it was. */
function heightIn(columns: ReadonlyMap<string, KeptColumn>, tab: PolledTab): number | undefined {
  const heights = tab.columns.flatMap((index) => columns.get(nameOf(tab.sheetId, index))?.height ?? []);
  return heights.length === 0 ? undefined : Math.max(...heights);
}

/** The filled rows of a tab as they are kept. What a formula comes to is not known, and may be nothing. */
const heightOf = ({ columns, rows }: PolledTab): number =>
  rows.findLastIndex((row) =>
    columns.some((index) => {
      const { [index]: cell = emptyCell } = row;
      return cell.kind !== 'empty' && !isComputed(cell);
    }),
  ) + 1;

/** Neighbouring columns are one range. */
function rangesOf({ columns, sheetId }: PolledTab): sheets_v4.Schema$GridRange[] {
  const ranges: { sheetId: number; startColumnIndex: number; endColumnIndex: number }[] = [];
  for (const index of columns) {
    const last = ranges.at(-1);
    if (last?.endColumnIndex === index) last.endColumnIndex += 1;
    else ranges.push({ sheetId, startColumnIndex: index, endColumnIndex: index + 1 });
  }
  return ranges;
}
