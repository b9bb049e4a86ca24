import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const jobShape = z.object({
  needs: z.string().optional(),
  permissions: z.record(z.string(), z.string()).optional(),
  steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })),
});
const text = read('.github/workflows/release.yaml');
const workflow = z
  .object({
    on: z.object({ push: z.object({ tags: z.array(z.string()) }).strict() }).strict(),
    permissions: z.record(z.string(), z.string()),
    jobs: z.object({ test: jobShape, publish: jobShape }),
  })
  .parse(parse(text));
const { publish, test: tests } = workflow.jobs;
const runsOf = ({ steps }: z.infer<typeof jobShape>) => steps.flatMap(({ run }) => run ?? []);
const runs = [...runsOf(tests), ...runsOf(publish)].join('\n');

test('a release calls only scripts that are there', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')));
  const called = [...runs.matchAll(/\bnpm (?:run )?([\w:-]+)/g)].map(([, name = '']) => name);
  expect(called).toEqual(['setup', 'test']);
  expect(called.filter((name) => !(name in scripts))).toEqual([]);
  const files = [...runs.matchAll(/\bsh (\S+\.sh)/g)].map(([, file = '']) => file);
  expect(files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
});

test('a release is made of a tag alone, and published only once its tests have passed', () => {
  expect(workflow.on.push.tags).toEqual(['v*']);
  expect(publish.needs).toBe('test');
  expect(runsOf(tests)).toContain('npm test');
});

test('a release is signed without a key, by its digest and with an SBOM', () => {
  const published = runsOf(publish).join('\n');
  expect(published).toContain('ghcr.io/');
  expect(published).toContain('--sbom=true');
  expect(published).toMatch(/^cosign sign --yes "\$IMAGE"$/m);
  expect(published).toContain('IMAGE=$image@$digest');
  expect(published).not.toContain('--key');
});

test('a release is built from a base that is named by its digest, and says which', () => {
  const bases = [...read('Dockerfile').matchAll(/^FROM \$\{(\w+)\}/gm)].map(([, base]) => base);
  expect(bases).toEqual(['BASE', 'BASE']);
  const published = runsOf(publish).join('\n');
  expect(published).toContain('--build-arg "BASE=$base@$base_digest"');
  expect(published).toContain('--label "org.opencontainers.image.base.digest=$base_digest"');
});

test('no step of a release has more rights than it needs, or takes a text of the event for a command', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(tests.permissions).toBeUndefined();
  expect(publish.permissions).toEqual({ contents: 'read', packages: 'write', 'id-token': 'write' });
  expect(runs).not.toContain('${{');
  const uses = [...tests.steps, ...publish.steps].flatMap(({ uses: action }) => action ?? []);
  expect(uses.filter((action) => !/^[\w-]+\/[\w-]+@v\d+$/.test(action))).toEqual([]);
});
