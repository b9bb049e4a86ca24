import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cell } from '../../src/sandbox/sheets/cell.ts';
import { addSpreadsheet, createDocuments, storeSpreadsheet } from '../../src/sandbox/sheets/documents.ts';
import {
  type PersonAction,
  type PersonActionInput,
  personAction,
} from '../../src/sandbox/sheets/people/person-shapes.ts';
import { createQuota, GOOGLE_QUOTA } from '../../src/sandbox/sheets/quota.ts';
import { batchUpdate } from '../../src/sandbox/sheets/requests/batch-update.ts';
import { createSandbox, performActions } from '../../src/sandbox/sheets/sandbox.ts';

const sheet = 'Sheet1';

/** An account with one tab of three columns and four rows below a header, in this process. */
function openGrid() {
  const sandbox = createSandbox(createDocuments(1), createQuota(GOOGLE_QUOTA), () => 0);
  const file = addSpreadsheet(sandbox.documents, { title: 'CRM' }, 0);
  const act = (...actions: PersonActionInput[]) =>
    performActions(sandbox, file, actions.map((action) => personAction.parse(action)) as PersonAction[]);
  /** What a program writes; nobody's undo takes it back. */
  const batch = (...requests: object[]) => {
    const { spreadsheet } = batchUpdate(file.spreadsheet, { requests }, '', sandbox.documents.ids.nextId);
    storeSpreadsheet(file, spreadsheet, 0);
  };
  const [grid] = file.spreadsheet.sheets;
  if (grid) grid.gridProperties = { frozenRowCount: 1 };
  const rows = ['Ada', 'Berta', 'Clara', 'Dora'].map((name, index) => [String(index + 1), name, `n${index}`]);
  act({ kind: 'paste', sheet, row: 0, column: 0, rows: [['ID', 'Name', 'Note'], ...rows] });
  const tab = () => file.spreadsheet.sheets[0] ?? expect.fail('There is no tab.');
  return {
    act,
    batch,
    movesSeen: () => tab().moves.length,
    /** What was put into the rows, from the top to the last one with something in it. */
    texts: () =>
      tab()
        .rows.map((row) => Array.from(row, contentOf).join(' ').trimEnd())
        .join('\n')
        .trimEnd()
        .split('\n'),
  };
}

const contentOf = (cell: Cell | undefined) => String(Object.values(cell?.userEnteredValue ?? {})[0] ?? '');

const names = (texts: readonly string[]) => texts.slice(1).map((text) => text.split(' ')[1] ?? '');

