import { join } from 'node:path';
import { z } from 'zod';
import { SyncError } from '../core/errors.ts';
import { emptyCatalog } from '../core/fields/catalog.ts';
import { customFieldKey, describeEntity } from '../core/fields/field.ts';
import { idHeader, syncHeader } from '../core/fields/headers.ts';
import type { Entity } from '../core/record.ts';
import { labelKey } from '../core/text/label-key.ts';
import { showControls } from '../core/text/visible-text.ts';
import { isLoopback } from '../http/guard.ts';
import { standardFieldNames } from '../sheet/policy.ts';
import {
  type Environment,
  mergeTrees,
  placeVariable,
  readConfigFile,
  type Tree,
  valueAt,
} from './config-sources.ts';
import { settingWords } from './setting-words.ts';
import {
  allTabs,
  type EnvironmentVariable,
  enabledEntities,
  environmentVariables,
  type LinkSettings,
  type Settings,
  settingsSchema,
  tabNames,
  tabSettings,
} from './settings.ts';

export type { Environment } from './config-sources.ts';

/** Used when CRM_SYNC_CONFIG names no other file; it may be missing. */
const defaultConfigFile = 'config/crm-sheet-sync.yaml';

/** Names one of several links, for a command that is about one. */
export const linkVariable = 'CRM_SYNC_LINK';

/**
 * Reads the settings of every link: the YAML file, then the environment over it, then what a link has for itself, from the file and the
 * environment, checked against the schema. Fails with CONFIG_INVALID, which lists every mistake with its path, what was found and what is
 * allowed; a secret is never repeated.
 */
export function loadLinks(environment: Environment): LinkSettings {
  const checked = checkLinks(environment);
  const mistakes = checked.flatMap(({ mistakes }) => mistakes);
  const [first, ...others] = checked.flatMap(({ settings }) => settings ?? []);
  if (first && mistakes.length === 0) mistakes.push(...checkSpreadsheets([first, ...others]));
  if (!first || mistakes.length > 0) throw refusal(mistakes);
  return [first, ...others];
}

/**
 * The settings of the one link, or of the one that CRM_SYNC_LINK names, whatever is wrong with those of another. Fails with CONFIG_INVALID.
 */
export function loadSettings(environment: Environment): Settings {
  const checked = checkLinks(environment);
  const name = environment[linkVariable] || undefined;
  const isMeant = (link: CheckedLink) => (name === undefined ? checked.length === 1 : link.name === name);
  const meant = checked.find(isMeant);
  if (!meant) throw unknownLink(name, checked);
  const { mistakes, settings } = meant;
  if (!settings || mistakes.length > 0) throw refusal(mistakes);
  const { spreadsheetId } = settings.sheet;
  const all = checked.flatMap((link) => link.settings ?? []);
  const doubled = checkSpreadsheets(all.filter(({ sheet }) => sheet.spreadsheetId === spreadsheetId));
  if (doubled.length > 0) throw refusal(doubled);
  return settings;
}

function unknownLink(name: string | undefined, checked: readonly CheckedLink[]): SyncError {
  const names = checked.flatMap((link) => link.name ?? []);
  const known =
    names.length > 0 ? `There are ${names.join(', ')}` : 'The configuration has no links with names';
  return new SyncError(
    'CONFIG_INVALID',
    name === undefined ? `Name a link with --link. ${known}.` : `There is no link ${name}. ${known}.`,
  );
}

/** What a link has for itself. */
interface OwnSettings {
  readonly name: string;
  readonly own: Tree;
}

/** A link with what is wrong in its settings. */
interface CheckedLink {
  readonly name?: string;
  /** Absent where they can not be read. */
  readonly settings?: Settings;
  readonly mistakes: readonly string[];
}

