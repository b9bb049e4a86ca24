import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, textCell } from '../../src/core/cell.ts';
import type { RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import {
  appendStep,
  deleteStep,
  openSandboxSheet,
  type SandboxSheet,
  setStep,
  sheetLayout,
  titled,
} from '../support/sandbox-sheet.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
});

afterEach(() => sheet.close());

describe('rows that move between read and write', () => {
  test('after a sort every set that reached another row is reported with the ID found there', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true }],
    });
    const first = setStep(1, textCell('1'), titled('One'));
    const second = setStep(2, textCell('2'), titled('Two'));
    const { misplaced } = await sheet.table.write([first, second]);
    expect(misplaced).toEqual([{ step: first, idFound: textCell('3'), replaced: titled('Title 3') }]);
    await expect(sheet.table.write([first])).rejects.toThrow('without a read');
  });

  test('S1: what somebody typed between read and write is reported with the write that replaced it', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Typed meanwhile' }],
    });
    const steps = [setStep(1, textCell('1'), titled('One')), setStep(2, textCell('2'), titled('Two'))];
    expect(await sheet.table.write(steps)).toEqual({
      misplaced: [],
      astray: [],
      overtyped: [{ step: steps[1], replaced: titled('Typed meanwhile') }],
    });
  });

  test('a cell that somebody emptied, or filled with a number, between read and write is reported too', async () => {
    await sheet.fill('1', '2');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [
        { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: '' },
        { kind: 'edit', sheet: 'Leads', row: 2, column: 'Website', text: '12.5' },
      ],
    });
    const one = setStep(1, textCell('1'), titled('One'));
    const two = setStep(2, textCell('2'), { 'about.url': textCell('example.com') });
    const { overtyped } = await sheet.table.write([one, two]);
    expect(overtyped).toMatchObject([
      { step: one, replaced: { title: emptyCell } },
      { step: two, replaced: { 'about.url': { text: '12.5' } } },
    ]);
  });

  test('an ID written over another one is reported with the ID that is lost', async () => {
    await sheet.fill('1', '2', 'new-a', '4');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'insertRows', sheet: 'Leads', row: 1 }] });
    const step: RowStep = {
      kind: 'set',
      entity: 'lead',
      position: 3,
      idSeen: textCell('new-a'),
      id: textCell('99'),
      cells: {},
    };
    expect(await sheet.table.write([step])).toEqual({
      misplaced: [{ step, idFound: textCell('2') }],
      astray: [],
      overtyped: [],
    });
  });

  test('S2: tokens that moved up because a row was deleted have not hit the row that is gone', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 3, column: 'Title', text: 'Typed' });
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 4, column: 'Title', text: 'Typed too' });
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'deleteRows', sheet: 'Leads', row: 1 }] });
    const token = (position: number, id: string): RowStep => ({
      kind: 'set',
      entity: 'lead',
      position,
      idSeen: emptyCell,
      id: textCell(id),
      cells: {},
    });
    const [first, second] = [token(3, 'new-a'), token(4, 'new-b')];
    // The first reached the row of the second, the second a blank one: the ID that is missing was overwritten by neither.
    expect(await sheet.table.write([first, second])).toEqual({
      misplaced: [
        { step: first, idFound: emptyCell },
        { step: second, idFound: emptyCell },
      ],
      astray: [],
      overtyped: [],
    });
  });

  test('a token that reached a row with an ID is reported', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 3, column: 'Title', text: 'Typed' });
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'insertRows', sheet: 'Leads', row: 1 }] });
    const step: RowStep = {
      kind: 'set',
      entity: 'lead',
      position: 3,
      idSeen: emptyCell,
      id: textCell('new-b'),
      cells: {},
    };
    expect(await sheet.table.write([step])).toEqual({
      misplaced: [{ step, idFound: textCell('2') }],
      astray: [],
      overtyped: [],
    });
  });

  test('sets beside a delete and an append are confirmed in their new place', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.table.read(sheetLayout);
    const steps = [
      deleteStep(1, '1'),
      setStep(3, textCell('3'), titled('Three')),
      appendStep('4', titled('Four')),
    ];
    expect(await sheet.table.write(steps)).toEqual({ misplaced: [], astray: [], overtyped: [] });
  });

  test.each<[string, PersonActionInput[]]>([
    ['moved', [{ kind: 'moveColumns', sheet: 'Leads', column: 'Title', to: 4 }]],
    ['inserted before the ID', [{ kind: 'insertColumns', sheet: 'Leads', column: 0 }]],
    ['moved before the ID', [{ kind: 'moveColumns', sheet: 'Leads', column: 'Mine', to: 0 }]],
  ])('S2 S13: with a column %s every value still ends under its header', async (_, actions) => {
    await sheet.fill('1', '2', '3');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' },
      { kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: '=1+1' },
    );
    const before = await sheet.readTab();
    await sheet.setFaults({ beforeNextWrite: actions });
    const url = { 'about.url': textCell('example.com') };
    const steps = [
      deleteStep(1, '1'),
      { ...setStep(2, textCell('2'), { ...titled('Two'), ...url }), id: textCell('20') },
      setStep(3, textCell('3'), titled('Three')),
      appendStep('4', titled('Four')),
    ];
    expect(await sheet.table.write(steps)).toEqual({ misplaced: [], astray: [], overtyped: [] });
    const { rows } = await sheet.readTab();
    expect(
      rows.map(({ id, cells }) => [id, cells['title'], cells['about.url'], cells['status_name']]),
    ).toEqual([
      [textCell('20'), textCell('Two'), textCell('example.com'), emptyCell],
      [textCell('3'), textCell('Three'), emptyCell, emptyCell],
      [textCell('4'), textCell('Four'), emptyCell, emptyCell],
    ]);
    expect(rows.slice(0, 2).map((row) => row.sync)).toEqual(before.rows.slice(1).map((row) => row.sync));
    const values = await sheet.readValues('Leads!1:2', 'FORMULA');
    const {
      values: [headers, first],
    } = values as { values: string[][] };
    expect(first?.[headers?.indexOf('Mine') ?? -1]).toBe('=1+1');
  });

  test('a header that is rewritten in the same moment costs no value', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name' }],
    });
    const steps = [setStep(1, textCell('1'), titled('One'))];
    expect(await sheet.table.write(steps)).toEqual({ misplaced: [], astray: [], overtyped: [] });
    expect(await sheet.readValues('Leads!C1:C2')).toMatchObject({ values: [['Name'], ['One']] });
  });

  test('a delete whose columns moved meanwhile needs no second write', async () => {
    await sheet.fill('1', '2');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'insertColumns', sheet: 'Leads', column: 0 }] });
    expect(await sheet.table.write([deleteStep(1, '1')])).toEqual({
      misplaced: [],
      astray: [],
      overtyped: [],
    });
    expect(await sheet.titlesById()).toEqual({ '2': 'Title 2' });
  });

  test('a delete that took another row is not confirmed, and told to the log', async () => {
    await sheet.fill('1', '2');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'insertRows', sheet: 'Leads', row: 1 }] });
    const step = deleteStep(2, '2');
    expect(await sheet.table.write([step])).toEqual({ misplaced: [], astray: [step], overtyped: [] });
    expect(sheet.log.lines).toContainEqual({
      level: 'error',
      event: 'sheet.wrong_rows_deleted',
      fields: { entity: 'lead', rows: 1 },
    });
  });

  test('with the ID column deleted nothing of a write is confirmed', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'deleteColumns', sheet: 'Leads', column: 'ID' }] });
    await expect(sheet.table.write([appendStep('2')])).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
      message: '“Leads” lost its ID column while it was written.',
    });
    await expect(sheet.table.write([appendStep('2')])).rejects.toThrow('without a read');
  });

  test('S1: a row that a person types below the last one survives an append', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Typed' }],
    });
    await sheet.table.write([appendStep('2', titled('Title 2'))]);
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2', '': 'Typed' });
  });

  test('a tab renamed in between writes nothing and asks for a new read', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({ beforeNextWrite: [{ kind: 'renameTab', sheet: 'Leads', title: 'Other' }] });
    await expect(sheet.table.write([setStep(1, textCell('1'), titled('One'))])).rejects.toMatchObject({
      code: 'SHEET_UNREACHABLE',
    });
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1' });
  });
});

