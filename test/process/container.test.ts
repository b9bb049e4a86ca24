import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { describe, expect, test } from 'vitest';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
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
const secrets = { apiKey: '/run/secrets/crm_api_key', controlToken: '/run/secrets/control_token' };

/**
 * Starts the image as compose.yaml runs it, but on the machine's own network: the sandboxes listen on the loopback address, and
 * an engine without bridges serves as well. Secrets come as files.
 */
async function startContainer(image: GenericContainer, { environment }: ProcessStage) {
  const { CRM_API_KEY = '', CONTROL_TOKEN = '', CRM_SYNC_CONFIG = '', STATE_DIR: _, ...open } = environment;
  const settings = await readFile(CRM_SYNC_CONFIG, 'utf8');
  const given = Object.entries(open).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return image
    .withNetworkMode('host')
    .withDroppedCapabilities('ALL')
    .withSecurityOpt('no-new-privileges')
    .withEnvironment({
      ...Object.fromEntries(given),
      HTTP_HOST: '127.0.0.1',
      CRM_SYNC_CONFIG: '/run/settings.yaml',
      CRM_API_KEY_FILE: secrets.apiKey,
      CONTROL_TOKEN_FILE: secrets.controlToken,
    })
    .withCopyContentToContainer([
      { content: settings, target: '/run/settings.yaml' },
      { content: CRM_API_KEY, target: secrets.apiKey },
      { content: CONTROL_TOKEN, target: secrets.controlToken },
    ])
    .withWaitStrategy(Wait.forLogMessage('daemon.started'))
    .start();
}

describe.skipIf(problem !== undefined)('the image', { timeout: 300_000 }, () => {
  test('turns healthy, brings edits both ways as an unprivileged user, and stops cleanly', async () => {
    const image = await GenericContainer.fromDockerfile(repository).build(imageName, { deleteOnExit: false });
    const stage = await openStage({ counts: { leads: 30, opportunities: 10, tasks: 10 } });
    await using container = await startContainer(image, stage);
    const { container: engine } = await getContainerRuntimeClient();
    const { Config } = await engine.inspect(engine.getById(container.getId()));
    const [, ...check] = Config.Healthcheck?.Test ?? [];
    expect(check).toContain('node');
    // Not every engine runs the check by itself: Podman needs systemd for it.
    await until('the health check passes', async () => (await container.exec(check)).exitCode === 0);
    expect((await container.exec(['id', '-un'])).output.trim()).toBe('node');

    const { shown } = await stage.agreed();
    expect(shown['Leads']).toHaveLength(30);
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
});
