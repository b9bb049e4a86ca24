import type { Stage } from '../demo/demo-stage.ts';
import { firstFill, quietResync, requestLimit, sameAgain } from './at-rest.ts';
import { deletedRow, differentFields, sameField, sortedRows, trashRecords } from './both-sides.ts';
import type { Check, Sides } from './check.ts';
import { workInCrm } from './crm-person.ts';
import { crmToSheet } from './crm-to-sheet.ts';
import { viewDaemon } from './daemon-view.ts';
import { sitAtSheet } from './sheet-person.ts';
import { createdOnce, refusals, sheetToCrm } from './sheet-to-crm.ts';

const nameWidth = 90;

/**
 * Works on both sides of a running demo as people do, and sees whether the other side follows. Prints one
 * line per check, and at the end how many passed. Answers whether all did.
 */
export async function runChecks(stage: Stage): Promise<boolean> {
  const crmOrigin = new URL(stage.crm.baseUrl).origin;
  const sides: Sides = {
    sheet: sitAtSheet(stage.sheets.rootUrl, stage.sheets.spreadsheetId),
    crm: workInCrm(crmOrigin),
    daemon: viewDaemon(stage.environment),
    crmOrigin,
  };
  const counts = { passed: 0, failed: 0 };
  async function runOne({ name, run }: Check): Promise<void> {
    const startedAt = Date.now();
    const line = (mark: string) =>
      `${mark} ${name.padEnd(nameWidth)} ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`;
    try {
      await run(sides);
      counts.passed += 1;
      console.log(line('✓'));
    } catch (error) {
      counts.failed += 1;
      console.log(`${line('✗')}\n    ${error instanceof Error ? error.message : error}`);
    }
  }
  const together = (checks: readonly Check[]) => Promise.all(checks.map(runOne));
  await together([firstFill]);
  // A record counts as gone after two complete reads without it: that goes on while everything else does.
  const rowsGone = together([await trashRecords(sides)]);
  await together([...sheetToCrm, ...refusals]);
  await together([...crmToSheet, deletedRow]);
  await together([differentFields, sameField]);
  await together([sortedRows]);
  await rowsGone;
  await together([sameAgain]);
  await together([quietResync]);
  await together([createdOnce, requestLimit]);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0;
}
