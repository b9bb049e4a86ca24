import { describe, expect, test } from 'vitest';
import { spawnCommand } from '../support/daemon-process.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 120_000 };

describe('init', limit, () => {
  test('matches rows that were there before, shows what it would write, and writes it when told to', async () => {
    const stage = await openStage({ counts: { leads: 5, opportunities: 0, tasks: 0 } });
    const { leads } = await readCrm(stage.addresses.crmUrl);
    const titles = [...leads.map(({ title }) => title), 'Known to nobody'];
    await stage.editSheet({
      kind: 'paste',
      sheet: 'Leads',
      row: 1,
      column: 'Title',
      rows: titles.map((title) => [title]),
    });
    await stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Created', text: '2019-05-01' });
    const before = await stage.runCommand('init');
    expect(before).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('Leads: 6 rows have no ID.'),
    });
    expect(before.stdout).toContain(
      'Leads: the column “Created” will show what the CRM has, and 1 cells are filled there.',
    );
    const shown = await stage.runCommand('init', '--match-by', 'Title');
    expect(shown).toMatchObject({ code: 3, stderr: '' });
    expect(shown.stdout).toContain('0 rows have the ID of a record, 5 would get one, 1 are not clear.');
    expect(shown.stdout).toContain('row 7: No record of the CRM has Title “Known to nobody”.');
    expect(await shownIds(stage)).toEqual(titles.map(() => undefined));

    const daemon = await stage.startDaemon();
    await daemon.answers('/readyz');
    expect((await stage.runCommand('status')).stdout).toContain('brake:lead:first');
    await daemon.terminate();
    expect(await shownIds(stage)).toEqual(titles.map(() => undefined));

    const written = await stage.runCommand('init', '--match-by', 'Title', '--yes');
    expect(written).toMatchObject({ code: 3, stdout: expect.stringContaining('5 have got one') });
    expect(await shownIds(stage)).toEqual([...leads.map(({ id }) => id), undefined]);
    await stage.startDaemon();
    const agree = async () => (await stage.runCommand('answer', 'brake:lead:first', 'approve')).code === 0;
    await until('the row that is not clear is approved', agree);
    await stage.agreed();
    expect(stage.crmRequests().filter(({ method }) => method !== 'GET')).toHaveLength(1);
  });

  test('says of each tab what waits there before the daemon starts with another state directory', async () => {
    const stage = await openStage({ counts: { leads: 5, opportunities: 2, tasks: 3 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    await daemon.terminate();
    const elsewhere = { ...stage.environment, STATE_DIR: `${stage.environment['STATE_DIR']}-2` };
    const { stdout } = await spawnCommand(['init', '--plan'], elsewhere).ended;
    for (const [title, rows] of Object.entries({ Leads: 5, Opportunities: 2, Tasks: 3 }))
      expect(stdout).toMatch(
        new RegExp(`waits for you in the tab ${title}: The mirror is new.* ${rows} rows are equal`),
      );
  });

  test('says which daemon keeps the spreadsheet already', async () => {
    const stage = await openStage({ counts: { leads: 2, opportunities: 0, tasks: 0 } });
    const daemon = await stage.startDaemon();
    await stage.agreed();
    const elsewhere = { ...stage.environment, STATE_DIR: `${stage.environment['STATE_DIR']}-2` };
    const init = async () => (await spawnCommand(['init'], elsewhere).ended).stdout;
    expect(await init()).toMatch(
      /^Another daemon \(host \S+, process \d+, since \S+\) keeps this spreadsheet/m,
    );
    await daemon.terminate();
    expect(await init()).not.toContain('Another daemon');
  });

  const shownIds = async ({ addresses }: ProcessStage) =>
    (await readSheet(addresses))['Leads']?.map(({ ID }) => ID);
});
