import { describe, expect, test } from 'vitest';
import { columnLetters, quoteTitle } from '../../src/google/a1.ts';
import { type Grid, readGrids, toCell } from '../../src/google/grid.ts';
import { type BoundTab, observeTab } from '../../src/google/read.ts';
import { addColumns } from '../../src/google/refresh.ts';
import { planSteps } from '../../src/google/write/planned.ts';
import { tabRequests } from '../../src/google/write/requests.ts';
import { sortSteps } from '../../src/google/write/steps.ts';
import {
  booleanCell,
  type Cell,
  emptyCell,
  numberCell,
  spilledCell,
  textCell,
} from '../../src/sheet/port/cell.ts';
import type { TabLayout } from '../../src/sheet/port/layout.ts';
import type { SetStep } from '../../src/sheet/port/table.ts';
import { setStep } from '../support/table-steps.ts';

const both = { direction: 'both', conflict: 'crm' } as const;

const leads: TabLayout = {
  entity: 'lead',
  title: 'Leads',
  columns: [
    { field: 'title', kind: 'text', header: 'Title', ...both },
    { field: 'met', kind: 'date', header: 'Met', ...both },
    { field: 'vip', kind: 'boolean', header: 'VIP', ...both },
  ],
};

const headers = ['ID', 'Title', 'Met', 'VIP', 'Sync'].map(textCell);

const gridOf = (rows: Cell[][], merges: Grid['merges'] = []): Grid => ({
  sheetId: 7,
  title: 'Leads',
  rowCount: 100,
  columnCount: 26,
  rows: [headers, ...rows],
  merges,
  tags: [],
  typed: [],
  tables: [],
  hiddenRows: new Set<number>(),
});

function bind(grid: Grid): BoundTab {
  const { bound } = observeTab(grid, leads);
  if (!bound) throw new Error('held');
  return bound;
}

const isPausedBy = (cell: Cell): boolean => {
  const grid = gridOf([[textCell('1'), textCell('Acme'), emptyCell, emptyCell, emptyCell, cell]]);
  const header = [...headers, textCell('Pause')];
  const { observed } = observeTab(
    { ...grid, rows: [header, ...grid.rows.slice(1)] },
    { ...leads, pauseHeader: 'Pause' },
  );
  return observed.state === 'read' && observed.rows[0]?.isPaused === true;
};

describe('grid data', () => {
  test('a block that begins inside the grid keeps its place, and zeros that are left out are zeros', () => {
    const [grid] = readGrids({
      sheets: [
        {
          properties: { title: 'T' },
          data: [
            {
              startRow: 1,
              startColumn: 1,
              rowData: [{ values: [{ userEnteredValue: { numberValue: 0 } }] }, {}],
            },
          ],
        },
      ],
    });
    expect(grid).toMatchObject({ sheetId: 0, rows: [[], [emptyCell, numberCell(0)], [emptyCell]] });
  });

  test('an empty text is an empty cell', () => {
    expect(toCell({ userEnteredValue: { stringValue: '' } })).toEqual(emptyCell);
  });

  test('an error goes before its formula', () => {
    const cell = toCell({
      userEnteredValue: { formulaValue: '=A0' },
      effectiveValue: { errorValue: { type: 'REF', message: 'Reference does not exist' } },
    });
    expect(cell).toEqual({ kind: 'error', message: 'Reference does not exist', formula: '=A0' });
  });

  test('an error without words is called as people see it', () => {
    const errorValue = { type: 'N_A' };
    const typed = {
      userEnteredValue: { errorValue },
      effectiveValue: { errorValue },
      formattedValue: '#N/A',
    };
    expect(toCell(typed)).toEqual({ kind: 'error', message: '#N/A' });
  });

  test('a cell that shows what nobody entered is filled by the array formula of another', () => {
    expect(toCell({ effectiveValue: { stringValue: 'Acme' }, formattedValue: 'Acme' })).toEqual({
      ...spilledCell,
      shown: 'Acme',
    });
    const lost = { errorValue: { type: 'N_A', message: 'Not found' } };
    expect(toCell({ effectiveValue: lost, formattedValue: '#N/A' })).toEqual({
      kind: 'error',
      message: 'Not found',
      formula: '',
    });
  });

  test('a number says how it is shown where that says more', () => {
    const number = (numberValue: number, formattedValue: string) =>
      toCell({ userEnteredValue: { numberValue }, formattedValue });
    expect(number(1, '100%')).toEqual({ kind: 'number', number: 1, shown: '100%' });
    expect(number(7, '7')).toEqual(numberCell(7));
  });
});

