import type { Entity, RecordKey } from '../../core/record.ts';
import type { OutboxItem } from '../../core/state.ts';
import type { DecideInput } from '../plans/input.ts';
import type { Plan } from '../plans/plan.ts';
import { recordTabs, type TabLayout } from '../port/layout.ts';
import type { ReadTab } from '../port/table.ts';
import { assemble } from './assemble.ts';
import { forgetRemapped, remapScope } from './brakes/remapped.ts';
import { type Braked, brakeTab } from './brakes/tab-brakes.ts';
import { type ClassifiedTab, classifyTab } from './classify.ts';
import { judgeTab, judgeWhole } from './judge-tab.ts';
import { forgetFreshColumns, holdMissingColumns } from './rows/columns.ts';
import { byId, indexTab, indexTable, type TableIndex } from './tab-index.ts';
import type { Verdict } from './verdict.ts';

/**
 * Decides everything that has to be done so that both sides become the same, what users answered in the table included. Pure: equal
 * input gives an equal plan, and a dry run is this function without what follows. Every row and every record is classified, then the brakes
 * look at the merged values, then all that no brake stops is judged, and the plan is made of the verdicts.
 */
export function decide(input: DecideInput): Plan {
  const table = indexTable(input);
  const tabs = recordTabs(table.input.layout).map((layout) => readTab(table, layout));
  const classified = tabs.flatMap(({ tab }) => tab ?? []);
  const leads = classified.find(({ index }) => index.entity === 'lead');
  const brakedLeads = leads && brakeTab(leads, false);
  const areLeadsStopped =
    input.table.tabs.lead.state === 'held' || (brakedLeads?.verdict.brakes?.length ?? 0) > 0;
  const verdicts = tabs.flatMap(({ tab, verdict }) => {
    if (!tab) return [verdict];
    const braked = tab === leads && brakedLeads ? brakedLeads : brakeTab(tab, areLeadsStopped);
    return [verdict, ...judge(tab, braked)];
  });
  return assemble(table, verdicts);
}

const judge = (tab: ClassifiedTab, braked: Braked): Verdict[] => [
  ...judgeWhole(tab),
  braked.verdict,
  ...(braked.isStopped ? [] : judgeTab(tab, braked)),
];

/** A tab that can be read, and what is said of it at once. */
function readTab(
  table: TableIndex,
  layout: TabLayout<Entity>,
): { readonly tab?: ClassifiedTab; readonly verdict: Verdict } {
  const { entity } = layout;
  const { known, table: observed } = table.input;
  const read = observed.tabs[entity];
  if (read.state === 'held') {
    const outboxDropped = waitingDeletes(entity, known.outbox);
    return { verdict: { holds: [{ entity, reason: read.reason }], outboxDropped } };
  }
  const agreed = byId(entity, known.agreements);
  const agreements = lastingAgreements(table, entity, read, agreed);
  const agreementsSaved = [...agreements].flatMap(([id, next]) => (agreed.get(id) === next ? [] : [next]));
  return {
    tab: classifyTab(indexTab(table, layout, read, agreements)),
    verdict: { agreementsSaved, holds: holdMissingColumns(layout, read, agreements) },
  };
}

/** Deletes that wait: whether their rows are still gone, and whether that still means a delete, is decided anew once the tab can be read. */
const waitingDeletes = (entity: Entity, outbox: readonly OutboxItem[]): RecordKey[] =>
  outbox
    .filter(
      ({ isUndo, key, kind, state }) =>
        key.entity === entity && kind === 'delete' && !isUndo && state === 'waiting',
    )
    .map(({ key }) => key);

/** What is agreed in the columns that are where they were. */
function lastingAgreements(
  { answers, input }: TableIndex,
  entity: Entity,
  tab: ReadTab,
  agreed: ReturnType<typeof byId<DecideInput['known']['agreements'][number]>>,
) {
  const isRemapAgreedTo = answers.find(remapScope(entity)) !== undefined;
  return forgetFreshColumns(tab, forgetRemapped(agreed, input.known.remaps.get(entity), isRemapAgreedTo));
}
