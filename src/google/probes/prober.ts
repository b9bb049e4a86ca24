import { isSyncError } from '../../core/errors.ts';
import { describeInstance, type Instance } from '../../sheet/port/instance.ts';
import { tabFields } from '../chosen-tabs.ts';
import { createSheetsClient, type Request, type SheetsClient } from '../client.ts';
import { marksIn } from '../marks.ts';
import { cellsMax, countCells } from '../room.ts';
import type { GoogleSheetOptions } from '../table.ts';
import { findStranger, type Owner, readTagged, type TaggedSpreadsheet } from '../tabs.ts';
import { type Found, type KeptAnswers, names, type UnknownName, unknowns } from './answers.ts';
import { measureCell } from './read-time.ts';
import { makeScratch, removeScratch, scratchId, scratchSize, scratchTitle } from './scratch.ts';
import { findOut, type Unknown } from './unknown.ts';

/** `notAsked`: nothing was written, and why. */
export type ProbeOutcome =
  | { readonly state: 'notAsked'; readonly reason: string }
  | ({ readonly state: 'asked'; readonly isTabLeft: boolean } & KeptAnswers);

export interface ProberOptions extends GoogleSheetOptions {
  /** True if it is proved that a daemon that has left its mark has ended. */
  readonly isOver: (instance: Instance) => boolean;
}

/**
 * Finds out what no document says of Google, on a scratch tab that is gone in the end: nine requests. Errors are `SyncError`s with a SHEET_
 * code; then nothing was found out.
 */
export async function probeGoogle(options: ProberOptions): Promise<ProbeOutcome> {
  const { clock, log } = options;
  const client = createSheetsClient(options);
  const spreadsheet = readTagged((await client.get(tabFields)) ?? {});
  const reason = findObstacle(spreadsheet, options, options.isOver);
  if (reason !== undefined) return { state: 'notAsked', reason };
  const remove = () => send(client, [removeScratch]);
  let found: Found;
  try {
    await send(client, [...(hasScratch(spreadsheet) ? [removeScratch] : []), ...makeScratch()]);
    // First, because others move rows.
    found = { cellMicros: await measureCell(client, clock) };
    for (const name of names) found = { ...found, ...(await answerOf(client, name)) };
  } catch (error) {
    // It may be there also where no reply came, or not at all. One that stays is removed by the next run.
    await remove().catch((other: unknown) =>
      log.warn('sheet.probe_tab_not_removed', { code: codeOf(other) }),
    );
    throw error;
  }
  const isTabLeft = await remove().then(
    () => false,
    (error: unknown) => {
      log.warn('sheet.probe_tab_not_removed', { code: codeOf(error) });
      return true;
    },
  );
  return { state: 'asked', isTabLeft, at: clock.now(), found };
}

const send = (client: SheetsClient, requests: readonly Request[]) =>
  client.batchUpdate(requests, 'sheets.properties.sheetId', []);

async function answerOf(client: SheetsClient, name: UnknownName): Promise<Found> {
  const one: Unknown<string> = unknowns[name];
  const answer = await findOut(client, one);
  return answer === undefined ? {} : { [name]: answer };
}

function codeOf(error: unknown): string {
  if (isSyncError(error)) return error.code;
  throw error;
}

const hasScratch = ({ grids }: TaggedSpreadsheet): boolean =>
  grids.some(({ sheetId, title }) => sheetId === scratchId && title === scratchTitle);

/** Why nothing is tried in a spreadsheet. */
function findObstacle(
  spreadsheet: TaggedSpreadsheet,
  owner: Owner,
  isOver: ProberOptions['isOver'],
): string | undefined {
  const { grids, link, marks } = spreadsheet;
  const stranger = findStranger(spreadsheet, owner);
  if (stranger !== undefined) return stranger;
  if (!link) return 'The spreadsheet was not laid out yet: run init first.';
  const { keeper } = marksIn(marks);
  if (keeper && !isOver(keeper.instance))
    return `A daemon (${describeInstance(keeper.instance)}) keeps the spreadsheet: stop it first.`;
  // Who has made something of a tab that an earlier run has left is to keep it.
  const taken = grids.find(({ sheetId, title }) => (sheetId === scratchId) !== (title === scratchTitle));
  if (taken) return `The tab “${taken.title}” is in the way: delete it.`;
  const cells = countCells(grids);
  const needed = hasScratch(spreadsheet) ? 0 : countCells([scratchSize]);
  if (cells + needed <= cellsMax) return undefined;
  return `The spreadsheet has ${cells} cells, and trying needs ${needed} more: it may have ${cellsMax}.`;
}