/** Reads and checks the settings of every link. Fails with CONFIG_INVALID over what is not of one link. */
function checkLinks(environment: Environment): CheckedLink[] {
  // An absent section counts as an empty one, so that an error names the setting that is missing.
  const { links: own = {}, ...tree }: Tree = {
    crm: {},
    sheet: {},
    ...readFile(environment),
  };
  const mistakes = environmentVariables.flatMap((variable) => placeVariable(tree, variable, environment));
  const links = settingsSchema.shape.links.safeParse(own, { error: settingWords });
  if (!links.success)
    mistakes.push(...links.error.issues.map((issue) => describeIssue(issue, { links: own }, ['links'])));
  if (mistakes.length > 0 || !links.success) throw refusal(mistakes);
  const names = Object.keys(links.data);
  if (names.length === 0) return [checkTree(tree)];
  return names.map((name) => checkLink(name, tree, links.data[name] ?? {}, environment));
}

/** Puts together what all links have and what one has for itself, from the file and from variables that end in its name. */
function checkLink(name: string, common: Tree, given: Tree, environment: Environment): CheckedLink {
  const own = mergeTrees({ crm: {}, sheet: {} }, given);
  const misplaced = environmentVariables
    .filter(isOfLink)
    .flatMap((variable) => placeVariable(own, ofLink(variable, name), environment));
  if (misplaced.length > 0) return { name, mistakes: misplaced };
  const { mistakes, settings } = checkTree(mergeTrees(common, own), { name, own });
  if (!settings) return { name, mistakes };
  const { directory } = settings.state;
  const state = { ...settings.state, directory: join(directory, 'links', name) };
  return {
    name,
    settings: { ...settings, state, link: { name, commonDirectory: directory } },
    mistakes: mistakes.map((mistake) => `links.${name}: ${mistake}`),
  };
}

const isOfLink = ({ path }: EnvironmentVariable) => path[0] === 'crm' || path[0] === 'sheet';

const ofLink = (variable: EnvironmentVariable, link: string): EnvironmentVariable => ({
  ...variable,
  name: `${variable.name}_${link.toUpperCase().replaceAll('-', '_')}`,
});

function checkTree(tree: Tree, link?: OwnSettings): CheckedLink {
  const { data, error } = settingsSchema.safeParse(tree, { error: settingWords });
  if (data) return { settings: data, mistakes: checkRelations(data) };
  return { mistakes: error.issues.map((issue) => describeIssue(issue, tree, [], link)) };
}

/** Two links that write the same rows would undo each other's work. */
function checkSpreadsheets(links: readonly Settings[]): string[] {
  const bySpreadsheet = Map.groupBy(links, ({ sheet }) => sheet.spreadsheetId);
  return [...bySpreadsheet.values()]
    .filter((same) => same.length > 1)
    .map(
      (same) =>
        `links: ${same.map(({ link }) => link?.name).join(' and ')} have the same sheet.spreadsheetId; each link needs its own`,
    );
}

const httpPart = z.object({ http: settingsSchema.shape.http });

/** Where the daemon is asked and with which token, whatever the other settings are. Fails with CONFIG_INVALID. */
export function loadHttpSettings(environment: Environment): Settings['http'] {
  const tree = readFile(environment);
  const variables = environmentVariables.filter(({ path }) => path[0] === 'http');
  placeAll(tree, variables, environment);
  const parsed = httpPart.safeParse(tree, { error: settingWords });
  if (!parsed.success) throw refusal(parsed.error.issues.map((issue) => describeIssue(issue, tree, [])));
  return parsed.data.http;
}

