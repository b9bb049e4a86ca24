import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from '../../src/core/text/cut-text.ts';
import { describeValue, showValue } from '../../src/sheet/cells/sync-text.ts';
import { describeCell, emptyCell, textCell } from '../../src/sheet/port/cell.ts';
import { fieldOfKind, sampleNames } from '../support/fields.ts';
import { addRecord, changeRecord, leadKey, recordOf, rowOf, type World } from '../support/world.ts';
import { cycle, refuse, settle, worldWithLeads } from '../support/world-daemon.ts';

/* One text that no cell can hold lets Google refuse the batch, and with it what all other rows were to get. */

const [acme, beta] = [leadKey(1), leadKey(2)];
const long = 'x'.repeat(49_990);
const shownSync = (world: World) => describeCell(rowOf(world, acme).sync);

/** Acme's row says this, and Beta's row gets what the CRM has. */
async function expectBothTold(world: World, says: RegExp): Promise<void> {
  changeRecord(world, beta, { title: 'Beta GmbH' });
  await settle(world);
  expect(shownSync(world)).toMatch(says);
  expect(shownSync(world).length).toBeLessThanOrEqual(1_001);
  expect(rowOf(world, beta).cells['title']).toEqual(textCell('Beta GmbH'));
}

describe('a row of whose text much is to be said', () => {
  it.each([
    ['a dropdown', 'custom.tier', /^Error: “x{80}…” is not known\. Tier takes /],
    ['a status', 'status_name', /^Error: “x{80}…” is not known\. Status takes /],
    ['a list of options', 'custom.topics', /^Error: “x{80}…” is not known\. Topics takes /],
    ['a checkbox', 'custom.is_vip', /^Error: “x{80}…” is neither yes nor no\. /],
  ])(
    'says so in part where somebody pasted a page into %s, and holds up no other',
    async (_name, field, says) => {
      const world = await worldWithLeads(['Acme', 'Beta']);
      rowOf(world, acme).cells[field] = textCell(long);
      await expectBothTold(world, says);
    },
  );

  it('says so in part where somebody pasted pages into the date and the numbers of a new row', async () => {
    const world = await worldWithLeads(['Acme', 'Beta']);
    addRecord(world, 'opportunity', { lead_id: 1, stage_id: 11, value: 0, confidence: 0 });
    await settle(world);
    const [row] = world.sheet.opportunity;
    for (const field of ['lead_id', 'value', 'confidence', 'estimated_close'])
      if (row) row.cells[field] = textCell(long);
    await settle(world);
    expect(describeCell(row?.sync ?? emptyCell)).toMatch(/^Error: .*is not a number\./);
  });

  it('says how a long note begins that must not be emptied', async () => {
    const world = await worldWithLeads(['Acme', 'Beta'], { columns: { 'about.url': { blank: 'refuse' } } });
    changeRecord(world, acme, { 'about.url': 'x'.repeat(50_000) });
    await settle(world);
    rowOf(world, acme).cells['about.url'] = emptyCell;
    await expectBothTold(
      world,
      /^Error: .* can not be emptied here\. Put “x{500}…” back, or type another value\.$/,
    );
  });

  it('says how long words of the CRM begin, in its row and where it is asked what is to become of it', async () => {
    const world = await worldWithLeads(['Acme', 'Beta'], { policy: { questionsTitle: 'Conflicts' } });
    rowOf(world, acme).cells['title'] = textCell('Acme GmbH');
    await cycle(world);
    await cycle(world);
    refuse(world, { state: 'refused', error: { code: 'CRM_REFUSED', message: `No. ${'x'.repeat(60_000)}` } });
    await expectBothTold(world, /^Error: No\. x+…$/);
    const [question] = world.sheet.question;
    expect(describeCell(question?.cells['what'] ?? emptyCell)).toMatch(/^No\. x+… Choose /);
  });

  it('is told in part of an answer that is a page', async () => {
    const world = await worldWithLeads(['Acme'], {
      conflict: 'ask',
      policy: { questionsTitle: 'Conflicts' },
    });
    changeRecord(world, acme, { title: 'Acme of the CRM' });
    rowOf(world, acme).cells['title'] = textCell('Acme of the sheet');
    await settle(world);
    const [question] = world.sheet.question;
    if (question) question.cells['choose'] = textCell(long);
    await settle(world);
    expect(describeCell(question?.sync ?? emptyCell)).toMatch(/^Error: “x{80}…” is no answer here\. /);
    expect(recordOf(world, acme).fields['title']).toBe('Acme of the CRM');
  });
});

describe('a text that is cut', () => {
  it('is never cut through a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 20 }), (text, lengthMax) => {
        const cut = cutText(text, lengthMax);
        expect(cut.isWellFormed()).toBe(true);
        if (text.length <= lengthMax) expect(cut).toBe(text);
        else expect(text.startsWith(cut.slice(0, -1))).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(lengthMax + 1);
      }),
    );
    expect(describeValue(fieldOfKind.text, `${'a'.repeat(999)}😀 and more`, sampleNames)).toBe(
      `${'a'.repeat(999)}…`,
    );
    expect(showValue(`${'a'.repeat(79)}😀 and more`)).toBe(`“${'a'.repeat(79)}…”`);
  });

  it.each([
    ['goes on behind it', (shown: string) => `${shown} And one more.`],
    ['takes its mark away', (shown: string) => shown.slice(0, 49_000)],
    ['shortens it by far', (shown: string) => shown.slice(0, 1_000)],
  ])('S1: fault 48: does not go to the CRM in part where somebody %s', async (_how, edit) => {
    const world = await worldWithLeads(['Acme']);
    const text = 'What was said on the phone. '.repeat(2_000);
    changeRecord(world, acme, { 'about.description': text });
    await settle(world);
    const { cells } = rowOf(world, acme);
    cells['about.description'] = textCell(edit(describeCell(cells['about.description'] ?? emptyCell)));
    await settle(world);
    expect(shownSync(world)).toMatch(
      /^Error: .* is longer than a cell can hold\. Undo the change here, and edit it in the CRM\.$/,
    );
    expect(recordOf(world, acme).fields['about.description']).toBe(text);
  });

  it('is well again once somebody did as they were told: took back the change, and made it in the CRM', async () => {
    const world = await worldWithLeads(['Acme']);
    const text = 'What was said on the phone. '.repeat(2_000);
    changeRecord(world, acme, { 'about.description': text });
    await settle(world);
    const { cells } = rowOf(world, acme);
    const shown = cells['about.description'] ?? emptyCell;
    cells['about.description'] = textCell(`${describeCell(shown)} And more.`);
    await settle(world);
    expect(shownSync(world)).toMatch(/Undo the change here, and edit it in the CRM\.$/);
    changeRecord(world, acme, { 'about.description': 'Short.' });
    cells['about.description'] = shown;
    await settle(world);
    expect(shownSync(world)).toMatch(/^Synced/);
    expect(cells['about.description']).toEqual(textCell('Short.'));
  });

  it('gives way to another one', async () => {
    const world = await worldWithLeads(['Acme']);
    changeRecord(world, acme, { 'about.description': 'What was said on the phone. '.repeat(2_000) });
    await settle(world);
    rowOf(world, acme).cells['about.description'] = textCell('Nothing was said.');
    await settle(world);
    expect(recordOf(world, acme).fields['about.description']).toBe('Nothing was said.');
  });
});
