import type { CrmUsage } from '../../sandbox/crm/access.ts';
import type { Stage } from '../demo/demo-stage.ts';
import { isMissing } from '../demo/demo-warehouse.ts';
import { type Analyst, readWarehouse } from './analyst.ts';
import { deletedRow, differentFields, sameField, sortedRows, trashRecords } from './both-sides.ts';
import type { Check, Sides } from './check.ts';
import { workInCrm } from './crm-person.ts';
import { crmToSheet } from './crm-to-sheet.ts';
import { crmToWarehouse, trashedRow } from './crm-to-warehouse.ts';
import { viewDaemon } from './daemon-view.ts';
import { demand, waitUntil } from './expect.ts';
import { waitUntilSidesAgree } from './expected-rows.ts';
import { warehouseFilled, warehouseSame } from './expected-warehouse.ts';
import { sitAtSheet } from './sheet-person.ts';
import { createdOnce, refusals, sheetToCrm } from './sheet-to-crm.ts';
import { sqlToCrm } from './sql-to-crm.ts';

const firstFill: Check = {
  name: 'an empty sheet is filled: three tabs, every record, every cell right',
  run: waitUntilSidesAgree,
};

const sameAgain: Check = {
  name: 'after all of it both sides are the same, cell by cell',
  async run(sides) {
    await waitUntilSidesAgree(sides);
    await waitUntil(async () => {
      const { tabs, problems } = await sides.daemon.status();
      const pending = tabs.reduce((sum, tab) => sum + tab.pending, 0);
      if (problems[0]) return `The daemon has a problem: ${problems[0].message}`;
      return pending === 0 ? undefined : `${pending} changes are still pending`;
    });
  },
};

const quietResync: Check = {
  name: 'a second resync reads everything again and writes nothing',
  async run({ daemon }) {
    const first = await daemon.resync();
    demand('the first resync', first.problem ?? first.state, 'done');
    const { state, tableSteps, crmWrites, problem } = await daemon.resync();
    demand('the second resync', problem ?? state, 'done');
    demand('what it wrote', { tableSteps, crmWrites }, { tableSteps: 0, crmWrites: 0 });
  },
};

const requestLimit: Check = {
  name: 'the CRM never counted more than 100 requests in any minute, and refused none',
  async run({ crmOrigin }) {
    const response = await fetch(`${crmOrigin}/__sandbox/usage`);
    const { requestsPerWindow, keys } = (await response.json()) as CrmUsage;
    const [usage] = Object.values(keys);
    demand('the limit', requestsPerWindow, 100);
    demand('refused requests', usage?.refused, 0);
    if (usage === undefined || usage.largestWindow > requestsPerWindow)
      throw new Error(`The largest window had ${usage?.largestWindow} requests.`);
  },
};

const nameWidth = 90;

/** Makes checks of the warehouse; none where the demo goes without. */
function checkWarehouse({ warehouse }: Stage) {
  const analyst = isMissing(warehouse) ? undefined : readWarehouse(warehouse.pageUrl);
  return (make: (analyst: Analyst) => Check | readonly Check[]): readonly Check[] =>
    analyst ? [make(analyst)].flat() : [];
}

/**
 * Works on all sides of a running demo as people do, and sees whether the others follow. Prints one
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
  const inWarehouse = checkWarehouse(stage);
  await together([firstFill, ...inWarehouse(warehouseFilled)]);
  // A record counts as gone after two complete reads without it: that goes on while everything else does.
  const rowsGone = together([await trashRecords(sides), ...inWarehouse(trashedRow)]);
  await together([...sheetToCrm, ...refusals]);
  await together([...crmToSheet, deletedRow, ...inWarehouse(crmToWarehouse)]);
  await together([differentFields, sameField, ...inWarehouse(sqlToCrm)]);
  await together([sortedRows]);
  await rowsGone;
  await together([sameAgain, ...inWarehouse(warehouseSame)]);
  await together([quietResync]);
  await together([createdOnce, requestLimit]);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0;
}
