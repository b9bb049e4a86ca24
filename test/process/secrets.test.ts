import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  askEverything,
  controlToken,
  leadTitle,
  openAviary,
  paths,
  redisPassword,
  tells,
} from '../support/aviary.ts';
import { findFreePort } from '../support/free-port.ts';
import { findLeaks } from '../support/leaks.ts';
import { startQuotingCrm } from '../support/quoting-crm.ts';

describe('S16: no secret is anywhere', { timeout: 480_000 }, () => {
  test('the net finds a secret in every form', () => {
    const secret = 'canary/key+4711 x';
    const texts = [
      `a ${secret} b`,
      encodeURIComponent(secret),
      btoa(`ab${secret}cd`),
      Buffer.from(secret).toString('hex'),
    ];
    expect(
      findLeaks(
        { secret },
        texts.map((text) => ({ where: 'here', text })),
      ),
    ).toHaveLength(texts.length);
    expect(findLeaks({ secret }, [{ where: 'here', text: 'canary' }])).toEqual([]);
  });

  test('while everything is used as it is meant to be, and no log line tells what a record holds', async () => {
    const aviary = await openAviary();
    const { run, stage } = aviary;
    await run(['init']);
    const daemon = aviary.start();
    await stage.agreed();
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: leadTitle });
    await stage.editCrm('/leads/1002', { title: `${leadTitle} II` });
    await stage.addToCrm('/leads', { title: `${leadTitle} III` });
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Leads', row: 5 });
    await tells(aviary, daemon, /vanished:lead-\d+/);
    for (const words of [
      ['status', '--json'],
      ['plan', '--json'],
      ['history', '--json'],
      ['backup'],
      ['doctor', '--json'],
      ['undo', '--record', 'lead-1002'],
      ['resync', '--json'],
    ])
      expect(await run(words)).toMatchObject({ code: expect.toBeOneOf([0, 3]), stderr: '' });
    const vanished =
      /vanished:lead-\d+/.exec(await (await aviary.ask(daemon, '/api/status')).text())?.[0] ?? '';
    expect(await run(['answer', vanished, 'restore'])).toMatchObject({ code: 0 });
    await stage.agreed();
    await askEverything(aviary, daemon);
    const { stdout } = await daemon.terminate();
    expect(stdout).toContain('"event":"record.pushed"');
    expect(stdout).not.toContain(leadTitle);
    await aviary.expectNoLeak();
  });

  test('while the CRM, or something before it, quotes in its answers the key that it is sent', async () => {
    const aviary = await openAviary();
    const failing = ['400', '403', '409', '500', 'page', 'redirect'] as const;
    for (const kinds of [['401'], failing] as const) {
      const crm = await startQuotingCrm(...kinds);
      const changes = {
        CRM_BASE_URL: `${crm.baseUrl}/api/v1/external`,
        STATE_DIR: join(aviary.environment['STATE_DIR'] ?? '', kinds.join('-')),
        HTTP_PORT: String(await findFreePort()),
      };
      expect(await aviary.run(['doctor'], changes)).toMatchObject({ code: 1 });
      expect(await aviary.run(['init'], changes)).toMatchObject({ code: 1 });
      const daemon = aviary.start(changes);
      await crm.arrived(crm.requests.length + 1);
      await tells(aviary, daemon, /"source":"crm/);
      await crm.arrived(kinds.length);
      for (const path of paths) await aviary.ask(daemon, path);
      await daemon.kill();
    }
    await aviary.expectNoLeak();
  });

  test('while Google quotes in its answers what it is sent', async () => {
    const aviary = await openAviary();
    const { google, run } = aviary;
    const daemon = aviary.start();
    await aviary.stage.agreed();
    for (const [status, words] of [
      [400, /SHEET_REFUSED/],
      [401, /SHEET_UNAUTHORIZED/],
      [403, /SHEET_FORBIDDEN/],
    ] as const) {
      google.quoteRequests(status);
      await tells(aviary, daemon, words);
      for (const path of paths) await aviary.ask(daemon, path);
      expect(await run(['doctor'])).toMatchObject({ code: 1 });
    }
    await daemon.kill();
    await aviary.expectNoLeak();
  });

  test('while settings are wrong, Redis refuses, the mirror is damaged, and the daemon is killed', async () => {
    const aviary = await openAviary();
    const { directory, environment, run, stage } = aviary;
    const daemon = aviary.start();
    await stage.agreed();
    stage.setCrmFaults({ faults: [{ kind: 'dropAfter', method: 'PUT' }] });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text: leadTitle });
    await stage.crmFaultsMet();
    await daemon.kill();
    await aviary.expectNoLeak();

    const redisUrl = environment['REDIS_URL'] ?? '';
    const wrongRedis = redisUrl.replace(redisPassword, `${redisPassword}-wrong`);
    const refused = aviary.start({ REDIS_URL: wrongRedis });
    await tells(aviary, refused, /QUEUE_UNREACHABLE/);
    for (const path of paths) await aviary.ask(refused, path);
    await run(['doctor'], { REDIS_URL: wrongRedis });
    await refused.kill();
    await run(['doctor'], { REDIS_URL: redisUrl.replace(/:\d+$/, ':1') });

    const config = join(directory, 'broken.yaml');
    await writeFile(config, `http:\n  controlToken: ${controlToken}\n   port: 1\n`);
    for (const changes of [
      { CRM_SYNC_CONFIG: config },
      { CRM_API_KEY: `svc_live_${controlToken}`, CRM_API_KEY_FILE: '' },
      { CONTROL_TOKEN: controlToken },
      { REDIS_URL: redisUrl.replace('redis:', 'http:') },
      { GOOGLE_APPLICATION_CREDENTIALS: environment['CONTROL_TOKEN_FILE'] },
      { STATE_DIR: join(directory, 'key') },
    ]) {
      expect(await run(['doctor'], changes)).toMatchObject({ code: expect.toBeOneOf([1, 2, 4]) });
    }
    await writeFile(join(environment['STATE_DIR'] ?? '', 'mirror.db'), controlToken.slice(0, 5));
    expect(await run(['start'])).toMatchObject({ code: 1 });
    await aviary.expectNoLeak();
  });
});
