import { describe, expect, onTestFinished, test } from 'vitest';
import { spawnDaemon } from '../support/daemon-process.ts';
import { openDoctorStage, openLaidOutStage, sign } from '../support/doctor-stage.ts';

const limit = { timeout: 60_000 };

describe('doctor about what no document says of Google', limit, () => {
  test('shows what init found out of Google, and finds it out anew where it is told to', async () => {
    const stage = await openLaidOutStage();
    const found = async (probes: boolean) =>
      (await stage.diagnose({}, { probes })).checks.get('behaviour of Google');
    const shifted = /^found out on \d{4}-\d\d-\d\d\. .*Copies leave out rows that a filter hides and move/;
    expect(await found(false)).toMatchObject({ state: 'ok', found: expect.stringMatching(shifted) });
    await stage.choose({ hiddenRowCopy: 'copied' });
    const before = await stage.sheetWrites();
    expect(await found(false)).toMatchObject({ found: expect.stringMatching(shifted) });
    expect(await stage.sheetWrites()).toBe(before);
    expect((await found(true))?.found).toContain('Rows that a filter hides are copied like all others');
    expect((await found(false))?.found).toContain('Rows that a filter hides are copied like all others');
    const { code, output } = await stage.run(['doctor', '--probe']);
    expect(code).toBe(0);
    expect(output).toContain('10,000 cells take');
  });

  test('finds nothing out of Google while a daemon runs', async () => {
    const stage = await openLaidOutStage();
    const daemon = spawnDaemon(stage.environment);
    onTestFinished(async () => void (await daemon.kill()));
    await daemon.answers('/readyz');
    const found = async (probes: boolean) =>
      (await stage.diagnose({}, { probes })).checks.get('behaviour of Google');
    expect(await found(false)).toMatchObject({ state: 'skipped' });
    expect(await found(true)).toMatchObject({ state: 'failed', advice: 'Stop the daemon first.' });
  });

  test('says why nothing was found out of Google where init met another daemon', async () => {
    const stage = await openDoctorStage();
    await sign(stage, 'keeper', 'office-pc');
    const { output } = await stage.run(['init']);
    expect(output).toMatch(/What no document says of Google was not tried: A daemon \(host office-pc/);
    const { checks } = await stage.diagnose();
    expect(checks.get('behaviour of Google')).toMatchObject({
      state: 'skipped',
      found: expect.stringContaining('Not found out yet'),
    });
    const probed = (await stage.diagnose({}, { probes: true })).checks.get('behaviour of Google');
    expect(probed).toMatchObject({ state: 'warning', found: expect.stringContaining('stop it first') });
  });

  test('is preceded by one init that finds things out of Google, and the next one writes nothing', async () => {
    const stage = await openDoctorStage();
    expect((await stage.run(['init'])).output).toContain('was tried on a hidden tab');
    const before = await stage.sheetWrites();
    expect((await stage.run(['init'])).output).not.toContain('What no document says');
    expect(await stage.sheetWrites()).toBe(before);
  });

  test('goes on where the line to Google breaks while init tries things out', async () => {
    const stage = await openLaidOutStage();
    const { GOOGLE_API_ROOT_URL } = stage.environment;
    const failures = [{ kind: 'unavailable', when: 'before', on: 'write', times: 5 }];
    const body = JSON.stringify({ failures });
    await fetch(`${GOOGLE_API_ROOT_URL}/__sandbox/faults`, { method: 'POST', body });
    const elsewhere = { STATE_DIR: `${stage.environment['STATE_DIR']}-2` };
    const { code, output } = await stage.run(['init'], elsewhere);
    expect(output).toContain('was not found out, and init tries again: Could not write to the spreadsheet');
    expect(code).toBe(0);
  });
});
