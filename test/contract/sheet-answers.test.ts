import { afterEach, beforeEach, expect, test } from 'vitest';
import { textCell } from '../../src/core/cell.ts';
import {
  openSandboxSheet,
  type SandboxSheet,
  setStep,
  sheetLayout,
  titled,
} from '../support/sandbox-sheet.ts';
import { type HeardSheet, hearSheet } from '../support/sheet-line.ts';

let sheet: SandboxSheet;
let heard: HeardSheet;

beforeEach(async () => {
  sheet = await openSandboxSheet();
  await sheet.fill('1', '2');
  heard = await hearSheet(sheet);
});

afterEach(async () => {
  await heard[Symbol.asyncDispose]();
  await sheet.close();
});

test('every request to Google asks for an answer without indentation', async () => {
  const { probe, table } = heard;
  await table.layOut(sheetLayout, 'create');
  await table.read(sheetLayout);
  const steps = [setStep(1, textCell('1'), titled('Changed'))];
  const keeping = { run: 'w1', from: 0 };
  await table.write(steps, keeping);
  await table.read(sheetLayout);
  await table.recall({ keeping, places: table.places(), steps: new Map(steps.entries()) });
  await probe.look();
  for (const tab of sheetLayout) await probe.lookAtTab(tab);
  const requests = heard.takeRequests();
  const asked = requests.map(({ url }) => new URL(url, 'http://sheet').searchParams.get('prettyPrint'));
  expect(new Set(asked)).toEqual(new Set(['false']));
  expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET', 'POST']));
});
