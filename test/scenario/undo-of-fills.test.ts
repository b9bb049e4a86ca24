import { expect, test } from 'vitest';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { ColumnPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { undo } from '../../src/sync/undo.ts';
import { type LeadsStage, openLeadsStage } from '../support/leads-stage.ts';

const website = 'https://acme.example';

/** A stage whose first lead has a website in the CRM and in the sheet. */
async function openWithWebsite(): Promise<LeadsStage & { readonly id: string }> {
  const stage = await openLeadsStage();
  const id = await stage.firstLead();
  await stage.editCrm(`/leads/${id}`, { meta_data: { about: { url: website } } });
  await stage.settle();
  return { ...stage, id };
}

/** An engine as after a restart with this rule for the column of websites, once it has read the sheet some times. */
async function restart({ createEngine, link }: LeadsStage, rule: ColumnPolicy) {
  const lead = { ...link.policy.tabs.lead, columns: { 'about.url': rule } };
  const engine = createEngine({ policy: { ...link.policy, tabs: { ...link.policy.tabs, lead } } });
  await engine.link.table.layOut(currentLayout(engine.link), 'refresh');
  for (const _turn of [1, 2, 3]) await engine.cycle();
  return engine;
}

const typeWebsite = (stage: LeadsStage, text: string) =>
  stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Website', text });

test.each([
  [
    'emptied a cell that gets its value back',
    async (stage: LeadsStage) => {
      await typeWebsite(stage, '');
      await restart(stage, { blank: 'leave' });
    },
  ],
  [
    'typed into a column that only shows what the CRM has',
    async (stage: LeadsStage) => {
      const engine = await restart(stage, { direction: 'toTable' });
      await typeWebsite(stage, 'https://typed.example');
      for (const _turn of [1, 2]) await engine.cycle();
      expect(stage.link.mirror.searchJournal({ limit: 1 })).toMatchObject([
        { side: 'table', before: {}, lost: { 'about.url': 'https://typed.example' } },
      ]);
    },
  ],
  [
    'emptied a column while it was off',
    async (stage: LeadsStage) => {
      await restart(stage, { direction: 'off' });
      await typeWebsite(stage, '');
      await restart(stage, {});
    },
  ],
])(
  'the CRM keeps what it had all the time when a record is taken back in whose row somebody %s',
  async (_, happen) => {
    const stage = await openWithWebsite();
    const { id, link } = stage;
    const key = { entity: 'lead', id } as const;
    const since = link.clock.now();
    await happen(stage);
    expect((await stage.readSheet())['Leads']?.[0]?.['Website']).toBe(website);
    await undo(link, { key, since });
    await pushRecord(link, key);
    const lead = (await stage.readCrm()).leads.find((each) => String(each.id) === id);
    expect(lead?.meta_data?.about?.url).toBe(website);
  },
);
