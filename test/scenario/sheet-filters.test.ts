import { expect, test } from 'vitest';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { openScenario, type Scenario } from '../support/scenario.ts';

/* What Google's copies make of rows that a filter hides no document says; contract/sheet-hidden-rows.test.ts has each answer. */

const answers = ['skipAndTile', 'refused'] as const;

/** Of the leads a filter shows none but these. */
const showOnly = (shown: readonly string[]): PersonActionInput => ({
  kind: 'filter',
  sheet: 'Leads',
  column: 'ID',
  shown: [...shown],
});

const leadWrites = (scene: Scenario) =>
  (['PUT', 'POST', 'DELETE'] as const).map((method) => scene.requests(method, /^\/leads/).length);

const moments = ['before', 'while'] as const;

test.each(answers.flatMap((answer) => moments.map((moment) => [moment, answer] as const)))(
  'rows that a person filters away %s they are written follow the CRM, where the answer to their copies is: %s',
  async (moment, hiddenRowCopy) => {
    const scene = await openScenario();
    const { crm } = scene;
    const chosen = JSON.stringify({ '*': { hiddenRowCopy } });
    await fetch(`${new URL(scene.gridUrl).origin}/__sandbox/choices`, { method: 'POST', body: chosen });
    const [renamed, trashed, shown] = [
      await crm.take('lead'),
      await crm.take('lead'),
      await crm.take('lead'),
    ];
    const filter = showOnly([String(shown.id)]);
    if (moment === 'before') await scene.act(filter);
    else await scene.setSheetFaults({ beforeNextWrite: [filter] });
    await crm.update('lead', renamed.id, { title: 'Renamed in the CRM' });
    await crm.trash('lead', trashed.id);
    await crm.update('lead', shown.id, { title: 'Renamed as well' });
    await scene.settled();
    expect(await scene.row('lead', trashed.id)).toBeUndefined();
    expect((await scene.row('lead', renamed.id))?.['Title']).toBe('Renamed in the CRM');
    await scene.act({ kind: 'edit', sheet: 'Leads', row: 20, column: 'Title', text: 'A new lead' });
    await scene.settled();
    expect((await crm.look()).leads.map(({ title }) => title)).toContain('A new lead');
    expect(leadWrites(scene)).toEqual([0, 1, 0]);
  },
);
