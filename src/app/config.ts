import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { emptyCatalog } from '../core/catalog.ts';
import { SyncError } from '../core/errors.ts';
import { customFieldKey, describeEntity } from '../core/field.ts';
import { idHeader, syncHeader } from '../core/headers.ts';
import { labelKey } from '../core/label-key.ts';
import { standardFieldNames } from '../core/policy.ts';
import type { Entity } from '../core/record.ts';
import {
  allTabs,
  type EnvironmentVariable,
  environmentVariables,
  type Settings,
  settingsSchema,
  tabNames,
} from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Used when CRM_SYNC_CONFIG names no other file; it may be missing. */
const defaultConfigFile = 'config/crm-sheet-sync.yaml';

/**
 * Reads the settings: the YAML file, then the environment over it, checked against the schema. Fails with CONFIG_INVALID, which
 * lists every mistake with its path, what was found and what is allowed; a secret is never repeated.
 */
export function loadSettings(environment: Environment): Settings {
  const file = readConfigFile(configFileOf(environment), environment['CRM_SYNC_CONFIG'] !== undefined);
  // An absent section counts as an empty one, so that an error names the setting that is missing.
  const tree = { crm: {}, sheet: {}, ...file };
  const misplaced = environmentVariables.flatMap((variable) => placeVariable(tree, variable, environment));
  if (misplaced.length > 0) throw refusal(misplaced);
  const parsed = settingsSchema.safeParse(tree);
  if (!parsed.success) throw refusal(parsed.error.issues.map((issue) => describeIssue(issue, tree)));
  const unrelated = checkRelations(parsed.data);
  if (unrelated.length > 0) throw refusal(unrelated);
  return parsed.data;
}

const httpPart = z.object({ http: settingsSchema.shape.http });

/** Where the daemon is asked and with which token, whatever the other settings are. Fails with CONFIG_INVALID. */
export function loadHttpSettings(environment: Environment): Settings['http'] {
  const tree = readConfigFile(configFileOf(environment), environment['CRM_SYNC_CONFIG'] !== undefined);
  const variables = environmentVariables.filter(({ path }) => path[0] === 'http');
  const misplaced = variables.flatMap((variable) => placeVariable(tree, variable, environment));
  if (misplaced.length > 0) throw refusal(misplaced);
  const parsed = httpPart.safeParse(tree);
  if (!parsed.success) throw refusal(parsed.error.issues.map((issue) => describeIssue(issue, tree)));
  return parsed.data.http;
}

/** The variables for which neither the environment nor the file, which may be missing, has anything. Fails with CONFIG_INVALID. */
export function listMissing(environment: Environment): EnvironmentVariable[] {
  const tree = readConfigFile(configFileOf(environment), false);
  const misplaced = environmentVariables.flatMap((variable) => placeVariable(tree, variable, environment));
  if (misplaced.length > 0) throw refusal(misplaced);
  return environmentVariables.filter(({ path }) => valueAt(tree, path) === undefined);
}

/** The configuration file that is used. */
export const configFileOf = (environment: Environment): string =>
  environment['CRM_SYNC_CONFIG'] ?? defaultConfigFile;

const refusal = (mistakes: readonly string[]) =>
  new SyncError(
    'CONFIG_INVALID',
    `The settings are not valid:\n${mistakes.map((mistake) => `  ${mistake}\n`).join('')}`,
  );

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function readConfigFile(file: string, isNamed: boolean): Tree {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing && !isNamed) return {};
    throw new SyncError('CONFIG_INVALID', `The configuration file ${file} can not be read.`, {
      cause: error,
    });
  }
  try {
    // A warning would quote the file on standard error.
    const tree: unknown = parse(text, { logLevel: 'error' }) ?? {};
    if (isTree(tree)) return tree;
  } catch (error) {
    throw new SyncError('CONFIG_INVALID', `${file} is not valid YAML: ${describeYamlError(error)}.`);
  }
  throw new SyncError('CONFIG_INVALID', `${file} must hold settings by name, like "sheet:" and "crm:".`);
}

/** Without the library's own words: they quote the file, which may hold a secret just there. */
function describeYamlError(error: unknown): string {
  // An alias of nothing is no error of parsing to the library: a text that begins with * needs quotes.
  if (!(error instanceof YAMLParseError)) return 'it uses an alias (*) that is not defined';
  const [place] = error.linePos ?? [];
  const where = place ? ` at line ${place.line}, column ${place.col}` : '';
  return `${error.code.toLowerCase().replaceAll('_', ' ')}${where}`;
}

