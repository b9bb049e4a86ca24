import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, numberCell, textCell } from '../../src/core/cell.ts';
import type { RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import { shadowTitle } from '../../src/sheets/shadow.ts';
import {
  answersOfGoogle,
  appendStep,
  deleteStep,
  keeping,
  openSandboxSheet,
  type SandboxSheet,
  setStep,
  sheetLayout,
  titled,
  writeAfter,
} from '../support/sandbox-sheet.ts';

let sheet: SandboxSheet;

describe.each(answersOfGoogle)('where Google $name,', ({ choices }) => {
  beforeEach(async () => {
    sheet = await openSandboxSheet({ choices });
  });

  afterEach(() => sheet.close());

  const byIdDescending = { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true } as const;

  describe('rows that move between read and write', () => {
    test('S2: the reply tells which rows a write reached, as they stood before', async () => {
      await sheet.fill('1', '2', '3');
      const steps = [
        setStep(1, textCell('1'), titled('One')),
        setStep(2, textCell('2'), titled('Two')),
        deleteStep(3, '3'),
      ];
      expect(await writeAfter(sheet, [byIdDescending], steps)).toEqual([
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
      expect(await writeAfter(sheet, edits, steps)).toEqual([
        [0, textCell('1'), emptyCell],
        [1, textCell('2'), textCell('Typed meanwhile')],
        [2, textCell('3'), textCell('12.5')],
      ]);
      expect(await sheet.titlesById()).toEqual({ '1': 'Written', '2': 'Written', '3': 'Written' });
    });

    test('the reply tells over which ID one was written', async () => {
      await sheet.fill('1', '2', 'new-a', '4');
      const step: RowStep = { ...setStep(3, textCell('new-a'), {}), id: textCell('99') };
      expect(await writeAfter(sheet, [{ kind: 'insertRows', sheet: 'Leads', row: 1 }], [step])).toEqual([
        [0, textCell('2'), textCell('Title 2')],
      ]);
    });

    test('what a write kept can be asked for as long as nobody needs its place, also by another process', async () => {
      await sheet.fill('1', '2');
      await writeAfter(sheet, [], [setStep(1, textCell('1'), titled('One'))]);
      await writeAfter(sheet, [], [deleteStep(2, '2')]);
      const other = sheet.openTable();
      await other.read(sheetLayout);
      const asked = { places: other.places(), steps: new Map([[0, deleteStep(2, '2')]]) };
      expect(await other.recall({ ...asked, keeping })).toMatchObject({
        rows: new Map([[0, { id: textCell('2'), cells: titled('Title 2') }]]),
      });
      expect(await other.recall({ ...asked, keeping: { run: 'w0', from: 0 } })).toBeUndefined();
      expect(await other.recall({ ...asked, keeping: { run: 'w1', from: 500 } })).toBeUndefined();
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

    test.each([
      ['is made by a formula', '="Mine of "&COUNTA(A2:A)', undefined],
      ['somebody rewrites before it comes back', 'Mine', 'Ours'],
    ])(
      'S13: a row that was deleted by mistake comes back with what stood below a header that %s',
      async (_, header, rewritten) => {
        await sheet.fill('1', '2', '3');
        await sheet.person(
          { kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: header },
          { kind: 'edit', sheet: 'Leads', row: 2, column: 8, text: 'kept' },
        );
        await sheet.table.read(sheetLayout);
        const { rows } = await sheet.table.write([deleteStep(2, '2')], keeping);
        if (rewritten)
          await sheet.person({ kind: 'edit', sheet: 'Leads', row: 0, column: 8, text: rewritten });
        await sheet.table.read(sheetLayout);
        const place = rows.get(0)?.place;
        await sheet.table.write([{ kind: 'append', entity: 'lead', cells: {}, ...(place && { place }) }], {
          run: 'w2',
          from: 10,
        });
        expect(await sheet.readValues('Leads!I4:I4')).toMatchObject({ values: [['kept']] });
      },
    );

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

    test('the hidden tab is made anew when somebody deleted it', async () => {
      await sheet.fill('1', '2');
      await sheet.person({ kind: 'deleteTab', sheet: shadowTitle });
      expect(await writeAfter(sheet, [], [setStep(2, textCell('2'), titled('Two'))])).toEqual([
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
      await writeAfter(sheet, [], [setStep(2, textCell('2'), titled('Two'))]);
      await sheet.person(...actions);
      for (const title of ['Three', 'Four']) {
        await sheet.readTab();
        const steps = [setStep(2, textCell('2'), titled(title))];
        expect(await sheet.table.write(steps, keeping)).not.toHaveProperty('refusal');
      }
      expect(await sheet.titlesById()).toMatchObject({ 2: 'Four' });
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
      await writeAfter(sheet, [rename], [setStep(1, textCell('1'), titled('One'))]);
      expect(await sheet.titlesById()).toEqual({ '1': 'One' });
    });
  });
});
