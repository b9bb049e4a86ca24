import { expect, test } from 'vitest';
import { valueAt } from '../../src/cli/check/crm-person.ts';
import { openScenario } from '../support/scenario.ts';

test('an edited record costs at most one read and one update, however many of its cells changed', async () => {
  const scene = await openScenario();
  const { crm, sheet } = scene;
  const { id } = await crm.take('lead');
  await sheet.type('lead', id, {
    Title: 'Seven cells Ltd',
    Status: 'Customer',
    About: 'Wants a new website',
    City: 'Porto',
    Newsletter: 'TRUE',
    Source: 'Website',
    Services: 'SEO, Print, packaging',
  });
  await scene.settled();
  const lead = await crm.find('lead', id);
  expect(valueAt(lead, 'title')).toBe('Seven cells Ltd');
  expect(valueAt(lead, 'custom_fields.city')).toBe('Porto');
  const path = new RegExp(`^/leads/${id}$`);
  expect(scene.requests('PUT', path)).toHaveLength(1);
  expect(scene.requests('GET', path).length).toBeLessThanOrEqual(1);
});
