import type { Range, SheetsClient, Spreadsheet as SpreadsheetAnswer } from '../../src/google/client.ts';
import { isUnknownRange, sheetError } from '../../src/google/errors.ts';
import { gridFields } from '../../src/google/grid.ts';
import type { Choices } from '../../src/sandbox/sheets/control/choices.ts';
import { addSpreadsheet, createDocuments, type StoredFile } from '../../src/sandbox/sheets/documents.ts';
import { type PersonActionInput, personAction } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { createQuota, GOOGLE_QUOTA } from '../../src/sandbox/sheets/quota.ts';
import { createSandbox, performActions, type Sandbox } from '../../src/sandbox/sheets/sandbox.ts';
import { findOperation } from '../../src/sandbox/sheets/sheets-api.ts';
import { createSheet, draftOf, type Spreadsheet } from '../../src/sandbox/sheets/spreadsheet.ts';
import { GoogleError } from '../../src/sandbox/sheets/wire/google-error.ts';
import { isJsonObject } from '../../src/sandbox/sheets/wire/json.ts';
import { runOf } from './accidents.ts';
import type { Wire } from './wire.ts';

export interface SheetWatcher {
  /** Told of every read of the daemon as it arrives: of the table, or of what a write without a reply did. */
  read(what: 'table' | 'other'): void;
  /** Returns the moment of the look that a write of a run comes from, as it is sent. */
  sent(run: string | undefined): number;
  /** Told when a user has changed something. */
  acted(): void;
  /** Told of what every write of the daemon made of the spreadsheet, and whether rows were deleted by it. */
  wrote(before: Spreadsheet, after: Spreadsheet, hasDeleted: boolean, readAt: number): void;
}

export interface SpreadsheetOptions {
  readonly seed: number;
  readonly choices: Choices;
  readonly now: () => number;
  readonly tell: (text: () => string) => void;
  readonly watcher: SheetWatcher;
}

/** A spreadsheet of the emulator without a server: people act on it at once, the daemon's requests travel on a wire. */
export interface SimulatedSpreadsheet {
  readonly file: StoredFile;
  readonly sandbox: Sandbox;
  readonly current: () => Spreadsheet;
  /** Does what a person does, all of it or nothing; answers whether the emulator allows it. */
  act(actions: readonly PersonActionInput[]): boolean;
  connect(wire: Wire): SheetsClient;
  /** How many writes of the daemon arrived, without those that only say that it lives. */
  readonly writes: () => number;
}

export const sheetIds = { lead: 1, task: 2, other: 3 } as const;

/** Small, because every read carries the whole grid. */
const gridSize = { rowCount: 12, columnCount: 9 };

