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
