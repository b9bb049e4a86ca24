import { expect, onTestFinished, test } from 'vitest';
import { findPostgres } from '../../src/sandbox/postgres/server.ts';
import { spawnCommand } from '../support/daemon-process.ts';

/** The checks wait for a real minute of the request limit, more than once. */
const limitMs = 240_000;

test('people on all sides see what happens on the others', { timeout: limitMs }, async () => {
  const demo = spawnCommand(['demo', '--check'], {});
  onTestFinished(() => void demo.terminate());
  const { code, stdout, stderr } = await demo.ended;
  // All that it printed goes into the failure: its lines say what was expected and what was found.
  expect(`${stdout}${stderr}exit code ${code}`).toMatch(/^[1-9]\d* passed, 0 failed\nexit code 0$/m);
  expect(/✓ an empty database is filled/.test(stdout)).toBe(findPostgres() !== undefined);
});