describe('an action of a person who saw the sheet earlier', () => {
  const meanwhile: [string, PersonActionInput[], string[]][] = [
    [
      'two rows are inserted above',
      [{ kind: 'insertRows', sheet, row: 1, count: 2 }],
      ['', '', 'Ada', 'Berta', 'X', 'Dora'],
    ],
    ['a row above is deleted', [{ kind: 'deleteRows', sheet, row: 1 }], ['Berta', 'X', 'Dora']],
    [
      'its row is moved to the top',
      [{ kind: 'moveRows', sheet, row: 3, to: 1 }],
      ['X', 'Ada', 'Berta', 'Dora'],
    ],
    [
      'the tab is sorted',
      [{ kind: 'sort', sheet, column: 1, descending: true }],
      ['Dora', 'X', 'Berta', 'Ada'],
    ],
    [
      'its row is deleted and comes back by undo',
      [{ kind: 'deleteRows', sheet, row: 3 }, { kind: 'undo' }],
      ['Ada', 'Berta', 'X', 'Dora'],
    ],
    [
      'a sort is taken back by undo',
      [{ kind: 'sort', sheet, column: 1, descending: true }, { kind: 'undo' }],
      ['Ada', 'Berta', 'X', 'Dora'],
    ],
  ];
  test.each(meanwhile)('reaches the cell that was seen when %s', (_what, actions, expected) => {
    const { act, movesSeen, texts } = openGrid();
    const seen = movesSeen();
    act(...actions);
    act({ kind: 'edit', sheet, row: 3, column: 1, text: 'X', movesSeen: seen });
    expect(names(texts())).toEqual(expected);
  });

  test('copies a row right below it where another row was inserted there', () => {
    const { act, movesSeen, texts } = openGrid();
    const seen = movesSeen();
    act({ kind: 'insertRows', sheet, row: 1 }, { kind: 'insertRows', sheet, row: 3 });
    act({ kind: 'copyRow', sheet, row: 1, to: 2, inserts: true, movesSeen: seen });
    expect(names(texts())).toEqual(['', 'Ada', 'Ada', '', 'Berta', 'Clara', 'Dora']);
  });

  test('reaches the column that was seen when columns moved', () => {
    const { act, movesSeen, texts } = openGrid();
    const seen = movesSeen();
    act({ kind: 'moveColumns', sheet, column: 1, to: 0 }, { kind: 'insertColumns', sheet, column: 0 });
    act({ kind: 'edit', sheet, row: 1, column: 1, text: 'X', movesSeen: seen });
    expect(texts()[1]).toBe(' X 1 n0');
  });

  test('follows only the cells that a partial sort moved', () => {
    const { act, movesSeen, texts } = openGrid();
    const seen = movesSeen();
    const range = { startRow: 1, endRow: 5, startColumn: 1, endColumn: 2 };
    act({ kind: 'sort', sheet, column: 1, descending: true, range });
    act({ kind: 'edit', sheet, row: 1, column: 1, text: 'X', movesSeen: seen });
    act({ kind: 'edit', sheet, row: 1, column: 2, text: 'Y', movesSeen: seen });
    expect([texts()[1], texts()[4]]).toEqual(['1 Dora Y', '4 X n3']);
  });

  const refused: [string, PersonActionInput, PersonActionInput][] = [
    [
      'the edited row is deleted',
      { kind: 'deleteRows', sheet, row: 3 },
      { kind: 'edit', sheet, row: 3, column: 1, text: 'X' },
    ],
    [
      'the edited column is deleted',
      { kind: 'deleteColumns', sheet, column: 1 },
      { kind: 'edit', sheet, row: 3, column: 1, text: 'X' },
    ],
    [
      'a row comes between the rows to delete',
      { kind: 'insertRows', sheet, row: 3 },
      { kind: 'deleteRows', sheet, row: 2, count: 2 },
    ],
    [
      'a sort scatters the cells to paste over',
      { kind: 'moveRows', sheet, row: 2, to: 5 },
      { kind: 'paste', sheet, row: 1, column: 1, rows: [['X'], ['Y']] },
    ],
    [
      'the rows to fill are scattered',
      { kind: 'moveRows', sheet, row: 2, to: 5 },
      { kind: 'fillDown', sheet, range: { startRow: 1, endRow: 3, startColumn: 1, endColumn: 2 } },
    ],
  ];
  test.each(refused)('is refused and changes nothing when %s', (_what, other, action) => {
    const { act, movesSeen, texts } = openGrid();
    const movesNow = movesSeen();
    act(other);
    const before = texts();
    expect(() => act({ ...action, movesSeen: movesNow } as PersonActionInput)).toThrow(
      /Look again and repeat/,
    );
    expect(texts()).toEqual(before);
  });

  test('inserts beside the row that was seen', () => {
    const { act, movesSeen, texts } = openGrid();
    const seen = movesSeen();
    act({ kind: 'deleteRows', sheet, row: 1 });
    act({ kind: 'insertRows', sheet, row: 3, movesSeen: seen });
    expect(names(texts())).toEqual(['Berta', '', 'Clara', 'Dora']);
    act({ kind: 'insertRows', sheet, row: 5, movesSeen: seen });
    expect(names([...texts(), 'end'])).toEqual(['Berta', '', 'Clara', 'Dora', '']);
  });

  test('copies from where the cells were when they were copied', () => {
    const { act, movesSeen, texts } = openGrid();
    const source = {
      sheet,
      movesSeen: movesSeen(),
      range: { startRow: 1, endRow: 2, startColumn: 1, endColumn: 2 },
    };
    act({ kind: 'insertRows', sheet, row: 1 });
    const range = { startRow: 3, endRow: 4, startColumn: 2, endColumn: 3 };
    act({ kind: 'pasteCells', sheet, range, source });
    expect(texts()[3]).toBe('2 Berta Ada');
  });
});

