import { describe, expect, it } from 'vitest';
import { describeCell, textCell } from '../../src/sheet/port/cell.ts';
import { addRecord, addRow, changeRecord, forgetAgreed, leadKey, recordOf, rowOf } from '../support/world.ts';
import { cycle, pull, settle, worldWithLeads } from '../support/world-daemon.ts';
import { syncOf, titles } from '../support/world-view.ts';

/* Columns of texts have the format plain text: what is typed there arrives as a text, a formula too. */

const acme = leadKey(1);
const isOfTexts = (header: string) => ['Title', 'Website', 'About'].includes(header);
const says = (header: string) =>
  `Error: ${header} holds a formula. Formulas are not sent to the CRM: put its result there as a value.${
    isOfTexts(header) ? ' If it is meant as a text, type it in the CRM.' : ''
  }`;

describe('a formula that a person types into a column of texts', () => {
  it.each([
    ['title', 'Title', '=HYPERLINK("https://acme.example", "Acme")'],
    ['title', 'Title', '=A1'],
    ['title', 'Title', '= -A1'],
    ['about.url', 'Website', "='Other tab'!B2"],
    ['about.description', 'About', '=1+1'],
    ['custom.owner', 'Owner', '=B2'],
    ['custom.team', 'Team', '=B2&", "&B3'],
    ['custom.tier', 'Tier', '=IF(A2, "Gold", "Silver")'],
    ['custom.topics', 'Topics', '=JOIN(", ", D2:E2)'],
    ['status_name', 'Status', '=VLOOKUP(A2, X:Y, 2)'],
    ['custom.founded', 'Founded', '=TODAY()'],
    ['custom.size', 'Size', '=SUM(C2:C9)'],
  ])('is not sent, and the row says what to do instead: %s, %s', async (field, header, formula) => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const before = { ...recordOf(world, acme).fields };
    rowOf(world, acme).cells[field] = textCell(formula);
    await settle(world);
    expect(recordOf(world, acme).fields).toEqual(before);
    expect(syncOf(rowOf(world, acme))).toBe(says(header));
    expect(describeCell(rowOf(world, acme).cells[field]!)).toBe(formula);
  });

  it('does not keep other edits of its row from the CRM', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    const { cells } = rowOf(world, acme);
    cells['title'] = textCell('=A1');
    cells['about.url'] = textCell('https://acme.example');
    await settle(world);
    expect(recordOf(world, acme).fields).toMatchObject({
      title: 'Acme',
      'about.url': 'https://acme.example',
    });
    expect(syncOf(rowOf(world, acme))).toBe(says('Title'));
  });

  it('makes no record of a new row until a value is in its place', async () => {
    const world = await worldWithLeads(['Acme']);
    const row = addRow(world, 'lead', { title: textCell('=A1') });
    await settle(world);
    expect([titles(world), row.id.kind, syncOf(row)]).toEqual([['Acme'], 'empty', says('Title')]);
    row.cells['title'] = textCell('Beta');
    await settle(world);
    expect(titles(world)).toEqual(['Acme', 'Beta']);
  });

  it.each(['+49 30 1234567', '-5', '@home', '=', '== Notes ==', '=> call back'])(
    'is none where no sheet would compute it: %s',
    async (text) => {
      const world = await worldWithLeads(['Acme']);
      rowOf(world, acme).cells['title'] = textCell(text);
      await settle(world);
      expect([titles(world), syncOf(rowOf(world, acme))]).toEqual([
        [text],
        expect.stringMatching(/^Synced /),
      ]);
    },
  );
});

describe('a title of the CRM that begins like a formula', () => {
  it('is asked about like any other where the daemon has forgotten it and the CRM has another one', async () => {
    const world = await worldWithLeads(['=1+1', 'Acme']);
    forgetAgreed(world);
    changeRecord(world, acme, { title: 'Beta' });
    expect((await settle(world)).conflicts).toMatchObject([{ crm: 'Beta', table: '=1+1' }]);
  });

  it('stays as it is on both sides, also in a new row and where the daemon has forgotten everything', async () => {
    const world = await worldWithLeads(['Acme', '=A1']);
    const key = leadKey(2);
    changeRecord(world, key, { title: '=1+1' });
    addRecord(world, 'lead', { title: '=SUM(A1)' });
    await settle(world);
    expect(world.sheet.lead.map(({ cells }) => describeCell(cells['title']!))).toEqual([
      'Acme',
      '=1+1',
      '=SUM(A1)',
    ]);
    forgetAgreed(world);
    await pull(world);
    await cycle(world);
    rowOf(world, key).cells['about.url'] = textCell('https://one.example');
    await settle(world);
    expect(recordOf(world, key).fields).toMatchObject({ title: '=1+1', 'about.url': 'https://one.example' });
    expect(syncOf(rowOf(world, key))).toMatch(/^Synced /);
  });
});
