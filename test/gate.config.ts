import { existsSync } from 'node:fs';
import { defineConfig, mergeConfig } from 'vitest/config';
import { seldomFiles } from './support/seldom-files.ts';
import config from './vitest.config.ts';

/*
 * What each commit is tried with: all tests but those of rare trouble that take long. The long tests run them as well.
 */

const root = new URL('..', import.meta.url);
const lost = seldomFiles.filter((file) => !existsSync(new URL(file, root)));
if (lost.length > 0)
  throw new Error(`test/support/seldom-files.ts names what is not there: ${lost.join(', ')}`);

console.log(`Left to npm run test:long: ${seldomFiles.length} files, named in test/support/seldom-files.ts.`);

export default mergeConfig(config, defineConfig({ test: { exclude: [...seldomFiles] } }));
