import { expect, test } from 'vitest';
import { createSheetsClient, type SheetsClient } from '../../src/google/client.ts';
import { createSheetTable } from '../../src/google/table.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import { newSheetError } from '../../src/sheet/port/errors.ts';
import type { Table } from '../../src/sheet/port/port.ts';
import { pullCatalog } from '../../src/sync/reading/pull.ts';
import { openLinkStage } from '../support/link-stage.ts';

/** What becomes of a write: it is held on its way until long after its sender has given up, refused, or goes on. */
type Fate = 'held' | 'refused' | 'sent';

/** A client whose next writes have these fates; all others go on. */
function createFatedClient(client: SheetsClient) {
  const held: (() => Promise<unknown>)[] = [];
  const fates: Fate[] = [];
  const batchUpdate: SheetsClient['batchUpdate'] = (...request) => {
    const fate = fates.shift() ?? 'sent';
    const words = 'Invalid requests[0].updateCells: A cell is protected.';
    if (fate === 'refused') return Promise.reject(newSheetError('SHEET_REFUSED', words));
    if (fate === 'sent') return client.batchUpdate(...request);
    held.push(() => client.batchUpdate(...request));
    return Promise.reject(newSheetError('SHEET_UNREACHABLE', 'No answer.'));
  };
  return {
    client: { ...client, batchUpdate },
    fates,
    async letGo() {
      for (const send of held.splice(0)) await send();
    },
  };
}

/** A filled sheet whose writes have fates. */
async function openFated() {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 2 });
  const { clock, log } = stage.link;
  const { sheetsUrl: rootUrl, spreadsheetId } = stage.addresses;
  const quotas = { readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const options = { spreadsheetId, rootUrl, ...quotas, timeoutMs: 10_000, clock, random: () => 0.5, log };
  const writes = createFatedClient(createSheetsClient(options));
  const table = createSheetTable(writes.client, { spreadsheetId, account: 'account-1', clock, log });
  const asked = { times: 0, follow: async (): Promise<void> => {} };
  const recover: Table['recover'] = async (...write) => {
    const result = await table.recover(...write);
    asked.times += 1;
    await asked.follow();
    return result;
  };
  const engine = stage.createEngine({ table: { ...table, recover } });
  await pullCatalog(stage.link, 'newest');
  await table.layOut(currentLayout(stage.link), 'create');
  await engine.pullAll(() => {});
  await engine.cycle();
  const rename = async (path: 'leads' | 'tasks') => {
    const [first] = (await stage.readCrm())[path];
    await stage.editCrm(`/${path}/${first?.id}`, { title: 'Renamed' });
    await engine.pullAll(() => {});
  };
  const titles = async () => {
    const { leads, tasks } = await stage.readCrm();
    const { Leads = [], Tasks = [] } = await stage.readSheet();
    return {
      crm: [...leads, ...tasks].map(({ title }) => title).toSorted(),
      sheet: [...Leads, ...Tasks].map(({ Title }) => Title).toSorted(),
    };
  };
  return { asked, engine, rename, stage, titles, writes };
}

test('S3: two writes to rows that moved, which land while it is asked whether they have, make no record anew of what they put into a new row', async () => {
  const { asked, engine, rename, stage, titles, writes } = await openFated();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 7, column: 'Title', text: 'New here' });
  for (const _read of ['typed', 'rested']) await engine.cycle();
  await rename('leads');
  writes.fates.push('held', 'held');
  for (const _write of ['one', 'once more']) {
    await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  }
  await stage.editSheet({ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true });
  asked.follow = writes.letGo;
  await engine.cycle();
  expect(stage.link.mirror.readOutbox()).toMatchObject([{ kind: 'create', fields: { title: 'New here' } }]);
  for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
  const { crm, sheet } = await titles();
  expect(sheet).toEqual([...crm, 'New here'].toSorted());
});

test('a write of which a part has landed, and nothing is known of the rest, is asked about once more and not for ever', async () => {
  const { asked, engine, rename, stage, titles, writes } = await openFated();
  await rename('leads');
  await rename('tasks');
  writes.fates.push('refused', 'sent', 'held');
  await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  await engine.cycle();
  expect(asked.times).toBe(2);
  expect(stage.link.mirror.readOpenWrites()).toMatchObject([
    { confirms: [[expect.any(Number), { key: { entity: 'task' } }]], damage: [] },
  ]);
  await engine.cycle();
  const { crm, sheet } = await titles();
  expect(sheet).toEqual(crm);
});

test('S1 S2: a write that lands in sorted rows late is undone in the cycle that finds it, and what a user typed there goes to the CRM', async () => {
  const { engine, rename, stage, titles, writes } = await openFated();
  await rename('leads');
  writes.fates.push('held');
  await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  await stage.editSheet(
    { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true },
    { kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' },
  );
  await writes.letGo();
  for (const _cycle of Array.from({ length: 3 })) {
    await engine.cycle();
    expect((await titles()).sheet).toEqual(expect.arrayContaining(['Renamed', 'Typed']));
  }
  expect(stage.link.mirror.readOutbox()).toMatchObject([{ kind: 'update', fields: { title: 'Typed' } }]);
  expect(engine.lastPlan?.questions).toEqual([]);
});
