import type { ConflictPolicy } from '../../src/core/merge.ts';
import { currentLayout } from '../../src/sheet/layout.ts';
import type { SheetLink } from '../../src/sheet/link.ts';
import { isQuiet } from '../../src/sheet/plans/plan.ts';
import type { VanishedRowPolicy } from '../../src/sheet/policy.ts';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import { openLinkStage } from './link-stage.ts';
import { dropSpareRows } from './spare-rows.ts';

/** A few leads on both sides and an engine that is driven step by step. */
export type LeadsStage = Awaited<ReturnType<typeof openLeadsStage>>;

/** More than any of it takes. */
const turnsMax = 200;

export async function openLeadsStage(
  conflict: ConflictPolicy = 'crm',
  changes: Partial<SheetLink> = {},
  vanishedRows: VanishedRowPolicy = 'ask',
) {
  const stage = await openLinkStage({ leads: 5, opportunities: 0, tasks: 0 });
  const { policy } = stage.link;
  const link: SheetLink = {
    ...stage.link,
    policy: { ...policy, tabs: { ...policy.tabs, lead: { ...policy.tabs.lead, conflict, vanishedRows } } },
    ...changes,
  };
  await stage.layOut(link);
  await stage.editSheet(...dropSpareRows(currentLayout(link)));
  const engine = stage.createEngine(link);
  const settle = async () => {
    for (const _turn of Array.from({ length: turnsMax })) {
      await engine.pullAll(() => {});
      const plan = await engine.cycle();
      const items = link.mirror.readOutbox().filter(({ state }) => state !== 'done');
      if (isQuiet(plan) && plan.restlessRows === 0 && items.length === 0) return;
      for (const { key } of items) await pushRecord(link, key, () => false);
    }
    throw new Error(`It did not come to rest: ${JSON.stringify(link.mirror.readOutbox())}`);
  };
  const leads = async () => (await stage.readSheet())['Leads'] ?? [];
  const firstLead = async () => String((await leads())[0]?.['ID']);
  await settle();
  return {
    ...stage,
    link,
    engine,
    /** Pulls, cycles and pushes until nothing is left to do but what waits for a person. */
    settle,
    /** The id of the lead in the first row. */
    firstLead,
    /** Titles by id on each side. */
    titles: async () => ({
      crm: new Map<unknown, unknown>(
        (await stage.readCrm()).leads.map(({ id, title }) => [String(id), title]),
      ),
      sheet: new Map<unknown, unknown>((await leads()).map(({ ID, Title }) => [String(ID), Title])),
    }),
    /** Somebody types a title into the first row and somebody else another into the CRM. */
    async disagree(inSheet: string, inCrm: string) {
      await stage.editCrm(`/leads/${await firstLead()}`, { title: inCrm });
      await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: inSheet });
      await settle();
    },
  };
}
