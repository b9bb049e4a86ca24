import { expect, test } from 'vitest';
import { openWarehouseEngine } from '../support/warehouse-engine.ts';
import { expectWholeHistory } from '../support/warehouse-history.ts';

const rounds = 10;

test('W11: history has each of 500 changes of a stage, and its true time lies within its bounds', {
  timeout: 120_000,
}, async () => {
  const stage = await openWarehouseEngine({ counts: { leads: 10, opportunities: 50, tasks: 0 } });
  await stage.start();
  await stage.settled();
  const stages = stage.model.records.pipelines.flatMap((pipeline) => pipeline.stages.map(({ id }) => id));
  const changed: { readonly id: number; readonly stageId: number; readonly at: number }[] = [];
  const opportunities = stage.model.records.opportunities.live();
  for (let round = 1; round <= rounds; round += 1) {
    for (const { id, stage_id } of opportunities) {
      const place = (stages.indexOf(stage_id) + round) % stages.length;
      const stageId = stages[place]!;
      changed.push({ id, stageId, at: Date.now() });
      await stage.crm.update('opportunity', id, { stage_id: stageId });
    }
    await stage.settled();
  }
  const visits = (await stage.database.query(
    `SELECT opportunity_id::int, stage_id, entered_after, entered_at FROM crm.stage_history
      WHERE entered_after IS NOT NULL ORDER BY opportunity_id, entered_at`,
  )) as { opportunity_id: number; stage_id: number; entered_after: Date; entered_at: Date }[];
  expect(visits).toHaveLength(opportunities.length * rounds);
  const byOpportunity = Map.groupBy(visits, (visit) => visit.opportunity_id);
  const misplaced = changed.filter(({ at, id, stageId }) => {
    const visit = byOpportunity.get(id)?.shift();
    return !(
      visit?.stage_id === stageId &&
      visit.entered_after.getTime() <= at &&
      at <= visit.entered_at.getTime()
    );
  });
  expect(misplaced).toEqual([]);
  await expectWholeHistory(stage.database);
});
