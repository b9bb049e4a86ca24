import { copyFile, cp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };
const counts = { leads: 12, opportunities: 0, tasks: 0 };

const statusShape = z.object({
  brakes: z.array(z.object({ scope: z.string(), reason: z.string() })),
  conflicts: z.array(z.object({ field: z.string(), crm: z.unknown(), table: z.unknown() })),
});

async function readStatus(stage: ProcessStage) {
  const { stdout } = await stage.runCommand('status', '--json');
  return statusShape.parse(JSON.parse(stdout));
}

const stateOf = (stage: ProcessStage) => stage.environment['STATE_DIR'] ?? '';

async function loseMirror(stage: ProcessStage): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(join(stateOf(stage), `mirror.db${end}`), { force: true });
}

async function restoreBackup(stage: ProcessStage): Promise<void> {
  const directory = join(stateOf(stage), 'backups');
  const [backup = ''] = await readdir(directory);
  await loseMirror(stage);
  await copyFile(join(directory, backup), join(stateOf(stage), 'mirror.db'));
}

/** Resolves with the reason once the tab of leads waits for a person to agree. */
const rebaseAsked = (stage: ProcessStage, words: RegExp) =>
  until('the brake holds', async () => {
    const { brakes } = await readStatus(stage);
    return brakes.find(({ scope, reason }) => scope === 'brake:lead:rebase' && words.test(reason))?.reason;
  });

const copyOf = (stage: ProcessStage) => `${stateOf(stage)}-copy`;

/** As a snapshot of the disk does it while the daemon runs. */
const copyByHand = (stage: ProcessStage) => cp(stateOf(stage), copyOf(stage), { recursive: true });

async function putCopyBack(stage: ProcessStage): Promise<void> {
  await rm(stateOf(stage), { recursive: true });
  await rename(copyOf(stage), stateOf(stage));
}

describe('a mirror that knows less than the sheet', limit, () => {
  test.each<[string, (stage: ProcessStage) => Promise<void>, RegExp]>([
    ['is a backup', restoreBackup, /is a copy from .* 10 rows are equal on both sides, 2 differ/],
    ['was lost', loseMirror, /is new, but rows have IDs: the sheet was synced before.* 10 rows are equal/],
    [
      'is an old copy of the files',
      putCopyBack,
      /does not know the last write to the sheet.* 10 rows are equal .*, 2 differ/,
    ],
  ])(
    'faults 60 and 61: because it %s writes nothing before a person agrees, and then overwrites nothing',
    async (_, spoil, words) => {
      const stage = await openStage({ counts });
      const first = await stage.startDaemon();
      await stage.agreed();
      expect(await stage.runCommand('backup')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('backups'),
      });
      await copyByHand(stage);
      const [one, two] = (await readCrm(stage.addresses.crmUrl)).leads;
      await stage.editSheet({
        kind: 'edit',
        sheet: 'Leads',
        row: 1,
        column: 'Title',
        text: 'Typed after the backup',
      });
      await stage.agreed();
      await first.terminate();
      await spoil(stage);
      await stage.editCrm(`/leads/${one?.id}`, { title: 'Changed meanwhile' });
      await stage.editCrm(`/leads/${two?.id}`, { title: 'Changed as well' });
      const before = await readSheet(stage.addresses);
      await stage.startDaemon();
      await rebaseAsked(stage, words);
      expect(await readSheet(stage.addresses)).toEqual(before);
      expect(await stage.runCommand('answer', 'brake:lead:rebase', 'approve')).toMatchObject({ code: 0 });
      const { conflicts } = await until('the differences wait', async () => {
        const status = await readStatus(stage);
        return status.brakes.length === 0 && status.conflicts.length === 2 && status;
      });
      expect(conflicts).toContainEqual({
        field: 'title',
        crm: 'Changed meanwhile',
        table: 'Typed after the backup',
      });
      for (const lead of [one, two])
        await stage.runCommand('answer', `conflict:lead-${lead?.id}:title`, 'crm');
      await stage.agreed();
    },
  );
});

test('a backup is made of a stopped daemon as well', limit, async () => {
  const stage = await openStage({ counts });
  const { code, stdout } = await stage.runCommand('backup');
  expect(code).toBe(0);
  const [backup = ''] = await readdir(join(stateOf(stage), 'backups'));
  expect(stdout).toContain(backup);
});

test('a backup of a state directory without a mirror is refused, and makes none', limit, async () => {
  const stage = await openStage({ counts });
  await rm(stateOf(stage), { recursive: true });
  const { code, stdout, stderr } = await stage.runCommand('backup');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`There is no mirror in ${stateOf(stage)}`);
  await expect(readdir(stateOf(stage))).rejects.toThrow('ENOENT');
});