/** What a daemon that listens on every address of a kind is reached at from this machine itself. */
const ownAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The URL of a daemon that listens on this host and port; an IPv6 address is in brackets there. */
export function daemonOrigin(host: string, port: number): string {
  const own = ownAddresses[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** The variables for which neither the environment nor the file, which may be missing, has anything. Fails with CONFIG_INVALID. */
export function listMissing(environment: Environment): EnvironmentVariable[] {
  const tree = readFile(environment, false);
  placeAll(tree, environmentVariables, environment);
  return environmentVariables.filter(({ path }) => valueAt(tree, path) === undefined);
}

function placeAll(tree: Tree, variables: readonly EnvironmentVariable[], environment: Environment): void {
  const misplaced = variables.flatMap((variable) => placeVariable(tree, variable, environment));
  if (misplaced.length > 0) throw refusal(misplaced);
}

/** Whether the file has links with names: then it is written by hand. Fails with CONFIG_INVALID. */
export const hasNamedLinks = (environment: Environment): boolean =>
  Object.keys(Object(readFile(environment, false)['links'])).length > 0;

const readFile = (environment: Environment, isNamed = Boolean(environment['CRM_SYNC_CONFIG'])): Tree =>
  readConfigFile(configFileOf(environment), isNamed);

/** The configuration file that is used. */
export const configFileOf = (environment: Environment): string =>
  environment['CRM_SYNC_CONFIG'] || defaultConfigFile;

/** What is common to all links, and a section of several variables, is found wrong more than once. */
function refusal(mistakes: readonly string[]): SyncError {
  const found = [...new Set(mistakes)].map((mistake) => `  ${showControls(mistake)}`);
  const lines = ['The settings are not valid:', ...found];
  return new SyncError('CONFIG_INVALID', lines.join('\n'), { lines });
}

/** One line about a mistake below `base`: where, what was found, what is allowed. */
function describeIssue(
  issue: z.core.$ZodIssue,
  tree: Tree,
  base: readonly string[],
  link?: OwnSettings,
): string {
  const path = [...base, ...issue.path.map(String)];
  const general = environmentVariables.find((candidate) =>
    `${path.join('.')}.`.startsWith(`${candidate.path.join('.')}.`),
  );
  const found = valueAt(tree, path);
  // What is missing everywhere may be given for the link alone.
  const isOwn = link !== undefined && (valueAt(link.own, path) !== undefined || found === undefined);
  const variable = general && isOwn && isOfLink(general) ? ofLink(general, link.name) : general;
  const place = [...(isOwn ? ['links', link.name] : []), ...path].join('.');
  const name = variable ? `${place} (${variable.name})` : place || 'the file';
  // Whatever stands where a link should be may be its key.
  const isSecret = variable?.isSecret === true || base.length > 0;
  return `${name}: ${issue.message}${isSecret ? '' : describeFound(found, issue)}`;
}

/** What stands there instead. A section holds the secrets of the environment too, and what stands in the place of one may be a secret. */
function describeFound(found: unknown, issue: z.core.$ZodIssue): string {
  const isForSection = issue.code === 'invalid_type' && ['object', 'record'].includes(issue.expected);
  if (found === undefined || typeof found === 'object' || isForSection) return '';
  return `; found ${hideKeys(JSON.stringify(found))}`;
}

/** A key of the CRM may have been given for something else. */
export const hideKeys = (text: string): string => text.replace(/svc_live_[0-9a-f]{64}/gi, '(a key)');

/** Relations between settings that a schema of single values can not hold. */
function checkRelations(settings: Settings): string[] {
  const { alerts, crm, http, sheet } = settings;
  const urls: readonly [place: string, url: string | undefined, isGood: typeof isSafeUrl, words: string][] = [
    ['crm.baseUrl (CRM_BASE_URL)', crm.baseUrl, isSafeUrl, unsafeUrl],
    ['crm.baseUrl (CRM_BASE_URL)', crm.baseUrl, isPlaceAlone, moreThanPlace],
    ['sheet.apiRootUrl (GOOGLE_API_ROOT_URL)', sheet.apiRootUrl, isSafeUrl, unsafeUrl],
    ['alerts.webhookUrl (ALERT_WEBHOOK_URL)', alerts.webhookUrl, isSafeUrl, unsafeUrl],
  ];
  const problems = urls.flatMap(([place, url, isGood, words]) =>
    url === undefined || isGood(url) ? [] : [`${place}: ${words}`],
  );
  if (http.readWithToken && http.controlToken === undefined)
    problems.push('http.readWithToken: needs a token, http.controlToken (CONTROL_TOKEN)');
  if (!isLoopback(http.host) && http.controlToken === undefined)
    problems.push(
      `http.host (HTTP_HOST): other machines reach the daemon at ${http.host}, so it needs a token, http.controlToken (CONTROL_TOKEN, CONTROL_TOKEN_FILE)`,
    );
  const ofTabs = allTabs(settings).flatMap(({ entity, tab }) => [
    ...checkFields(entity, tab),
    ...checkHeaders(entity, tab),
  ]);
  return [...problems, ...ofTabs, ...checkTitles(settings)];
}

/** A tab is found by its title as {@link labelKey} compares it, so no two may have the same one. */
function checkTitles(settings: Settings): string[] {
  const { conflicts } = settings.sheet;
  const titles = enabledEntities(settings).map((entity): [path: string, title: string] => [
    `tabs.${tabNames[entity]}`,
    tabSettings(settings, entity).title,
  ]);
  if (conflicts.enabled) titles.push(['conflicts', conflicts.title]);
  return [...Map.groupBy(titles, ([, title]) => labelKey(title)).values()].flatMap(([first, ...others]) =>
    others.map(
      ([path, title]) => `sheet.${path}.title: “${title}” is already the title of sheet.${first?.[0]}`,
    ),
  );
}

type TabSettings = ReturnType<typeof allTabs>[number]['tab'];

function checkFields(entity: Entity, { columns, order, title }: TabSettings): string[] {
  const names = standardFieldNames(entity);
  const isField = (name: string) =>
    names.includes(name) || (entity === 'lead' && customFieldKey(name) !== undefined);
  const unknown = [...Object.keys(columns), ...order].filter((name) => !isField(name));
  return [...new Set(unknown)].map(
    (name) =>
      `sheet.tabs: ${title} has no field ${name}; it has ${names.join(', ')}${entity === 'lead' ? ' and custom.<key>' : ''}`,
  );
}

/** A column is found by its header, so no two of a tab may have the same one. */
function checkHeaders(entity: Entity, { columns, pauseColumn }: TabSettings): string[] {
  const taken = new Map([idHeader, syncHeader].map((header) => [labelKey(header), 'the daemon itself']));
  for (const { name, header } of describeEntity(entity, emptyCatalog)) {
    const isShown = columns[name]?.direction !== 'off' && columns[name]?.header === undefined;
    if (isShown) taken.set(labelKey(header), name);
  }
  const claim = (path: string, header: string, name: string): string[] => {
    const owner = taken.get(labelKey(header));
    taken.set(labelKey(header), name);
    if (owner === undefined) return [];
    return [`sheet.tabs.${tabNames[entity]}.${path}: “${header}” is already the header of ${owner}`];
  };
  const ofColumns = Object.entries(columns).flatMap(([name, { direction, header }]) =>
    header === undefined || direction === 'off' ? [] : claim(`columns.${name}.header`, header, name),
  );
  return [...ofColumns, ...(pauseColumn === undefined ? [] : claim('pauseColumn', pauseColumn, 'the pause'))];
}

/** To a URL, `localhost:4010` is a scheme and a path: whoever writes it is told what it lacks. */
const unsafeUrl = 'must begin with https://, or with http:// where it is on this machine';

function isSafeUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname));
}

const moreThanPlace = 'must end with its path, and have no login in it: the key alone logs in';

/** Paths are written behind it, a login would be sent instead of the key, and as the owner of the mirror it is kept there. */
function isPlaceAlone(text: string): boolean {
  const { hash, password, search, username } = new URL(text);
  return `${username}${password}${search}${hash}` === '';
}

/** Names under which a machine reaches itself, and the host of a container's sandbox on the same machine. */
const loopback = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  'host.docker.internal',
  'host.containers.internal',
]);
