import { describe, expect, test } from 'vitest';
import { booleanCell, emptyCell, numberCell, textCell } from '../../../src/sheet/port/cell.ts';
import { typing } from '../../support/table-stage.ts';
import { appendStep, sheetLayout, titled, writeSteps } from '../../support/table-steps.ts';
import { fill, type GetStage, readTab } from './leads.ts';

const leadFields = ['title', 'status_name', 'about.url', 'custom.vip', 'custom.met', 'created_at'];

export function describeReads(stage: GetStage): void {
  describe('reading', () => {
    test('a tab that was just laid out has all columns and no rows', async () => {
      const { table } = stage();
      await table.layOut(sheetLayout, 'create');
      const { tabs, timeZone } = await table.read(sheetLayout);
      expect(tabs.lead).toMatchObject({
        state: 'read',
        rows: [],
        fields: new Set(leadFields),
        hasSync: true,
      });
      expect(tabs.contact).toMatchObject({ state: 'held' });
      expect(Intl.supportedValuesOf('timeZone').concat('UTC', 'Etc/GMT')).toContain(timeZone);
    });

    test('typed values come back as they were written', async () => {
      const { table } = stage();
      const texts = [
        '=1+1',
        '007',
        '+49 30 123',
        '2026-01-01',
        'TRUE',
        "'quoted",
        '🚀 Ünïcödé',
        'x'.repeat(500),
      ];
      await fill(stage());
      await writeSteps(table, [
        ...texts.map((text, index) => appendStep(`${index}`, titled(text))),
        appendStep('typed', {
          'custom.vip': booleanCell(true),
          'custom.met': numberCell(46292),
          created_at: numberCell(46292.5),
          'about.url': textCell('https://example.com'),
        }),
      ]);
      const { rows } = await readTab(table);
      expect(rows.slice(0, -1).map((row) => row.cells['title'])).toEqual(texts.map(textCell));
      expect(rows.at(-1)).toMatchObject({
        id: textCell('typed'),
        sync: textCell('Synced'),
        cells: {
          title: emptyCell,
          'custom.vip': booleanCell(true),
          'custom.met': numberCell(46292),
          created_at: numberCell(46292.5),
          'about.url': textCell('https://example.com'),
        },
      });
    });

    test('fault 45: blank rows between others are left out, and positions are those of the tab', async () => {
      await fill(stage(), '1', '2');
      await stage().user({ kind: 'insertRow', row: 2 }, { kind: 'insertRow', row: 2 });
      expect((await readTab(stage().table)).rows.map(({ position }) => position)).toEqual([1, 4]);
    });

    test('what a user types is seen, also by another process', async () => {
      await fill(stage(), '1');
      await stage().user(typing(1, 'Title', 'Typed'), typing(2, 'Title', 'New'));
      for (const table of [stage().table, stage().openTable()]) {
        const { rows } = await readTab(table);
        expect(rows.map(({ cells, id }) => [id, cells['title']])).toEqual([
          [textCell('1'), textCell('Typed')],
          [emptyCell, textCell('New')],
        ]);
      }
    });

    test('a missing managed column is reported by its absence', async () => {
      await fill(stage(), '1');
      await stage().user(
        { kind: 'deleteColumn', header: 'Website' },
        { kind: 'deleteColumn', header: 'Sync' },
      );
      const tab = await readTab(stage().table);
      expect([tab.fields.has('about.url'), tab.hasSync]).toEqual([false, false]);
      expect(tab.rows[0]?.cells).not.toHaveProperty(['about.url']);
    });

    test('a tab that was deleted is held, and the others are read', async () => {
      await fill(stage(), '1');
      await stage().user({ kind: 'deleteTab' });
      const { lead, task } = (await stage().table.read(sheetLayout)).tabs;
      expect([lead.state, task.state]).toEqual(['held', 'read']);
    });

    test('all processes know the tabs by the same name', () => {
      expect(stage().openTable().identity).toBe(stage().table.identity);
    });
  });
}
