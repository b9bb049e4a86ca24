import { describe, expect, test } from 'vitest';
import { emptyCell, textCell } from '../../../src/sheet/port/cell.ts';
import type { RowStep } from '../../../src/sheet/port/table.ts';
import { ownHeader, typing } from '../../support/table-stage.ts';
import {
  appendStep,
  deleteStep,
  setStep,
  sheetLayout,
  textIn,
  titled,
  writeSteps,
} from '../../support/table-steps.ts';
import { fill, type GetStage, readTab, titlesById } from './leads.ts';

const appendTask = (title: string): RowStep => ({ ...appendStep(title, titled(title)), entity: 'task' });

export function describeWrites(stage: GetStage): void {
  describe('writing', () => {
    test('sets, appends and deletes go in one write, and each is reported done', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3', '4');
      const { done, ...rest } = await writeSteps(table, [
        deleteStep(2, '2'),
        appendStep('5', titled('Title 5')),
        setStep(4, textCell('4'), titled('Changed')),
        deleteStep(1, '1'),
      ]);
      expect([...done.keys()].toSorted()).toEqual([0, 1, 2, 3]);
      expect(rest).toMatchObject({ undone: [], escalated: [], pending: [], isOver: true });
      expect(await titlesById(table)).toEqual({ '3': 'Title 3', '4': 'Changed', '5': 'Title 5' });
    });

    test('cells that a step does not name stay as they are, and so do the rows beside it', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await stage().user(typing(1, 'Website', 'one.example'), typing(2, 'Website', 'two.example'));
      await table.read(sheetLayout);
      await writeSteps(table, [setStep(2, textCell('2'), titled('Changed'))]);
      const { rows } = await readTab(table);
      expect(
        rows.map(({ cells, sync }) => [cells['title'], cells['about.url'], sync].map((cell) => textIn(cell))),
      ).toEqual([
        ['Title 1', 'one.example', 'Synced'],
        ['Changed', 'two.example', 'Synced'],
      ]);
    });

    test('a row is claimed by an ID and a Sync text', async () => {
      const { table } = stage();
      await fill(stage(), '1');
      await stage().user(typing(2, 'Title', 'New'));
      await table.read(sheetLayout);
      const claim = { ...setStep(2, emptyCell, {}), id: textCell('new-a'), sync: textCell('Pending') };
      expect((await writeSteps(table, [claim])).done.has(0)).toBe(true);
      expect((await readTab(table)).rows[1]).toMatchObject({
        id: textCell('new-a'),
        sync: textCell('Pending'),
        cells: { title: textCell('New') },
      });
    });

    test('an empty cell clears the value', async () => {
      await fill(stage(), '1');
      await writeSteps(stage().table, [setStep(1, textCell('1'), { title: emptyCell })]);
      expect((await readTab(stage().table)).rows[0]?.cells['title']).toEqual(emptyCell);
    });

    test('all rows of a tab can be deleted, and the next one finds its place', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await writeSteps(table, [deleteStep(1, '1'), deleteStep(2, '2')]);
      expect((await readTab(table)).rows).toEqual([]);
      await writeSteps(table, [appendStep('3', titled('Title 3'))]);
      expect(await titlesById(table)).toEqual({ '3': 'Title 3' });
    });

    test('what is read again after a write can be written to again', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      for (const title of ['Once', 'Twice']) {
        await writeSteps(table, [setStep(2, textCell('2'), titled(title))]);
        await table.read(sheetLayout);
        await table.read(sheetLayout);
      }
      expect(await titlesById(table)).toMatchObject({ 2: 'Twice' });
    });

    test('nothing to write is over at once', async () => {
      await fill(stage(), '1');
      expect(await writeSteps(stage().table, [])).toMatchObject({ done: new Map(), isOver: true });
    });

    test('a read names the run of the last write', async () => {
      const { table } = stage();
      await fill(stage(), '1');
      await writeSteps(table, [appendStep('2')], 'run-2');
      expect((await stage().openTable().read(sheetLayout)).lastWrite).toBe('run-2');
    });

    test('a write without a read before it is a fault of the program', async () => {
      await fill(stage(), '1');
      expect(() =>
        stage()
          .openTable()
          .prepare([appendStep('2')], 'w1', []),
      ).toThrow('without a read');
    });

    test('S13: a user’s own cells stay, and of a deleted row they are reported', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await stage().user(
        typing(0, ownHeader, ownHeader),
        typing(1, ownHeader, 'one'),
        typing(2, ownHeader, 'two'),
      );
      await table.read(sheetLayout);
      const write = () =>
        writeSteps(table, [setStep(1, textCell('1'), titled('Changed')), deleteStep(2, '2')]);
      expect((await write()).done.get(1)?.own).toEqual({ [ownHeader]: textCell('two') });
      await table.read(sheetLayout);
      const { done } = await writeSteps(table, [deleteStep(1, '1')], 'w2');
      expect(done.get(0)?.own).toEqual({ [ownHeader]: textCell('one') });
    });

    test('S13: a row that is deleted only without notes stays when one is written at that moment', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3');
      await stage().user(typing(0, ownHeader, ownHeader), typing(2, ownHeader, 'long there'));
      const steps = ['1', '2', '3'].map((id, index) => ({
        ...deleteStep(index + 1, id),
        sparesOwn: true as const,
      }));
      await readTab(table);
      const { lead } = (await table.look(sheetLayout, steps)).tabs;
      const looked = lead.state === 'read' ? lead.rows : [];
      expect(looked.map(({ hasOwn }) => hasOwn)).toEqual([undefined, true, undefined]);
      await stage().beforeNextWrite(typing(3, ownHeader, 'just now'));
      const { done } = await writeSteps(table, steps);
      expect([...done.keys()]).toEqual([0, 1]);
      const { rows } = await readTab(table);
      expect(rows.map(({ id }) => textIn(id))).toEqual(['3']);
    });

    test('a user’s own cell is given back where it still shows what a write put there, and stays where it does not', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await stage().user(
        typing(0, ownHeader, ownHeader),
        typing(1, ownHeader, 'Written'),
        typing(2, ownHeader, 'Typed'),
      );
      await table.read(sheetLayout);
      const own = { [ownHeader]: { written: textCell('Written'), before: textCell('Mine') } };
      const steps = ['1', '2'].map((id, index) => ({ ...setStep(index + 1, textCell(id), {}), own }));
      await table.look(sheetLayout, steps);
      await writeSteps(table, steps);
      await table.read(sheetLayout);
      const deletes = [deleteStep(1, '1'), deleteStep(2, '2')];
      await table.look(sheetLayout, deletes);
      const { done } = await writeSteps(table, deletes, 'w2');
      expect([...done.values()].map((end) => end.own?.[ownHeader])).toEqual([
        textCell('Mine'),
        textCell('Typed'),
      ]);
    });

    test('a tab that may not be written is refused alone, and the steps of the others are done', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await stage().protectLeads();
      await table.read(sheetLayout);
      const steps = [setStep(1, textCell('1'), titled('One')), deleteStep(2, '2'), appendTask('Call')];
      const { done, refusal } = await writeSteps(table, steps);
      expect(refusal?.error.code).toBe('SHEET_REFUSED');
      expect([[...(refusal?.steps ?? [])], [...done.keys()]]).toEqual([[0, 1], [2]]);
      expect(await titlesById(table)).toEqual({ '1': 'Title 1', '2': 'Title 2' });
      const { rows } = await readTab(table, 'task');
      expect(rows.map(({ cells }) => textIn(cells['title']))).toEqual(['Call']);
    });
  });
}
