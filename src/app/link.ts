import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createBullmqQueue } from '../bullmq/queue.ts';
import { explainError, isSyncError, SyncError } from '../core/errors.ts';
import { facts } from '../core/facts.ts';
import { emptyCatalog, fieldsInUse } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { BudgetLog, Log, WorkQueue } from '../core/ports.ts';
import { createRequestBudget, onlyKey, type RequestBudget } from '../crm/budget.ts';
import { createCrmClient } from '../crm/client.ts';
import { type ApiKey, createApiKey } from '../crm/key-pool.ts';
import { createInProcessQueue } from '../inprocess/queue.ts';
import { beginRebase, type Occasion, rebaseCopy } from '../sheet/rebase.ts';
import { mirrorFile, openMirror } from '../sqlite/open.ts';
import { openSharedBudget, type SharedBudget } from '../sqlite/shared-budget.ts';
import { enterMirror, type Lease } from '../sync/lease.ts';
import type { Link, LinkTimes } from '../sync/link.ts';
import type { Side } from '../sync/side.ts';
import { warehouseFacts } from '../warehouse/facts.ts';
import { rebaseTables } from '../warehouse/recover.ts';
import { systemClock } from './clock.ts';
import { type Environment, linkVariable, loadSettings } from './config.ts';
import { openInstance } from './instance.ts';
import { takeOwnership } from './owner.ts';
import { carry } from './proxies.ts';
import { nameSources } from './settings/sources.ts';
import { warehouseName, warehouseStores } from './settings/warehouse.ts';
import { enabledEntities, type Settings, warehouseEntities } from './settings.ts';
import { openSheetSide, readRules } from './sheet-side.ts';
import { shortHash } from './short-hash.ts';
import { findNetworkDisk, networkDiskAdvice, privateStateAdvice } from './state-directory.ts';
import { openWarehouseSide } from './warehouse-side.ts';

/** A daemon of which the spreadsheet shows no sign of life for so long is gone. */
const goneAfterMs = 150_000;

const dayMs = 24 * 60 * 60 * 1_000;

/** Room for the answers to all requests that can be under way at once, and for the log of the mirror that they go through. */
const diskReserveBytes = 8 * 1024 * 1024;

/** How long a request may still arrive at the CRM after we gave up on it. */
const settleAfterTimeoutMs = 5_000;

/** What a link gets from outside of its settings. */
export interface Surroundings {
  readonly rereadKeys?: RereadKeys;
  /** For one of several links; opened for it where absent. */
  readonly sharedBudget?: SharedBudget;
  /** For a link that other processes might run. */
  readonly lease?: Lease | undefined;
}

/** Names what the link of the settings keeps the same; no other link has it. */
export const sidesNameOf = ({ sheet, warehouse }: Settings): string =>
  sheet?.spreadsheetId ?? (warehouse ? warehouseName(warehouse) : '');

/** What names a link to people. */
export const linkNameOf = (settings: Settings): string => settings.link?.name ?? sidesNameOf(settings);

/** What people call records where no tab has a title. */
const plainTitles = { lead: 'Leads', opportunity: 'Opportunities', task: 'Tasks', contact: 'Contacts' };

/** What people call records and fields. */
export const wordsOf = ({ sheet }: Settings): Pick<Link, 'headerOf' | 'titles'> =>
  sheet ? readRules(sheet) : { titles: plainTitles };

/**
 * Builds a link from settings: opens its mirror, checks that the mirror belongs to it, and joins the adapters. Starts nothing. `backUp`
 * copies the mirror into `backups/` of the state directory and returns the file.
 */
