import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyCell, textCell } from '../../src/core/cell.ts';
import { numberSteps, type RowStep } from '../../src/core/table.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
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

  const word = textCell('Pending');

  describe('columns that move between read and write', () => {
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

    test('S13: what was written into a copy of a column is given back, also once the column that was copied is gone', async () => {
      await sheet.fill('1');
      const before = await sheet.readTab();
      await sheet.setFaults({
        beforeNextWrite: [
          { kind: 'insertColumns', sheet: 'Leads', column: 4, count: 1 },
          { kind: 'edit', sheet: 'Leads', row: 0, column: 4, text: 'Title' },
          { kind: 'edit', sheet: 'Leads', row: 1, column: 4, text: 'Mine' },
        ],
      });
      const url = { 'about.url': textCell('example.com') };
      const { hits, rows } = await sheet.table.write([setStep(1, textCell('1'), url)], keeping);
      const { others = [] } = hits.get(0) ?? {};
      expect(others).toMatchObject([{ column: 4 }]);
      await sheet.person({ kind: 'deleteColumns', sheet: 'Leads', column: 2 });
      await sheet.readTab();
      const place = rows.get(0)?.place;
      await sheet.table.write(
        [{ ...setStep(1, before.rows[0]?.id ?? emptyCell, {}), others, ...(place && { place }) }],
        {
          run: 'w2',
          from: 10,
        },
      );
      expect(await sheet.readValues('Leads!D1:D2')).toMatchObject({ values: [['Title'], ['Mine']] });
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
      const rename: PersonActionInput = {
        kind: 'renameHeader',
        sheet: 'Leads',
        column: 'Title',
        text: 'Name',
      };
      await writeAfter(sheet, [rename], [setStep(1, textCell('1'), titled('One'))]);
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
      await writeAfter(sheet, [], [setStep(1, textCell('1'), titled('One'))]);
      expect(await sheet.titlesById()).toEqual({ '1': 'One' });
    });

    test('a delete whose columns moved meanwhile is told by its ID', async () => {
      await sheet.fill('1', '2');
      const insert: PersonActionInput = { kind: 'insertColumns', sheet: 'Leads', column: 0 };
      expect(await writeAfter(sheet, [insert], [deleteStep(1, '1')])).toEqual([
        [0, textCell('1'), textCell('Title 1')],
      ]);
      expect(await sheet.titlesById()).toEqual({ '2': 'Title 2' });
    });

    test('with the ID column deleted nothing of a write is known', async () => {
      await sheet.fill('1');
      const remove: PersonActionInput = { kind: 'deleteColumns', sheet: 'Leads', column: 'ID' };
      await expect(
        writeAfter(sheet, [remove], [setStep(1, textCell('1'), titled('One'))]),
      ).rejects.toMatchObject({
        code: 'SHEET_UNREACHABLE',
        message: '“Leads” lost its ID column while it was written.',
      });
      await expect(sheet.table.write([appendStep('2')])).rejects.toThrow('without a read');
    });
  });
});
