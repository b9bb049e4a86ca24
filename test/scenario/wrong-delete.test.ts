import { expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLinkStage } from '../support/link-stage.ts';

/** A filled sheet, and a record of it whose row is deleted in the first cycle after `remove`. */
async function openBeforeDelete() {
  const stage = await openLinkStage({ leads: 6, opportunities: 0, tasks: 0 });
  const { link } = stage;
  await stage.layOut();
  const engine = stage.createEngine({ policy: { ...link.policy, vanishedRows: 'trash' } });
  await engine.pullAll(() => {});
  for (const _cycle of Array.from({ length: 2 })) await engine.cycle();
  const doomed = String((await stage.readCrm()).leads[0]?.id);
  const shownIds = async () => (await stage.readSheet())['Leads']?.map(({ ID }) => String(ID)) ?? [];
  const crmIds = async () => (await stage.readCrm()).leads.map(({ id }) => String(id));
  return {
    crmIds,
    shownIds,
    rowOf: async (id: string) => (await shownIds()).indexOf(id) + 1,
    doomed,
    stage,
    async remove() {
      await stage.removeInCrm(`/leads/${doomed}`);
      await engine.pullAll(() => {});
      await engine.pullAll(() => {});
    },
    /** The delete lands after somebody did something, and its reply is lost. */
    async goAstray(action: PersonActionInput) {
      await stage.setSheetFaults({ beforeNextWrite: [action], failures: [{ kind: 'cut', when: 'after' }] });
      await expect(engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
      expect(await shownIds()).toContain(doomed);
    },
    async goOn(cycles: number, ...beforeNextWrite: PersonActionInput[]) {
      await stage.setSheetFaults({ beforeNextWrite });
      for (const _cycle of Array.from({ length: cycles })) {
        await engine.cycle();
        for (const { key } of link.mirror.readOutbox()) await pushRecord(link, key);
      }
    },
  };
}

test('S4: fault 31: a row that our own delete took, because rows moved, never deletes its record', async () => {
  const { crmIds, goAstray, goOn, remove, shownIds } = await openBeforeDelete();
  await remove();
  await goAstray({ kind: 'sort', sheet: 'Leads', column: 'ID', descending: true });
  await goOn(5);
  const ids = await crmIds();
  expect(ids).toHaveLength(5);
  expect((await shownIds()).toSorted()).toEqual(ids.toSorted());
});

test('S13: a copy of a row that our own delete took comes back also where columns move while it does', async () => {
  const { crmIds, doomed, goAstray, goOn, remove, rowOf, shownIds, stage } = await openBeforeDelete();
  const [copied = ''] = (await crmIds()).filter((id) => id !== doomed);
  const from = await rowOf(copied);
  const range = { startRow: from, endRow: from + 1, startColumn: 0, endColumn: 8 };
  await stage.editSheet({
    kind: 'pasteCells',
    sheet: 'Leads',
    range: { ...range, startRow: 7, endRow: 8 },
    source: { sheet: 'Leads', range },
  });
  await goOn(2);
  await remove();
  await goAstray({ kind: 'moveRows', sheet: 'Leads', row: 7, count: 1, to: await rowOf(doomed) });
  await goOn(5, { kind: 'insertColumns', sheet: 'Leads', column: 2, count: 1 });
  expect((await shownIds()).toSorted()).toEqual([...(await crmIds()), copied].toSorted());
});
