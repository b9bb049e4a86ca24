import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leadListTitle } from '../../src/google/lead-list.ts';
import type { Layout } from '../../src/sheet/port/layout.ts';
import { openSandboxSheet, type SandboxSheet } from '../support/sandbox-sheet.ts';

const layout: Layout = [
  {
    entity: 'opportunity',
    title: 'Opportunities',
    columns: [
      { field: 'lead_id', kind: 'lead', header: 'Lead', direction: 'both', conflict: 'crm' },
      { field: 'value', kind: 'number', header: 'Value', direction: 'both', conflict: 'crm' },
    ],
  },
];

let sheet: SandboxSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.table.layOut(layout, 'create');
  await sheet.table.read(layout);
});

afterEach(() => sheet.close());

const listed = async () =>
  ((await sheet.readValues(`'${leadListTitle}'!A:A`)) as { values?: string[][] }).values?.flat() ?? [];

async function ruleOf(column: number) {
  const { sheets = [] } = await sheet.readEverything();
  const tab = sheets.find(({ properties }) => properties?.title === 'Opportunities');
  return tab?.data?.[0]?.rowData?.[1]?.values?.[column]?.dataValidation;
}

describe('the names that the dropdowns of leads offer', () => {
  test('are in order in a hidden tab, from which the columns of leads take them', async () => {
    await sheet.table.offerLeads(['Acme (#1)', '=1+1 (#2)']);
    expect(await listed()).toEqual(['=1+1 (#2)', 'Acme (#1)']);
    const { sheets = [] } = await sheet.readEverything();
    const list = sheets.find(({ properties }) => properties?.title === leadListTitle);
    expect(list?.properties?.hidden).toBe(true);
    expect(await ruleOf(1)).toMatchObject({
      condition: { type: 'ONE_OF_RANGE', values: [{ userEnteredValue: `='${leadListTitle}'!$A$1:$A` }] },
    });
  });

  test('are others later, fewer or many more, and a dropdown that somebody took away stays away', async () => {
    await sheet.table.offerLeads(['Acme (#1)', 'Beta (#2)']);
    await sheet.batch({
      setDataValidation: { range: { sheetId: 0, startColumnIndex: 1, endColumnIndex: 2 } },
    });
    await sheet.table.offerLeads(['Acme (#1)']);
    expect(await listed()).toEqual(['Acme (#1)']);
    const many = Array.from({ length: 12_000 }, (_, index) => `Lead (#${10_000 + index})`);
    await sheet.table.offerLeads(many.toReversed());
    expect(await listed()).toEqual(many);
    expect(await ruleOf(1)).toBeUndefined();
  });

  test('come back with their tab where somebody deleted it', async () => {
    await sheet.table.offerLeads(['Acme (#1)']);
    await sheet.asOwner({ deleteSheet: { sheetId: 1_913_724_614 } });
    await sheet.table.offerLeads(['Acme (#1)', 'Beta (#2)']);
    expect(await listed()).toEqual(['Acme (#1)', 'Beta (#2)']);
  });
});
