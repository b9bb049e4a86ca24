import { existsSync } from 'node:fs';
import { defineConfig, mergeConfig } from 'vitest/config';
import { seldomFiles } from './support/seldom-files.ts';
import { drawSome } from './support/variants.ts';
import config from './vitest.config.ts';

/*
 * What each commit is tried with: all tests but for those of rare trouble that take long, of which the commit draws a quarter. The long tests
 * run them all.
 */

const root = new URL('..', import.meta.url);
const lost = seldomFiles.filter((file) => !existsSync(new URL(file, root)));
if (lost.length > 0)
  throw new Error(`test/support/seldom-files.ts names what is not there: ${lost.join(', ')}`);

const drawn = new Set(drawSome(seldomFiles, Math.ceil(seldomFiles.length / 4)));
const leftOut = seldomFiles.filter((file) => !drawn.has(file));
if (leftOut.length > 0)
  console.log(`Not drawn by this commit, and run by npm run test:long:\n  ${leftOut.join('\n  ')}`);

export default mergeConfig(config, defineConfig({ test: { exclude: leftOut } }));