export function openLink(
  settings: Settings,
  log: Log,
  { lease, rereadKeys, sharedBudget }: Surroundings = {},
) {
  const { backUp, budgetLog, mirror } = openOwnMirror(settings, log);
  try {
    const newWord = () => randomBytes(6).toString('hex');
    takeOwnership(mirror, settings);
    followRecords(mirror, settings);
    if (rebaseOlder(mirror, settings, lease, { now: systemClock.now(), newWord: newWord() }))
      log.warn('mirror.rebased', {});
    const own = openInstance({
      now: systemClock.now(),
      lockedFile: mirrorFile(settings.state.directory),
      board: lease?.board,
    });
    const common = { clock: systemClock, random: Math.random, log };
    const client = { ...settings.crm, ...common, carry };
    const slots = openSlots(settings, { mirror, budgetLog }, sharedBudget);
    const keys = openKeys(settings, rereadKeys);
    const budget = createKeyBudget(settings, slots.log, keys);
    const keyReaders = keys.map((key) => ({
      key,
      crm: createCrmClient({ ...client, budget: onlyKey(budget, key) }),
    }));
    const fence = lease ? { fence: lease } : {};
    const { headerOf, titles } = wordsOf(settings);
    const link: Link = {
      entities: enabledEntities(settings),
      titles,
      headerOf,
      recordUrl: settings.crm.recordUrl,
      name: linkNameOf(settings),
      mirror,
      crm: createCrmClient({ ...client, budget, customFields: readFieldsInUse(mirror), ...fence }),
      queue: openQueue(settings, log),
      ...common,
      isManual: settings.writes === 'manual',
      namePlaces: (words) => nameSources(words, settings.sources ?? {}),
      times: timesOf(settings),
      backoff: { firstMs: 1_000, maxMs: 60_000 },
      newWord,
      // A secret may have been exchanged meanwhile.
      keys: () => keyReaders.map(({ crm, key }) => ({ crm, name: key.name })),
    };
    const sheet = openSheetSide(settings, link, { ...fence, own });
    const warehouse = openWarehouseSide(settings, link, { ...fence, token: lease?.token ?? 0 });
    const close = async () => {
      own.close();
      budget.close();
      slots.close();
      mirror.close();
      await warehouse?.link.database.close();
    };
    return {
      link,
      sheet: sheet?.link,
      warehouse: warehouse?.link,
      sides: [sheet, warehouse].flatMap((each): Side[] => (each ? [each.side] : [])),
      budgetUsage: () => budget.usage(),
      backUp: () => backUp(systemClock.now()),
      close,
    };
  } catch (error) {
    mirror.close();
    throw error;
  }
}

function openOwnMirror({ state: { backups, directory } }: Settings, log: Log) {
  const opened = openMirror({
    directory,
    reserveBytes: diskReserveBytes,
    now: systemClock.now(),
    backupsMax: backups,
  });
  const { openToOthers, prunedBackups, timesCorrected } = opened;
  const { dropped = [], left = [] } = prunedBackups ?? {};
  if (dropped.length > 0) log.info('state.backups_dropped', { names: dropped });
  if (left.length > 0) log.warn('state.backups_left', { names: left });
  if (timesCorrected > 0) log.warn('clock.was-set-back', { rows: timesCorrected });
  if (openToOthers.length > 0)
    log.warn('state.open-to-others', { paths: openToOthers, advice: privateStateAdvice });
  const fileSystem = findNetworkDisk(directory);
  if (fileSystem) log.warn('state.on-network', { fileSystem, advice: networkDiskAdvice });
  return opened;
}

/** Notes changes for the warehouse, of the kinds that it shows. Rows of a kind that it did not follow for a time are compared. */
function followRecords(mirror: Mirror, { warehouse }: Settings): void {
  const kinds = warehouse && warehouseEntities(warehouse);
  const fresh = mirror.setFollowers(kinds ? [warehouseStores] : [], kinds);
  if (fresh.length > 0) mirror.dropFact(warehouseFacts.auditedAt);
}

/** Rebases a mirror that does not remember what was agreed last. Returns whether it was one. */
function rebaseOlder(
  mirror: Mirror,
  { warehouse }: Settings,
  lease: Lease | undefined,
  occasion: Occasion,
): boolean {
  const rewriteWarehouse = () => {
    if (warehouse) rebaseTables(mirror.of(warehouseStores), occasion.now);
  };
  const rebase = (reason: string) => {
    beginRebase(mirror, reason, occasion);
    rewriteWarehouse();
  };
  const isOutrun = lease !== undefined && enterMirror(mirror, lease, rebase);
  if (mirror.readFact(facts.copiedAt) !== undefined) rewriteWarehouse();
  const isCopy = rebaseCopy(mirror, occasion);
  return isOutrun || isCopy;
}

const timesOf = (settings: Settings): LinkTimes => ({
  ...timesWithoutSheet,
  ...settings.crm,
  ...settings.sheet,
  readPauseMs: idleReadPauseMs(settings),
  historyMs: settings.state.historyDays * dayMs,
  refillMs: 2_000,
  markMs: 60_000,
  goneMs: goneAfterMs,
});