const area = (startRow: number, startColumn: number, height = 1, width = 1) => ({
  startRow,
  endRow: startRow + height,
  startColumn,
  endColumn: startColumn + width,
});

describe('a person', () => {
  test('copies and fills cells with the references of their formulas moved along', () => {
    const { act, texts } = openGrid();
    act({
      kind: 'edit',
      sheet,
      row: 1,
      column: 2,
      text: '="A1"&$A$1&A2&$A2&A$1&SUM(A:A)&LOG10(1)&\'A1\'!A2',
    });
    act({ kind: 'pasteCells', sheet, range: area(2, 3), source: { sheet, range: area(1, 2) } });
    act({ kind: 'fillDown', sheet, range: area(1, 2, 2) });
    const copied = '="A1"&$A$1&B3&$A3&B$1&SUM(B:B)&LOG10(1)&\'A1\'!B3';
    expect(texts()[2]).toBe(`2 Berta ="A1"&$A$1&A3&$A3&A$1&SUM(A:A)&LOG10(1)&'A1'!A3 ${copied}`);
    act({ kind: 'pasteCells', sheet, range: area(0, 4), source: { sheet, range: area(1, 2) } });
    expect(texts()[0]).toContain('&C1&$A1&C$1&SUM(C:C)');
    act({ kind: 'pasteCells', sheet, range: area(0, 0), source: { sheet, range: area(1, 2) } });
    expect(texts()[0]).toContain('&#REF!&$A1&#REF!&SUM(#REF!)');
  });

  test('fills a larger selection with the copied cells as often as they fit', () => {
    const { act, texts } = openGrid();
    act({ kind: 'pasteCells', sheet, range: area(2, 1, 2, 2), source: { sheet, range: area(1, 1) } });
    expect(texts().slice(2, 4)).toEqual(['2 Ada Ada', '3 Ada Ada']);
  });

  test('cuts cells and pastes them with everything they hold', () => {
    const { act, texts } = openGrid();
    act({ kind: 'edit', sheet, row: 1, column: 2, text: '=A2' });
    act({
      kind: 'pasteCells',
      sheet,
      range: area(5, 0),
      source: { sheet, range: area(1, 0, 1, 3) },
      cut: true,
    });
    expect(texts().slice(1)).toEqual(['', '2 Berta n1', '3 Clara n2', '4 Dora n3', '1 Ada =A2']);
    act({ kind: 'undo' });
    expect(texts().slice(1)).toEqual(['1 Ada =A2', '2 Berta n1', '3 Clara n2', '4 Dora n3']);
  });

  test('does again what was taken back, until something new is done', () => {
    const { act, texts } = openGrid();
    act({ kind: 'sort', sheet, column: 1, descending: true }, { kind: 'insertRows', sheet, row: 1 });
    const after = texts();
    act({ kind: 'undo' }, { kind: 'undo' }, { kind: 'redo' }, { kind: 'redo' });
    expect(texts()).toEqual(after);
    act({ kind: 'undo' }, { kind: 'edit', sheet, row: 1, column: 1, text: 'X' });
    expect(() => act({ kind: 'redo' })).toThrow('There is nothing to redo.');
  });
});

