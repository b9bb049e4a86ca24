import { expect, test } from 'vitest';
import { z } from 'zod';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { readCrm, readSheet } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const planShape = z.object({ id: z.string(), table: z.array(z.unknown()), restlessRows: z.number() });

/** Asks for plans until one is as it is waited for; answers its id and the exit code. */
const planned = (stage: ProcessStage, what: string, isRight: (text: string) => boolean) =>
  until(what, async () => {
    const { code, stdout } = await stage.runCommand('plan', '--json');
    const { id, restlessRows } = planShape.parse(JSON.parse(stdout));
    return restlessRows === 0 && isRight(stdout) && { id, code };
  });

test('an operator sees each plan before it is done, and settles a conflict, by commands alone', async () => {
  const counts = { leads: 3, opportunities: 0, tasks: 0 };
  const stage = await openStage({ counts, tabs: { leads: { conflict: 'ask' } }, writes: 'manual' });
  const daemon = await stage.startDaemon();
  await daemon.answers('/readyz');
  const fill = await planned(stage, 'the first fill is planned', (text) => text.includes('append'));
  expect(fill.code).toBe(0);
  expect((await readSheet(stage.addresses))['Leads']).toEqual([]);
  expect(await stage.runCommand('apply', fill.id)).toMatchObject({ code: 0, stderr: '' });
  await stage.agreed();
  const [lead] = (await readCrm(stage.addresses.crmUrl)).leads.toSorted((left, right) => left.id - right.id);
  const rename = (text: string) =>
    stage.editSheet({ kind: 'edit', sheet: 'Leads', row: 1, column: 'Title', text });
  await rename('Of the sheet');
  const edit = await planned(stage, 'the edit is planned', (text) => text.includes('"title":"Of the sheet"'));
  await stage.editCrm(`/leads/${lead?.id}`, { title: 'Of the CRM' });
  const conflict = await planned(stage, 'the conflict is seen', (text) =>
    text.includes('"crm":"Of the CRM"'),
  );
  expect(conflict.code).toBe(3);
  const refused = await stage.runCommand('apply', edit.id);
  expect(refused).toMatchObject({ code: 3, stderr: '' });
  expect(refused.stdout).toContain(`lead-${lead?.id} title in the CRM: planned`);

  const listed = await stage.runCommand('status');
  expect(listed).toMatchObject({ code: 3, stderr: '' });
  expect(listed.stdout).toContain('CRM has: Of the CRM');
  expect(listed.stdout).toMatch(/; 1 thing waits for you\.\n/);
  expect(listed.stdout).toContain(`answer lead-${lead?.id} title crm|sheet`);
  const name = `lead-${lead?.id}`;
  expect((await stage.runCommand('answer', name, 'title', 'mine')).code).toBe(2);
  expect(await stage.runCommand('answer', name, 'Title', '--value', '')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Title can not be empty.'),
  });
  expect(await stage.runCommand('answer', String(lead?.id), 'Title', 'sheet')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('with manual writes, once the next plan is applied'),
    stderr: '',
  });
  const settled = await planned(stage, 'the answer is planned', (text) => text.includes('"conflicts":[]'));
  expect(await stage.runCommand('apply', settled.id)).toMatchObject({ code: 0, stderr: '' });
  const { shown } = await stage.agreed();
  expect(shown['Leads']?.map(({ Title }) => Title)).toContain('Of the sheet');
  // The plan that was applied is the last one until the next is made.
  await expect
    .poll(() => stage.runCommand('status'), { timeout: 60_000 })
    .toMatchObject({ code: 0, stdout: expect.stringMatching(/^In step since [^;]*\.$/m) });
}, 240_000);
