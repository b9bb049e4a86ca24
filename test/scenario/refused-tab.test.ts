import { describe, expect, test } from 'vitest';
import { currentLayout } from '../../src/sheet/layout.ts';
import { noteWrite, rebaseOutrun } from '../../src/sheet/rebase.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

/* Google refuses a batch whole. Somebody who protects one tab for themselves must not keep the daemon from the others. */

const protectedRangeId = 4_711;

interface Filled {
  readonly stage: LinkStage;
  readonly engine: SheetEngine;
}

/** Both sides at rest and the same. */
async function openFilled(): Promise<Filled> {
  const stage = await openLinkStage({ leads: 3, opportunities: 3, tasks: 3 });
  await stage.layOut();
  const engine = stage.createEngine();
  await engine.pullAll(() => {});
  while ((await engine.cycle()).table.length > 0);
  return { stage, engine };
}

async function protect({ asOwner, addresses }: LinkStage, title: string): Promise<void> {
  const url = `${addresses.sheetsUrl}/v4/spreadsheets/${addresses.spreadsheetId}?fields=sheets.properties`;
  const { sheets } = (await (await fetch(url)).json()) as {
    sheets: { properties: { title: string; sheetId: number } }[];
  };
  const sheetId = sheets.find(({ properties }) => properties.title === title)?.properties.sheetId;
  const range = { sheetId, startColumnIndex: 1 };
  await asOwner({
    addProtectedRange: { protectedRange: { protectedRangeId, range, editors: { users: [] } } },
  });
}

const unprotect = ({ asOwner }: LinkStage) => asOwner({ deleteProtectedRange: { protectedRangeId } });

/** The daemon goes on for a while, and is refused whenever it has something to write. */
async function goOnRefused({ engine, stage }: Filled, says: RegExp): Promise<void> {
  let refusal: unknown;
  for (const _cycle of Array.from({ length: 6 })) {
    await engine.pullAll(() => {});
    refusal = await engine.cycle().then(
      () => undefined,
      (error: unknown) => error,
    );
    for (const { key } of stage.link.mirror.readOutbox()) await pushRecord(stage.link, key);
  }
  expect(refusal).toMatchObject({ code: 'SHEET_REFUSED', message: expect.stringMatching(says) });
}

/** The daemon goes on until nothing is left to do. */
async function settle({ engine, stage }: Filled): Promise<void> {
  for (const _cycle of Array.from({ length: 6 })) {
    await engine.pullAll(() => {});
    await engine.cycle();
    for (const { key } of stage.link.mirror.readOutbox()) await pushRecord(stage.link, key);
  }
}

describe('a tab that somebody protects for themselves', () => {
  test('is left as it is, and what happens in the others goes both ways', async () => {
    const filled = await openFilled();
    const { stage } = filled;
    const { leads, opportunities, tasks } = await stage.readCrm();
    const [lead, opportunity] = [leads[0], opportunities[0]];
    await protect(stage, 'Leads');
    await stage.editCrm(`/leads/${lead?.id}`, { title: 'Renamed in the CRM' });
    await stage.editCrm(`/opportunities/${opportunity?.id}`, { value: 4_321 });
    const rowOfTask =
      ((await stage.readSheet())['Tasks'] ?? []).findIndex(({ ID }) => ID === tasks[0]?.id) + 1;
    await stage.editSheet(
      { kind: 'edit', sheet: 'Tasks', row: rowOfTask, column: 'Title', text: 'Typed' },
      { kind: 'edit', sheet: 'Tasks', row: 4, column: 'Title', text: 'New' },
      { kind: 'edit', sheet: 'Tasks', row: 4, column: 'Lead', text: `#${leads[1]?.id}` },
    );
    await goOnRefused(filled, /“Leads”, from /);
    const sheet = await stage.readSheet();
    expect(sheet['Leads']?.find(({ ID }) => ID === lead?.id)?.['Title']).toBe(lead?.title);
    expect(sheet['Opportunities']?.find(({ ID }) => ID === opportunity?.id)?.['Value']).toBe(4_321);
    const titles = (await stage.readCrm()).tasks.map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(['Typed', 'New']));
    // Of what was refused nothing can land any more, and of the rest it is known that it has.
    expect(stage.link.mirror.readOpenWrites()).toEqual([]);

    await unprotect(stage);
    await settle(filled);
    const after = await stage.readSheet();
    expect(after['Leads']?.find(({ ID }) => ID === lead?.id)?.['Title']).toBe('Renamed in the CRM');
    expect(after['Tasks']).toHaveLength(tasks.length + 1);
    expect((await stage.readCrm()).tasks).toHaveLength(tasks.length + 1);
  });

  test('loses the row of a record that is gone, and has a new row created once, when it may be written again', async () => {
    const filled = await openFilled();
    const { stage } = filled;
    const { leads } = await stage.readCrm();
    await protect(stage, 'Leads');
    await stage.removeInCrm(`/leads/${leads[2]?.id}`);
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 5, column: 'Title', text: 'New row' });
    await goOnRefused(filled, /“Leads”/);
    expect((await stage.readCrm()).leads.map(({ title }) => title)).not.toContain('New row');
    await unprotect(stage);
    await settle(filled);
    const titles = [...leads.slice(0, 2).map(({ title }) => title), 'New row'].toSorted();
    expect((await stage.readCrm()).leads.map(({ title }) => title).toSorted()).toEqual(titles);
    expect((await stage.readSheet())['Leads']?.map(({ Title }) => Title).toSorted()).toEqual(titles);
  });

  test('keeps no new column of another tab from being known, so that what is wiped there later goes to the CRM', async () => {
    const filled = await openFilled();
    const { stage } = filled;
    const { leads } = await stage.readCrm();
    await protect(stage, 'Leads');
    await stage.editCrm(`/leads/${leads[0]?.id}`, { title: 'Renamed in the CRM' });
    await stage.editSheet({ kind: 'deleteColumns', sheet: 'Tasks', column: 'Description', count: 1 });
    await goOnRefused(filled, /“Leads”/);
    await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row: 0, column: 20, text: 'Description' });
    await goOnRefused(filled, /“Leads”/);
    const rows = (await stage.readSheet())['Tasks'] ?? [];
    const row = rows.findIndex(({ Description }) => Boolean(Description));
    expect(row).toBeGreaterThanOrEqual(0);
    await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row: row + 1, column: 'Description', text: '' });
    await goOnRefused(filled, /“Leads”/);
    const task = (await stage.readCrm()).tasks.find(({ id }) => id === rows[row]?.['ID']);
    expect(task).toMatchObject({ description: null });
  });

  test('is no sign of another daemon, however often it was refused, so that what is agreed stays', async () => {
    const { link } = (await openFilled()).stage;
    const table = await link.table.read(currentLayout(link));
    // Some hours, at a try in a minute.
    for (const number of Array.from({ length: 600 }).keys()) {
      expect(rebaseOutrun(link, table)).toBe(false);
      link.mirror.transaction(() => noteWrite(link.mirror, `refused-${number}`));
    }
    expect(link.mirror.readAgreements()).not.toEqual([]);
  });
});
