import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createBullmqQueue } from '../bullmq/queue.ts';
import { explainError, isSyncError, SyncError } from '../core/errors.ts';
import { type Fact, facts } from '../core/facts.ts';
import { emptyCatalog, fieldsInUse } from '../core/fields/catalog.ts';
import type { Mirror } from '../core/mirror.ts';
import type { BudgetLog, Log, WorkQueue } from '../core/ports.ts';
import { type Entity, entities } from '../core/record.ts';
import { createRequestBudget, onlyKey, type RequestBudget } from '../crm/budget.ts';
import { createCrmClient } from '../crm/client.ts';
import { type ApiKey, createApiKey } from '../crm/key-pool.ts';
import type { SheetsClientOptions } from '../google/client.ts';
import { createGoogleSheetTable } from '../google/table.ts';
import { createInProcessQueue } from '../inprocess/queue.ts';
import { sheetFacts } from '../sheet/facts.ts';
import type { SheetLink } from '../sheet/link.ts';
import { type ColumnPolicy, type Policy, type TabPolicy, titlesOf } from '../sheet/policy.ts';
import { beginRebase, type Occasion, readWrites, rebaseCopy } from '../sheet/rebase.ts';
import { hasMetColumns } from '../sheet/tab-columns.ts';
import { mirrorFile, openMirror } from '../sqlite/open.ts';
import { openSharedBudget, type SharedBudget } from '../sqlite/shared-budget.ts';
import { enterMirror, type Lease } from '../sync/lease.ts';
import type { LinkTimes } from '../sync/link.ts';
import { systemClock } from './clock.ts';
import { type Environment, linkVariable, loadSettings } from './config.ts';
import { openInstance } from './instance.ts';
import { enabledEntities, type Settings, tabSettings } from './settings.ts';
import { shortHash } from './short-hash.ts';
import { findNetworkDisk, networkDiskAdvice, privateStateAdvice } from './state-directory.ts';

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

/** What names a link to people. */
export const linkNameOf = ({ link, sheet }: Settings): string => link?.name ?? sheet.spreadsheetId;

/**
 * Builds a link from settings: opens its mirror, checks that the mirror belongs to it, and joins the adapters. Starts nothing. `backUp`
 * copies the mirror into `backups/` of the state directory and returns the file.
 */
export function openLink(
  settings: Settings,
  log: Log,
  { lease, rereadKeys, sharedBudget }: Surroundings = {},
) {
  const { directory } = settings.state;
  const { mirror, budgetLog, backUp, openToOthers, timesCorrected } = openMirror({
    directory,
    reserveBytes: diskReserveBytes,
    now: systemClock.now(),
  });
  if (timesCorrected > 0) log.warn('clock.was-set-back', { rows: timesCorrected });
  if (openToOthers.length > 0)
    log.warn('state.open-to-others', { paths: openToOthers, advice: privateStateAdvice });
  const fileSystem = findNetworkDisk(directory);
  if (fileSystem) log.warn('state.on-network', { fileSystem, advice: networkDiskAdvice });
  try {
    const newWord = () => randomBytes(6).toString('hex');
    takeOwnership(mirror, settings);
    if (rebaseOlder(mirror, lease, { now: systemClock.now(), newWord: newWord() }))
      log.warn('mirror.rebased', {});
    const own = openInstance({
      now: systemClock.now(),
      lockedFile: mirrorFile(directory),
      board: lease?.board,
    });
    const common = { clock: systemClock, random: Math.random, log };
    const client = { ...settings.crm, ...common };
    const slots = openSlots(settings, { mirror, budgetLog }, sharedBudget);
    const keys = openKeys(settings, rereadKeys);
    const budget = createKeyBudget(settings, slots.log, keys);
    const keyReaders = keys.map((key) => ({
      key,
      crm: createCrmClient({ ...client, budget: onlyKey(budget, key) }),
    }));
    const fence = lease ? { fence: lease } : {};
    const link: SheetLink = {
      ...readRules(settings),
      name: linkNameOf(settings),
      mirror,
      crm: createCrmClient({ ...client, budget, customFields: readFieldsInUse(mirror), ...fence }),
      table: createGoogleSheetTable({
        ...sheetOptions(settings, log),
        account: accountOf(settings),
        ...fence,
      }),
      own,
      queue: openQueue(settings, log),
      ...common,
      isManual: settings.writes === 'manual',
      times: timesOf(settings),
      backoff: { firstMs: 1_000, maxMs: 60_000 },
      newWord,
      // A secret may have been exchanged meanwhile.
      keys: () => keyReaders.map(({ crm, key }) => ({ crm, name: key.name })),
    };
    const close = () => {
      own.close();
      budget.close();
      slots.close();
      mirror.close();
    };
    return { link, budgetUsage: () => budget.usage(), backUp: () => backUp(systemClock.now()), close };
  } catch (error) {
    mirror.close();
    throw error;
  }
}

/** Rebases a mirror that does not remember what was agreed last. Returns whether it was one. */
function rebaseOlder(mirror: Mirror, lease: Lease | undefined, occasion: Occasion): boolean {
  const isOutrun =
    lease !== undefined && enterMirror(mirror, lease, (reason) => beginRebase(mirror, reason, occasion));
  const isCopy = rebaseCopy(mirror, occasion);
  return isOutrun || isCopy;
}