describe('rows', () => {
  test('unticked checkboxes alone make no row', () => {
    const unticked = [emptyCell, emptyCell, emptyCell, booleanCell(false)];
    const { observed } = observeTab(gridOf([[textCell('1')], unticked, unticked]), leads);
    expect(observed).toMatchObject({ state: 'read', rows: [{ position: 1 }], ownRows: [] });
  });

  test('what an array formula fills in makes no row, and its whole column takes no values', () => {
    const filled = (id: Cell, title: Cell) => [id, title];
    const { observed, bound } = observeTab(
      gridOf([
        filled(textCell('1'), { kind: 'formula', formula: '=ARRAYFORMULA(X2:X)' }),
        filled(textCell('2'), spilledCell),
        filled(textCell('3'), emptyCell),
        filled(emptyCell, spilledCell),
      ]),
      leads,
    );
    expect(observed).toMatchObject({
      fields: new Set(['met', 'vip']),
      rows: [
        { cells: { title: { kind: 'formula' } } },
        { cells: { title: spilledCell } },
        { cells: { title: spilledCell } },
      ],
    });
    expect(bound?.columns.fields.has('title')).toBe(true);
  });

  const failed = (formula: string): Cell => ({ kind: 'error', message: 'Loading...', formula });
  const imported = failed('=IMPORTRANGE("1abc","Leads!B2:B")');

  test.each<[string, Cell, Cell[]]>([
    ['below its header', textCell('Title'), [imported, emptyCell, emptyCell]],
    ['in its header', failed('={"Title";Names!A2:A}'), [emptyCell, emptyCell, emptyCell]],
  ])('a column that a failing array formula %s leaves empty was wiped by nobody', (_, header, titles) => {
    const grid = gridOf(titles.map((title, index) => [textCell(String(index + 1)), title]));
    const [headerRow = [], ...rows] = grid.rows;
    const tags = [{ field: 'title', metadataId: 1, index: 1 }];
    const { observed } = observeTab({ ...grid, tags, rows: [headerRow.with(1, header), ...rows] }, leads);
    expect(observed).toMatchObject({
      fields: new Set(['met', 'vip']),
      rows: titles.map((title) => ({ cells: { title: title.kind === 'empty' ? spilledCell : title } })),
    });
  });

  test.each<[string, Cell[]]>([
    ['a formula that fills one cell fails', [failed('=1/0'), emptyCell]],
    ['values stand beside a failing array formula', [imported, textCell('Acme'), emptyCell]],
  ])('an empty cell says that it is empty where %s', (_, titles) => {
    const { observed } = observeTab(gridOf(titles.map((title) => [textCell('1'), title])), leads);
    expect(observed).toMatchObject({ fields: new Set(['title', 'met', 'vip']) });
  });

  const formula = (shown?: string): Cell => ({
    kind: 'formula',
    formula: '=B2="Draft"',
    ...(shown === undefined ? {} : { shown }),
  });

  test.each<[Cell]>([
    [booleanCell(true)],
    [textCell('x')],
    [textCell('yes')],
    [textCell('ask Ada')],
    [numberCell(1)],
    [formula('TRUE')],
    [formula('WAHR')],
    [{ kind: 'error', message: 'Loading...', formula: '=X1' }],
  ])('whatever people see in the pause column and is no “no”, pauses the row: %j', (cell) =>
    expect(isPausedBy(cell)).toBe(true),
  );

  test.each<[Cell]>([
    [emptyCell],
    [booleanCell(false)],
    [textCell(' ')],
    [textCell('no')],
    [textCell('nein')],
    [numberCell(0)],
    [formula('FALSE')],
    [formula('FALSCH')],
    [formula('FAUX')],
    [formula()],
  ])('a row goes on where the pause column says no: %j', (cell) => expect(isPausedBy(cell)).toBe(false));

  test.each<[what: string, cells: [first: Cell, second: Cell], isPaused: boolean]>([
    ['its array formula fails, as while it loads', [imported, emptyCell], true],
    ['its array formula fails, and the box of the row is unticked', [imported, booleanCell(false)], false],
    ['a formula that fills one cell fails', [failed('=1/0'), emptyCell], false],
  ])(
    'a row without a word in the pause column goes on unless nobody knows what it would say: %s',
    (_what, cells, isPaused) => {
      const rows = cells.map((cell, index) => [
        numberCell(index + 1),
        ...[textCell('Acme'), emptyCell, emptyCell, emptyCell, cell],
      ]);
      const grid = { ...gridOf([]), rows: [[...headers, textCell('Pause')], ...rows] };
      const { observed } = observeTab(grid, { ...leads, pauseHeader: 'Pause' });
      expect(observed.state === 'read' && observed.rows[1]?.isPaused === true).toBe(isPaused);
    },
  );

  test('the pause column is named by the header that people gave it', () => {
    const grid = { ...gridOf([]), rows: [[...headers, textCell('On hold')]] };
    const tags = [{ field: '#pause', metadataId: 1, index: 5 }];
    const { observed } = observeTab({ ...grid, tags }, { ...leads, pauseHeader: 'Pause' });
    expect(observed).toMatchObject({ headers: { title: 'Title', '#pause': 'On hold' } });
  });

  test('a formula that comes to yes or no says so in every language', () => {
    const [off, on] = [
      { value: false, formattedValue: 'FAŁSZ' },
      { value: true, formattedValue: 'PRAWDA' },
    ].map(({ value, formattedValue }) =>
      toCell({
        userEnteredValue: { formulaValue: '=C2>5' },
        effectiveValue: { boolValue: value },
        formattedValue,
      }),
    );
    expect([isPausedBy(off ?? emptyCell), isPausedBy(on ?? emptyCell)]).toEqual([false, true]);
  });

  test('what a formula comes to is not a part of its cell, because it changes by itself', () => {
    const { observed } = observeTab(
      gridOf([[textCell('1'), formula('Acme'), formula('1'), formula('x'), formula('x')]]),
      leads,
    );
    const bare = formula();
    expect(observed).toMatchObject({ state: 'read' });
    expect(observed.state === 'read' && observed.rows[0]).toEqual({
      position: 1,
      id: textCell('1'),
      sync: bare,
      cells: { title: bare, met: bare, vip: bare },
    });
  });

  test('an ID is its number, however the column shows numbers', () => {
    const shown: Cell = { kind: 'number', number: 1042, shown: '1,042' };
    expect(observeTab(gridOf([[shown]]), leads).observed).toMatchObject({ rows: [{ id: numberCell(1042) }] });
  });

  test('a cell beside the managed columns makes no row', () => {
    const { observed } = observeTab(
      gridOf([[emptyCell, emptyCell, emptyCell, emptyCell, emptyCell, textCell('mine')]]),
      leads,
    );
    expect(observed).toMatchObject({ rows: [], ownRows: [{ position: 1 }] });
  });

  test('merged cells in a managed column hold the tab, others do not', () => {
    const merge = { startRowIndex: 2, endRowIndex: 4, startColumnIndex: 1, endColumnIndex: 2 };
    expect(observeTab(gridOf([], [merge]), leads).observed).toMatchObject({
      state: 'held',
      reason: 'Cells from B3 on in “Leads” are merged. Unmerge them.',
    });
    const own = { ...merge, startColumnIndex: 8, endColumnIndex: 9 };
    expect(observeTab(gridOf([], [own]), leads).observed.state).toBe('read');
  });

  test('merged cells in the pause column hold the tab: rows below the first would go on although people see one tick for all', () => {
    const merge = { startRowIndex: 2, endRowIndex: 4, startColumnIndex: 5, endColumnIndex: 6 };
    const grid = { ...gridOf([], [merge]), rows: [[...headers, textCell('Pause')]] };
    expect(observeTab(grid, { ...leads, pauseHeader: 'Pause' }).observed).toMatchObject({
      state: 'held',
      reason: 'Cells from F3 on in “Leads” are merged. Unmerge them.',
    });
    expect(observeTab(grid, leads).observed.state).toBe('read');
  });
});

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
  expect(addColumns(grid, missing)).toMatchObject([
    { appendDimension: { length: 5 } },
    { updateCells: { start: { columnIndex: 30 } } },
  ]);
});

test('columns beyond Z have two letters', () => {
  expect([0, 25, 26, 701, 702].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA']);
});

test('a title is quoted with its apostrophes doubled', () => {
  expect(quoteTitle("Anna's")).toBe("'Anna''s'");
});
