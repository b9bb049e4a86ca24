import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import { numberSteps, type RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import { shadowTitle } from '../../src/sheets/shadow.ts';
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

/** Writes the steps after the faults, and answers what stood in the rows that they reached: their IDs and titles. */
async function writeAfter(actions: PersonActionInput[], steps: readonly RowStep[]) {
  await sheet.table.read(sheetLayout);
  await sheet.setFaults({ beforeNextWrite: actions });
  const { hits, rows } = await sheet.table.write(steps, keeping);
  expect(hits.size).toBe(0);
  return [...rows].map(([slot, { id, cells }]) => [slot, id, cells['title']]);
}

const keeping = { run: 'w1', from: 0 };
const word = textCell('Pending');
const byIdDescending = { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true } as const;

describe('rows that move between read and write', () => {
  test('S2: the reply tells which rows a write reached, as they stood before', async () => {
    await sheet.fill('1', '2', '3');
    const steps = [
      setStep(1, textCell('1'), titled('One')),
      setStep(2, textCell('2'), titled('Two')),
      deleteStep(3, '3'),
    ];
    expect(await writeAfter([byIdDescending], steps)).toEqual([
      [0, textCell('3'), textCell('Title 3')],
      [1, textCell('2'), textCell('Title 2')],
      [2, textCell('1'), textCell('Title 1')],
    ]);
    await expect(sheet.table.write([setStep(1, textCell('1'), titled('One'))])).rejects.toThrow(
      'without a read',
    );
  });

  test('S1: the reply shows what somebody typed between read and write', async () => {
    await sheet.fill('1', '2', '3');
    const edits: PersonActionInput[] = [
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: '' },
      { kind: 'edit', sheet: 'Leads', row: 2, column: 'Title', text: 'Typed meanwhile' },
      { kind: 'edit', sheet: 'Leads', row: 3, column: 'Title', text: '12.5' },
    ];
    const steps = ['1', '2', '3'].map((id, index) => setStep(index + 1, textCell(id), titled('Written')));
    expect(await writeAfter(edits, steps)).toEqual([
      [0, textCell('1'), emptyCell],
      [1, textCell('2'), textCell('Typed meanwhile')],
      [2, textCell('3'), textCell('12.5')],
    ]);
    expect(await sheet.titlesById()).toEqual({ '1': 'Written', '2': 'Written', '3': 'Written' });
  });

  test('the reply tells over which ID one was written', async () => {
    await sheet.fill('1', '2', 'new-a', '4');
    const step: RowStep = { ...setStep(3, textCell('new-a'), {}), id: textCell('99') };
    expect(await writeAfter([{ kind: 'insertRows', sheet: 'Leads', row: 1 }], [step])).toEqual([
      [0, textCell('2'), textCell('Title 2')],
    ]);
  });

  test('what a write kept can be asked for as long as nobody needs its place, also by another process', async () => {
    await sheet.fill('1', '2');
    await writeAfter([], [setStep(1, textCell('1'), titled('One'))]);
    await writeAfter([], [deleteStep(2, '2')]);
    const other = sheet.openTable();
    await other.read(sheetLayout);
    const asked = { places: other.places(), steps: new Map([[0, deleteStep(2, '2')]]) };
    expect(await other.recall({ ...asked, keeping })).toMatchObject({
      rows: new Map([[0, { id: textCell('2'), cells: titled('Title 2') }]]),
    });
    expect(await other.recall({ ...asked, keeping: { run: 'w0', from: 0 } })).toBeUndefined();
    expect(await other.recall({ ...asked, keeping: { run: 'w1', from: 500 } })).toBeUndefined();
  });

  test('what a write hit under columns that moved can be asked for as well, of new rows too', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    const places = sheet.table.places();
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'moveColumns', sheet: 'Leads', column: 2, count: 1, to: 4 }],
    });
    const steps: RowStep[] = [
      setStep(1, textCell('1'), titled('One')),
      { kind: 'append', entity: 'lead', id: textCell('2'), cells: titled('Two') },
    ];
    const reply = await sheet.table.write(steps, keeping);
    expect([...reply.hits.keys()]).toEqual([0, -1]);
    const other = sheet.openTable();
    await other.read(sheetLayout);
    expect(await other.recall({ keeping, places, steps: numberSteps(steps) })).toEqual(reply);
  });

  test('S13: a row that was deleted by mistake comes back with own columns, formulas and formats', async () => {
    await sheet.fill('1', '2', '3');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' },
      { kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: '=UPPER(C3)' },
    );
    await sheet.table.read(sheetLayout);
    const { rows } = await sheet.table.write([deleteStep(2, '2')], keeping);
    const kept = rows.get(0);
    await sheet.table.read(sheetLayout);
    const place = kept?.place;
    await sheet.table.write([{ kind: 'append', entity: 'lead', cells: {}, ...(place && { place }) }], {
      run: 'w2',
      from: 10,
    });
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Title 2', '3': 'Title 3' });
    const { values } = (await sheet.readValues('Leads!A1:I4', 'FORMULA')) as { values: string[][] };
    expect(values.map((row) => [row[0], row[8] ?? ''])).toEqual([
      ['ID', 'Mine'],
      ['1', ''],
      ['3', ''],
      ['2', '=UPPER(C4)'],
    ]);
  });

  test('S13: a row that comes back has each cell in its own place where two of people’s columns are called the same', async () => {
    await sheet.fill('1', '2');
    const mine = (row: number, column: number, text: string): PersonActionInput => ({
      kind: 'edit',
      sheet: 'Leads',
      row,
      column,
      text,
    });
    await sheet.person(mine(0, 8, 'Mine'), mine(0, 9, 'Mine'), mine(2, 8, 'left'), mine(2, 9, 'right'));
    await sheet.table.read(sheetLayout);
    const { rows } = await sheet.table.write([deleteStep(2, '2')], keeping);
    await sheet.table.read(sheetLayout);
    const { id, cells, place } = rows.get(0) ?? { cells: {} };
    const back: RowStep = {
      kind: 'append',
      entity: 'lead',
      cells,
      ...(id && { id }),
      ...(place && { place }),
    };
    await sheet.table.write([back], { run: 'w2', from: 10 });
    expect(await sheet.readValues('Leads!I3:J3')).toMatchObject({ values: [['left', 'right']] });
  });

  test('S13: a row that is given back under columns that moved tells all of its cells, for it has to come anew', async () => {
    await sheet.fill('1', '2');
    await sheet.table.read(sheetLayout);
    const { rows } = await sheet.table.write([deleteStep(2, '2')], keeping);
    await sheet.table.read(sheetLayout);
    const place = rows.get(0)?.place;
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'moveColumns', sheet: 'Leads', column: 2, count: 1, to: 4 }],
    });
    const step: RowStep = {
      kind: 'append',
      entity: 'lead',
      id: textCell('2'),
      cells: titled('Title 2'),
      ...(place && { place }),
    };
    const { hits } = await sheet.table.write([step], { run: 'w2', from: 10 });
    expect(hits.get(-1)).toMatchObject({ id: textCell('2') });
    expect(hits.get(-1)?.ownId).toBeUndefined();
  });

  test('S3: a new row under columns that moved can be written anew where it stands', async () => {
    await sheet.fill('1');
    await sheet.table.read(sheetLayout);
    await sheet.setFaults({
      beforeNextWrite: [{ kind: 'insertColumns', sheet: 'Leads', column: 0, count: 1 }],
    });
    const row = { id: textCell('2'), cells: titled('Two') };
    const { hits } = await sheet.table.write([{ kind: 'append', entity: 'lead', ...row }], keeping);
    const { id: idSeen = emptyCell, others = [], place } = hits.get(-1) ?? {};
    await sheet.table.read(sheetLayout);
    const anew = { ...setStep(2, idSeen, row.cells), id: row.id, others, ...(place && { place }) };
    await sheet.table.write([anew], { run: 'w2', from: 10 });
    expect(await sheet.titlesById()).toEqual({ '1': 'Title 1', '2': 'Two' });
    const { values } = (await sheet.readValues('Leads!A1:D3')) as { values: string[][] };
    expect(values.map(([first = '']) => first)).toEqual(['', '', '']);
  });

  test('S2: cells are given back as they were, and no others', async () => {
    await sheet.fill('1');
    await sheet.person(
      { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 8, text: '=1+1' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: '=LOWER("ACME")' },
    );
    await sheet.table.read(sheetLayout);
    const url = { 'about.url': textCell('example.com') };
    const { rows } = await sheet.table.write(
      [setStep(1, textCell('1'), { ...titled('One'), ...url })],
      keeping,
    );
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 1, column: 8, text: 'typed over' });
    await sheet.table.read(sheetLayout);
    const kept = rows.get(0);
    const back = {
      ...setStep(1, textCell('1'), titled('')),
      ...(kept && { place: kept.place, others: [{ column: 8, written: textCell('typed over') }] }),
    };
    await sheet.table.write([back], { run: 'w2', from: 10 });
    const { values } = (await sheet.readValues('Leads!A2:I2', 'FORMULA')) as { values: string[][] };
    expect(values[0]?.[2]).toBe('=LOWER("ACME")');
    expect(values[0]?.[8]).toBe('=1+1');
    expect(values[0]).toContain('example.com');
  });

  test('S13: a row with nothing but own cells is told where rows have moved it, and what was written there can be mended', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' });
    await sheet.setFaults({
      beforeNextWrite: [
        { kind: 'deleteRows', sheet: 'Leads', row: 1 },
        { kind: 'moveColumns', sheet: 'Leads', column: 'Mine', to: 1 },
      ],
    });
    await sheet.readTab();
    const { hits, rows } = await sheet.table.write(
      [{ ...setStep(2, textCell('2'), {}), sync: word }],
      keeping,
    );
    await sheet.person({ kind: 'insertRows', sheet: 'Leads', row: 1, count: 2 });
    const { ownRows = [] } = await sheet.readTab();
    expect(ownRows.map(({ position, cells }) => [position, cells[1]])).toEqual([[4, word]]);
    const [hit, kept] = [hits.get(0), rows.get(0)];
    const back = {
      ...setStep(4, emptyCell, {}),
      ...(hit && kept && { others: hit.others, place: kept.place }),
    };
    await sheet.table.write([back], { run: 'w2', from: 10 });
    expect((await sheet.readTab()).ownRows).toEqual([]);
  });

  test('the hidden tab is made anew when somebody deleted it', async () => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
    expect(await writeAfter([], [setStep(2, textCell('2'), titled('Two'))])).toEqual([
      [0, textCell('2'), textCell('Title 2')],
    ]);
  });

  test('S1: what a copied array formula fills in the hidden tab stood in no row', async () => {
    await sheet.fill('1', '2');
    await sheet.readTab();
    const value = (number: number): RowStep[] => [
      { ...setStep(1, textCell('9'), { value: numberCell(number) }), entity: 'opportunity' },
    ];
    await sheet.table.write([{ kind: 'append', entity: 'opportunity', id: textCell('9'), cells: {} }]);
    await sheet.person(
      { kind: 'insertColumns', sheet: 'Leads', column: 2 },
      { kind: 'edit', sheet: 'Leads', row: 0, column: 2, text: 'Mine' },
      { kind: 'edit', sheet: 'Leads', row: 1, column: 2, text: '=ARRAYFORMULA(A2:A9&"!")' },
    );
    const steps = [setStep(1, textCell('1'), titled('One')), ...value(5)];
    await sheet.readTab();
    const { rows } = await sheet.table.write(steps, keeping);
    expect(rows.get(1)?.cells).toEqual({ value: emptyCell });
  });

  test.each<[string, PersonActionInput[]]>([
    ['and is used again by the next write', []],
    ['and is known where it was renamed', [{ kind: 'renameTab', sheet: shadowTitle, title: 'Old' }]],
  ])('a hidden tab that was made anew stays the one there is, %s', async (_, actions) => {
    await sheet.fill('1', '2');
    await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
    await writeAfter([], [setStep(2, textCell('2'), titled('Two'))]);
    await sheet.person(...actions);
    for (const title of ['Three', 'Four']) {
      await sheet.readTab();
      const steps = [setStep(2, textCell('2'), titled(title))];
      expect(await sheet.table.write(steps, keeping)).not.toHaveProperty('refusal');
    }
    expect(await sheet.titlesById()).toMatchObject({ 2: 'Four' });
  });

  test.each<[string, PersonActionInput[]]>([
    ['moved', [{ kind: 'moveColumns', sheet: 'Leads', column: 'Title', to: 4 }]],
    ['inserted before the ID', [{ kind: 'insertColumns', sheet: 'Leads', column: 0 }]],
    ['moved before the ID', [{ kind: 'moveColumns', sheet: 'Leads', column: 'Mine', to: 0 }]],
  ])(
    'S2 S13: with a column %s the reply tells what the steps hit, and all of it can be given back',
    async (_, actions) => {
      await sheet.fill('1', '2', '3');
      await sheet.person(
        { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: 'Mine' },
        { kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: '=1+1' },
      );
      const before = await sheet.readTab();
      await sheet.setFaults({ beforeNextWrite: actions });
      const url = { 'about.url': textCell('example.com') };
      const steps = [
        { ...setStep(2, textCell('2'), { ...titled('Two'), ...url }), sync: textCell('Sync') },
        setStep(3, textCell('3'), titled('Three')),
      ];
      const { hits, rows } = await sheet.table.write(steps, keeping);
      expect([...hits.keys()]).toEqual([...steps.keys()]);
      const now = await sheet.readTab();
      const repairs = steps.map((_, slot): RowStep => {
        const [hit, kept] = [hits.get(slot), rows.get(slot)];
        if (!hit || !kept) throw new Error('Nothing was kept.');
        const id = hit.id ? { id: kept.id } : {};
        const idSeen = hit.id ?? kept.id;
        const { place } = kept;
        return {
          kind: 'set',
          entity: 'lead',
          position: slot + 2,
          idSeen,
          cells: hit.cells,
          others: hit.others,
          place,
          ...id,
        };
      });
      expect(now.rows).toHaveLength(3);
      await sheet.table.write(repairs, { run: 'w2', from: 10 });
      const after = await sheet.readTab();
      expect(after.rows.map(({ id }) => id)).toEqual(before.rows.map(({ id }) => id));
      // What met its own column stays; everything else is as it was.
      for (const [index, { cells }] of after.rows.entries()) {
        const meant = steps.find(({ position }) => position === index + 1)?.cells ?? {};
        for (const [name, cell] of Object.entries(cells))
          expect([before.rows[index]?.cells[name], meant[name]]).toContainEqual(cell);
      }
      const { values } = (await sheet.readValues('Leads!1:3', 'FORMULA')) as { values: string[][] };
      const [headers, , second] = values;
      expect(second?.[headers?.indexOf('Mine') ?? -1]).toBe('=1+1');
    },
  );

  test('a header that is rewritten in the same moment costs no value', async () => {
    await sheet.fill('1');
    const rename: PersonActionInput = { kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name' };
    await writeAfter([rename], [setStep(1, textCell('1'), titled('One'))]);
    expect(await sheet.readValues('Leads!C1:C2')).toMatchObject({ values: [['Name'], ['One']] });
  });

  test.each([
    ['left', 'Title'],
    ['right', 'Status'],
  ])('S2: a column that people call like one of their own to its %s has not moved', async (_, column) => {
    await sheet.fill('1');
    await sheet.person(
      { kind: 'renameHeader', sheet: 'Leads', column: 'Title', text: 'Name' },
      { kind: 'insertColumns', sheet: 'Leads', column: column === 'Title' ? 'Name' : column },
    );
    const own = column === 'Title' ? 2 : 3;
    await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: own, text: 'Name' });
    await writeAfter([], [setStep(1, textCell('1'), titled('One'))]);
    expect(await sheet.titlesById()).toEqual({ '1': 'One' });
  });

  test('a delete whose columns moved meanwhile is told by its ID', async () => {
    await sheet.fill('1', '2');
    const insert: PersonActionInput = { kind: 'insertColumns', sheet: 'Leads', column: 0 };
    expect(await writeAfter([insert], [deleteStep(1, '1')])).toEqual([
      [0, textCell('1'), textCell('Title 1')],
    ]);
    expect(await sheet.titlesById()).toEqual({ '2': 'Title 2' });
  });

  test('with the ID column deleted nothing of a write is known', async () => {
    await sheet.fill('1');
    const remove: PersonActionInput = { kind: 'deleteColumns', sheet: 'Leads', column: 'ID' };
    await expect(writeAfter([remove], [setStep(1, textCell('1'), titled('One'))])).rejects.toMatchObject({
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

  test('a tab renamed in between is written all the same', async () => {
    await sheet.fill('1');
    const rename: PersonActionInput = { kind: 'renameTab', sheet: 'Leads', title: 'Other' };
    await writeAfter([rename], [setStep(1, textCell('1'), titled('One'))]);
    expect(await sheet.titlesById()).toEqual({ '1': 'One' });
  });
});
