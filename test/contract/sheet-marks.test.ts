import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { textCell } from '../../src/sheet/port/cell.ts';
import type { Mark } from '../../src/sheet/port/instance.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';
import { setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.fill('1');
});
afterEach(() => sheet.close());

const mark = (id: string, count = 1): Mark => ({
  instance: { id, host: `host-${id}`, pid: 7, since: 1_790_000_000_000, process: 'a1b2-77', locks: ['c3'] },
  count,
});

/** Whose mark does not say whose it is. */
const unreadable = { host: 'unknown', pid: 0, since: 0 };

const marksIn = async (table: Table) => (await table.read(sheetLayout)).marks;

describe('marks in a spreadsheet', () => {
  test('are renewed by a write that is sent anyway, in one request', async () => {
    await sheet.table.read(sheetLayout);
    await sheet.table.sign({ keeper: mark('one') });
    await sheet.table.read(sheetLayout);
    const { writes } = await sheet.countRequests();
    await writeSteps(sheet.table, [setStep(1, textCell('1'), titled('New'))], 'w1', mark('one', 2));
    expect((await sheet.countRequests()).writes).toBe(writes + 1);
    expect(await marksIn(sheet.table)).toEqual({ keeper: mark('one', 2) });
    expect(await sheet.titlesById()).toEqual({ 1: 'New' });
  });

  test('go along with a copy, hold nobody up there, and are taken away when it is adopted', async () => {
    await sheet.table.read(sheetLayout);
    await sheet.table.sign({ keeper: mark('one') });
    const copy = sheet.openTable(await sheet.copySpreadsheet());
    expect(await marksIn(copy)).toBeUndefined();
    await copy.layOut(sheetLayout, 'create', { adopt: true });
    expect(await marksIn(copy)).toEqual({});
    expect(await marksIn(sheet.openTable())).toEqual({ keeper: mark('one') });
  });

  test('count by their id and their count alone, and show nothing that could do harm', async () => {
    const instance = { id: 'foreign', host: 'a\nb', pid: 'many', since: -1 };
    const metadata = (metadataKey: string, metadataValue: string) => ({
      createDeveloperMetadata: {
        developerMetadata: {
          metadataKey,
          metadataValue,
          visibility: 'DOCUMENT',
          location: { spreadsheet: true },
        },
      },
    });
    await sheet.batch(
      metadata('crm-sheet-sync.keeper', JSON.stringify({ count: 3, instance })),
      metadata('crm-sheet-sync.waiting', 'no mark at all'),
    );
    expect(await marksIn(sheet.table)).toEqual({
      keeper: { count: 3, instance: { ...unreadable, id: 'foreign' } },
      waiting: { count: expect.any(Number), instance: { ...unreadable, id: 'unreadable' } },
    });
    expect((await sheet.table.sign({ keeper: mark('one') })).keeper).toEqual(mark('one'));
  });

  test.each(['no mark at all', '{}', '{"count":"7","instance":{"id":"one"}}'])(
    'that say “%s” after somebody wrote over them are replaced like those of an instance that is dead',
    async (metadataValue) => {
      await sheet.table.read(sheetLayout);
      await sheet.table.sign({ keeper: mark('one') });
      const lookup = { metadataKey: 'crm-sheet-sync.keeper' };
      await sheet.batch({
        updateDeveloperMetadata: {
          dataFilters: [{ developerMetadataLookup: lookup }],
          developerMetadata: { metadataValue },
          fields: 'metadataValue',
        },
      });
      const [one, two] = [sheet.openTable(), sheet.openTable()];
      for (const table of [one, two])
        expect(await marksIn(table)).toMatchObject({ keeper: { instance: unreadable } });
      const both = await Promise.all([
        one.sign({ keeper: mark('one', 2) }),
        two.sign({ keeper: mark('two') }),
      ]);
      expect(both[0]).toEqual(both[1]);
      expect(await marksIn(sheet.table)).toEqual(both[0]);
    },
  );
});
