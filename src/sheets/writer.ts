import { emptyCell } from '../core/cell.ts';
import type { TabKind } from '../core/layout.ts';
import type { Log } from '../core/ports.ts';
import type { RowStep, WriteReceipt } from '../core/table.ts';
import { columnLetters, quoteTitle } from './a1.ts';
import type { Request, SheetsClient, Spreadsheet } from './client.ts';
import { blocksBySheet, readRows } from './grid.ts';
import type { BoundTab } from './read.ts';
import { type RealignedWrite, realign } from './realign.ts';
import { checkWrite, type ReadBack, receiptFields, rowsToReadBack, type TabWrite } from './receipt.ts';
import { findTyped, planKeeping, readKept, type Shadow } from './shadow.ts';
import { applySteps, sortSteps } from './steps.ts';
import { tabRequests } from './write.ts';

/** Writes steps to the tabs as they were read last. */
export interface Writer {
  /** Takes over what a read found. */
  start(tabs: ReadonlyMap<TabKind, BoundTab>, shadow: Shadow | undefined): void;
  write(steps: readonly RowStep[]): Promise<WriteReceipt>;
}

interface PlannedWrite extends TabWrite {
  readonly requests: readonly Request[];
}

/** Google recommends at most 2 MB a request: https://developers.google.com/workspace/sheets/api/limits */
const batchBytesMax = 1_800_000;

/**
 * A batch is atomic. Steps that are too many for one are halved until each part fits; then each part is
 * atomic, in the order sets, appends, deletes. After an error, or when rows moved, a new read must come
 * first.
 */
export function createWriter(client: SheetsClient, log: Log): Writer {
  let tabs: ReadonlyMap<TabKind, BoundTab> = new Map();
  let shadow: Shadow | undefined;

  async function writeBatch(steps: readonly RowStep[]): Promise<WriteReceipt> {
    const writes = planBatch(tabs, steps);
    const keeping = planKeeping(shadow, [...writes.values()]);
    const requests = [...keeping.requests, ...[...writes.values()].flatMap((write) => write.requests)];
    if (requests.length === 0) return joinReceipts([]);
    if (steps.length > 1 && Buffer.byteLength(JSON.stringify(requests)) > batchBytesMax) {
      const half = Math.ceil(steps.length / 2);
      const first = await writeBatch(steps.slice(0, half));
      return joinReceipts([first, await writeBatch(steps.slice(half))]);
    }
    const ranges = [...writes.values()].flatMap(receiptRanges);
    const reply = await client.batchUpdate(requests, receiptFields, [...ranges, ...keeping.ranges]);
    const kept = readKept(keeping, reply);
    const receipts: WriteReceipt[] = [];
    for (const [entity, write] of writes) receipts.push(await settleWrite(entity, write, reply, kept));
    return joinReceipts(receipts);
  }

  /** Checks the reply, and mends the write once when columns moved. */
  async function settleWrite(
    entity: TabKind,
    write: TabWrite,
    reply: Spreadsheet,
    kept: Kept,
  ): Promise<WriteReceipt> {
    const readBack = readBackOf(reply, write);
    const check = checkWrite(write, readBack);
    tabs = new Map([...tabs, [entity, write.after]]);
    if (check.haveColumnsMoved) {
      log.warn('sheet.columns_moved', { entity });
      return writeAgain(entity, realign(write, readBack.headers));
    }
    if (check.astray.length > 0) {
      log.error('sheet.wrong_rows_deleted', { entity, rows: check.astray.length });
    }
    return addKept(check, write, kept);
  }

  async function writeAgain(entity: TabKind, write: RealignedWrite): Promise<WriteReceipt> {
    if (write.requests.length === 0) return joinReceipts([]);
    const reply = await client.batchUpdate(write.requests, receiptFields, receiptRanges(write));
    tabs = new Map([...tabs, [entity, write.after]]);
    return checkWrite(write, readBackOf(reply, write));
  }

  return {
    start(read, readShadow) {
      tabs = read;
      shadow = readShadow;
    },
    async write(steps) {
      try {
        const receipt = await writeBatch(inOrder(steps));
        if (receipt.misplaced.length + receipt.astray.length + receipt.overtyped.length > 0) tabs = new Map();
        return receipt;
      } catch (error) {
        tabs = new Map();
        throw error;
      }
    },
  };
}

const joinReceipts = (receipts: readonly WriteReceipt[]): WriteReceipt => ({
  misplaced: receipts.flatMap(({ misplaced }) => misplaced),
  astray: receipts.flatMap(({ astray }) => astray),
  overtyped: receipts.flatMap(({ overtyped }) => overtyped),
});

type Kept = ReturnType<typeof readKept>;

/** Adds to a receipt what its sets replaced: all of it in another row, in their own what was not there when it was read. */
function addKept(receipt: WriteReceipt, { before, steps }: TabWrite, kept: Kept): WriteReceipt {
  const misplaced = receipt.misplaced.map((write) => {
    const replaced = kept.get(write.step);
    return replaced ? { ...write, replaced } : write;
  });
  const missed = new Set(misplaced.map(({ step }) => step));
  const overtyped = steps.sets.flatMap((step) => {
    const replaced = missed.has(step) ? {} : findTyped(before, step, kept.get(step) ?? {});
    return Object.keys(replaced).length > 0 ? [{ step, replaced }] : [];
  });
  return { ...receipt, misplaced, overtyped };
}

function inOrder(steps: readonly RowStep[]): RowStep[] {
  const { sets, appends, deletes } = sortSteps(steps);
  return [...sets, ...appends, ...deletes];
}

function planBatch(
  tabs: ReadonlyMap<TabKind, BoundTab>,
  steps: readonly RowStep[],
): ReadonlyMap<TabKind, PlannedWrite> {
  const writes = new Map<TabKind, PlannedWrite>();
  for (const [entity, own] of Map.groupBy(steps, (step) => step.entity)) {
    const before = tabs.get(entity);
    if (!before) throw new Error(`The tab of ${entity} was written without a read before it.`);
    const sorted = sortSteps(own);
    const requests = tabRequests(before, sorted);
    writes.set(entity, { before, after: applySteps(before, sorted), steps: sorted, requests });
  }
  return writes;
}

/** The ID column and the header row of a tab, and the rows whose ID is written. */
function receiptRanges({ before: { title, columns }, steps }: TabWrite): string[] {
  const id = columnLetters(columns.id);
  const rows = rowsToReadBack(steps).map((row) => `${row + 1}:${row + 1}`);
  return [`${id}1:${id}`, '1:1', ...rows].map((range) => `${quoteTitle(title)}!${range}`);
}

/** Reads what {@link receiptRanges} asked for, in that order. */
function readBackOf(reply: Spreadsheet, { before: { sheetId, columns }, steps }: TabWrite): ReadBack {
  const [idBlock, headerBlock, ...rowBlocks] = blocksBySheet(reply).get(sheetId) ?? [];
  const ids = readRows(idBlock).map((row) => row[columns.id] ?? emptyCell);
  const rows = rowsToReadBack(steps).map(
    (row, index) => [row, readRows(rowBlocks[index])[row] ?? []] as const,
  );
  return { ids, headers: readRows(headerBlock)[0] ?? [], rows: new Map(rows) };
}
