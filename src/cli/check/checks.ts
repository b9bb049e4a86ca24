import type { Stage } from '../demo/demo-stage.ts';
import { firstFill, quietResync, requestLimit, sameAgain } from './at-rest.ts';
import { bothSides, sorting } from './both-sides.ts';
import { type Sides, startCheckRun } from './check.ts';
import { workInCrm } from './crm-person.ts';
import { crmToSheet } from './crm-to-sheet.ts';
import { viewDaemon } from './daemon-view.ts';
import { deletedRows, trashRecords } from './deletes.ts';
import { refusals } from './refusals.ts';
import { sitAtSheet } from './sheet-person.ts';
import { createdOnce, sheetToCrm } from './sheet-to-crm.ts';

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
  const run = startCheckRun(sides);
  await run.together([firstFill]);
  // A record counts as gone after two complete reads without it: that goes on while everything else does.
  const rowsGone = run.together([await trashRecords(sides)]);
  await run.together([...sheetToCrm, ...refusals]);
  await run.together([...crmToSheet, ...deletedRows]);
  await run.together(bothSides);
  await run.together(sorting);
  await rowsGone;
  await run.together([sameAgain]);
  await run.together([quietResync]);
  await run.together([createdOnce, requestLimit]);
  console.log(`${run.passed} passed, ${run.failed} failed`);
  return run.failed === 0;
}
