import { describe, expect, test } from 'vitest';
import { emptyCell, textCell } from '../../../src/sheet/port/cell.ts';
import type { RowStep } from '../../../src/sheet/port/table.ts';
import { typing, type UserAct } from '../../support/table-stage.ts';
import {
  appendStep,
  deleteStep,
  setStep,
  sheetLayout,
  textIn,
  titled,
  writeSteps,
} from '../../support/table-steps.ts';
import { fill, type GetStage, readTab, rowsById, titlesById } from './leads.ts';

/** Acts that move rows away from where the read saw them. */
const moves: Record<string, UserAct> = {
  'sorts the tab': { kind: 'sort' },
  'inserts a row above': { kind: 'insertRow', row: 1 },
  'deletes a row above': { kind: 'deleteRow', row: 1 },
};

const writes: Record<string, RowStep> = {
  'an update': { ...setStep(2, textCell('2'), titled('Written')), sync: textCell('Pending') },
  'a claim': { ...setStep(4, emptyCell, {}), id: textCell('new-a'), sync: textCell('Pending') },
  'a delete': deleteStep(2, '2'),
  'a new row': appendStep('9', titled('Ninth')),
};

const cases = Object.keys(moves).flatMap((move) =>
  Object.keys(writes).map((write) => [write, move] as const),
);

export function describeMeetings(stage: GetStage): void {
  describe('what users do between the read and the write', () => {
    test.each(cases)(
      'S2: %s changes no other row where a user %s, and is done or did nothing',
      async (write, move) => {
        const { table } = stage();
        await fill(stage(), '1', '2', '3');
        await stage().user(typing(4, 'Title', 'New'));
        const before = await rowsById(table);
        const act = moves[move];
        const step = writes[write];
        if (!act || !step) throw new Error('There is no such case.');
        await stage().beforeNextWrite(act);
        const { done, escalated, isOver, pending } = await writeSteps(table, [step]);
        expect([escalated, pending, isOver]).toEqual([[], [], true]);
        const after = await rowsById(table);
        if (act.kind === 'deleteRow') before.delete('1');
        const isDone = done.has(0);
        const reached = step.kind === 'append' ? '' : textIn(step.idSeen) || '(empty)';
        const written = step.kind !== 'delete' && step.id ? textIn(step.id) : reached;
        if (isDone) {
          expect(after.has(written)).toBe(step.kind !== 'delete');
          if (step.kind !== 'delete') expect(after.get(written)).toMatch(step.sync ? textIn(step.sync) : /./);
          for (const id of [reached, written]) {
            before.delete(id);
            after.delete(id);
          }
        }
        expect(after).toEqual(before);
      },
    );

    test('a cell that a user edits keeps what was typed, the step is done, and the edit is named', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2');
      await stage().beforeNextWrite(typing(2, 'Title', 'Typed'));
      const cells = { ...titled('Written'), 'about.url': textCell('example.com') };
      const { done, undone } = await writeSteps(table, [setStep(2, textCell('2'), cells)]);
      expect([done, undone]).toEqual([new Map([[0, { edited: ['title'] }]]), []]);
      const row = (await readTab(table)).rows[1];
      expect([row?.cells['title'], row?.cells['about.url']]).toEqual([
        textCell('Typed'),
        textCell('example.com'),
      ]);
    });

    test('S1: a row that a user edits while it is to be deleted stays, with what was typed', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3');
      await stage().beforeNextWrite(typing(2, 'Title', 'Typed'));
      const { done, escalated } = await writeSteps(table, [deleteStep(2, '2')]);
      expect([done, escalated]).toEqual([new Map(), []]);
      expect(await titlesById(table)).toEqual({ '1': 'Title 1', '2': 'Typed', '3': 'Title 3' });
    });

    test('S2: a row that a user deletes takes its step along, and no other row gets it', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3');
      await stage().beforeNextWrite({ kind: 'deleteRow', row: 2 });
      const { done, escalated } = await writeSteps(table, [setStep(2, textCell('2'), titled('Written'))]);
      expect([done, escalated]).toEqual([new Map(), []]);
      expect(await titlesById(table)).toEqual({ '1': 'Title 1', '3': 'Title 3' });
    });

    test('S2: a row that gets another ID at that moment is not written to as the record that it was', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3');
      await stage().beforeNextWrite(typing(2, 'ID', 'other'));
      const { done, escalated } = await writeSteps(table, [setStep(2, textCell('2'), titled('Written'))]);
      expect([done, escalated]).toEqual([new Map(), []]);
      expect(await titlesById(table)).toEqual({ '1': 'Title 1', '3': 'Title 3', other: 'Title 2' });
    });

    test('a step that did nothing is done once it is planned from another read', async () => {
      const { table } = stage();
      await fill(stage(), '1', '2', '3');
      await stage().beforeNextWrite({ kind: 'sort' });
      const { done } = await writeSteps(table, [setStep(1, textCell('1'), titled('Written'))]);
      await table.read(sheetLayout);
      if (!done.has(0)) await writeSteps(table, [setStep(3, textCell('1'), titled('Written'))], 'w2');
      expect(await titlesById(table)).toEqual({ '1': 'Written', '2': 'Title 2', '3': 'Title 3' });
    });
  });
}
