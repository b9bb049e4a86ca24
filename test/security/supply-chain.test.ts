import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const lockShape = z.object({
  packages: z.record(
    z.string(),
    z.looseObject({
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      integrity: z.string().optional(),
      license: z.string().optional(),
      resolved: z.string().optional(),
      version: z.string(),
    }),
  ),
});
// The lock file names no registry: any one has to serve what the checksum says.
const { '': _self, ...packages } = lockShape.parse(JSON.parse(read('package-lock.json'))).packages;
const entries = Object.entries(packages).map(([path, entry]) => ({
  ...entry,
  name: path.replace(/^.*node_modules\//, ''),
}));

test('every package is locked with a checksum, also those of other platforms', () => {
  const loose = entries.filter(
    ({ integrity, resolved }) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? '') || resolved !== undefined,
  );
  expect(loose.map(({ name }) => name)).toEqual([]);
  expect(entries.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['@biomejs/cli-darwin-arm64', '@biomejs/cli-win32-x64']),
  );
});

/** Licences that ask for nothing but to be named; packages that say theirs in an older form are named with it. */
const free = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'MIT OR Apache-2.0',
  'MIT/Apache-2.0',
];
const freeForTools = [...free, 'BlueOak-1.0.0', 'Unlicense', 'MPL-2.0'];
const olderForm: Readonly<Record<string, string>> = { buildcheck: 'MIT', 'cpu-features': 'MIT', ssh2: 'MIT' };

test('every package that the daemon runs with has a licence that asks for nothing but to be named', () => {
  const others = entries.filter(({ dev, devOptional, license, name }) => {
    const allowed = dev || devOptional ? freeForTools : free;
    return !allowed.includes(license ?? olderForm[name] ?? 'none');
  });
  expect(others.map(({ license, name }) => `${name}: ${license}`)).toEqual([]);
});

test('the Node that runs this is the one whose checksum is known', () => {
  const { devDependencies } = z
    .object({ devDependencies: z.looseObject({ node: z.string() }) })
    .parse(JSON.parse(read('package.json')));
  const sums = z
    .record(z.string(), z.record(z.string(), z.string()))
    .parse(JSON.parse(read('test/support/node-sums.json')));
  expect(Object.keys(sums)).toEqual([devDependencies.node]);
  const own = createHash('sha256').update(readFileSync(process.execPath)).digest('hex');
  expect(sums[devDependencies.node]?.[`${process.platform}-${process.arch}`]).toBe(own);
  expect(read('package.json')).toContain(
    'npm rebuild node --loglevel=error && \\"$npm_node_execpath\\" test/support/check-node.mjs',
  );
});

test('workflows ask every day for packages that became unsafe, and publish with an SBOM and a signature', () => {
  const audit = parse(read('.github/workflows/audit.yaml'));
  expect(audit.on.schedule).toEqual([{ cron: expect.stringMatching(/^\d+ \d+ \* \* \*$/) }]);
  const runs = audit.jobs.audit.steps.map(({ run }: { run?: string }) => run);
  expect(runs).toEqual(expect.arrayContaining(['npm audit --omit=dev', 'npm audit signatures']));
  const release = read('.github/workflows/release.yaml');
  expect(release).toContain('--sbom=true --provenance=mode=max');
  expect(release).toContain('cosign sign --yes "$IMAGE"');
});
