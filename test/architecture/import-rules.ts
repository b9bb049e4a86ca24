import { areaOf, type Finding, fileRule, isPageScript, isSource, type Rule } from './rule.ts';
import type { Source } from './source.ts';

/** What the core's ports to the outside are made of. */
const adapters = ['crm', 'sqlite', 'google', 'postgres'];

/** What is kept the same with the CRM: none of them knows another. */
const sides = ['sheet', 'warehouse'];

/** What each part of the house may import besides itself. An entry with a slash names the only files allowed. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  main: ['cli'],
  cli: ['app', ...sides, 'sync', 'core', 'sandbox'],
  app: ['alerts', 'bullmq', 'inprocess', 'http', ...adapters, ...sides, 'sync', 'core'],
  bullmq: ['sync', 'core'],
  inprocess: ['sync', 'core'],
  http: ['sync', 'core'],
  alerts: ['sync', 'core'],
  ...Object.fromEntries(adapters.map((adapter) => [adapter, ['core']])),
  // The adapter of a side knows what the side's port is made of, and nothing else of it.
  google: ['sheet/port', 'core'],
  postgres: ['warehouse/port', 'core'],
  ...Object.fromEntries(sides.map((side) => [side, ['sync', 'core']])),
  sandbox: ['core', 'crm/contract'],
  sync: ['core'],
  core: [],
};

/** Where each library lives. A library is known in one place, so that it can be replaced there. */
const homes: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3': ['src/sqlite/'],
  bullmq: ['src/bullmq/'],
  ioredis: ['src/bullmq/'],
  'p-queue': ['src/inprocess/'],
  googleapis: ['src/google/'],
  // The play server has no psql beside it, and a database is made by SQL.
  pg: ['src/postgres/', 'src/sandbox/postgres/'],
  'pg-copy-streams': ['src/postgres/'],
  '@ironcalc/wasm': ['src/sandbox/'],
  'google-auth-library': ['src/google/'],
  fastify: ['src/http/', 'src/sandbox/', 'src/cli/demo/demo-page.ts'],
  pino: ['src/app/'],
  'prom-client': ['src/http/metrics.ts'],
  'pino-pretty': ['src/app/'],
  yaml: ['src/app/'],
  commander: ['src/cli/'],
  'date-fns': ['src/core/'],
  '@date-fns/utc': ['src/core/'],
  '@date-fns/tz': ['src/core/'],
  zod: [
    'src/app/',
    'src/cli/',
    'src/crm/',
    'src/http/',
    'src/sandbox/',
    'src/google/',
    'src/sqlite/',
    'src/sync/',
  ],
};

/** The built-in modules each part may use; parts that are not named here may use all of them. */
const builtIns: Readonly<Record<string, readonly string[]>> = {
  core: [],
  sync: [],
  sheet: [],
  warehouse: [],
  // The credentials file is checked before the library reads it.
  google: ['node:fs'],
  postgres: ['node:crypto', 'node:fs', 'node:net', 'node:stream', 'node:stream/promises'],
  inprocess: [],
  bullmq: ['node:events'],
  crm: ['node:http', 'node:https', 'node:net', 'node:tls'],
  alerts: [],
  // The page's files are read once, at the start.
  http: ['node:crypto', 'node:fs', 'node:module', 'node:net', 'node:stream'],
  sqlite: ['node:fs', 'node:path'],
  main: ['node:process'],
};

const isRelative = (specifier: string) => specifier.startsWith('.');
const isBuiltIn = (specifier: string) => specifier.startsWith('node:');
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Whether an arrow leads to the file: to its part of the house, or to files whose path begins like it. */
const leadsTo = (target: string, file: string): boolean =>
  target.includes('/') ? file.startsWith(`src/${target}`) : isSource(file) && areaOf(file) === target;

const inwardImports = fileRule('imports point inwards', isSource, ({ path, imports }) => {
  const from = areaOf(path);
  const allowed = arrows[from];
  if (!allowed) {
    return [
      { line: 1, message: `is in src/${from}, which has no place in the house: give it one in arrows.` },
    ];
  }
  const targets = [from, ...allowed];
  return imports
    .filter(({ file }) => file !== undefined && !targets.some((target) => leadsTo(target, file)))
    .map(({ file, line }) => ({
      line,
      message: `imports ${file}, but ${from} may import only ${targets.join(', ')}. Move what is needed inwards, or take it as an argument.`,
    }));
});

const homedLibraries = fileRule('a library has one home', isSource, ({ path, imports }) =>
  imports.flatMap(({ specifier, line }) => {
    if (isRelative(specifier) || isBuiltIn(specifier) || isPageScript(path)) return [];
    const library = packageOf(specifier);
    const home = homes[library];
    if (home?.some((place) => path.startsWith(place))) return [];
    const advice = home
      ? `which lives in ${home.join(', ')}: use it there, behind a port.`
      : 'which has no home: name the one place it may be used in homes.';
    return [{ line, message: `imports ${library}, ${advice}` }];
  }),
);

const limitedBuiltIns = fileRule('the inside does without the machine', isSource, ({ path, imports }) =>
  imports.flatMap(({ specifier, line }) => {
    const area = areaOf(path);
    const allowed = builtIns[area];
    if (!isBuiltIn(specifier) || !allowed || allowed.includes(specifier)) return [];
    const few = allowed.length > 0 ? `only ${allowed.join(', ')}` : 'no built-in module';
    return [
      { line, message: `imports ${specifier}, but ${area} uses ${few}. Let src/app pass in what it does.` },
    ];
  }),
);

const writtenOutImports = fileRule(
  'relative imports name the file',
  (path) => path.endsWith('.ts'),
  ({ imports }) =>
    imports
      .filter(({ specifier }) => isRelative(specifier) && !/\.\w+$/.test(specifier))
      .map(({ specifier, line }) => ({
        line,
        message: `imports ${specifier}: write the file's name with its .ts ending.`,
      })),
);

const acyclicImports: Rule = {
  name: 'files do not import each other in a circle',
  find(sources) {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const finished = new Set<string>();
    const findings: Finding[] = [];
    const visit = (source: Source, trail: readonly string[]): void => {
      if (finished.has(source.path)) return;
      const path = [...trail, source.path];
      for (const { file, line } of source.imports) {
        const start = file === undefined ? -1 : path.indexOf(file);
        const circle = [...path.slice(start), file].join(' → ');
        if (start >= 0) {
          findings.push({
            path: source.path,
            line,
            message: `closes a circle: ${circle}. Move what both need into a file of its own.`,
          });
          continue;
        }
        const next = byPath.get(file ?? '');
        if (next) visit(next, path);
      }
      finished.add(source.path);
    };
    for (const source of sources) visit(source, []);
    return findings;
  },
};

const reachedFiles: Rule = {
  name: 'every file of src is used by the program',
  find(sources) {
    const byPath = new Map(sources.map((source) => [source.path, source]));
    const reached = new Set<string>();
    const reach = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { file } of byPath.get(path)?.imports ?? []) if (file !== undefined) reach(file);
    };
    reach('src/main.ts');
    return sources
      .filter(({ path }) => isSource(path) && !isPageScript(path) && !reached.has(path))
      .map(({ path }) => ({
        path,
        line: 1,
        message: 'is not reached from src/main.ts: use it or remove it.',
      }));
  },
};

/** Who may import whom and what. */
export const importRules: readonly Rule[] = [
  inwardImports,
  acyclicImports,
  homedLibraries,
  limitedBuiltIns,
  writtenOutImports,
  reachedFiles,
];
