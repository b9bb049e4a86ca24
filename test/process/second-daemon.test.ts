import { expect, onTestFinished, test } from 'vitest';
import { spawnDaemon } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { openStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

test(
  'a second daemon with a state of its own writes nothing before a person agrees, and makes no record twice',
  limit,
  async () => {
    const stage = await openStage({ counts: { leads: 5, opportunities: 0, tasks: 0 } });
    await stage.startDaemon();
    await stage.agreed();
    const environment = {
      ...stage.environment,
      STATE_DIR: `${stage.environment['STATE_DIR']}-2`,
      HTTP_PORT: String(await findFreePort()),
    };
    const second = spawnDaemon(environment);
    onTestFinished(async () => void (await second.kill()));
    await until('the second daemon asks', async () => {
      const answer = await fetch(`${second.url}/api/status`).catch(() => undefined);
      return (await answer?.text())?.includes('brake:lead:rebase') ?? false;
    });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Typed once' });
    await stage.agreed();
    const creates = stage.crmRequests().filter(({ method }) => method === 'POST');
    expect(creates).toHaveLength(1);
  },
);