const timesOf = (settings: Settings): LinkTimes => ({
  ...settings.crm,
  ...settings.sheet,
  readPauseMs: idleReadPauseMs(settings),
  historyMs: settings.state.historyDays * dayMs,
  refillMs: 2_000,
  markMs: 60_000,
  goneMs: goneAfterMs,
});

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
  // Opened, a new one would be made, and its copy taken for a backup.
  if (!existsSync(mirrorFile(state.directory))) {
    const message = `There is no mirror in ${state.directory} (STATE_DIR), so nothing was copied.`;
    throw new SyncError('CONFIG_INVALID', message);
  }
  const { backUp, mirror } = openMirror({ directory: state.directory });
  try {
    return backUp(systemClock.now());
  } finally {
    mirror.close();
  }
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

/** How the settings' spreadsheet is reached. */
export const sheetOptions = ({ sheet }: Settings, log: Log): SheetsClientOptions => ({
  ...sheet,
  rootUrl: sheet.apiRootUrl,
  clock: systemClock,
  random: Math.random,
  log,
});

/** Names the CRM account in the spreadsheet. The specification tells no account apart from its address. */
export const accountOf = ({ crm }: Settings): string => shortHash(withoutSlash(crm.baseUrl));

/** With a slash at its end an address is the same. */
const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

const ownerOf = ({
  crm,
  sheet,
}: Settings): [fact: Fact<string>, value: string, isKnown: typeof knowsCrm][] => [
  [facts.crmAddress, withoutSlash(crm.baseUrl), knowsCrm],
  [sheetFacts.spreadsheet, sheet.spreadsheetId, knowsTable],
];

/** Whether the mirror holds anything that the CRM said. */
const knowsCrm = (mirror: Mirror): boolean =>
  mirror.readCatalog() !== undefined ||
  mirror.readSweeps().length > 0 ||
  mirror.readRecords().length > 0 ||
  knowsBoth(mirror);

/** Whether the mirror holds anything that the table said. */
const knowsTable = (mirror: Mirror): boolean =>
  hasMetColumns(mirror) || readWrites(mirror).length > 0 || knowsBoth(mirror);

/** What is agreed, or on its way from one side to the other, is of both. */
const knowsBoth = (mirror: Mirror): boolean =>
  [
    mirror.readAgreements(),
    mirror.readOutbox(),
    mirror.readOpenWrites(),
    mirror.searchJournal({ limit: 1 }),
  ].some(({ length }) => length > 0);

/**
 * A mirror belongs to one CRM and one spreadsheet: with another it would take everything for deleted and new. Fails with CONFIG_INVALID
 * when the mirror belongs to others than the settings name; one that belongs to nobody yet is good. So is one that was only opened with
 * another name and has heard nothing from there: whoever mistyped an address mends it in the settings alone.
 */
export function checkOwner(mirror: Mirror, settings: Settings): void {
  for (const [fact, value, isKnown] of ownerOf(settings)) {
    const before = mirror.readFact(fact);
    if (before === undefined || withoutSlash(before) === value || !isKnown(mirror)) continue;
    const message = `The state directory belongs to ${fact.name} ${before}, but the settings say ${value}. Use another STATE_DIR for it.`;
    throw new SyncError('CONFIG_INVALID', message);
  }
}

function takeOwnership(mirror: Mirror, settings: Settings): void {
  checkOwner(mirror, settings);
  for (const [fact, value] of ownerOf(settings)) mirror.saveFact(fact, value);
}

function openQueue(settings: Settings, log: Log): WorkQueue {
  const { redisUrl, concurrency } = settings.queue;
  const clock = systemClock;
  if (redisUrl === undefined) return createInProcessQueue({ concurrency, clock, log });
  const name = `push-${shortHash(settings.sheet.spreadsheetId).slice(0, 12)}`;
  return createBullmqQueue({ redisUrl, name, concurrency, clock, log });
}

/** What the settings say of what is kept the same, and how. */
export function readRules(settings: Settings): Pick<SheetLink, 'entities' | 'policy' | 'titles'> {
  const policy = readPolicy(settings);
  return { entities: enabledEntities(settings), policy, titles: titlesOf(policy) };
}

/** The configuration speaks of the sheet; deciding knows it as the table. */
export function readPolicy(settings: Settings): Policy {
  const { appendsMax, brakes, conflicts: questions, vanishedRows } = settings.sheet;
  const tabs = Object.fromEntries(entities.map((entity) => [entity, readTab(settings, entity)]));
  const questionsTitle = questions.enabled ? questions.title : undefined;
  return { tabs: tabs as Record<Entity, TabPolicy>, questionsTitle, vanishedRows, brakes, appendsMax };
}

const conflicts = { crm: 'crm', sheet: 'table', ask: 'ask' } as const;
const directions = { both: 'both', toSheet: 'toTable', off: 'off' } as const;

function readTab(settings: Settings, entity: Entity): TabPolicy {
  const { title, conflict, columns, order, pauseColumn, vanishedRows } = tabSettings(settings, entity);
  const rules = Object.entries(columns).map(([name, column]): [string, ColumnPolicy] => [
    name,
    {
      header: column.header,
      direction: column.direction && directions[column.direction],
      conflict: column.conflict && conflicts[column.conflict],
      blank: column.blank,
    },
  ]);
  return {
    title,
    conflict: conflicts[conflict],
    columns: Object.fromEntries(rules),
    order,
    pauseHeader: pauseColumn,
    vanishedRows,
  };
}
