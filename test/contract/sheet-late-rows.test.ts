import { expect, onTestFinished, test } from 'vitest';
import type { Receipt } from '../../src/core/open-write.ts';
import type { LineAnswer } from '../support/crm-line.ts';
import { openSandboxSheet } from '../support/sandbox-sheet.ts';
import { hearSheet } from '../support/sheet-line.ts';
import { appendStep, sheetLayout, titled } from '../support/table-steps.ts';

/** So many rows with titles of the greatest length are more than one request. */
const ids = Array.from({ length: 45 }, (_, index) => String(index + 1));
const steps = ids.map((id) => appendStep(id, titled(id.padEnd(50_000, '.'))));

/** A sheet whose write of several parts gets no reply for the second one, which is held. */
async function openHalved() {
  const sheet = await openSandboxSheet();
  onTestFinished(() => sheet.close());
  const heard = await hearSheet(sheet);
  onTestFinished(() => heard[Symbol.asyncDispose]());
  const { table } = heard;
  await table.layOut(sheetLayout, 'create');
  await table.read(sheetLayout);
  let parts = 0;
  let land = async (): Promise<LineAnswer | undefined> => undefined;
  heard.intercept(async ({ url }, passOn) => {
    if (!url.includes(':batchUpdate')) return passOn();
    parts += 1;
    if (parts === 1) return passOn();
    land = passOn;
    return undefined;
  });
  const receipt = table.prepare(steps, 'w1', []);
  const written = table.write(receipt, () => undefined);
  await expect(written).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  return { land: () => land(), parts: () => parts, table, receipt };
}

type Halved = Awaited<ReturnType<typeof openHalved>>;

async function recover({ table }: Halved, receipt: Receipt, mayLand: boolean) {
  const { tabs } = await table.read(sheetLayout);
  const rows = tabs.lead.state === 'read' ? tabs.lead.rows.length : 0;
  return { rows, isOver: (await table.recover(receipt, () => undefined, mayLand))?.isOver };
}

test('new rows of which a part has landed may still come, as long as the write may land', async () => {
  const halved = await openHalved();
  const { land, receipt } = halved;
  const first = await recover(halved, receipt, true);
  expect(halved.parts()).toBe(2);
  expect(first.rows).toBeGreaterThan(0);
  expect(first.rows).toBeLessThan(ids.length);
  expect(first.isOver).toBe(false);
  expect((await recover(halved, receipt, false)).isOver).toBe(true);
  await land();
  expect(await recover(halved, receipt, true)).toEqual({ rows: ids.length, isOver: true });
});

test('a new row below columns that moved is undone once', async () => {
  const sheet = await openSandboxSheet();
  onTestFinished(() => sheet.close());
  await sheet.fill('1', '2');
  const heard = await hearSheet(sheet);
  onTestFinished(() => heard[Symbol.asyncDispose]());
  const { table } = heard;
  await table.read(sheetLayout);
  const receipt = table.prepare([appendStep('3', titled('Third'))], 'w1', []);
  await sheet.setFaults({
    beforeNextWrite: [{ kind: 'insertColumns', sheet: 'Leads', column: 'ID', count: 1 }],
    failures: [{ kind: 'cut', when: 'after' }],
  });
  const written = table.write(receipt, () => undefined);
  await expect(written).rejects.toMatchObject({ code: 'SHEET_UNREACHABLE' });
  await table.read(sheetLayout);
  const result = await table.recover(receipt, () => undefined, true);
  expect(result).toMatchObject({ undone: [{ kind: 'added' }], escalated: [], isOver: true });
});
