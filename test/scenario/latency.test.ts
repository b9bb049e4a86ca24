import { describe, expect, test } from 'vitest';
import { openScenario, type Scenario } from '../support/scenario.ts';
import { until } from '../support/until.ts';

/* How long changes take to the other side, compared with when they were made and when they arrived, by the same clock. */

/** Every measurement from here on, by the side that was written. */
function listen({ engine }: Scenario) {
  const measured: { readonly side: string; readonly durationMs: number }[] = [];
  engine.lags.onLag = (side, durationMs) => measured.push({ side, durationMs });
  return (side: 'crm' | 'sheet') =>
    until(`a change of the ${side} is measured`, async () => measured.find((each) => each.side === side));
}

const arrivalOf = (scene: Scenario, method: string, path: RegExp): number =>
  scene.requests(method, path).at(-1)?.at ?? Number.NaN;

describe('the time that a change takes to the other side at most', () => {
  test('is never less than from the edit of a cell until the CRM has it', async () => {
    const scene = await openScenario();
    const { now } = scene.engine.link.clock;
    const next = listen(scene);
    const { id } = await scene.crm.take('lead');
    const typedAt = now();
    await scene.sheet.type('lead', id, { City: 'Porto' });
    const { durationMs } = await next('crm');
    expect(durationMs).toBeGreaterThanOrEqual(arrivalOf(scene, 'PUT', /lead/) - typedAt);
  });

  test('is never less than from the last cell of a new row until the CRM has its record', async () => {
    const scene = await openScenario();
    const { now } = scene.engine.link.clock;
    const next = listen(scene);
    const typedAt = now();
    await scene.sheet.typeRow('lead', { Title: 'Nova' });
    const { durationMs } = await next('crm');
    expect(durationMs).toBeGreaterThanOrEqual(arrivalOf(scene, 'POST', /lead/) - typedAt);
  });

  test('is never less than from a change or a new record in the CRM until the sheet is told', async () => {
    const scene = await openScenario();
    const { now } = scene.engine.link.clock;
    const { id } = await scene.crm.take('lead');
    for (const change of [
      () => scene.crm.update('lead', id, { title: 'Seen late' }),
      () => scene.crm.create('lead', { title: 'Seen late, too' }),
    ]) {
      await scene.settled();
      const next = listen(scene);
      let toldAt = Number.NaN;
      const release = scene.sheetLine.intercept(/batchUpdate/, ({ body }, passOn) => {
        if (body.includes('Seen late')) toldAt = now();
        return passOn();
      });
      const changedAt = now();
      await change();
      const { durationMs } = await next('sheet');
      release();
      expect(durationMs).toBeGreaterThanOrEqual(toldAt - changedAt);
    }
  });
});
