import { describe, expect, test } from 'vitest';
import { faultOrder } from '../../src/sandbox/crm/faults.ts';
import { linkNames, openLinksStage } from '../support/links-stage.ts';
import { openStage } from '../support/process-stage.ts';
import { hasTerminal, openTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 240_000 };

/** Both sides with a CRM that takes its time over the first pages. */
async function openSlowStage() {
  const stage = await openStage({ counts: { leads: 120, opportunities: 3, tasks: 3 } });
  stage.setCrmFaults({ faults: [{ kind: 'slow', method: 'GET', delayMs: 700, times: 6 }] });
  return stage;
}

describe('the first fill', limit, () => {
  test('is told in the log while it goes on, and when it is done', async () => {
    const stage = await openSlowStage();
    const daemon = await stage.startDaemon();
    await stage.agreed();
    await until('the fill is told to be done', async () => daemon.said().includes('"event":"fill.done"'));
    const { code, stdout } = await daemon.terminate();
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => line.includes('"fill.'));
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'fill.progress', phase: 'reading' });
    expect(lines.filter((line) => line.includes('fill.done'))).toHaveLength(1);
    expect(stdout).not.toContain('fill.not-followed');
  });

  test('is not told of when there is nothing to fill', async () => {
    const stage = await openSlowStage();
    const daemon = await stage.startDaemon();
    await stage.agreed();
    await daemon.terminate();
    const again = await stage.startDaemon();
    await again.answers('/readyz');
    expect((await again.terminate()).stdout).not.toContain('fill.');
  });

  test('of several links is told as one', async () => {
    const stage = await openLinksStage();
    stage.model.faults.order(faultOrder.parse({ latencyMs: 300 }));
    const daemon = await stage.startDaemon();
    for (const name of linkNames) await stage.agreed(name);
    await until('the fill is told to be done', async () => daemon.said().includes('"event":"fill.done"'));
    const { code, stdout } = await daemon.terminate();
    expect(code).toBe(0);
    const told = stdout.split('\n').filter((line) => line.includes('"fill.'));
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ event: 'fill.progress', phase: 'reading' });
    expect(told.filter((line) => line.includes('fill.done'))).toHaveLength(1);
    expect(stdout).not.toContain('fill.not-followed');
  });

  test.skipIf(!hasTerminal)(
    'is one line at a terminal, where the machine has script(1), and lines of the log stand above it',
    async () => {
      const stage = await openSlowStage();
      const terminal = openTerminal(['start'], stage.environment, '.');
      // Without a bar until each list has said how long it is.
      await terminal.shows('Reading the CRM: ');
      await terminal.shows('fill.done');
      terminal.pressControl('C');
      expect(await terminal.ended).toBe(0);
      const lines = terminal.screen().split('\n');
      expect(lines.filter((line) => line.includes('fill.done'))).toEqual([expect.stringContaining('INFO')]);
    },
  );
});
