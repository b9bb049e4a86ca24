import { describe, expect, test } from 'vitest';
import { textCell } from '../../../src/sheet/port/cell.ts';
import type { Mark } from '../../../src/sheet/port/instance.ts';
import type { Table } from '../../../src/sheet/port/port.ts';
import { setStep, sheetLayout, titled, writeSteps } from '../../support/table-steps.ts';
import { fill, type GetStage, titlesById } from './leads.ts';

const mark = (id: string, count = 1): Mark => ({
  instance: { id, host: `host-${id}`, pid: 7, since: 1_790_000_000_000, process: 'a1b2-77', locks: ['c3'] },
  count,
});

const marksIn = async (table: Table) => (await table.read(sheetLayout, true)).marks;

export function describeMarks(stage: GetStage): void {
  /** Two processes that have read the same. */
  async function openTwo(): Promise<[Table, Table]> {
    const two: [Table, Table] = [stage().openTable(), stage().openTable()];
    for (const table of two) await table.read(sheetLayout);
    return two;
  }

  describe('marks', () => {
    test('are read as they were written, by every process', async () => {
      await fill(stage(), '1');
      expect(await marksIn(stage().table)).toEqual({});
      const signed = await stage().table.sign({ keeper: mark('one'), waiting: mark('two') });
      expect(signed).toEqual({ keeper: mark('one'), waiting: mark('two') });
      expect(await marksIn(stage().openTable())).toEqual(signed);
    });

    test.each([undefined, 'dead'])(
      'of two that come at the same moment in the place of %s, one succeeds and both know whose it is',
      async (before) => {
        await fill(stage(), '1');
        if (before !== undefined) await stage().table.sign({ keeper: mark(before) });
        const [one, two] = await openTwo();
        const both = await Promise.all([
          one.sign({ keeper: mark('one') }),
          two.sign({ keeper: mark('two') }),
        ]);
        expect(both[0]).toEqual(both[1]);
        expect(['one', 'two']).toContain(both[0].keeper?.instance.id);
        expect(await marksIn(stage().table)).toEqual(both[0]);
      },
    );

    test('of a keeper that was replaced meanwhile are not renewed over the new one', async () => {
      await fill(stage(), '1');
      await stage().table.sign({ keeper: mark('one') });
      const [other] = await openTwo();
      await other.sign({ keeper: mark('two') });
      expect((await stage().table.sign({ keeper: mark('one', 2) })).keeper).toEqual(mark('two'));
      expect(await marksIn(other)).toEqual({ keeper: mark('two') });
    });

    test('are renewed by a write that is sent anyway', async () => {
      const { table } = stage();
      await fill(stage(), '1');
      await table.sign({ keeper: mark('one') });
      await table.read(sheetLayout);
      await writeSteps(table, [setStep(1, textCell('1'), titled('New'))], 'w1', mark('one', 2));
      expect(await marksIn(table)).toEqual({ keeper: mark('one', 2) });
      expect(await titlesById(table)).toEqual({ 1: 'New' });
    });

    test('are taken away by their instance, and the next one begins anew', async () => {
      await fill(stage(), '1');
      await stage().table.sign({ keeper: mark('one') });
      expect(await stage().table.sign({ keeper: 'none' })).toEqual({});
      expect(
        await stage()
          .openTable()
          .sign({ keeper: mark('two') }),
      ).toEqual({ keeper: mark('two') });
    });
  });
}