describe('undo', () => {
  const rows = (startIndex: number, endIndex: number) => ({
    range: { dimension: 'ROWS', startIndex, endIndex },
  });
  const others: [string, PersonActionInput[], object, string[]][] = [
    [
      'an edit',
      [{ kind: 'edit', sheet, row: 4, column: 1, text: 'X' }],
      { deleteDimension: rows(1, 2) },
      ['Berta', 'Clara', 'Dora'],
    ],
    [
      'a deletion',
      [{ kind: 'deleteRows', sheet, row: 3 }],
      { insertDimension: rows(1, 2) },
      ['', 'Ada', 'Berta', 'Clara', 'Dora'],
    ],
    [
      'an insertion',
      [{ kind: 'insertRows', sheet, row: 3, count: 2 }],
      { deleteDimension: rows(1, 2) },
      ['Berta', 'Clara', 'Dora'],
    ],
    [
      'a move',
      [{ kind: 'moveRows', sheet, row: 4, to: 1 }],
      { deleteDimension: rows(2, 3) },
      ['Berta', 'Clara', 'Dora'],
    ],
    [
      'a move of a row that is gone with the one below it',
      [{ kind: 'moveRows', sheet, row: 1, to: 3 }],
      { deleteDimension: rows(2, 4) },
      ['Berta', 'Dora'],
    ],
    [
      'a sort',
      [{ kind: 'sort', sheet, column: 1, descending: true }],
      { deleteDimension: rows(2, 3) },
      ['Ada', 'Berta', 'Dora'],
    ],
  ];
  test.each(others)(
    'takes back %s where it stands after others moved rows',
    (_what, actions, request, expected) => {
      const { act, batch, texts } = openGrid();
      act(...actions);
      batch(request);
      act({ kind: 'undo' });
      expect(names(texts())).toEqual(expected);
    },
  );

  test('is refused when others took the moved rows apart', () => {
    const { act, batch, texts } = openGrid();
    act({ kind: 'moveRows', sheet, row: 1, count: 2, to: 5 });
    batch({ insertDimension: rows(2, 3) });
    const torn = texts();
    expect(() => act({ kind: 'undo' })).toThrow('cannot be taken back');
    expect(texts()).toEqual(torn);
  });

  const step = fc.integer({ min: 0, max: 5 });
  const span = fc.integer({ min: 1, max: 2 });
  const some = (kind: PersonActionInput['kind'], parts: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
    fc
      .record({ kind: fc.constant(kind), sheet: fc.constant(sheet), ...parts })
      .map((action) => personAction.parse(action));
  const source = fc.constant({ sheet, range: area(1, 0, 2, 2) });
  const range = fc.tuple(step, step).map(([row, column]) => area(row, column));
  const anyAction: fc.Arbitrary<PersonActionInput> = fc.oneof(
    some('edit', { row: step, column: step, text: fc.string() }),
    some('insertRows', { row: step, count: span }),
    some('deleteRows', { row: step, count: span }),
    some('moveRows', { row: step, to: step }),
    some('copyRow', { row: step, to: step, inserts: fc.boolean() }),
    some('insertColumns', { column: step, count: span }),
    some('deleteColumns', { column: step, count: span }),
    some('moveColumns', { column: step, to: step }),
    some('sort', { column: step, descending: fc.boolean() }),
    some('sort', { column: step, range: fc.constant(area(1, 1, 3, 1)) }),
    some('filter', { column: step, shown: fc.constant(['Ada']) }),
    some('pasteCells', { range, source, cut: fc.boolean() }),
  );

  test('takes back any sequence of actions step by step, and redo does all of them again', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 8 }), (actions) => {
        const { act, texts } = openGrid();
        const states = [texts()];
        for (const action of actions) {
          act(action);
          states.push(texts());
        }
        for (const state of states.slice(0, -1).toReversed()) {
          act({ kind: 'undo' });
          expect(texts()).toEqual(state);
        }
        for (const state of states.slice(1)) {
          act({ kind: 'redo' });
          expect(texts()).toEqual(state);
        }
      }),
    );
  });
});
