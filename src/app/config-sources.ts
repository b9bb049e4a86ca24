import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import { SyncError } from '../core/errors.ts';
import { isObject } from '../core/facts.ts';
import type { EnvironmentVariable } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings as they stand in a file. */
export type Tree = Record<string, unknown>;

/** Reads the YAML file; an empty tree where a file that nobody named is missing. Fails with CONFIG_INVALID. */
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
    if (isObject(tree)) return tree;
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
export function placeVariable(tree: Tree, variable: EnvironmentVariable, environment: Environment): string[] {
  const given = readVariable(variable, environment);
  const isGiven = given.text !== undefined || given.problem !== undefined;
  const found = isGiven || !variable.isSecret ? given : readNamedSecret(tree, variable);
  if (found.problem !== undefined) return [found.problem];
  if (found.text === undefined) return [];
  let place = tree;
  for (const name of variable.path.slice(0, -1)) {
    const inner = place[name] ?? undefined;
    // It would be lost without a word.
    if (inner !== undefined && !isObject(inner))
      return [`${name}: must be a section with settings of its own`];
    const next: Tree = inner ?? {};
    place[name] = next;
    place = next;
  }
  place[variable.path.at(-1) ?? ''] = readText(variable, found.text);
  return [];
}

function readText({ isNumber, list }: EnvironmentVariable, text: string): unknown {
  if (list === 'lines') return text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  if (list === 'words') return text.split(/[\s,]+/).filter((part) => part !== '');
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

/** What stands at a path; `undefined` for nothing. */
export const valueAt = (tree: Tree, path: readonly string[]): unknown =>
  path.reduce<unknown>((place, step) => (isObject(place) ? place[step] : undefined), tree);

/** A new tree in which the second says everything that it says at all. Neither shares a part with it. */
export function mergeTrees(base: Tree, over: Tree): Tree {
  const merged: Tree = structuredClone(base);
  for (const [name, value] of Object.entries(over)) {
    const before = merged[name];
    merged[name] = isObject(before) && isObject(value) ? mergeTrees(before, value) : structuredClone(value);
  }
  return merged;
}
