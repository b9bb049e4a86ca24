import { type Environment, secretFilePath, type Tree, valueAt } from '../config-sources.ts';
import { type EnvironmentVariable, environmentVariables } from '../settings.ts';

/** Where the values of variables come from, by the name of each: advice such as “Check CRM_API_KEY” is about that place. */
export type Sources = Readonly<Record<string, string>>;

/** Where settings are looked for. */
export interface Origin {
  readonly environment: Environment;
  /** The configuration as its file has it. */
  readonly tree: Tree;
  readonly file: string;
}

/** What a link has for itself in the configuration, and how its variables are called. */
export interface OwnOrigin {
  readonly name: string;
  readonly own: Tree;
  readonly variableOf: (variable: EnvironmentVariable) => EnvironmentVariable;
}

/** The place of each value that is given; of a link's own where it has one. */
export function findSources(origin: Origin, link?: OwnOrigin): Sources {
  const found = environmentVariables.flatMap((variable) => {
    const own =
      link && findPlace({ ...origin, tree: link.own }, link.variableOf(variable), `links.${link.name}.`);
    const place = own ?? findPlace(origin, variable);
    return place === undefined ? [] : [[variable.name, place] as const];
  });
  return Object.fromEntries(found);
}

/** In the order in which a value is looked for; `undefined` where none is given. */
function findPlace(
  { environment, file, tree }: Origin,
  { isSecret, name, path }: EnvironmentVariable,
  prefix = '',
): string | undefined {
  if (environment[name]) return name;
  const secretFile = isSecret ? environment[`${name}_FILE`] : undefined;
  if (secretFile) return `the file ${secretFile} (${name}_FILE)`;
  const setting = `${prefix}${path.join('.')}`;
  const namedFile = isSecret ? valueAt(tree, secretFilePath(path)) : undefined;
  if (typeof namedFile === 'string') return `the file ${namedFile} (${setting}File in ${file})`;
  return (valueAt(tree, path) ?? undefined) === undefined ? undefined : `${setting} in ${file}`;
}

/** The words with the place of each value for the name of its variable. */
export const nameSources = (words: string, sources: Sources): string =>
  words.replaceAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g, (name) => sources[name] ?? name);
