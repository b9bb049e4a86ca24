import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openDisturbance } from '../support/disturbance.ts';
import { openStage } from '../support/process-stage.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const healthShape = z.object({ conditions: z.array(z.object({ name: z.string() })) });

/** A daemon between both sides, whose time can be disturbed while it runs. */
async function openDisturbed() {
  const { disturb, environment } = await openDisturbance();
  const redis = await startRedis();
  onTestFinished(() => stopRedis(redis));
  const stage = await openStage({
    redisUrl: redis.url,
    counts: { leads: 30, opportunities: 5, tasks: 5 },
    environment,
  });
  const daemon = await stage.startDaemon();
  await stage.agreed();
  const { Leads = [] } = await readSheet(stage.addresses);
  const [first, second] = Leads.map(({ ID }) => ID);
  /** One edit on each side, by somebody whose own time goes right. */
  const edit = async (words: string) => {
    await stage.editCrm(`/leads/${first}`, { title: `${words} in the CRM` });
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 2,
      column: 'Title',
      text: `${words} in the sheet`,
    });
    const { shown } = await until(`“${words}” is on both sides`, async () => {
      const sides = await stage.agreed();
      const titles = sides.shown['Leads']?.map(({ Title }) => Title) ?? [];
      return (
        [`${words} in the CRM`, `${words} in the sheet`].every((title) => titles.includes(title)) && sides
      );
    });
    expect(shown['Leads']?.find(({ ID }) => ID === second)).toMatchObject({ Title: `${words} in the sheet` });
  };
  const conditions = async () => {
    const answer = await fetch(`${daemon.url}/healthz`);
    return healthShape.parse(await answer.json()).conditions.map(({ name }) => name);
  };
  return { conditions, daemon, disturb, edit, stage };
}

const hourMs = 3_600_000;

describe('a daemon whose time is disturbed', { timeout: 300_000 }, () => {
  test('fault 70: goes on where the clock of its machine is set back and ahead by an hour, and after it slept for eight', async () => {
    const { daemon, disturb, edit, stage } = await openDisturbed();
    for (const [words, hours] of [
      ['Set back', -1],
      ['Set ahead', 1],
      ['Slept', 9],
      ['Set right', 0],
    ] as const) {
      await disturb({ clockOffMs: hours * hourMs });
      await edit(words);
      await daemon.answers('/healthz');
    }
    await stage.expectAtRest();
    stage.expectBudgetKept();
  });

  test('fault 73: that is busy for too long for its timers says so, sends every edit once, and recovers', async () => {
    const { conditions, disturb, edit, stage } = await openDisturbed();
    await disturb({ busyMs: 1_500 });
    await edit('Busy');
    await until('it says that its timers are late', async () => (await conditions()).includes('TIMERS_LATE'));
    await disturb({});
    await until('its timers come in time again', async () => !(await conditions()).includes('TIMERS_LATE'));
    await stage.expectAtRest();
    expect(stage.crmRequests().filter(({ method }) => method === 'PUT')).toHaveLength(1);
    stage.expectBudgetKept();
  });
});
