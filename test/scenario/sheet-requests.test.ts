import { describe, expect, onTestFinished, test } from 'vitest';
import { createGoogleSheetTable } from '../../src/google/table.ts';
import type { SeedCounts } from '../../src/sandbox/crm/seed.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openCrmLine } from '../support/crm-line.ts';
import { type LinkStage, openLinkStage } from '../support/link-stage.ts';
import type { SheetEngine } from '../support/sheet-engine.ts';

const hourMs = 3_600_000;

interface CountedStage {
  readonly stage: LinkStage;
  readonly engine: SheetEngine;
  /** What the daemon asked Google for since this was called last: bodies of writes, and how many reads. */
  takeRequests(): { readonly reads: number; readonly writes: readonly string[] };
}

/** Both sides at rest and the same, with an ear on the line to Google. */
async function openCounted(counts: SeedCounts): Promise<CountedStage> {
  const stage = await openLinkStage(counts);
  const { link } = stage;
  const line = await openCrmLine({ target: `${stage.addresses.sheetsUrl}/`, now: link.clock.now });
  onTestFinished(() => line[Symbol.asyncDispose]());
  let [reads, writes] = [0, [] as string[]];
  line.intercept(/./, ({ body, method, url }, passOn) => {
    if (method === 'GET' || url.includes('ByDataFilter')) reads += 1;
    else writes.push(body);
    return passOn();
  });
  const table = createGoogleSheetTable({
    spreadsheetId: stage.addresses.spreadsheetId,
    account: stage.addresses.crmUrl,
    rootUrl: line.baseUrl,
    readsPerMinute: 10_000,
    writesPerMinute: 10_000,
    timeoutMs: 60_000,
    clock: link.clock,
    random: link.random,
    log: link.log,
  });
  const engine = stage.createEngine({
    table,
    // All rows at once, so that the sheet is filled in one cycle.
    policy: { ...link.policy, appendsMax: 2_000 },
    // A mark that came due meanwhile would be a write of its own.
    times: { ...link.times, markMs: hourMs, goneMs: 3 * hourMs },
  });
  await engine.pullAll(() => {});
  await table.layOut(currentLayout(link), 'create');
  while ((await engine.cycle()).table.length > 0);
  const takeRequests = () => {
    const taken = { reads, writes };
    [reads, writes] = [0, []];
    return taken;
  };
  takeRequests();
  return { stage, engine, takeRequests };
}

describe('a cycle', () => {
  test('S7: in which nothing changed is one read and no write', async () => {
    const { engine, takeRequests } = await openCounted({ leads: 20, opportunities: 5, tasks: 5 });
    await engine.cycle();
    expect(takeRequests()).toEqual({ reads: 1, writes: [] });
  });

  test('with changes of all kinds in all tabs is one read and one write', async () => {
    const { engine, stage, takeRequests } = await openCounted({ leads: 20, opportunities: 5, tasks: 5 });
    const { leads, opportunities, tasks } = await stage.readCrm();
    for (const { id } of leads.slice(0, 10)) await stage.editCrm(`/leads/${id}`, { title: `Renamed ${id}` });
    for (const { id } of opportunities) await stage.editCrm(`/opportunities/${id}`, { value: id });
    await stage.removeInCrm(`/tasks/${tasks[0]?.id}`);
    for (const _sweep of [1, 2]) await engine.pullAll(() => {});
    await stage.editSheet({ kind: 'edit', sheet: 'Tasks', row: 3, column: 'Title', text: 'Typed' });
    await engine.cycle();
    const { reads, writes } = takeRequests();
    expect([reads, writes.length]).toEqual([1, 1]);
    expect(engine.lastPlan?.table.map(({ write }) => write.kind)).toContain('delete');
  });

  test('with one edit among a thousand rows writes only the cells of that row', {
    timeout: 60_000,
  }, async () => {
    const { engine, stage, takeRequests } = await openCounted({ leads: 1_000, opportunities: 0, tasks: 0 });
    const row = 500;
    const [{ id } = { id: 0 }] = (await stage.readCrm()).leads.slice(row - 1);
    await stage.editCrm(`/leads/${id}`, { title: 'Renamed in the CRM' });
    await engine.pullAll(() => {});
    await engine.cycle();
    // Within the minute in which the row was filled its Sync cell stays as it is.
    const cells = takeRequests().writes.map((body) =>
      writtenCells(body).filter((text) => !/^Synced/.test(text)),
    );
    expect(cells).toEqual([['Renamed in the CRM']]);

    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row, column: 'City', text: 'Porto' });
    for (const _cycle of [1, 2]) await engine.cycle();
    for (const { key } of stage.link.mirror.readOutbox()) await pushRecord(stage.link, key);
    for (const _cycle of [1, 2]) await engine.cycle();
    const { reads, writes } = takeRequests();
    // Four polls, the row that was edited, the rows that were written, before each write and after it, what is hidden before each write, and the
    // IDs after rows that changed.
    expect(reads).toBe(14);
    expect(writes.map(writtenCells)).toEqual([
      [expect.stringMatching(/^Pending/)],
      [expect.stringMatching(/^Synced/)],
    ]);
  });
});

interface SentBatch {
  readonly requests: readonly {
    readonly copyPaste?: { readonly destination: { readonly sheetId: number } };
    readonly updateCells?: {
      readonly start?: { readonly sheetId: number };
      readonly rows?: readonly {
        readonly values: readonly { readonly userEnteredValue: { readonly stringValue: string } }[];
      }[];
    };
  }[];
}

/** The texts of all cells that a batch writes; what it writes where it copies rows to first is no cell of people. */
function writtenCells(body = '{"requests":[]}'): string[] {
  const { requests } = JSON.parse(body) as SentBatch;
  const hidden = new Set(requests.map(({ copyPaste }) => copyPaste?.destination.sheetId));
  return requests.flatMap(({ updateCells }) =>
    hidden.has(updateCells?.start?.sheetId)
      ? []
      : (updateCells?.rows ?? []).flatMap(({ values }) =>
          values.map((value) => value.userEnteredValue.stringValue),
        ),
  );
}