/** Puts an environment variable, or the secret that a file of the configuration has, where it belongs; answers what is wrong with it. */
function placeVariable(tree: Tree, variable: EnvironmentVariable, environment: Environment): string[] {
  const given = readVariable(variable, environment);
  const isGiven = given.text !== undefined || given.problem !== undefined;
  const found = isGiven || !variable.isSecret ? given : readNamedSecret(tree, variable);
  if (found.problem !== undefined) return [found.problem];
  if (found.text === undefined) return [];
  let place = tree;
  for (const name of variable.path.slice(0, -1)) {
    const inner = place[name];
    const next: Tree = isTree(inner) ? inner : {};
    place[name] = next;
    place = next;
  }
  place[variable.path.at(-1) ?? ''] = readText(variable, found.text);
  return [];
}

function readText({ isList, isNumber }: EnvironmentVariable, text: string): unknown {
  if (isList) return text.split(/[\s,]+/).filter((part) => part !== '');
  const number = isNumber ? Number(text) : Number.NaN;
  // What is no number stays as it was written, so that the error can show it.
  return Number.isNaN(number) ? text : number;
}

interface FoundText {
  readonly text?: string;
  readonly problem?: string;
}

function readVariable(variable: EnvironmentVariable, environment: Environment): FoundText {
  const { name, isSecret } = variable;
  // Compose files pass an unset variable on as an empty one.
  const text = environment[name] || undefined;
  const file = isSecret ? environment[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return text === undefined ? {} : { text };
  if (text !== undefined) return { problem: `${name}: set either ${name} or ${name}_FILE, not both` };
  return readSecretFile(`${name}_FILE`, file);
}

/** The secret in the file that a setting like `crm.apiKeyFile` names. */
function readNamedSecret(tree: Tree, { path }: EnvironmentVariable): FoundText {
  const setting = path.join('.');
  const file = valueAt(tree, secretFilePath(path));
  if (typeof file !== 'string') return {};
  if (valueAt(tree, path) !== undefined)
    return { problem: `${setting}: set either ${setting} or ${setting}File, not both` };
  return readSecretFile(`${setting}File`, file);
}

/** Where the configuration names the file of a secret. */
export const secretFilePath = (path: readonly string[]): readonly string[] => [
  ...path.slice(0, -1),
  `${path.at(-1)}File`,
];

function readSecretFile(setting: string, file: string): FoundText {
  try {
    return { text: readFileSync(file, 'utf8').trim() };
  } catch {
    return {
      problem: `${setting}: the file ${file} can not be read; it must be there, and readable for the user that runs this`,
    };
  }
}

const valueAt = (tree: Tree, path: readonly string[]): unknown =>
  path.reduce<unknown>((place, step) => (isTree(place) ? place[step] : undefined), tree);

/** One line about a mistake: where, what was found, what is allowed. */
function describeIssue(issue: z.core.$ZodIssue, tree: Tree): string {
  const path = issue.path.map(String);
  const variable = environmentVariables.find((candidate) =>
    `${path.join('.')}.`.startsWith(`${candidate.path.join('.')}.`),
  );
  const name = variable ? `${path.join('.')} (${variable.name})` : path.join('.') || 'the file';
  const found = valueAt(tree, path);
  if (found === undefined && issue.code === 'invalid_type') return `${name}: is missing; ${issue.message}`;
  const shown = variable?.isSecret || found === undefined ? '' : `; found ${JSON.stringify(found)}`;
  return `${name}: ${issue.message}${shown}`;
}

/** Relations between settings that a schema of single values can not hold. */
function checkRelations(settings: Settings): string[] {
  const problems: string[] = [];
  const { alerts, crm, sheet } = settings;
  if (!isSafeUrl(crm.baseUrl))
    problems.push('crm.baseUrl (CRM_BASE_URL): must begin with https:// unless it is on this machine');
  if (sheet.apiRootUrl !== undefined && !isSafeUrl(sheet.apiRootUrl)) {
    problems.push(
      'sheet.apiRootUrl (GOOGLE_API_ROOT_URL): must begin with https:// unless it is on this machine',
    );
  }
  if (alerts.webhookUrl !== undefined && !isSafeUrl(alerts.webhookUrl)) {
    problems.push(
      'alerts.webhookUrl (ALERT_WEBHOOK_URL): must begin with https:// unless it is on this machine',
    );
  }
  if (settings.http.readWithToken && settings.http.controlToken === undefined)
    problems.push('http.readWithToken: needs a token, http.controlToken (CONTROL_TOKEN)');
  for (const { entity, tab } of allTabs(settings)) {
    problems.push(...checkFields(entity, tab), ...checkHeaders(entity, tab));
  }
  return problems;
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

function isSafeUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname));
}

/** Names under which a machine reaches itself, and the host of a container's sandbox on the same machine. */
const loopback = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  'host.docker.internal',
  'host.containers.internal',
]);
