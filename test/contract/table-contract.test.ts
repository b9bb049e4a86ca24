import { afterEach, beforeEach, describe } from 'vitest';
import { openGoogleStage } from '../support/google-stage.ts';
import { openMemoryStage } from '../support/memory-stage.ts';
import { answersOfGoogle, polled } from '../support/sandbox-sheet.ts';
import type { OpenStage, TableStage } from '../support/table-stage.ts';
import { describeLateWrites } from './table-contract/late-writes.ts';
import { describeLayOut } from './table-contract/lay-out.ts';
import { describeMarks } from './table-contract/marks.ts';
import { describeMeetings } from './table-contract/meetings.ts';
import { describeReads } from './table-contract/reads.ts';
import { describeWrites } from './table-contract/writes.ts';

const parts = [
  describeReads,
  describeWrites,
  describeMeetings,
  describeLateWrites,
  describeMarks,
  describeLayOut,
];

/** What every implementation of the port `Table` has to do. */
function runTableContract(open: OpenStage): void {
  let stage: TableStage;
  beforeEach(async () => {
    stage = await open();
  });
  afterEach(() => stage.close());
  for (const part of parts) part(() => stage);
}

describe('a table in memory', () => runTableContract(openMemoryStage));

describe.each(answersOfGoogle)('a Google sheet, where Google $name,', ({ choices }) =>
  runTableContract(() => openGoogleStage(choices)),
);

describe('a Google sheet of which only what changed is read in full', () =>
  runTableContract(() => openGoogleStage({}, polled)));
