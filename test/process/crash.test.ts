import { describe, expect, test } from 'vitest';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { findPosition, readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

/** S8: a kill at any moment ends like a run without it. Every test kills a real daemon and starts another one on what it left. */
const limit = { timeout: 150_000 };

/** What happens to a write on its way to the CRM. */
interface WriteFault {
  readonly kind: 'slow' | 'dropBefore' | 'dropAfter';
  readonly delayMs?: number;
  readonly times: number;
}

/** Resolves when the CRM has carried out what was sent to it, however late: only then nothing can change any more. */
const nothingIsUnderWay = (stage: ProcessStage) =>
  until('every request has been carried out', async () => stage.crmArrivals() === stage.crmRequests().length);

/** Cuts the connection after each batch took effect, from now on; the sheet is so slow that nobody can look what came of it. */
const cutBatches = (stage: ProcessStage) =>
  stage.setSheetFaults({
    latencyMs: 1_000,
    failures: [{ kind: 'cut', on: 'write', when: 'after', times: 1_000 }],
  });

const rowsInSheet = async (stage: ProcessStage) => Object.values(await readSheet(stage.addresses)).flat();

const pathsOf = (stage: ProcessStage, method: string) =>
  stage.crmRequests().flatMap((request) => (request.method === method ? [request.path] : []));

describe('fault 56: a kill in the first fill', limit, () => {
  const counts = { leads: 220, opportunities: 30, tasks: 20 };

  /**
   * Fills, kills the daemon at the moment that `reach` waits for, and expects what a fill without a kill ends with. `hasRows` says
   * whether the sheet must have rows at the kill.
   */
  async function expectFillSurvives(
    reach: (stage: ProcessStage) => Promise<unknown>,
    hasRows?: boolean,
  ): Promise<void> {
    const stage = await openStage({ counts });
    const before = await readCrm(stage.addresses.crmUrl);
    const reached = reach(stage);
    const daemon = await stage.startDaemon();
    await reached;
    await daemon.kill();
    stage.setCrmFaults({ clear: true });
    await stage.setSheetFaults({});
    const rowsAtKill = await rowsInSheet(stage);
    if (hasRows !== undefined) expect(rowsAtKill.length > 0).toBe(hasRows);
    await stage.startDaemon();
    const { shown } = await stage.agreed();
    const lengths = ['Leads', 'Opportunities', 'Tasks'].map((title) => shown[title]?.length);
    expect(lengths).toEqual([counts.leads, counts.opportunities, counts.tasks]);
    await stage.expectAtRest();
    expect(await readCrm(stage.addresses.crmUrl)).toEqual(before);
    expect(stage.crmRequests().filter(({ method }) => method !== 'GET')).toEqual([]);
    stage.expectBudgetKept();
  }

  test('fault 74: while pages are read', () =>
    expectFillSurvives((stage) => {
      stage.setCrmFaults({ latencyMs: 150 });
      return until('two pages of leads are read', async () => {
        const pages = pathsOf(stage, 'GET').filter((path) => path === '/leads');
        return pages.length >= 2;
      });
    }));

  test('when the first batch has reached the sheet and its reply has not come back', () =>
    expectFillSurvives(async (stage) => {
      const before = await stage.sheetWrites();
      // The daemon has said that it keeps the sheet, and no record is read yet.
      stage.setCrmFaults({ latencyMs: 2_000 });
      await until('the daemon has signed', async () => (await stage.sheetWrites()) > before);
      await cutBatches(stage);
      stage.setCrmFaults({ clear: true });
      await until('rows are in the sheet', async () => (await rowsInSheet(stage)).length > 0);
    }, true));
});

describe('fault 56: a kill in the middle of many edits in the sheet', limit, () => {
  const edits = 35;
  /** The faults meet updates after this many have gone well. */
  const goodUpdates = 20;

  test.each<[moment: string, fault: WriteFault]>([
    ['after the CRM has carried out updates whose answers were cut off', { kind: 'dropAfter', times: 3 }],
    [
      'while updates are under way that arrive later than their repetition',
      { kind: 'slow', delayMs: 6_000, times: 4 },
    ],
  ])('%s', async (_moment, fault) => {
    const stage = await openStage();
    const daemon = await stage.startDaemon();
    await stage.agreed();
    const before = await readCrm(stage.addresses.crmUrl);
    const put = { method: 'PUT', path: '/leads/*' } as const;
    stage.setCrmFaults({
      faults: [
        { ...put, kind: 'slow', times: goodUpdates },
        { ...put, ...fault },
        // The rest is held up, so that the kill comes before the last one.
        { ...put, kind: 'dropBefore', delayMs: 2_500, times: edits },
      ],
    });
    const typed = await typeTitles(stage);
    await stage.crmFaultsMet(1);
    await daemon.kill();
    stage.setCrmFaults({ clear: true });
    expect(pathsOf(stage, 'PUT').length).toBeLessThan(edits);
    await stage.startDaemon();
    await stage.agreed();
    await nothingIsUnderWay(stage);
    await stage.expectAtRest();
    const leads = before.leads.map((lead) => ({ ...lead, title: typed.get(lead.id) ?? lead.title }));
    expect(await readCrm(stage.addresses.crmUrl)).toEqual({ ...before, leads });
    const sentTo = Map.groupBy(pathsOf(stage, 'PUT'), (path) => path);
    expect(sentTo.size).toBe(edits);
    expect([...sentTo.values()].filter((paths) => paths.length > 2)).toEqual([]);
    stage.expectBudgetKept();
  });

  /** Types a title of its own into the first rows; answers it by the ID in the row. */
  async function typeTitles(stage: ProcessStage): Promise<Map<number, string>> {
    const { Leads = [] } = await readSheet(stage.addresses);
    const typed = new Map(
      Leads.slice(0, edits).map(({ ID }, index) => [Number(ID), `Edit ${index}: “Ünder” 東京 & Söhne`]),
    );
    const rows = [...typed.values()].map((title) => [title]);
    await stage.editSheet({ kind: 'paste', sheet: 'Leads', row: 1, column: 'Title', rows });
    return typed;
  }
});

describe('faults 3 and 56: a kill while new rows become records', limit, () => {
  const titles = ['Fresh Bakery', 'Fresh Brewery', 'Fresh Bikes'];

  /** Types three new rows, kills the daemon at the moment that `reach` waits for, and expects one record for each. */
  async function expectOneRecordEach(reach: (stage: ProcessStage) => Promise<unknown>): Promise<void> {
    const stage = await openStage({ counts: { leads: 20, opportunities: 5, tasks: 5 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    const before = await readCrm(stage.addresses.crmUrl);
    const rows = titles.map((title) => [title]);
    await stage.editSheet({
      kind: 'paste',
      sheet: 'Leads',
      row: before.leads.length + 1,
      column: 'Title',
      rows,
    });
    await reach(stage);
    await daemon.kill();
    await stage.startDaemon();
    await nothingIsUnderWay(stage);
    const { shown } = await stage.agreed();
    const after = await readCrm(stage.addresses.crmUrl);
    const known = new Set(before.leads.map(({ id }) => id));
    const created = after.leads.filter(({ id }) => !known.has(id)).map(({ title }) => title);
    expect(created.toSorted()).toEqual(titles.toSorted());
    expect(shown['Leads']).toHaveLength(before.leads.length + titles.length);
    await stage.expectAtRest();
    stage.expectBudgetKept();
  }

  test('when a row is claimed and nothing was sent yet', () =>
    expectOneRecordEach((stage) =>
      until('a row carries a claim', async () => {
        const { Leads = [] } = await readSheet(stage.addresses);
        return Leads.some(({ ID }) => typeof ID === 'string');
      }),
    ));

  test.each<[moment: string, fault: WriteFault]>([
    ['when the CRM has created a record and its answer was cut off', { kind: 'dropAfter', times: 1 }],
    [
      'while a create is under way that the CRM carries out after it',
      { kind: 'slow', delayMs: 300, times: 1 },
    ],
  ])('%s', (_moment, fault) =>
    expectOneRecordEach((stage) => {
      stage.setCrmFaults({ faults: [{ ...fault, method: 'POST', path: '/leads' }] });
      return stage.crmFaultsMet();
    }),
  );
});

describe('fault 56: a kill while changes in the CRM are written to the sheet', limit, () => {
  test('S8: when a later batch has reached the sheet and its reply has not come back, and rows move before the start', async () => {
    const stage = await openStage({ counts: { leads: 40, opportunities: 5, tasks: 5 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    const before = await readCrm(stage.addresses.crmUrl);
    const [typed, deleted, ...changed] = before.leads.map(({ id }) => id);
    const writesBefore = await stage.sheetWrites();
    await cutBatches(stage);
    for (const id of changed.slice(0, 15)) await stage.editCrm(`/leads/${id}`, { title: `Changed ${id}` });
    await stage.addToCrm('/leads', { title: 'Made in the CRM' });
    await stage.deleteFromCrm(`/leads/${deleted}`);
    await until('a batch was sent', async () => (await stage.sheetWrites()) > writesBefore);
    await daemon.kill();
    await stage.setSheetFaults({});
    const position = await findPosition(stage.addresses, 'lead', String(typed));
    const text = 'Typed while no daemon ran';
    await stage.editSheet(
      { kind: 'edit', sheet: 'Leads', row: position, column: 'Title', text },
      { kind: 'sort', sheet: 'Leads', column: 'Title', descending: true },
    );
    await stage.startDaemon();
    const { shown } = await stage.agreed();
    expect(shown['Leads']).toHaveLength(before.leads.length);
    const { leads } = await readCrm(stage.addresses.crmUrl);
    expect(leads.find(({ id }) => id === typed)?.title).toBe(text);
    expect(leads.filter(({ title }) => title.startsWith('Changed '))).toHaveLength(15);
    await stage.expectAtRest();
    expect(pathsOf(stage, 'PUT')).toEqual([`/leads/${typed}`]);
    stage.expectBudgetKept();
  });
});

describe('fault 56: a kill while a record is moved to the trash', limit, () => {
  test.each<[moment: string, fault: WriteFault]>([
    ['when the CRM has done it and its answer was cut off', { kind: 'dropAfter', times: 1 }],
    ['while it is under way and the CRM does it after the kill', { kind: 'slow', delayMs: 300, times: 1 }],
  ])('S8: %s', async (_moment, fault) => {
    const stage = await openStage({ counts: { leads: 20, opportunities: 5, tasks: 5 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    const before = await readCrm(stage.addresses.crmUrl);
    const [trashed] = before.tasks;
    stage.setCrmFaults({ faults: [{ ...fault, method: 'DELETE', path: '/tasks/*' }] });
    const row = await findPosition(stage.addresses, 'task', String(trashed?.id));
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Tasks', row });
    const approve = () => stage.runCommand('answer', `vanished:task-${trashed?.id}`, 'trash');
    await until('the delete may be approved', async () => (await approve()).code === 0);
    await stage.crmFaultsMet();
    await daemon.kill();
    await stage.startDaemon();
    await nothingIsUnderWay(stage);
    await until('the record is gone', async () => {
      const { tasks } = await readCrm(stage.addresses.crmUrl);
      return !tasks.some(({ id }) => id === trashed?.id);
    });
    await stage.agreed();
    await stage.expectAtRest();
    const gone = new Set([trashed?.id]);
    const kept = before.tasks.filter(
      ({ id, parent_task_id: parent }) => !gone.has(id) && !gone.has(parent ?? 0),
    );
    expect((await readCrm(stage.addresses.crmUrl)).tasks).toEqual(kept);
    expect(new Set(pathsOf(stage, 'DELETE'))).toEqual(new Set([`/tasks/${trashed?.id}`]));
    expect(pathsOf(stage, 'DELETE').length).toBeLessThanOrEqual(2);
    stage.expectBudgetKept();
  });
});
