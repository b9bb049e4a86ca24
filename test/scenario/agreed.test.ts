import { describe, expect, test } from 'vitest';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';

/** More than it takes on a machine that is busy. */
const limit = { timeout: 90_000 };

/** What both sides had in the title of a lead, as far as the mirror knows. */
const agreedTitle = ({ link }: LeadsStage, id: string) =>
  link.mirror.findAgreement({ entity: 'lead', id })?.fields['title'];

describe('what is agreed', limit, () => {
  test.each(['before', 'after'] as const)(
    'S9: moves with a write to the sheet only once it is seen there, cut off %s it took effect',
    async (when) => {
      const stage = await openLeadsStage();
      const id = await stage.firstLead();
      const before = agreedTitle(stage, id);
      await stage.editCrm(`/leads/${id}`, { title: 'Changed in the CRM' });
      await stage.engine.pullAll(() => {});
      await stage.setSheetFaults({ failures: [{ kind: 'cut', on: 'write', when }] });
      await expect(stage.engine.cycle()).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
      expect(agreedTitle(stage, id)).toBe(before);
      await stage.settle();
      expect([agreedTitle(stage, id), (await stage.titles()).sheet.get(id)]).toEqual([
        'Changed in the CRM',
        'Changed in the CRM',
      ]);
    },
  );

  test.each(['dropBefore', 'dropAfter'] as const)(
    'S9: fault 7: moves with an update only once the CRM answered or shows it, after %s',
    async (kind) => {
      const stage = await openLeadsStage();
      const id = await stage.firstLead();
      const before = agreedTitle(stage, id);
      await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: 'Typed' });
      for (const _turn of [1, 2]) await stage.engine.cycle();
      stage.setCrmFaults({ faults: [{ kind, method: 'PUT', path: '/leads/*' }] });
      await pushRecord(stage.link, { entity: 'lead', id });
      expect(stage.model.faults.pending().faults).toEqual([]);
      expect(agreedTitle(stage, id)).toBe(before);
      await stage.settle();
      expect([agreedTitle(stage, id), (await stage.titles()).crm.get(id)]).toEqual(['Typed', 'Typed']);
      const sent = stage.model.requests().filter(({ method }) => method === 'PUT');
      expect(sent).toHaveLength(kind === 'dropBefore' ? 2 : 1);
      const told = stage.link.mirror
        .searchJournal({ limit: 9 })
        .filter(({ cause }) => cause === 'edited in the sheet');
      expect(told).toMatchObject([{ after: { title: 'Typed' } }]);
    },
  );
});
