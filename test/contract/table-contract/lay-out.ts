import { describe, expect, test } from 'vitest';
import { sheetLayout } from '../../support/table-steps.ts';
import { fill, type GetStage, readTab, titlesById } from './leads.ts';

export function describeLayOut(stage: GetStage): void {
  describe('laying out', () => {
    test('creates nothing where it only refreshes', async () => {
      const { table } = stage();
      await table.layOut(sheetLayout, 'refresh');
      expect((await table.read(sheetLayout)).tabs.lead.state).toBe('held');
    });

    test('changes no content, however often it is done', async () => {
      await fill(stage(), '1', '2');
      for (const mode of ['create', 'refresh', 'create'] as const)
        expect(await stage().openTable().layOut(sheetLayout, mode)).toEqual({ held: [], offered: [] });
      expect(await titlesById(stage().table)).toEqual({ '1': 'Title 1', '2': 'Title 2' });
    });

    test('offers a column that a tab with content lacks, and adds it once a person says so', async () => {
      const { table } = stage();
      await fill(stage(), '1');
      await stage().user({ kind: 'deleteColumn', header: 'Website' });
      expect(await table.layOut(sheetLayout, 'create')).toEqual({
        held: [],
        offered: [expect.stringContaining('Website')],
      });
      expect((await readTab(table)).fields.has('about.url')).toBe(false);
      expect(await table.layOut(sheetLayout, 'create', { addColumns: true })).toEqual({
        held: [],
        offered: [],
      });
      expect((await readTab(table)).fields.has('about.url')).toBe(true);
      expect(await titlesById(table)).toEqual({ '1': 'Title 1' });
    });

    test('makes a tab that was deleted again only when a person says so', async () => {
      await fill(stage(), '1');
      await stage().user({ kind: 'deleteTab' });
      const table = stage().openTable();
      for (const mode of ['create', 'refresh'] as const)
        expect(await table.layOut(sheetLayout, mode)).toMatchObject({
          held: [expect.stringContaining('was deleted')],
        });
      expect((await table.read(sheetLayout)).tabs.lead.state).toBe('held');
      await table.layOut(sheetLayout, 'create', { adopt: true });
      expect((await readTab(table)).rows).toEqual([]);
    });
  });
}
