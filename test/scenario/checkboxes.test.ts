import { expect, test } from 'vitest';
import { openLeadsStage } from '../support/leads-stage.ts';

test('a checkbox that comes with the row of a record says nothing that the CRM does not say', async () => {
  const { firstLead, link, readCrm, readSheet } = await openLeadsStage();
  const causes = link.mirror.searchJournal({ limit: 99 }).map(({ cause }) => cause);
  expect(causes).not.toContain('edited in the sheet');
  const { leads } = await readCrm();
  const lead = leads.find(({ id }) => String(id) === '1001');
  expect(await firstLead()).toBe('1001');
  expect(lead?.custom_fields).not.toHaveProperty('newsletter');
  expect((await readSheet())['Leads']?.[0]).not.toHaveProperty('Newsletter');
});

test.each(['ID', 'About'])(
  'nor does one of a row that comes while somebody moves the column %s',
  async (column) => {
    const { addresses, engine, readCrm, setSheetFaults, settle } = await openLeadsStage();
    const order = { method: 'POST', path: '/leads', body: { title: 'Nova' } };
    await fetch(`${addresses.crmUrl}__sandbox/by-hand`, { method: 'POST', body: JSON.stringify(order) });
    await engine.pullAll(() => {});
    await setSheetFaults({ beforeNextWrite: [{ kind: 'moveColumns', sheet: 'Leads', column, to: 12 }] });
    await settle();
    const { leads } = await readCrm();
    expect(leads.find(({ title }) => title === 'Nova')?.custom_fields).toEqual({});
  },
);
