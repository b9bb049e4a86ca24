import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../app/config.ts';
import { seedMembers } from '../../sandbox/crm/seed-catalog.ts';
import { startSandboxCrm } from '../../sandbox/crm/server.ts';
import { startSandboxSheets } from '../../sandbox/sheets/server.ts';
import {
  freePort,
  hasRedisServer,
  runCommand,
  spawnCommand,
  startRedis,
  waitUntilOk,
} from './demo-processes.ts';
import { isMissing, startDemoWarehouse } from './demo-warehouse.ts';

/** Everything that a demo runs on: a CRM, a sheet, a warehouse where the machine can, a queue and the daemon between them. */
export type Stage = Awaited<ReturnType<typeof setStage>>;

const seed = 7;
/** At most one page of the CRM's lists, which begin with the newest: of more the sheet may be filled out of order. */
const counts = { leads: 100, opportunities: 80, tasks: 100 };
const usualPorts = { crm: 4010, daemon: 8080 };
const warehouseSchema = 'crm';
const readyLimitMs = 120_000;

/**
 * Sets the stage: sandboxes in this process, Redis and PostgreSQL, where they are wanted and installed, and the daemon as processes of their
 * own, tabs laid out.
 */
export async function setStage(wantsRedis: boolean, environment: Environment) {
  const directory = await mkdtemp(join(tmpdir(), 'crm-sheet-sync-demo-'));
  await using opening = new AsyncDisposableStack();
  opening.defer(() => rm(directory, { recursive: true, force: true }));
  const crmPort = await freePort(usualPorts.crm);
  const crm = await startSandboxCrm({ port: crmPort, seed, counts });
  opening.defer(() => crm.close());
  const sheets = await startSandboxSheets({ port: await freePort(4020), seed });
  opening.defer(() => sheets.close());
  const redisPort = wantsRedis && hasRedisServer() ? await freePort(0) : undefined;
  if (redisPort !== undefined) opening.adopt(await startRedis(redisPort, directory), (redis) => redis.stop());
  const warehouse = await startDemoWarehouse(warehouseSchema);
  if (!isMissing(warehouse)) opening.defer(() => warehouse.stop());
  const controlToken = randomBytes(24).toString('base64url');
  // An installation on this machine keeps its tabs, links, queue and alerts for itself.
  const configFile = join(directory, 'settings.yaml');
  const users = Object.fromEntries(seedMembers.map(({ id, name }) => [id, name]));
  const edits = isMissing(warehouse) ? {} : { warehouse: { edits: { enabled: true } } };
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify({ crm: { users }, ...edits }));
  const daemonEnvironment: Environment = {
    PATH: environment['PATH'],
    CRM_SYNC_CONFIG: configFile,
    CRM_BASE_URL: crm.baseUrl,
    CRM_API_KEY: crm.apiKey,
    GOOGLE_SPREADSHEET_ID: sheets.spreadsheetId,
    GOOGLE_API_ROOT_URL: sheets.rootUrl,
    ...(redisPort === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redisPort}` }),
    ...(isMissing(warehouse) ? {} : { WAREHOUSE_URL: warehouse.url }),
    STATE_DIR: join(directory, 'state'),
    HTTP_HOST: '127.0.0.1',
    // It is taken only once the tabs are laid out: the demo that has the CRM's usual port has this one too, and two never meet there.
    HTTP_PORT: String(await freePort(crmPort === usualPorts.crm ? usualPorts.daemon : 0)),
    CONTROL_TOKEN: controlToken,
    LOG_LEVEL: 'error',
  };
  const daemonUrl = `http://127.0.0.1:${daemonEnvironment['HTTP_PORT']}`;
  await runCommand(['init'], daemonEnvironment);
  const daemon = opening.adopt(spawnCommand(['start'], daemonEnvironment), (child) => child.stop());
  await waitUntilOk(`${daemonUrl}/readyz`, daemon, readyLimitMs);
  const opened = opening.move();
  return {
    crm,
    sheets,
    warehouse,
    daemonUrl,
    controlToken,
    hasRedis: redisPort !== undefined,
    /** Of the daemon, also for commands against it. */
    environment: daemonEnvironment,
    stop: () => opened.disposeAsync(),
  };
}

/** With the token in its fragment, which no request carries: the page keeps it for its tab, and commands work there at once. */
export const statusPageUrl = ({ controlToken, daemonUrl }: Stage): string =>
  `${daemonUrl}/#token=${controlToken}`;
