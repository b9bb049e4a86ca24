import { expect, onTestFinished, test } from 'vitest';
import { openCrmLine } from '../support/crm-line.ts';
import { type DaemonProcess, spawnCommand, spawnDaemon } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

interface SecondDaemon extends DaemonProcess {
  /** What it has asked Google to write so far. */
  readonly writes: readonly string[];
  /** What its operator says to it, in its own environment. */
  run(...words: string[]): Promise<string>;
}

/** Another daemon on the same spreadsheet, with a state directory of its own. */
async function startSecond(stage: ProcessStage): Promise<SecondDaemon> {
  const writes: string[] = [];
  const line = await openCrmLine({ target: `${stage.addresses.sheetsUrl}/`, now: Date.now });
  line.intercept(/^POST/, ({ body }, passOn) => {
    writes.push(body);
    return passOn();
  });
  const environment = {
    ...stage.environment,
    GOOGLE_API_ROOT_URL: line.baseUrl,
    STATE_DIR: `${stage.environment['STATE_DIR']}-2`,
    HTTP_PORT: String(await findFreePort()),
  };
  const second = spawnDaemon(environment);
  onTestFinished(async () => {
    await second.kill();
    await line[Symbol.asyncDispose]();
  });
  const run = async (...words: string[]) => (await spawnCommand(words, environment).ended).stdout;
  return { ...second, writes, run };
}

const ask = async (url: string) => {
  const answer = await fetch(url).catch(() => undefined);
  return { status: answer?.status, text: (await answer?.text()) ?? '' };
};

test(
  'faults 55 and 59: a second daemon with a state of its own writes nothing, says who keeps the sheet, and begins when that one stops',
  limit,
  async () => {
    const stage = await openStage({ counts: { leads: 5, opportunities: 0, tasks: 0 } });
    const first = await stage.startDaemon();
    await stage.agreed();
    await stage.expectAtRest();
    const crmWrites = () => stage.crmRequests().filter(isWrite);
    const second = await startSecond(stage);
    await until('the second daemon says it', async () =>
      (await ask(`${second.url}/readyz`)).text.includes('SHEET_KEPT'),
    );
    expect((await ask(`${second.url}/readyz`)).status).toBe(503);
    const looks = new Set<string>();
    await until('it has looked again and again', async () => {
      const { failures } = JSON.parse((await ask(`${second.url}/api/status`)).text).problems[0];
      return looks.add(String(failures)).size > 5;
    });
    expect(second.writes).toEqual([]);
    expect(crmWrites()).toEqual([]);
    const said = await second.run('status');
    expect(said).toMatch(/Another daemon \(host \S+, process \d+, since [\dT:.-]+Z\) keeps this sheet/);
    expect(await second.run('doctor')).toMatch(
      /daemons on the spreadsheet +kept by a daemon \(host \S+, process/,
    );
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Typed once' });
    await stage.agreed();
    expect(crmWrites().map(({ method }) => method)).toEqual(['POST']);
    expect((await first.terminate()).code).toBe(0);
    await until('the second daemon works', async () =>
      (await ask(`${second.url}/api/status`)).text.includes('brake:lead:rebase'),
    );
    await until('its health no longer says that another one keeps the sheet', async () => {
      const { status, text } = await ask(`${second.url}/healthz`);
      return status === 200 && !text.includes('SHEET_KEPT');
    });
    expect(crmWrites()).toHaveLength(1);
  },
);

const isWrite = ({ method }: { readonly method: string }) => method !== 'GET';

test(
  'a daemon that was killed is followed at once by the next one with its state, and by one with another',
  limit,
  async () => {
    const stage = await openStage({ counts: { leads: 5, opportunities: 0, tasks: 0 } });
    const first = await stage.startDaemon();
    await stage.agreed();
    // The rows may be there before their daemon knows: the next one would ask about a row in a tab that it meets for the first time.
    await stage.expectAtRest();
    await first.kill();
    const again = await stage.startDaemon();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 6, column: 'Title', text: 'Typed between' });
    await stage.agreed();
    await again.kill();
    const second = await startSecond(stage);
    await until('the second daemon works', async () =>
      (await ask(`${second.url}/api/status`)).text.includes('brake:lead:rebase'),
    );
  },
);
