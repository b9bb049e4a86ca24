import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const packageFile = new URL('../../package.json', import.meta.url);

/** Seeds are whole numbers; so many leave room for those that follow the first. */
const seedsMax = 2 ** 31;

/**
 * Where the seeds of a commit begin, so that every commit is tried with others and the same one always with the same. Without git, as in
 * an image, the version of the package stands for it.
 */
export function firstSeedOfTheDay(): { readonly seed: number; readonly from: string } {
  const from = readCommit() ?? `version ${JSON.parse(readFileSync(packageFile, 'utf8')).version}`;
  const digest = createHash('sha256').update(from).digest();
  return { seed: digest.readUInt32BE() % seedsMax, from };
}

function readCommit(): string | undefined {
  try {
    const hash = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, stdio: 'pipe' });
    return `commit ${String(hash).trim()}`;
  } catch {
    console.log(
      'There is no commit to take the seeds of the day from, so the version of the package stands for it.',
    );
    return undefined;
  }
}
