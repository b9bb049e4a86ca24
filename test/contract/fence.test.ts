import { describe, expect, onTestFinished, test } from 'vitest';
import { isSyncError } from '../../src/core/errors.ts';
import type { Crm } from '../../src/core/ports.ts';
import { textCell } from '../../src/sheet/port/cell.ts';
import { createCrmBench, timeoutMs } from '../support/crm-bench.ts';
import { openSandboxSheet } from '../support/sandbox-sheet.ts';
import { answerSuccess, startScriptedServer } from '../support/scripted-server.ts';
import { setStep, sheetLayout, titled, writeSteps } from '../support/table-steps.ts';

const lead = { entity: 'lead', id: '42' } as const;

const writes: readonly [string, (crm: Crm) => Promise<unknown>][] = [
  ['a create', (crm) => crm.createRecord('lead', { title: 'Anna' })],
  ['an update', (crm) => crm.updateRecord(lead, { title: 'Anna' })],
  ['a delete', (crm) => crm.deleteRecord(lead)],
];

/** A client whose right to write lasts for so long, and what arrives from it. */
async function serveCrm(sureMs: () => number) {
  const methods: string[] = [];
  const server = await startScriptedServer((response, request) => {
    methods.push(request.method);
    answerSuccess(response, { id: 42, title: 'Anna' });
  });
  onTestFinished(() => server.close());
  return { methods, ...createCrmBench(server.baseUrl, { fence: { sureMs } }) };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (isSyncError(error) ? error.code : String(error)),
  );

describe('the CRM', () => {
  test.each(writes)('is not sent %s when it is not sure that nobody else runs the link', async (_, write) => {
    const { crm, methods } = await serveCrm(() => 0);
    expect(await codeOf(write(crm))).toBe('LEASE_ENDED');
    expect(methods).toEqual([]);
  });

  test('is read all the same', async () => {
    const { crm, methods } = await serveCrm(() => 0);
    expect(await codeOf(crm.getRecord(lead, 'edit'))).toBe('done');
    expect(methods).toEqual(['GET']);
  });

  test('is written as long as that is sure, looked at anew for every write', async () => {
    const sure = [timeoutMs, 0];
    const { crm, methods } = await serveCrm(() => sure.shift() ?? 0);
    expect(await codeOf(crm.createRecord('lead', { title: 'Anna' }))).toBe('done');
    expect(await codeOf(crm.createRecord('lead', { title: 'Anna' }))).toBe('LEASE_ENDED');
    expect(methods).toEqual(['POST']);
  });

  test('is given up on when the right to write ends before the answer', async () => {
    const server = await startScriptedServer(() => undefined);
    onTestFinished(() => server.close());
    const { clock, crm } = createCrmBench(server.baseUrl, { fence: { sureMs: () => 5_000.5 } });
    const end = codeOf(crm.createRecord('lead', { title: 'Anna' }));
    await server.arrived(1);
    await clock.advance(5_000);
    expect(await end).toBe('CRM_UNKNOWN_OUTCOME');
  });
});

describe('the sheet', () => {
  test('is read, and not written when it is not sure that nobody else runs the link', async () => {
    const sheet = await openSandboxSheet();
    onTestFinished(() => sheet.close());
    await sheet.fill('1');
    let sureMs = 0;
    const table = sheet.openTable(undefined, undefined, { sureMs: () => sureMs });
    const write = async () => {
      await table.read(sheetLayout);
      return writeSteps(table, [setStep(1, textCell('1'), titled('Fenced'))]);
    };
    expect(await codeOf(write())).toBe('LEASE_ENDED');
    expect(await sheet.titlesById()).toEqual({ 1: 'Title 1' });
    sureMs = 8_000.25;
    expect(await codeOf(write())).toBe('done');
    expect(await sheet.titlesById()).toEqual({ 1: 'Fenced' });
  });
});
