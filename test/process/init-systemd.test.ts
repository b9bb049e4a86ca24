import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { spawnCommand } from '../support/daemon-process.ts';
import { moveIn } from '../support/new-home.ts';

const limit = { timeout: 120_000 };
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasSystemd)
  console.log('The unit is not verified, because systemd-analyze is not here (Debian: systemd).');

/** A configured installation, and `init --systemd` there. */
async function openHome() {
  const home = await moveIn();
  await mkdir(join(home.directory, 'secrets'));
  await writeFile(join(home.directory, 'secrets/crm-api-key'), home.crm.apiKey);
  await home.configure(
    [
      `crm: { baseUrl: "${home.crm.baseUrl}", apiKeyFile: secrets/crm-api-key }`,
      `sheet: { spreadsheetId: ${home.spreadsheetId}, credentialsFile: /etc/google 100%.json }`,
    ].join('\n'),
  );
  const print = (environment: Environment = {}) =>
    spawnCommand(['init', '--systemd'], { HOME: home.directory, ...environment }, home.directory).ended;
  return { ...home, print };
}

test(
  'init --systemd hands every secret on as a credential, and the unit has none of them',
  limit,
  async () => {
    const home = await openHome();
    const token = join(home.directory, 'token');
    await writeFile(token, 'a-token-of-sixteen-or-more');
    const { code, stdout } = await home.print({ CONTROL_TOKEN_FILE: 'token', HTTP_PORT: '9090' });
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        `LoadCredential=crm-api-key-file:${join(home.directory, 'secrets/crm-api-key')}`,
        'Environment=CRM_API_KEY_FILE=%d/crm-api-key-file',
        `LoadCredential=control-token-file:${token}`,
        'Environment=CONTROL_TOKEN_FILE=%d/control-token-file',
        'LoadCredential=google-application-credentials:/etc/google 100%%.json',
        `LoadCredential=crm-sync-config:${join(home.directory, 'config/crm-sheet-sync.yaml')}`,
        'Environment=STATE_DIR=%S/crm-sheet-sync',
        'Environment=HTTP_PORT=9090',
        'ProtectSystem=strict',
        'NoNewPrivileges=yes',
      ]),
    );
    expect(stdout).toMatch(/^(DynamicUser=yes|User=\S+)$/m);
    expect(stdout).not.toContain(home.crm.apiKey);
    expect(stdout).not.toContain('a-token-of-sixteen-or-more');
  },
);

test('init --systemd prints a unit that systemd takes without a warning', limit, async () => {
  const home = await openHome();
  const { stdout } = await home.print();
  expect(stdout).toContain('[Install]');
  if (!hasSystemd) return;
  const unit = join(home.directory, 'sheet-sync-of-test.service');
  await writeFile(unit, stdout);
  const verified = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  expect(verified).toMatchObject({ status: 0, stderr: '' });
});

test(
  'init --systemd refuses a secret that is in no file, and settings that are not complete',
  limit,
  async () => {
    const home = await openHome();
    const given = await home.print({ CONTROL_TOKEN: 'a-token-of-sixteen-or-more' });
    expect(given).toMatchObject({ code: 2, stdout: '' });
    expect(given.stderr).toContain('Put it into a file, and name that in CONTROL_TOKEN_FILE.');
    expect(given.stderr).not.toContain('a-token-of-sixteen-or-more');
    await home.configure('sheet: { spreadsheetId: abc }\n');
    expect(await home.print()).toMatchObject({ code: 2, stderr: expect.stringContaining('CRM_API_KEY') });
  },
);
