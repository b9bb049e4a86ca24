import { expect, test } from 'vitest';
import { SyncError } from '../../src/core/errors.ts';
import { createSheetsClient, type SheetsClient } from '../../src/sheets/client.ts';
import { createSheetTable } from '../../src/sheets/table.ts';
import { currentLayout } from '../../src/sync/layout.ts';
import { pullCatalog } from '../../src/sync/pull.ts';
import { openLinkStage } from '../support/link-stage.ts';

/** A client whose writes can be held on their way, until long after whoever sent them has given up. */
function holdWrites(client: SheetsClient) {
  const held: (() => Promise<unknown>)[] = [];
  let left = 0;
  return {
    client: {
      ...client,
      batchUpdate(...request) {
        if (left === 0) return client.batchUpdate(...request);
        left -= 1;
        held.push(() => client.batchUpdate(...request));
        return Promise.reject(new SyncError('SHEET_UNREACHABLE', 'No answer.'));
      },
    } satisfies SheetsClient,
    hold(count: number) {
      left = count;
    },
    async letGo() {
      for (const send of held.splice(0)) await send();
    },
  };
}

test('S3: two writes to rows that moved, which land while it is asked whether they have, make no record anew of what they put into a new row', async () => {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { clock, log } = stage.link;
  const { sheetsUrl: rootUrl, spreadsheetId } = stage.addresses;
  const quotas = { readsPerMinute: 10_000, writesPerMinute: 10_000 };
  const options = { spreadsheetId, rootUrl, ...quotas, timeoutMs: 10_000, clock, random: () => 0.5, log };
  const writes = holdWrites(createSheetsClient(options));
  const table = createSheetTable(writes.client, { spreadsheetId, account: 'account-1', log });
  let isAsked = async (): Promise<void> => {};
  const engine = stage.createEngine({
    table: {
      ...table,
      async recall(write) {
        const reply = await table.recall(write);
        await isAsked();
        return reply;
      },
    },
  });
  await pullCatalog(stage.link, 'newest');
  await table.layOut(currentLayout(stage.link), 'create');
  await engine.pullAll(() => {});
  await engine.cycle();
  await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 7, column: 'Title', text: 'New here' });
  for (const _read of ['typed', 'rested']) await engine.cycle();
  const [first] = (await stage.readCrm()).leads;
  await stage.editCrm(`/leads/${first?.id}`, { title: 'Renamed' });
  await engine.pullAll(() => {});
  writes.hold(2);
  for (const _write of ['one', 'once more']) {
    await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  }
  await stage.editSheet({ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true });
  isAsked = writes.letGo;
  await engine.cycle();
  expect(stage.link.mirror.readOutbox()).toMatchObject([{ kind: 'create', fields: { title: 'New here' } }]);
  for (const _cycle of Array.from({ length: 3 })) await engine.cycle();
  const titles = (await stage.readCrm()).leads.map(({ title }) => title);
  const shown = (await stage.readSheet())['Leads']?.map(({ Title }) => Title);
  expect(shown?.toSorted()).toEqual([...titles, 'New here'].toSorted());
});
