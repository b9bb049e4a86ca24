import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leadListTitle } from '../../src/google/lead-list.ts';
import type { Layout, TabLayout } from '../../src/sheet/port/layout.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';

let sheet: SandboxSheet;

beforeEach(async () => {
  columns = undefined;
  sheet = await openSandboxSheet();
  await sheet.table.layOut(layout, 'create');
  await sheet.table.read(layout);
});

afterEach(() => sheet.close());

const opportunities: TabLayout = {
  entity: 'opportunity',
  title: 'Opportunities',
  columns: [
    { field: 'lead_id', kind: 'lead', header: 'Lead', direction: 'both', conflict: 'crm' },
    { field: 'value', kind: 'number', header: 'Value', direction: 'both', conflict: 'crm' },
  ],
};
const layout: Layout = [opportunities];

let columns: readonly string[] | undefined;

/** Offers these names, as it is done from time to time: `areWritten` where they are those of the time before. */
async function offer(names: readonly string[], areWritten = false) {
  columns = await sheet.table.offerLeads(names, { areWritten, columns });
}

const listed = async () =>
  ((await sheet.readValues(`'${leadListTitle}'!A:A`)) as { values?: string[][] }).values?.flat() ?? [];

async function ruleOf(column: number, title = 'Opportunities') {
  const { sheets = [] } = await sheet.readEverything();
  const tab = sheets.find(({ properties }) => properties?.title === title);
  return tab?.data?.[0]?.rowData?.[1]?.values?.[column]?.dataValidation;
}

describe('the names that the dropdowns of leads offer', () => {
  test('are in order in a hidden tab, from which the columns of leads take them', async () => {
    await offer(['Acme (#1)', '=1+1 (#2)']);
    expect(await listed()).toEqual(['=1+1 (#2)', 'Acme (#1)']);
    const { sheets = [] } = await sheet.readEverything();
    const list = sheets.find(({ properties }) => properties?.title === leadListTitle);
    expect(list?.properties?.hidden).toBe(true);
    expect(await ruleOf(1)).toMatchObject({
      condition: { type: 'ONE_OF_RANGE', values: [{ userEnteredValue: `='${leadListTitle}'!$A$1:$A` }] },
    });
  });

  test('are others later, fewer or many more, and a dropdown that somebody took away stays away', async () => {
    await offer(['Acme (#1)', 'Beta (#2)']);
    await sheet.batch({
      setDataValidation: { range: { sheetId: 0, startColumnIndex: 1, endColumnIndex: 2 } },
    });
    await offer(['Acme (#1)']);
    expect(await listed()).toEqual(['Acme (#1)']);
    const many = Array.from({ length: 12_000 }, (_, index) => `Lead (#${10_000 + index})`);
    await offer(many.toReversed());
    expect(await listed()).toEqual(many);
    expect(await ruleOf(1)).toBeUndefined();
  });

  test('come back with their tab where somebody deleted it', async () => {
    await offer(['Acme (#1)']);
    await sheet.asOwner({ deleteSheet: { sheetId: 1_913_724_614 } });
    await offer(['Acme (#1)', 'Beta (#2)']);
    expect(await listed()).toEqual(['Acme (#1)', 'Beta (#2)']);
  });

  test('come back with their tab although they are the same', async () => {
    await offer(['Acme (#1)']);
    await sheet.asOwner({ deleteSheet: { sheetId: 1_913_724_614 } });
    await offer(['Acme (#1)'], true);
    expect(await listed()).toEqual(['Acme (#1)']);
  });

  test('are offered in a tab that comes later, and again in none where they were taken away', async () => {
    await offer(['Acme (#1)']);
    await sheet.batch({
      setDataValidation: { range: { sheetId: 0, startColumnIndex: 1, endColumnIndex: 2 } },
    });
    const later: Layout = [opportunities, { ...opportunities, entity: 'task', title: 'Tasks' }];
    await sheet.table.layOut(later, 'create');
    await sheet.table.read(later);
    await offer(['Acme (#1)'], true);
    expect([await ruleOf(1), (await ruleOf(1, 'Tasks'))?.condition?.type]).toEqual([
      undefined,
      'ONE_OF_RANGE',
    ]);
  });

  test('are taken from their tab under the title that somebody gave it', async () => {
    await offer(['Acme (#1)']);
    await sheet.asOwner({
      updateSheetProperties: {
        properties: { sheetId: 1_913_724_614, title: 'Leads for us' },
        fields: 'title',
      },
    });
    columns = [];
    await offer(['Acme (#1)'], true);
    expect((await ruleOf(1))?.condition?.values).toEqual([{ userEnteredValue: "='Leads for us'!$A$1:$A" }]);
  });

  test('are offered again in no tab that could not be read for a while', async () => {
    await offer(['Acme (#1)']);
    await sheet.batch({
      setDataValidation: { range: { sheetId: 0, startColumnIndex: 1, endColumnIndex: 2 } },
    });
    await sheet.table.read([]);
    await offer(['Acme (#1)'], true);
    await sheet.table.read(layout);
    await offer(['Acme (#1)'], true);
    expect(await ruleOf(1)).toBeUndefined();
  });
});
