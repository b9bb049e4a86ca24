import { expect, test } from 'vitest';
import { openStage } from '../support/process-stage.ts';
import { readCrm } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

/** A create may leave out what its specification does not list, and answers no more than the id. */
test('a note typed into a new row arrives although the CRM drops it from the create', {
  timeout: 60_000,
}, async () => {
  const counts = { leads: 3, opportunities: 2, tasks: 2 };
  const stage = await openStage({ counts, choices: { createKeepsUnlistedFields: false } });
  await stage.startDaemon();
  await stage.agreed();
  const type = (sheet: string, column: string, text: string) =>
    ({ kind: 'edit', sheet, row: counts.tasks + 1, column, text }) as const;
  await stage.editSheet(
    type('Tasks', 'Title', 'Call back'),
    type('Tasks', 'Description', 'Ask for the budget'),
    type('Opportunities', 'Lead', '1001'),
    type('Opportunities', 'Stage', '11'),
    type('Opportunities', 'Note', 'Met at the fair'),
  );
  await until('the CRM has what was typed', async () => {
    const text = JSON.stringify(await readCrm(stage.addresses.crmUrl));
    return text.includes('Ask for the budget') && text.includes('Met at the fair');
  });
  const { shown } = await stage.agreed();
  expect(JSON.stringify(shown)).toContain('Met at the fair');
  await stage.expectAtRest();
  const writes = stage.crmRequests().filter(({ method }) => method !== 'GET');
  expect(writes.map(({ method }) => method).toSorted()).toEqual(['POST', 'POST', 'PUT', 'PUT']);
});
