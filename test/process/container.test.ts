import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Environment } from '../../src/app/config.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { startRedis, stopRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** Why the image can not be tried on this machine; `undefined` when it can. */
const problem = await getContainerRuntimeClient().then(
  () => undefined,
  (error: unknown) => String(error),
);
if (problem !== undefined)
  console.log(`The image is not tested, because no container engine answers: ${problem}`);

/** One name for all runs, so that they leave one image and not one each. */
const imageName = 'crm-sheet-sync:test';

/** Nothing of the image can be written, as compose.yaml has it; the library has no word for that. */
class LockedContainer extends GenericContainer {
  protected override async beforeContainerCreated(): Promise<void> {
    this.hostConfig.ReadonlyRootfs = true;
  }
}

/** Files as compose.yaml hands them to the daemon, readable for its user, and the environment that names them. */
async function writeSecrets({ environment }: ProcessStage) {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-secrets-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { CRM_API_KEY = '', CONTROL_TOKEN = '', CRM_SYNC_CONFIG = '', STATE_DIR: _, ...open } = environment;
  await writeFile(join(directory, 'crm_api_key'), CRM_API_KEY);
  await writeFile(join(directory, 'control_token'), CONTROL_TOKEN);
  await chmod(directory, 0o755);
  const given: Environment = {
    ...open,
    HTTP_HOST: '127.0.0.1',
    CRM_SYNC_CONFIG: '/run/settings.yaml',
    CRM_API_KEY_FILE: '/run/secrets/crm_api_key',
    CONTROL_TOKEN_FILE: '/run/secrets/control_token',
  };
  return { given, binds: { '/run/secrets': directory, '/run/settings.yaml': CRM_SYNC_CONFIG } };
}

/**
 * Starts the image as compose.yaml runs it, but on the machine's own network: the sandboxes listen on the loopback address, and
 * an engine without bridges serves as well.
 */
async function startContainer(stage: ProcessStage) {
  const { given, binds } = await writeSecrets(stage);
  const entries = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new LockedContainer(imageName)
    .withNetworkMode('host')
    .withDroppedCapabilities('ALL')
    .withSecurityOpt('no-new-privileges')
    .withTmpFs({ '/tmp': '' })
    .withEnvironment(Object.fromEntries(entries))
    .withBindMounts(
      Object.entries(binds).map(([target, source]) => ({ source, target, mode: 'ro' as const })),
    )
    .withWaitStrategy(Wait.forLogMessage('daemon.started'))
    .start();
}

/** Runs a command of the image until it ends, with changes of its environment and further directories of this machine. */
async function runToEnd(
  stage: ProcessStage,
  command: string,
  changes: Environment = {},
  moreBinds: Readonly<Record<string, string>> = {},
): Promise<{ code: number; said: string }> {
  const { given, binds } = await writeSecrets(stage);
  const { container: engine } = await getContainerRuntimeClient();
  const container = await engine.create({
    Image: imageName,
    Cmd: [command],
    Env: Object.entries({ ...given, ...changes }).map(([name, value]) => `${name}=${value ?? ''}`),
    Tty: true,
    HostConfig: {
      NetworkMode: 'host',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Tmpfs: { '/tmp': '' },
      Binds: [
        ...Object.entries(binds).map(([target, source]) => `${source}:${target}:ro`),
        ...Object.entries(moreBinds).map(([target, source]) => `${source}:${target}`),
      ],
    },
  });
  onTestFinished(() => engine.remove(container, { removeVolumes: true }));
  await engine.start(container);
  const { StatusCode: code }: { StatusCode: number } = await container.wait();
  return { code, said: await text(await engine.logs(container)) };
}

const counts = { leads: 30, opportunities: 10, tasks: 10 };

describe.skipIf(problem !== undefined)('the image', { timeout: 300_000 }, () => {
  beforeAll(async () => {
    await GenericContainer.fromDockerfile(repository).build(imageName, { deleteOnExit: false });
  }, 300_000);

  test('turns healthy, brings edits both ways as an unprivileged user, and stops cleanly', async () => {
    const stage = await openStage({ counts });
    await using container = await startContainer(stage);
    const { container: engine } = await getContainerRuntimeClient();
    const { Config } = await engine.inspect(engine.getById(container.getId()));
    const [, ...check] = Config.Healthcheck?.Test ?? [];
    expect(check).toContain('node');
    // Not every engine runs the check by itself: Podman needs systemd for it.
    await until('the health check passes', async () => (await container.exec(check)).exitCode === 0);
    expect((await container.exec(['id', '-un'])).output.trim()).toBe('node');
    expect((await container.exec(['touch', '/app/src/main.ts', '/app/x'])).exitCode).not.toBe(0);
    const { output: status } = await container.exec(['cat', '/proc/1/status']);
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

    const { shown } = await stage.agreed();
    expect(shown['Leads']).toHaveLength(30);
    expect(
      (await container.exec(['node', 'src/main.ts', 'answer', 'vanished:lead-0', 'trash'])).output,
    ).toContain('Nothing waits under vanished:lead-0');
    await stage.editSheet({
      kind: 'edit',
      sheet: 'Leads',
      row: 1,
      column: 'Title',
      text: 'Typed in the sheet',
    });
    await stage.editCrm('/leads/1002', { title: 'Changed in the CRM' });
    await until('the edit in the sheet has reached the CRM', async () => {
      const { expected } = await stage.agreed();
      const titles = expected['Leads']?.map(({ Title }) => Title) ?? [];
      return titles.includes('Typed in the sheet') && titles.includes('Changed in the CRM');
    });

    await engine.stop(engine.getById(container.getId()), { timeout: 20_000 });
    const { State } = await engine.inspect(engine.getById(container.getId()));
    expect(State.ExitCode).toBe(0);
  });

  test('says in one sentence that it may not write its state, and exits with 2', async () => {
    const stage = await openStage({ counts });
    const foreign = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-foreign-'));
    onTestFinished(() => rm(foreign, { recursive: true, force: true }));
    await chmod(foreign, 0o755);
    const { code, said } = await runToEnd(stage, 'start', {}, { '/app/state': foreign });
    expect(said.trim().split('\n')).toEqual([
      expect.stringContaining(
        'The state directory /app/state (STATE_DIR) is not writable: EACCES. Give it to the user',
      ),
    ]);
    expect(code).toBe(2);
  });

  test('names a secret that is not there, and exits with 2', async () => {
    const stage = await openStage({ counts });
    const { code, said } = await runToEnd(stage, 'start', { CRM_API_KEY_FILE: '/run/secrets/forgotten' });
    expect(said).toContain('CRM_API_KEY_FILE: the file /run/secrets/forgotten can not be read');
    expect(code).toBe(2);
  });

  test('says what is wrong with its Redis, and exits with 4', async () => {
    const stage = await openStage({ counts });
    const redis = await startRedis(undefined, 'right-password');
    onTestFinished(() => stopRedis(redis));
    for (const [url, words] of [
      [redis.url.replace('right', 'wrong'), 'WRONGPASS'],
      ['redis://127.0.0.1:1', 'ECONNREFUSED'],
    ] as const) {
      const { code, said } = await runToEnd(stage, 'doctor', { REDIS_URL: url });
      expect(said).toMatch(new RegExp(`Redis at 127\\.0\\.0\\.1:\\d+ failed: .*${words}`));
      expect(said).not.toContain('wrong-password');
      expect(code).toBe(4);
    }
  });
});
