import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { spawnCommand } from '../support/daemon-process.ts';
import { configFile, moveIn, writeKey } from '../support/new-home.ts';

const limit = { timeout: 120_000 };

/** A new installation with a key of Google, and `init --docker` there. */
async function openHome() {
  const home = await moveIn();
  const flags = await writeKey(home);
  await writeFile(join(home.directory, 'downloaded.json'), '{"type":"service_account"}');
  const google = ['--google-key-file', 'downloaded.json'];
  const environment = { ...home.environment, HOME: home.directory };
  return {
    ...home,
    flags: [...flags, ...google],
    init: (...words: string[]) =>
      spawnCommand(['init', '--docker', ...words], environment, home.directory).ended,
    modeOf: async (name: string) => (await stat(join(home.directory, name))).mode & 0o777,
  };
}

test(
  'init --docker keeps the answers, and puts secrets and a token where compose.yaml looks for them',
  limit,
  async () => {
    const home = await openHome();
    const first = await home.init(...home.flags);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('Next: docker compose run --rm daemon init');
    expect(await home.read('secrets/crm-api-key')).toBe(home.crm.apiKey);
    expect(await home.read('secrets/google-credentials.json')).toBe('{"type":"service_account"}');
    expect(await home.read('secrets/control-token')).toMatch(/^[0-9a-f]{48}$/);
    expect(parse(await home.read(configFile))).toMatchObject({
      crm: { baseUrl: home.crm.baseUrl },
      sheet: { spreadsheetId: home.spreadsheetId },
    });
    // It is the daemon in the container that lays out tabs: what its mirror knows of them belongs there.
    expect(first.stdout).not.toContain('The spreadsheet has its tabs');
    await expect(home.read('.env')).rejects.toThrow('ENOENT');
  },
);

test(
  'init --docker closes the directory of secrets, and gives the files to the user of the container alone',
  limit,
  async () => {
    const home = await openHome();
    await home.init(...home.flags);
    await chmod(join(home.directory, configFile), 0o600);
    await home.init('--profile', 'redis');
    expect(await home.modeOf(configFile)).toBe(0o644);
    expect(await home.modeOf('secrets')).toBe(0o700);
    const own = process.getuid?.() ?? 0;
    const { uid } = await stat(join(home.directory, 'secrets/crm-api-key'));
    // Only root can give files away; behind a closed directory another user lets the container read them.
    expect(uid).toBe(own === 0 ? 1000 : own);
    expect(await home.modeOf('secrets/crm-api-key')).toBe([0, 1000].includes(own) ? 0o600 : 0o644);
    expect(await home.modeOf('secrets/redis.conf')).toBe([0, 999].includes(own) ? 0o600 : 0o644);
  },
);

test(
  'init --docker --profile redis makes a password and switches Redis on beside what .env has',
  limit,
  async () => {
    const home = await openHome();
    await writeFile(join(home.directory, '.env'), 'HTTP_PORT=9090\nCOMPOSE_PROFILES=warehouse');
    expect(await home.init(...home.flags, '--profile', 'redis')).toMatchObject({ code: 0 });
    const [, password] = /^requirepass ([0-9a-f]{48})\n$/.exec(await home.read('secrets/redis.conf')) ?? [];
    expect(await home.read('secrets/redis-url')).toBe(`redis://:${password}@redis:6379`);
    const kept = await home.read('.env');
    expect(kept).toBe(
      'HTTP_PORT=9090\nCOMPOSE_PROFILES=warehouse\nCOMPOSE_PROFILES=warehouse,redis\nREDIS_URL_SECRET=./secrets/redis-url\n',
    );
    expect(await home.init('--profile', 'redis')).toMatchObject({ code: 0 });
    expect(await home.read('.env')).toBe(kept);
    expect(await home.read('secrets/redis.conf')).toContain(password);
  },
);

test(
  'init --docker leaves secrets that are there, and says where one is not what the settings say',
  limit,
  async () => {
    const home = await openHome();
    await mkdir(join(home.directory, 'secrets'));
    for (const name of ['google-credentials.json', 'control-token'])
      await writeFile(join(home.directory, 'secrets', name), `our own ${name}`);
    const { code, stdout } = await home.init(...home.flags);
    expect(code).toBe(0);
    expect(stdout).toContain('./secrets/google-credentials.json is not what the settings say, and stays.');
    expect(await home.read('secrets/google-credentials.json')).toBe('our own google-credentials.json');
    expect(await home.read('secrets/control-token')).toBe('our own control-token');
  },
);

test(
  'init --docker says what to do where no login of Google can be handed to a container',
  limit,
  async () => {
    const home = await openHome();
    const { code, stdout } = await home.init(...home.flags.slice(0, -2));
    expect(code).toBe(0);
    expect(stdout).toContain('There is no ./secrets/google-credentials.json: name a credentials file');
  },
);
