import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { settingsSchema } from '../../src/app/settings.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const example = read('config/crm-sheet-sync.example.yaml');
/** The example with the settings that have no default switched on: prose has a space behind its #. */
const complete = example.replace(/^(\s*)#(?=\w)/gm, '$1');
/** All prose on one line each, without the marks of comments. */
const prose = example.replaceAll(/\s+(# +)?/g, ' ');

interface Setting {
  readonly path: string;
  readonly description: string | undefined;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;
const isSchema = (schema: JsonSchema | boolean | undefined): schema is JsonSchema =>
  typeof schema === 'object';

/** Every single setting of the schema; those of a column under `*`. */
function listSettings(schema: JsonSchema, path: readonly string[] = []): Setting[] {
  const { properties, additionalProperties, description } = schema;
  if (!properties && !isSchema(additionalProperties)) return [{ path: path.join('.'), description }];
  const children = Object.entries(properties ?? { '*': additionalProperties });
  const own = properties ? [] : [{ path: path.join('.'), description }];
  const inner = children.flatMap(([name, child]) =>
    isSchema(child) ? listSettings(child, [...path, name]) : [],
  );
  return [...own, ...inner];
}

const settings = listSettings(z.toJSONSchema(settingsSchema, { io: 'input' }));

/** Paths of everything that stands in a tree of settings. */
const listPaths = (tree: object, path: readonly string[] = []): string[] =>
  Object.entries(tree).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && Object.keys(value).length > 0
      ? listPaths(value, [...path, name])
      : [[...path, name].join('.')],
  );

test('the example shows every setting there is and no other', () => {
  const paths = settings.map(({ path }) => path).filter((path) => !path.includes('*'));
  expect(listPaths(parse(complete)).toSorted()).toEqual(paths.toSorted());
});

test('the example says of every setting what the schema says of it', () => {
  const unsaid = settings.filter(({ description = '' }) => !prose.includes(description.replace(/\.$/, '')));
  expect(unsaid).toEqual([]);
  expect(settings.filter(({ description }) => description !== undefined).length).toBeGreaterThan(20);
});

test('the example holds the defaults, and is valid with everything in it', () => {
  const { crm, sheet, warehouse } = parse(complete);
  const required = {
    crm: { baseUrl: crm.baseUrl, apiKey: crm.apiKey },
    sheet: { spreadsheetId: sheet.spreadsheetId },
    warehouse: { url: warehouse.url },
  };
  const shown = parse(example);
  const given = {
    ...shown,
    crm: { ...shown.crm, ...required.crm },
    sheet: { ...shown.sheet, ...required.sheet },
    warehouse: { ...shown.warehouse, ...required.warehouse },
  };
  expect(settingsSchema.parse(given)).toEqual(settingsSchema.parse(required));
  expect(settingsSchema.safeParse(parse(complete)).error).toBeUndefined();
});

const composeShape = z.object({
  services: z.object({
    daemon: z.looseObject({
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()),
      secrets: z.array(z.string()),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
    redis: z.looseObject({ command: z.string(), profiles: z.array(z.string()) }),
    postgres: z.looseObject({
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()),
      profiles: z.array(z.string()),
      secrets: z.array(z.string()),
      tmpfs: z.array(z.string()),
    }),
  }),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
const compose = composeShape.parse(parse(read('compose.yaml')));
const { daemon, redis, postgres } = compose.services;

test('a clean stop lasts as long as the longest request, and compose lets it end before the container is killed', () => {
  const { crm, sheet, stopGraceMs } = parse(example);
  expect(stopGraceMs).toBeGreaterThan(Math.max(crm.timeoutMs, sheet.timeoutMs));
  expect(Number.parseInt(daemon.stop_grace_period, 10) * 1000).toBeGreaterThan(stopGraceMs);
});

test('compose shows the daemon to this machine only, and its Redis to nobody', () => {
  expect(daemon.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(redis).not.toHaveProperty('ports');
  expect(redis.command).toContain('--maxmemory-policy noeviction');
  expect(redis.command).toContain('--appendonly yes');
});

test('compose passes secrets as files and never as values', () => {
  const { environment } = daemon;
  expect(Object.keys(environment)).not.toContain('CRM_API_KEY');
  expect(Object.keys(environment)).not.toContain('CONTROL_TOKEN');
  expect(Object.keys(environment)).not.toContain('REDIS_URL');
  expect(redis.command).not.toContain('requirepass');
  const files = ['CRM_API_KEY_FILE', 'CONTROL_TOKEN_FILE', 'GOOGLE_APPLICATION_CREDENTIALS'];
  expect(files.map((name) => environment[name])).toEqual([
    '/run/secrets/crm_api_key',
    '/run/secrets/control_token',
    '/run/secrets/google_credentials',
  ]);
});

test('compose starts a database only where a warehouse is wanted, and shows it to this machine only', () => {
  expect(postgres.profiles).toEqual(['warehouse']);
  expect(postgres.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(postgres.environment).not.toHaveProperty('POSTGRES_PASSWORD');
  expect(postgres.environment['POSTGRES_PASSWORD_FILE']).toBe('/run/secrets/postgres_password');
  expect(postgres.secrets).toEqual(['postgres_password']);
});

test.each([
  ['REDIS_URL', 'redis_url'],
  ['WAREHOUSE_URL', 'warehouse_url'],
])(
  'compose gives the daemon %s where .env names its file, and mounts nothing else in its place',
  (name, secret) => {
    expect(daemon.environment).not.toHaveProperty(name);
    expect(daemon.environment[`${name}_FILE`]).toBe(`\${${name}_SECRET:+/run/secrets/${secret}}`);
    expect(daemon.secrets).toContain(secret);
    expect(compose.secrets[secret]?.file).toBe(`\${${name}_SECRET:-/dev/null}`);
  },
);

test('compose demands no variable and no Redis: what init keeps is enough', () => {
  expect(read('compose.yaml')).not.toContain(':?');
  expect(redis.profiles).toEqual(['redis']);
  expect(daemon).not.toHaveProperty('depends_on');
});

test('compose leaves what is logged to the configuration file where nobody sets it outside', () => {
  // The environment wins over the file, and an empty variable counts as not set.
  expect(daemon.environment['LOG_LEVEL']).toBe(`\${LOG_LEVEL:-}`);
});

test('compose gives no container more than it needs', () => {
  expect(postgres).toMatchObject({ user: 'postgres', tmpfs: ['/tmp', '/var/run/postgresql'] });
  for (const container of [daemon, redis, { ...postgres, tmpfs: ['/tmp'] }]) {
    expect(container).toMatchObject({
      init: true,
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^(\$\{\w+:-)?\d+[mg]\}?$/),
      pids_limit: 200,
      logging: { options: { 'max-size': '10m', 'max-file': '5' } },
    });
  }
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  expect(dockerfile).toMatch(/npm ci .*--ignore-scripts/);
});

const locked = z.object({
  packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })),
});
const manifest = z.object({
  allowScripts: z.record(z.string(), z.boolean()),
  scripts: z.looseObject({ setup: z.string() }),
});

test('no package runs a script when it is installed, but for the one that brings Node', () => {
  const { packages } = locked.parse(JSON.parse(read('package-lock.json')));
  // npm compiles what has a binding.gyp, although the lock file does not tell.
  const isCompiled = (path: string) => existsSync(new URL(`../../${path}/binding.gyp`, import.meta.url));
  const scripted = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    path !== '' && (hasInstallScript || isCompiled(path)) ? [path.replace(/^.*node_modules\//, '')] : [],
  );
  const { allowScripts, scripts } = manifest.parse(JSON.parse(read('package.json')));
  expect(Object.keys(allowScripts).toSorted()).toEqual([...new Set(scripted)].toSorted());
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
  // Older versions of npm do not know the list.
  expect(scripts.setup).toMatch(/npm ci --ignore-scripts .*&& npm rebuild node /);
});
