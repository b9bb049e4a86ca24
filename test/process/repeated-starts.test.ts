import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { facts } from '../../src/core/facts.ts';
import { openMirror } from '../../src/sqlite/open.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

vi.setConfig({ testTimeout: 300_000 });

test('fault 69: repeated eight times within one window of the CRM never overspends it', async () => {
  // Eight starts are over within this window on any machine.
  const window = { requests: 100, windowMs: 1_800_000 };
  const stage = await openStage({ counts: { leads: 350, opportunities: 120, tasks: 60 }, window });
  // A daemon that is killed with a request on its way never learns what became of it.
  stage.setCrmFaults({ latencyMs: 50 });
  for (let start = 1; start <= 8; start += 1) {
    const before = stage.crmArrivals();
    const daemon = await stage.startDaemon();
    // Eight times fifteen are more than the window holds: a daemon that forgot its predecessors would send them all.
    await until('requests arrive, or the daemon knows that the window is filling', async () => {
      const { taken } = (await readStatus(daemon)).budget;
      return stage.crmArrivals() >= before + 15 || taken >= window.requests / 2;
    });
    await daemon.kill();
    forgetCrash(stage);
  }
  expect(stage.crmArrivals()).toBeGreaterThanOrEqual(window.requests / 2);
  stage.expectBudgetKept();
});

test('fault 69: waits twice as long after each crash, asks nobody meanwhile, and not after a clean stop', async () => {
  const stage = await openStage({ counts: { leads: 3, opportunities: 0, tasks: 0 } });
  const waits: string[] = [];
  for (let start = 1; start <= 5; start += 1) {
    const before = stage.crmArrivals();
    const daemon = await stage.startDaemon();
    const { problems } = await readStatus(daemon);
    const wait = problems.find(({ code }) => code === 'DAEMON_CRASHED');
    waits.push(/waits for (\d+ s)/.exec(wait?.message ?? '')?.[1] ?? 'none');
    if (start === 5) expect(stage.crmArrivals()).toBe(before);
    await daemon.kill();
  }
  expect(waits).toEqual(['none', 'none', '1 s', '2 s', '4 s']);
  expect((await (await stage.startDaemon()).terminate()).code).toBe(0);
  const daemon = await stage.startDaemon();
  expect((await readStatus(daemon)).problems).toEqual([]);
  await stage.agreed();
});

/** As if the next start came much later. */
function forgetCrash({ environment }: ProcessStage): void {
  const { mirror } = openMirror({ directory: environment['STATE_DIR'] ?? '' });
  mirror.dropFact(facts.run);
  mirror.close();
}

const statusShape = z.object({
  budget: z.object({ taken: z.number() }),
  problems: z.array(z.object({ code: z.string(), message: z.string() })),
});

const readStatus = async ({ url }: DaemonProcess) =>
  statusShape.parse(await (await fetch(`${url}/api/status`)).json());
