import { describe, expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/person-shapes.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

const sort: PersonActionInput = { kind: 'sort', sheet: 'Leads', column: 'ID', descending: true };

/** When the daemon is killed, by the writes that the sheet has taken since; a slow sheet leaves it no time to go on. */
const moments = {
  'before it has reached the sheet': { writes: 1, faults: { failures: [{ kind: 'cut', when: 'before' }] } },
  'when it has reached moved rows, and its reply is lost': {
    writes: 1,
    faults: { beforeNextWrite: [sort], failures: [{ kind: 'cut', when: 'after' }] },
  },
  'when it has reached moved rows, and is not undone yet': { writes: 1, faults: { beforeNextWrite: [sort] } },
  'when it is undone, and the reply to that may be lost': { writes: 2, faults: { beforeNextWrite: [sort] } },
} as const;

/** What makes the daemon write, with the titles that the CRM has at the end. */
const writes: Record<string, (stage: ProcessStage, id: number) => Promise<void>> = {
  'the update of a row': (stage, id) => stage.editCrm(`/leads/${id}`, { title: 'Renamed' }),
  'the claim of a new row': (stage) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row: leads + 1, column: 'Title', text: 'Brand new' }),
  'the delete of a row': (stage, id) => stage.deleteFromCrm(`/leads/${id}`),
};

const leads = 6;

/** Fills two columns that are a user's own: a note and a formula beside each row. */
async function keepNotes(stage: ProcessStage): Promise<void> {
  const rows = (await readSheet(stage.addresses))['Leads'] ?? [];
  const edit = (row: number, column: number, text: string): PersonActionInput => ({
    kind: 'edit',
    sheet: 'Leads',
    row,
    column,
    text,
  });
  await stage.editSheet(
    edit(0, 30, 'Note'),
    edit(0, 31, 'Sum'),
    ...rows.flatMap(({ ID }, index) => [
      edit(index + 1, 30, `Note of ${ID}`),
      edit(index + 1, 31, `=1+${ID}`),
    ]),
  );
}

const titlesIn = async (stage: ProcessStage) =>
  ((await readSheet(stage.addresses))['Leads'] ?? []).map(({ ID, Title }) => `${ID} ${Title}`).toSorted();

const titlesOf = (records: readonly { readonly id: number; readonly title: string }[]) =>
  records.map(({ id, title }) => `${id} ${title}`).toSorted();

const notesOf = async (stage: ProcessStage) =>
  ((await readSheet(stage.addresses))['Leads'] ?? [])
    .map(({ ID, Note, Sum }) => [ID, Note, Sum])
    .filter(([, note]) => note !== undefined && note !== '')
    .toSorted();

describe.each(Object.keys(writes))('a kill during %s', limit, (write) => {
  test.each(Object.entries(moments))(
    'S2 S8: %s ends with both sides the same, and every note beside its own row',
    async (_moment, { faults, writes: landed }) => {
      const stage = await openStage({ counts: { leads, opportunities: 0, tasks: 0 } });
      const daemon = await stage.startDaemon();
      await stage.agreed();
      await keepNotes(stage);
      await stage.expectAtRest();
      const before = await readCrm(stage.addresses.crmUrl);
      const notes = await notesOf(stage);
      const id = before.leads[2]?.id ?? 0;
      const then = await stage.sheetWrites();
      await stage.setSheetFaults({ ...structuredClone(faults), latencyMs: 400 } as never);
      await writes[write]?.(stage, id);
      await until('the write was sent', async () => (await stage.sheetWrites()) >= then + landed);
      await daemon.kill();
      await stage.setSheetFaults({});
      await stage.startDaemon();
      await until('both sides have the same titles', async () => {
        const { leads: shown } = await readCrm(stage.addresses.crmUrl);
        const isDone = JSON.stringify(shown) !== JSON.stringify(before.leads);
        return isDone && JSON.stringify(await titlesIn(stage)) === JSON.stringify(titlesOf(shown));
      });
      await stage.expectAtRest();
      const after = await readCrm(stage.addresses.crmUrl);
      const titles = before.leads.map((lead) => (lead.id === id ? undefined : lead.title));
      const others = after.leads.filter((lead) => lead.id !== id && lead.title !== 'Brand new');
      expect(others.map(({ title }) => title)).toEqual(titles.filter((title) => title !== undefined));
      expect(after.leads.filter(({ title }) => title === 'Brand new').length).toBe(
        write.includes('claim') ? 1 : 0,
      );
      expect(await titlesIn(stage)).toEqual(titlesOf(after.leads));
      const isKept = ([owner]: (typeof notes)[number]) => !write.includes('delete') || Number(owner) !== id;
      expect(await notesOf(stage)).toEqual(notes.filter(isKept));
    },
  );
});
