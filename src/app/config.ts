import { join } from 'node:path';
import { z } from 'zod';
import { SyncError } from '../core/errors.ts';
import { isObject } from '../core/facts.ts';
import { findProxyFaults } from '../core/network/proxy.ts';
import { showControls } from '../core/text/visible-text.ts';
import {
  type Environment,
  mergeTrees,
  placeVariable,
  readConfigFile,
  type Tree,
  valueAt,
} from './config-sources.ts';
import { checkRelations } from './settings/relations.ts';
import { findSources, type Sources } from './settings/sources.ts';
import { warehouseName } from './settings/warehouse.ts';
import { settingWords } from './settings/words.ts';
import {
  type EnvironmentVariable,
  environmentVariables,
  type LinkSettings,
  type Settings,
  settingsSchema,
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
  if (first && mistakes.length === 0) mistakes.push(...findShared([first, ...others]));
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
  const shared = findShared(
    checked.flatMap((link) => link.settings ?? []),
    settings,
  );
  if (shared.length > 0) throw refusal(shared);
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
  const { links: own = {}, ...given }: Tree = { crm: {}, ...readFile(environment) };
  const origin = { environment, tree: given, file: configFileOf(environment) };
  const tree = structuredClone(given);
  const mistakes = [
    ...findProxyFaults(environment),
    ...environmentVariables.flatMap((variable) => placeVariable(tree, variable, environment)),
  ];
  const links = settingsSchema.shape.links.safeParse(own, { error: settingWords });
  if (!links.success)
    mistakes.push(...links.error.issues.map((issue) => describeIssue(issue, { links: own }, ['links'])));
  if (mistakes.length > 0 || !links.success) throw refusal(mistakes);
  const names = Object.keys(links.data);
  if (names.length === 0) return [withSources(checkTree(chooseSides(tree)), findSources(origin))];
  return names.map((name) => {
    const given = links.data[name] ?? {};
    const variableOf = (variable: EnvironmentVariable) =>
      isOfLink(variable) ? ofLink(variable, name) : variable;
    const sources = findSources(origin, { name, own: given, variableOf });
    return withSources(checkLink(name, tree, given, environment), sources);
  });
}

const withSources = (checked: CheckedLink, sources: Sources): CheckedLink =>
  checked.settings ? { ...checked, settings: { ...checked.settings, sources } } : checked;

/** Returns where each setting of a command comes from; nothing where the settings cannot be read, which loading them reports. */
export function readSources(environment: Environment): Sources {
  try {
    return findSources({ environment, tree: readFile(environment), file: configFileOf(environment) });
  } catch {
    return {};
  }
}

/** Puts together what all links have and what one has for itself, from the file and from variables that end in its name. */
function checkLink(name: string, common: Tree, given: Tree, environment: Environment): CheckedLink {
  const own = mergeTrees({ crm: {} }, given);
  const misplaced = environmentVariables
    .filter(isOfLink)
    .flatMap((variable) => placeVariable(own, ofLink(variable, name), environment));
  if (misplaced.length > 0) return { name, mistakes: misplaced };
  const tree = chooseSides(mergeTrees(common, own));
  nameSchema(tree, name);
  const { mistakes, settings } = checkTree(tree, { name, own });
  if (!settings) return { name, mistakes };
  const { directory } = settings.state;
  const state = { ...settings.state, directory: join(directory, 'links', name) };
  return {
    name,
    settings: { ...settings, state, link: { name, commonDirectory: directory } },
    mistakes: mistakes.map((mistake) => `links.${name}: ${mistake}`),
  };
}

/** Leaves out the side that is not named: its other settings, as they may be common to all links, do not make a link have it. */
function chooseSides({ sheet, warehouse, ...rest }: Tree): Tree {
  const isNamed = (side: unknown, name: string) => isObject(side) && (side[name] ?? undefined) !== undefined;
  const hasWarehouse = isNamed(warehouse, 'url');
  // Without either, an error names what is missing.
  const hasSheet = isNamed(sheet, 'spreadsheetId') || !hasWarehouse;
  return { ...rest, ...(hasSheet ? { sheet: sheet ?? {} } : {}), ...(hasWarehouse ? { warehouse } : {}) };
}

/** Gives the tables of a link with a name a schema of their own where none is named. */
function nameSchema(tree: Tree, link: string): void {
  const { warehouse } = tree;
  if (isObject(warehouse)) warehouse['schema'] ??= `crm_${link.replaceAll('-', '_')}`;
}

const isOfLink = ({ path }: EnvironmentVariable) => ['crm', 'sheet', 'warehouse'].includes(path[0] ?? '');

const ofLink = (variable: EnvironmentVariable, link: string): EnvironmentVariable => ({
  ...variable,
  name: `${variable.name}_${link.toUpperCase().replaceAll('-', '_')}`,
});

function checkTree(tree: Tree, link?: OwnSettings): CheckedLink {
  const { data, error } = settingsSchema.safeParse(tree, { error: settingWords });
  if (data) return { settings: data, mistakes: checkRelations(data) };
  return { mistakes: error.issues.map((issue) => describeIssue(issue, tree, [], link)) };
}

/** Two links that write the same rows would undo each other's work. Those of one link alone, where one is given. */
const findShared = (links: readonly Settings[], meant?: Settings): string[] =>
  [
    { setting: 'sheet.spreadsheetId', nameOf: ({ sheet }: Settings) => sheet?.spreadsheetId },
    {
      setting: 'warehouse.schema in one database',
      nameOf: ({ warehouse }: Settings) => warehouse && warehouseName(warehouse),
    },
  ].flatMap(({ nameOf, setting }) =>
    [...Map.groupBy(links, nameOf)]
      .filter(([name, same]) => name !== undefined && same.length > 1 && (!meant || same.includes(meant)))
      .map(
        ([, same]) =>
          `links: ${same.map(({ link }) => link?.name).join(' and ')} have the same ${setting}; each link needs its own`,
      ),
  );

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
