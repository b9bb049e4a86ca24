import { expect, test } from 'vitest';
import type { GridDamage } from '../../src/google/write/judge.ts';
import type { PlannedStep } from '../../src/google/write/planned.ts';
import { readReceipt, type StoredWrite, writeReceipt } from '../../src/google/write/receipt.ts';
import { booleanCell, type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';

const cells: readonly Cell[] = [emptyCell, textCell('{"#map":[]}'), numberCell(0), booleanCell(false)];

const step: PlannedStep = {
  number: 3,
  kind: 'set',
  entity: 'lead',
  position: 7,
  placed: cells.map((cell, column) => ({ column, cell, from: { row: 4, column } })),
  read: cells,
};

const tab = {
  sheetId: 5,
  headers: cells,
  columns: { id: 0, sync: 1, fields: new Map() },
  hiddenRows: new Set([2, 4]),
  end: 12,
};

const damage: GridDamage = {
  number: 3,
  entity: 'lead',
  kind: 'overwritten',
  headers: cells,
  names: new Map([[1, 'title']]),
  before: cells,
  placed: [{ column: 1, cell: textCell('Acme') }],
  expected: 8,
};

test('the receipt of a write says all of it, wherever that has maps and sets', () => {
  const batch: StoredWrite['batch'] = { run: 'w1', from: 9, steps: [step], tabs: new Map([['lead', tab]]) };
  const write: StoredWrite = {
    batch,
    left: new Set([3]),
    others: [step],
    inverse: {
      batch,
      damageOf: new Map([[3, damage]]),
      ends: { done: new Map([[1, { edited: ['title'] }]]), undone: [damage], escalated: [] },
    },
  };
  expect(readReceipt(writeReceipt(write))).toStrictEqual(write);
});
