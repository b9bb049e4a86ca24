import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepSecret } from '../../src/app/config-keeper.ts';
import { openStage } from '../support/process-stage.ts';

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

test('directories of the state are 700 and files 600 after a start and a backup, whatever a clone made of them', async () => {
  const { environment, runCommand, startDaemon } = await openStage({
    counts: { leads: 2, opportunities: 0, tasks: 0 },
  });
  const directory = environment['STATE_DIR'] ?? '';
  await (await startDaemon()).terminate();
  await runCommand('backup');
  const paths = [directory, join(directory, 'backups')];
  const files = async () => {
    const lists = await Promise.all(
      paths.map(async (path) =>
        (await readdir(path, { withFileTypes: true })).map((entry) => ({ entry, path })),
      ),
    );
    return lists.flat().flatMap(({ entry, path }) => (entry.isFile() ? [join(path, entry.name)] : []));
  };
  for (const path of [...paths, ...(await files())]) await chmod(path, 0o777);
  const daemon = await startDaemon();
  await runCommand('backup');
  const all = await files();
  expect(all.length).toBeGreaterThan(2);
  const modes = async (of: readonly string[]) => new Set(await Promise.all(of.map(modeOf)));
  expect(await modes(paths)).toEqual(new Set(['700']));
  expect(await modes(all)).toEqual(new Set(['600']));
  await daemon.terminate();
});

test('a secret that is written into a file that is there closes it to others', async () => {
  const { environment } = await openStage({ counts: { leads: 0, opportunities: 0, tasks: 0 } });
  const file = join(environment['STATE_DIR'] ?? '', '..', 'secret');
  await writeFile(file, 'an old one', { mode: 0o644 });
  await chmod(file, 0o644);
  keepSecret(file, 'a new one');
  expect([await readFile(file, 'utf8'), await modeOf(file)]).toEqual(['a new one', '600']);
});