describe('refusals', () => {
  test('an unknown spreadsheet is SHEET_NOT_FOUND', async () => {
    await expect(sheet.openTable('nowhere').read(sheetLayout)).rejects.toMatchObject({
      code: 'SHEET_NOT_FOUND',
    });
  });

  test('503 and a cut connection are SHEET_UNREACHABLE, and a write is not sent twice', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    for (const kind of ['unavailable', 'cut'] as const) {
      await sheet.setFaults({ failures: [{ kind, when: 'after', on: 'write' }] });
      const before = await sheet.countRequests();
      await expect(sheet.table.write([appendStep(kind)])).rejects.toMatchObject({
        code: 'SHEET_UNREACHABLE',
      });
      expect((await sheet.countRequests()).writes).toBe(before.writes + 1);
      await sheet.table.read(sheetLayout);
    }
    expect(Object.keys(await sheet.titlesById())).toEqual(['1', 'unavailable', 'cut']);
  });

  test('limited requests wait longer and longer, then fail as SHEET_LIMITED', async () => {
    await sheet.close();
    sheet = await openSandboxSheet({ quotas: { readsPerMinute: 1 } });
    await sheet.table.layOut(sheetLayout, 'create');
    await expect(sheet.table.read(sheetLayout)).rejects.toMatchObject({ code: 'SHEET_LIMITED' });
    expect(sheet.clock.slept).toEqual([1500, 3000, 6000, 12_000, 24_000]);
  });

  test('a limited write fails at once, because rows may move while it waits', async () => {
    await sheet.close();
    sheet = await openSandboxSheet({ quotas: { writesPerMinute: 1 } });
    await sheet.table.layOut(sheetLayout, 'create');
    await sheet.table.read(sheetLayout);
    const write = sheet.table.write([{ kind: 'append', entity: 'lead', cells: { title: textCell('late') } }]);
    await expect(write).rejects.toMatchObject({ code: 'SHEET_LIMITED' });
    expect(sheet.clock.slept).toEqual([]);
  });

  test('its own quota keeps requests below the limit of a minute', async () => {
    await sheet.close();
    sheet = await openSandboxSheet({ quotas: { readsPerMinute: 1000 } });
    await sheet.table.layOut(sheetLayout, 'create');
    for (let count = 0; count < 59; count += 1) await sheet.table.read(sheetLayout);
    expect(sheet.clock.slept).toEqual([]);
    await sheet.table.read(sheetLayout);
    expect(sheet.clock.slept).toEqual([60_000]);
  });
});
