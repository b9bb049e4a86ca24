import { describe, expect, test } from 'vitest';
import { readGrids, toCell } from '../../src/google/grid.ts';
import { observeTab } from '../../src/google/read.ts';
import {
  booleanCell,
  type Cell,
  emptyCell,
  numberCell,
  spilledCell,
  textCell,
} from '../../src/sheet/port/cell.ts';
import { gridOf, headers, leads } from '../support/leads-grid.ts';

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
  test('fault 45: a block that begins inside the grid keeps its place, and zeros that are left out are zeros', () => {
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
    expect(observed).toMatchObject({ state: 'read', rows: [{ position: 1 }] });
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
    expect(observed).toMatchObject({ rows: [] });
  });

  test('fault 49: merged cells in a managed column hold the tab, others do not', () => {
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
