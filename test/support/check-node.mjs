// Checks the Node that the package `node` fetched: the lock file has no checksum of it. Runs with the Node of the machine, before any other.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import process from 'node:process';

const file = new URL('../../node_modules/node/bin/node', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../../node_modules/node/package.json', import.meta.url), 'utf8'));
const sums = JSON.parse(readFileSync(new URL('node-sums.json', import.meta.url), 'utf8'));
const platform = `${process.platform}-${process.arch}`;
const [known, found] = [
  sums[version]?.[platform],
  createHash('sha256').update(readFileSync(file)).digest('hex'),
];
if (known !== found) {
  rmSync(file);
  console.error(
    known === undefined
      ? `test/support/node-sums.json has no checksum of Node ${version} for ${platform}. Add it once you know that ${found} is right.`
      : `Node ${version} for ${platform} is not the one that is known: its checksum is ${found} instead of ${known}. It was deleted.`,
  );
  process.exit(1);
}
