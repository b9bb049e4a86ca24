import { expect } from 'vitest';
import { pushRecord } from '../../src/sync/pushing/push.ts';
import type { LinkStage } from './link-stage.ts';
import type { SheetEngine } from './sheet-engine.ts';

/** Some cycles, and what they send to the CRM. */
export async function goOn({ link }: LinkStage, engine: SheetEngine) {
  for (const _cycle of Array.from({ length: 6 })) {
    await engine.cycle();
    for (const { key } of link.mirror.readOutbox()) await pushRecord(link, key);
  }
}

/** Expects the sheet to show the leads of the CRM, and returns the id and title of each. */
export async function expectEqualSides(stage: LinkStage) {
  const crm = (await stage.readCrm()).leads.map(({ id, title }) => [id, title]);
  const sheet = (await stage.readSheet())['Leads']?.map(({ ID, Title }) => [ID, Title]);
  expect(sheet?.toSorted()).toEqual(crm.toSorted());
  return crm;
}
