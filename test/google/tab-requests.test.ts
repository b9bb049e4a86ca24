import { describe, expect, test } from 'vitest';
import { columnLetters, quoteTitle } from '../../src/google/a1.ts';
import { addColumns } from '../../src/google/column-look.ts';
import { type BoundTab, observeTab } from '../../src/google/read.ts';
import { planSteps, sortSteps } from '../../src/google/write/planned.ts';
import { tabRequests } from '../../src/google/write/requests.ts';
import { type Cell, emptyCell, numberCell, textCell } from '../../src/sheet/port/cell.ts';
import type { SetStep } from '../../src/sheet/port/table.ts';
import { bind, both, gridOf, leads } from '../support/leads-grid.ts';
import { setStep } from '../support/table-steps.ts';

describe('requests', () => {
  const requestsOf = (tab: BoundTab, ...steps: SetStep[]) =>
    tabRequests(tab, sortSteps(planSteps(steps, new Map([['lead', tab]]))));
  const row = (id: string, met: Cell = emptyCell) => [textCell(id), textCell('Title'), met];

  test('adjacent cells and equal rows below each other are one request', () => {
    const steps = [2, 1].map((position) => ({
      ...setStep(position, textCell(`${position}`), { title: textCell('New') }),
      id: textCell(`${position}`),
    }));
    const requests = requestsOf(bind(gridOf([row('1'), row('2')])), ...steps);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.updateCells).toMatchObject({
      start: { sheetId: 7, rowIndex: 1, columnIndex: 0 },
      rows: [{ values: [{}, {}] }, { values: [{}, {}] }],
      fields: 'userEnteredValue',
    });
  });

  test('a date gets a format where none shows yet, and a format that a person chose stays', () => {
    const shown: Cell = { kind: 'number', number: 46000, shown: '09.12.2025' };
    const hours: Cell = { kind: 'number', number: 84 + 612 / 1440, shown: '2026.12.31' };
    const tab = bind(gridOf([row('1'), row('2', shown), row('3', numberCell(2026)), row('4', hours)]));
    const fieldsOf = (position: number) =>
      requestsOf(tab, setStep(position, emptyCell, { met: numberCell(46292) }))[0]?.updateCells?.fields;
    expect(fieldsOf(1)).toBe('userEnteredValue,userEnteredFormat.numberFormat');
    expect(fieldsOf(2)).toBe('userEnteredValue');
    expect(fieldsOf(3)).toBe('userEnteredValue,userEnteredFormat.numberFormat');
    expect(fieldsOf(4)).toBe('userEnteredValue,userEnteredFormat.numberFormat');
  });

  test('hours that a sheet made of a typed date are read as they are shown', () => {
    const hours: Cell = { kind: 'number', number: 84 + 612 / 1440, shown: '2026.12.31' };
    const { observed } = observeTab(gridOf([[textCell('1'), textCell('Acme'), hours]]), leads);
    expect(observed).toMatchObject({ rows: [{ cells: { met: hours } }] });
  });

  test('a day or an amount that was pasted into a column of leads is not read as the id of a lead, a number is', () => {
    const deals = {
      ...leads,
      columns: [{ field: 'lead_id', kind: 'lead' as const, header: 'Title', ...both }],
    };
    const numbers: Cell[] = [
      { kind: 'number', number: 46_387, shown: '31.12.2026' },
      { kind: 'number', number: 1250, shown: '$1,250.00' },
      { kind: 'number', number: 0.5, shown: '50%' },
      { kind: 'number', number: 1250, shown: '1,250' },
    ];
    const { observed } = observeTab(gridOf(numbers.map((cell, at) => [numberCell(at + 1), cell])), deals);
    const read = observed.state === 'read' ? observed.rows.map(({ cells }) => cells['lead_id']) : [];
    expect(read).toEqual([...numbers.slice(0, 3), numberCell(1250)]);
  });

  test('a whole number in a cell that shows percents gets a plain format, in others none', () => {
    const kind = 'integer' as const;
    const deals = { ...leads, columns: [{ field: 'confidence', kind, header: 'Title', ...both }] };
    const shown: Cell = { kind: 'number', number: 0.5, shown: '50%' };
    const { bound, observed } = observeTab(
      gridOf([
        [textCell('1'), shown],
        [textCell('2'), numberCell(50)],
      ]),
      deals,
    );
    expect(observed).toMatchObject({ rows: [{ cells: { confidence: shown } }, {}] });
    const fieldsOf = (position: number) => {
      const step = setStep(position, emptyCell, { confidence: numberCell(60) });
      return bound && requestsOf(bound, step)[0]?.updateCells?.fields;
    };
    expect(fieldsOf(1)).toBe('userEnteredValue,userEnteredFormat.numberFormat');
    expect(fieldsOf(2)).toBe('userEnteredValue');
  });

  test('an error is never written', () => {
    const cell = { kind: 'error', message: '#N/A' } as const;
    const step = setStep(1, textCell('1'), { title: cell });
    expect(() => requestsOf(bind(gridOf([row('1')])), step)).toThrow('never written');
  });

  test('a cell whose column was not found is a fault of the program', () => {
    const step = setStep(1, textCell('1'), { unknown: textCell('x') });
    expect(() => requestsOf(bind(gridOf([row('1')])), step)).toThrow('The column of unknown');
  });
});

test('a column is added to a tab of hundreds of thousands of rows, right of the longest of them', () => {
  const short = [textCell('1')];
  const long = [...Array.from({ length: 30 }, () => textCell('own'))];
  const grid = gridOf([...Array.from({ length: 300_000 }, () => short), long]);
  const missing = [{ name: 'met', header: 'Met', note: undefined }];
  expect(addColumns(grid, 'lead', missing)).toMatchObject([
    { appendDimension: { length: 5 } },
    { updateCells: { start: { columnIndex: 30 } } },
    { updateDimensionProperties: {} },
  ]);
});

test('columns beyond Z have two letters', () => {
  expect([0, 25, 26, 701, 702].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA']);
});

test('a title is quoted with its apostrophes doubled', () => {
  expect(quoteTitle("Anna's")).toBe("'Anna''s'");
});