/** What a resync goes by where there is no spreadsheet. */
const timesWithoutSheet = { pollMs: 5_000, quietPollMs: 0, typingPauseMs: 2_000 };

const readFieldsInUse = (mirror: Mirror) => fieldsInUse(mirror.readCatalog() ?? emptyCatalog);

/** The slots of the budget: a single link keeps them in its mirror, several share them. */
export function openSlots(
  settings: Settings,
  own: { readonly mirror: Mirror; readonly budgetLog: BudgetLog },
  sharedBudget?: SharedBudget,
): { readonly log: BudgetLog; close(): void } {
  if (!settings.link) return { log: own.budgetLog, close: () => undefined };
  const shared = sharedBudget ?? openSharedBudget(settings.link.commonDirectory);
  const log = shared.logOf(new URL(settings.crm.baseUrl).host);
  // What a mirror sent while its link was alone still counts.
  for (const { freeAt, key } of own.budgetLog.readSlots()) log.addSlot(key, freeAt);
  own.budgetLog.forgetSlots(Number.MAX_SAFE_INTEGER);
  const addSlot: BudgetLog['addSlot'] = (key, freeAt) => {
    // As in its own file: no request is sent while its answer could not be written down.
    own.mirror.expectRoom();
    return log.addSlot(key, freeAt);
  };
  return { log: { ...log, addSlot }, close: () => (sharedBudget ? undefined : shared.close()) };
}

/** Copies the mirror of a daemon that is not running. Answers the file. Fails with CONFIG_INVALID where there is no mirror. */
export function backUpStopped({ state }: Settings): string {
  expectMirror(state.directory);
  const { backUp, mirror } = openMirror({ directory: state.directory, backupsMax: state.backups });
  try {
    return backUp(systemClock.now());
  } finally {
    mirror.close();
  }
}

/** Fails with CONFIG_INVALID where there is no mirror: opened, a new one would be made, and taken for all there is. */
export function expectMirror(directory: string): void {
  if (existsSync(mirrorFile(directory))) return;
  throw new SyncError('CONFIG_INVALID', `There is no mirror in ${directory} (STATE_DIR).`);
}

/** Re-reading lists in which nothing changes takes half of a key's requests: the others are for whoever shares the key. */
const idleReadPauseMs = ({ crm }: Settings): number => (2 * crm.budget.windowMs) / crm.budget.requests;

/** Answers the CRM's keys as they stand in their files now, in the order of the settings; fewer where they can not be read. */
export type RereadKeys = () => readonly string[];

/**
 * Looks the CRM's keys of a link up again where the settings come from: a key in a secret file can be exchanged without a restart.
 */
export const createRereadKeys =
  (environment: Environment, log: Log, link?: string): RereadKeys =>
  () => {
    try {
      return keysOf(loadSettings({ ...environment, [linkVariable]: link }));
    } catch (error) {
      if (!isSyncError(error, 'CONFIG_INVALID')) throw error;
      log.warn('settings.not_read_again', { message: explainError(error) });
      return [];
    }
  };

/** The keys of the settings, each once. */
export const keysOf = ({ crm }: Settings): string[] => [...new Set([crm.apiKey, ...crm.apiKeys])];

const openKeys = (settings: Settings, rereadKeys: RereadKeys = () => []): readonly ApiKey[] =>
  keysOf(settings).map((secret, place) => createApiKey(shortHash, secret, () => rereadKeys()[place]));

/** The budget of the settings' keys, going on with the slots in the log. */
export const createKeyBudget = (
  settings: Settings,
  log: BudgetLog,
  keys = openKeys(settings),
): RequestBudget =>
  createRequestBudget({
    keys,
    ...settings.crm.budget,
    ipRequests: settings.crm.ipBudget.requests,
    holdMs: settings.crm.timeoutMs + settleAfterTimeoutMs,
    clock: systemClock,
    log,
  });

function openQueue(settings: Settings, log: Log): WorkQueue {
  const { redisUrl, concurrency } = settings.queue;
  const clock = systemClock;
  if (redisUrl === undefined) return createInProcessQueue({ concurrency, clock, log });
  const name = `push-${shortHash(sidesNameOf(settings)).slice(0, 12)}`;
  return createBullmqQueue({ redisUrl, name, concurrency, clock, log });
}