export function openSpreadsheet({
  seed,
  choices,
  now,
  tell,
  watcher,
}: SpreadsheetOptions): SimulatedSpreadsheet {
  const file = addSpreadsheet(createDocuments(seed), { title: 'Agency', spreadsheetId: 'agency' }, now());
  const draft = { ...draftOf(file.spreadsheet), choices };
  draft.sheets = [
    createSheet(sheetIds.lead, 'Leads', gridSize),
    createSheet(sheetIds.task, 'Tasks', gridSize),
    createSheet(sheetIds.other, 'Notes', { rowCount: 3, columnCount: 3 }),
  ];
  file.spreadsheet = draft;
  const documents = createDocuments(seed);
  const sandbox = createSandbox(documents, createQuota(GOOGLE_QUOTA), now);
  let writes = 0;

  const call = (method: string, verb: string, query: URLSearchParams, body: unknown) => {
    const operation = findOperation(method, `/v4/spreadsheets/agency${verb}`)?.operation;
    if (!operation) throw new Error(`There is no ${method} ${verb}.`);
    const { nextId } = documents.ids;
    const { spreadsheet } = file;
    const findSpreadsheet = () => undefined;
    return operation.run({ spreadsheet, item: '', query, body, nextId, nowMs: now(), findSpreadsheet });
  };

  let last:
    | { readonly of: Spreadsheet; readonly asked: string; readonly answer: SpreadsheetAnswer }
    | undefined;

  /** While nobody writes, the answer is the same: a client sees that, and so the same object. */
  const read = (fields: string, ranges: readonly Range[]): SpreadsheetAnswer => {
    const asked = JSON.stringify([fields, ranges]);
    if (last?.of !== file.spreadsheet || last.asked !== asked)
      last = { of: file.spreadsheet, asked, answer: readAnew(fields, ranges) };
    return last.answer;
  };

  const readAnew = (fields: string, ranges: readonly Range[]): SpreadsheetAnswer => {
    const query = new URLSearchParams({ fields });
    const areas = ranges.filter((range) => typeof range !== 'string');
    if (areas.length > 0) {
      const dataFilters = areas.map((gridRange) => ({ gridRange }));
      return call('POST', ':getByDataFilter', query, { dataFilters }).answer;
    }
    for (const range of ranges) query.append('ranges', String(range));
    return call('GET', '', query, undefined).answer;
  };

  const get = async (
    wire: Wire,
    fields: string,
    ranges: readonly Range[],
    what: Parameters<SheetWatcher['read']>[0],
  ) => {
    try {
      const serve = () => {
        watcher.read(what);
        return asGoogle(() => read(fields, ranges));
      };
      return await wire.send('sheet read', serve, hangUp);
    } catch (error) {
      if (ranges.length > 0 && isUnknownRange(error)) return undefined;
      throw sheetError(error, 'read the spreadsheet');
    }
  };

  const write = (
    requests: readonly object[],
    fields: string,
    responseRanges: readonly string[],
    readAt: number,
  ): SpreadsheetAnswer => {
    tell(() => `written to the sheet: ${JSON.stringify(requests)}`);
    const query = new URLSearchParams({ fields: `updatedSpreadsheet(${fields})` });
    const whole = { includeSpreadsheetInResponse: true, responseIncludeGridData: true };
    const before = file.spreadsheet;
    const { answer, spreadsheet = before } = call('POST', ':batchUpdate', query, {
      requests,
      responseRanges,
      ...whole,
    });
    file.spreadsheet = spreadsheet;
    if (!isOfMarks(requests)) writes += 1;
    watcher.wrote(
      before,
      spreadsheet,
      requests.some((request) => 'deleteDimension' in request),
      readAt,
    );
    const { updatedSpreadsheet } = answer;
    return isJsonObject(updatedSpreadsheet) ? updatedSpreadsheet : {};
  };

  return {
    file,
    sandbox,
    current: () => file.spreadsheet,
    writes: () => writes,
    act(actions) {
      tell(() => `in the sheet: ${JSON.stringify(actions)}`);
      try {
        performActions(
          sandbox,
          file,
          actions.map((action) => personAction.parse(action)),
        );
        watcher.acted();
        return true;
      } catch (error) {
        if (error instanceof GoogleError) return false;
        throw error;
      }
    },
    connect: (wire) => ({
      get: (fields, ranges = []) => get(wire, fields, ranges, fields === gridFields ? 'table' : 'other'),
      async values(ranges) {
        const query = new URLSearchParams({ valueRenderOption: 'UNFORMATTED_VALUE' });
        const body = { majorDimension: 'COLUMNS', dataFilters: ranges.map((gridRange) => ({ gridRange })) };
        const serve = () => {
          watcher.read('table');
          return asGoogle(() => call('POST', '/values:batchGetByDataFilter', query, body).answer);
        };
        try {
          return Buffer.from(JSON.stringify(await wire.send('sheet read', serve, hangUp)));
        } catch (error) {
          if (isUnknownRange(error)) return undefined;
          throw sheetError(error, 'read the spreadsheet');
        }
      },
      watch: (fields, ranges, read) => async () => {
        const answer = await get(wire, fields, ranges, 'table');
        return answer && read(answer);
      },
      async batchUpdate(requests, fields, ranges) {
        const readAt = watcher.sent(runOf(requests));
        try {
          return await wire.send(
            isOfMarks(requests) ? 'sheet mark' : 'sheet write',
            () => asGoogle(() => write(requests, fields, ranges, readAt)),
            hangUp,
          );
        } catch (error) {
          throw sheetError(error, 'write to the spreadsheet');
        }
      },
    }),
  };
}

/** Whether a batch only says that the daemon lives, which it does for ever. */
const isOfMarks = (requests: readonly object[]): boolean =>
  requests.flatMap(Object.keys).every((kind) => kind.endsWith('DeveloperMetadata'));

/** A connection that ends without an answer, in the form in which Google's client library throws it. */
function hangUp(): never {
  throw Object.assign(new Error('socket hang up'), { config: {}, code: 'ECONNRESET' });
}

/** A refusal in the form in which Google's client library throws it. */
function asGoogle<Answer>(work: () => Answer): Answer {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GoogleError)) throw error;
    throw Object.assign(new Error(error.message), {
      config: {},
      response: { status: error.code, data: error.body },
    });
  }
}
