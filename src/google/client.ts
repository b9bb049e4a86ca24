// The path matters: the whole package costs a second and 110 MB at start.
import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { backoffMs } from '../core/backoff.ts';
import { isSyncError } from '../core/errors.ts';
import { writeTimeMs } from '../core/fence.ts';
import type { Clock, Fence, Log } from '../core/ports.ts';
import { parseForeignJson } from '../core/text/parse-json.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import { AnswerBuffer } from './answer-buffer.ts';
import { brokenOff, isUnknownRange, refusedAnswer, sheetError, tooLong, withAccount } from './errors.ts';
import { type AgentFor, createLogin, type Login } from './login/login.ts';

export type Spreadsheet = sheets_v4.Schema$Spreadsheet;
export type Request = sheets_v4.Schema$Request;
/** A part of the spreadsheet: in A1 notation, or by the numeric id of its tab, which outlives that the tab is renamed. */
export type Range = string | sheets_v4.Schema$GridRange;

export interface SheetsClientOptions {
  readonly spreadsheetId: string;
  /** Origin (and path prefix) of an emulator; given, nobody logs in to Google. */
  readonly rootUrl?: string | undefined;
  /** Credentials file of any kind that Google makes; without it, application default credentials are used. */
  readonly credentialsFile?: string | undefined;
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  /** How long one request may take at most. */
  readonly timeoutMs: number;
  /** How an address is reached, as through a proxy; by the rules of the library where absent. */
  readonly agentFor?: AgentFor;
  readonly clock: Clock;
  /** A chance in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Has to be open for every write; none where absent. */
  readonly fence?: Fence;
}

/** Reading and writing by the Sheets API; each call is one request that counts against its quota. */
export interface SheetsClient {
  /** The masked parts of the spreadsheet, or `undefined` when one of the ranges names no tab. */
  get(fields: string, ranges?: readonly Range[]): Promise<Spreadsheet | undefined>;
  /**
   * The values of ranges by columns, without their formats and formulas, as they came; `undefined` when one of the ranges names no tab. An
   * answer that is the same as `last` is that object; any other is in `buffer`, which must not be the one that holds `last`.
   */
  values(
    ranges: readonly sheets_v4.Schema$GridRange[],
    last?: Buffer,
    buffer?: AnswerBuffer,
  ): Promise<Buffer | undefined>;
  /**
   * The same as {@link get}, for what is asked again and again: what was `read` in an answer is returned as long as that stays the same. Only that
   * and the bytes are kept.
   */
  watch<Found>(
    fields: string,
    ranges: readonly Range[],
    read: (spreadsheet: Spreadsheet) => Found,
  ): () => Promise<Found | undefined>;
  /**
   * Applies all requests or none. Answers the masked parts of the spreadsheet in the ranges as it is
   * afterwards.
   */
  batchUpdate(requests: readonly Request[], fields: string, ranges: readonly string[]): Promise<Spreadsheet>;
}

const api = sheets({ version: 'v4' });

/** Who signs a request. */
interface Signer {
  readonly auth?: Awaited<ReturnType<Login['logIn']>>;
}

/** Every error of the client is a `SyncError` with a SHEET_ code; none carries a token. */
export function createSheetsClient(options: SheetsClientOptions): SheetsClient {
  const { spreadsheetId, rootUrl, timeoutMs, fence, readsPerMinute, writesPerMinute } = options;
  const login = rootUrl === undefined ? createLogin(options) : undefined;
  const perCall = callOptions(options);
  const spendRead = createQuota(readsPerMinute, 'wait', options);
  const spendWrite = createQuota(writesPerMinute, 'refuse', options);

  async function send<Answer>(
    spend: Spend,
    action: string,
    request: (signer: Signer) => Promise<Answer>,
  ): Promise<Answer> {
    const signer = login ? { auth: await login.logIn() } : {};
    try {
      return await spend(() => request(signer));
    } catch (error) {
      const failure = sheetError(error, action);
      const isBarred = isSyncError(failure, 'SHEET_FORBIDDEN', 'SHEET_NOT_FOUND');
      const look = isBarred ? await login?.look() : undefined;
      login?.note(failure);
      throw isBarred ? withAccount(failure, look) : failure;
    }
  }

  /** Returns the bytes, or `undefined` when one of the ranges names no tab. */
  const fetchAnswer = (isRanged: boolean, fetch: (signer: Signer) => Promise<Buffer>) => {
    const read = async (signer: Signer) => {
      try {
        return await fetch(signer);
      } catch (error) {
        if (isRanged && isUnknownRange(error)) return undefined;
        throw error;
      }
    };
    return repeatLimited(() => send(spendRead, readAction, read), options);
  };
  const fetchCells = (fields: string, ranges: readonly Range[]) =>
    fetchAnswer(ranges.length > 0, (signer) =>
      fetchBytes({ ...signer, ...compact, spreadsheetId, fields }, ranges, perCall),
    );

  return {
    async get(fields, ranges = []) {
      const answer = await fetchCells(fields, ranges);
      const spreadsheet = answer && parseSpreadsheet(answer);
      if (answer && answer.length > longMin) await options.clock.sleep(0);
      return spreadsheet;
    },
    values: (ranges, last, buffer) =>
      fetchAnswer(true, async (signer) => {
        const requestBody = { ...valuesAsked, ...filtersOf(ranges) };
        const params = { ...signer, ...compact, spreadsheetId, requestBody, fields: valueFields };
        const asked = { ...perCall, responseType: 'stream', validateStatus: () => true } as const;
        return readLike(await api.spreadsheets.values.batchGetByDataFilter(params, asked), last, buffer);
      }),
    watch: (fields, ranges, read) => watchAnswer(() => fetchCells(fields, ranges), read),
    batchUpdate: (requests, fields, ranges) =>
      send(spendWrite, 'write to the spreadsheet', async (signer) => {
        const requestBody = new BatchBody(requests, ranges);
        const masked = { ...compact, fields: `updatedSpreadsheet(${fields})` };
        const params = { ...signer, ...masked, spreadsheetId, requestBody };
        const timeout = writeTimeMs(timeoutMs, fence);
        const asked = { ...perCall, timeout, responseType: 'arraybuffer' } as const;
        const answer = bytesOf(await api.spreadsheets.batchUpdate(params, asked));
        const { updatedSpreadsheet } = (readAnswer(answer) ?? {}) as { updatedSpreadsheet?: Spreadsheet };
        return checkedSpreadsheet(updatedSpreadsheet);
      }),
  };
}

const readAction = 'read the spreadsheet';

/** What a write sends. The library copies all plain objects that it is given, twice, and lets those of a class be. */
class BatchBody implements sheets_v4.Schema$BatchUpdateSpreadsheetRequest {
  readonly requests: Request[];
  readonly includeSpreadsheetInResponse = true;
  readonly responseRanges: string[];
  readonly responseIncludeGridData = true;

  constructor(requests: readonly Request[], ranges: readonly string[]) {
    this.requests = [...requests];
    this.responseRanges = [...ranges];
  }
}

/** Google indents its answers unless it is asked not to, which makes two and a half times the bytes of a read. */
const compact = { prettyPrint: false };

/**
 * The library repeats reads three times within two seconds, which only wastes quota, and follows redirects, which could carry what is
 * sent elsewhere. Given per call, the root keeps its path.
 */
const callOptions = ({ agentFor, rootUrl, timeoutMs }: SheetsClientOptions) => ({
  retry: false,
  redirect: 'manual' as const,
  timeout: timeoutMs,
  maxContentLength: answerBytesMax,
  ...(rootUrl !== undefined && { rootUrl }),
  ...(agentFor && { agent: agentFor }),
});

/** Ranges by ids of tabs go in the body of a request that only reads. */
async function fetchBytes(
  params: Signer & { readonly spreadsheetId: string; readonly fields: string },
  ranges: readonly Range[],
  perCall: ReturnType<typeof callOptions>,
): Promise<Buffer> {
  const asked = { ...perCall, responseType: 'arraybuffer' } as const;
  const names = ranges.filter((range) => typeof range === 'string');
  return bytesOf(
    await (names.length === ranges.length
      ? api.spreadsheets.get({ ...params, ranges: names }, asked)
      : api.spreadsheets.getByDataFilter({ ...params, requestBody: filtersOf(ranges) }, asked)),
  );
}

function bytesOf({ data }: { readonly data: unknown }): Buffer {
  if (!(data instanceof ArrayBuffer)) throw new Error('The library was asked for bytes.');
  return Buffer.from(data);
}

/** Reads an answer of megabytes. Most are the `last` one again: then that one is returned, and nothing is put into `buffer`. */
async function readLike(
  { data, status }: Streamed,
  last: Buffer = noBytes,
  buffer = new AnswerBuffer(),
): Promise<Buffer> {
  if (!isStream(data)) throw new Error('The library was asked for a stream.');
  let [isLike, length] = [true, 0];
  try {
    for await (const chunk of data) {
      const before = length;
      length += chunk.length;
      if (length > answerBytesMax) throw tooLong(readAction);
      if (isLike && chunk.equals(last.subarray(before, length))) continue;
      if (isLike) buffer.begin(last.subarray(0, before));
      isLike = false;
      buffer.add(chunk);
    }
  } catch (error) {
    throw isSyncError(error) ? error : brokenOff(error, readAction);
  }
  // All that came is the beginning of the last one.
  if (isLike && length < last.length) buffer.begin(last.subarray(0, length));
  const answer = isLike && length === last.length ? last : buffer.bytes;
  if (status < 200 || status >= 300) throw refusedAnswer(status, answer);
  return answer;
}

const isStream = (data: unknown): data is AsyncIterable<Buffer> =>
  typeof data === 'object' && data !== null && Symbol.asyncIterator in data;

interface Streamed {
  readonly data: unknown;
  readonly status: number;
}

const noBytes = Buffer.alloc(0);

/** What cells come to: texts, numbers, days as numbers, and yes or no. */
const valuesAsked = {
  majorDimension: 'COLUMNS',
  valueRenderOption: 'UNFORMATTED_VALUE',
  dateTimeRenderOption: 'SERIAL_NUMBER',
};
/** Field mask of which values are of which range. */
const valueFields = 'valueRanges(valueRange.values,dataFilters.gridRange(sheetId,startColumnIndex))';

const filtersOf = (ranges: readonly Range[]): sheets_v4.Schema$GetSpreadsheetByDataFilterRequest => ({
  dataFilters: ranges.map((range) => (typeof range === 'string' ? { a1Range: range } : { gridRange: range })),
});

/** Most answers are the last one again: to compare bytes is little work beside reading what they say. */
function watchAnswer<Found>(
  fetchAnswer: () => Promise<Buffer | undefined>,
  read: (spreadsheet: Spreadsheet) => Found,
): () => Promise<Found | undefined> {
  let last: { readonly answer: Buffer; readonly found: Found } | undefined;
  return async () => {
    const answer = await fetchAnswer();
    if (!answer) return undefined;
    if (!last?.answer.equals(answer)) last = { answer, found: read(parseSpreadsheet(answer)) };
    return last.found;
  };
}

/** So many are in 5,000 rows of 300 columns, which no request brings more of. */
const valuesMax = 16_000_000;
/** Some four times of what the largest request brings with 100,000 rows. */
const answerBytesMax = 128 * 1024 * 1024;

/** To parse so many bytes takes some ten milliseconds: others get their turn before it is looked at what they say. */
const longMin = 1_000_000;

/** What was cut off, or is no JSON, is no spreadsheet either. */
const parseSpreadsheet = (answer: Buffer): Spreadsheet =>
  checkedSpreadsheet(readAnswer(answer) as Spreadsheet | undefined);

const readAnswer = (answer: Buffer): unknown => parseForeignJson(answer.toString(), valuesMax);

function checkedSpreadsheet(spreadsheet: Spreadsheet | undefined): Spreadsheet {
  if (Array.isArray(spreadsheet?.sheets)) return spreadsheet;
  throw newSheetError('SHEET_UNREADABLE', 'The answer to a request for the spreadsheet is not one.');
}

const windowMs = 60_000;

/** Runs a request as soon as the window has room for it. */
type Spend = <Answer>(request: () => Promise<Answer>) => Promise<Answer>;

/**
 * A sliding window of requests. A slot is free again one minute after the answer, because only then it is
 * sure that Google's count of the last minute does not contain the request. `refuse` fails with SHEET_LIMITED instead of waiting: what a
 * request was planned from may not grow old.
 */
function createQuota(
  requestsPerMinute: number,
  whenFull: 'wait' | 'refuse',
  { clock, timeoutMs }: Pick<SheetsClientOptions, 'clock' | 'timeoutMs'>,
): Spend {
  let slots: { freeAt: number }[] = [];

  async function takeSlot(): Promise<{ freeAt: number }> {
    for (;;) {
      const now = clock.monotonicMs();
      slots = slots.filter((slot) => slot.freeAt > now);
      if (slots.length < requestsPerMinute) break;
      const waitMs = Math.min(...slots.map((slot) => slot.freeAt)) - now;
      const words = 'The requests that Google allows in a minute are used up.';
      if (whenFull === 'refuse') throw newSheetError('SHEET_LIMITED', words, { retryAfterMs: waitMs });
      await clock.sleep(waitMs);
    }
    const slot = { freeAt: clock.monotonicMs() + timeoutMs + windowMs };
    slots.push(slot);
    return slot;
  }

  return async (request) => {
    const slot = await takeSlot();
    try {
      return await request();
    } finally {
      slot.freeAt = clock.monotonicMs() + windowMs;
    }
  };
}

const waitsMax = 5;
const waits = { firstMs: 2000, maxMs: 32_000 };

/**
 * Repeats a request that Google limited, after waits of up to 2, 4, 8, 16 and 32 seconds. Google advises to
 * double them and sends no Retry-After: https://developers.google.com/workspace/sheets/api/limits. Good for reads
 * alone: rows move while a write waits. Fails with SHEET_LIMITED when all were limited.
 */
async function repeatLimited<Answer>(
  request: () => Promise<Answer>,
  { clock, random, log }: Pick<SheetsClientOptions, 'clock' | 'random' | 'log'>,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      if (attempt > waitsMax || !isSyncError(error, 'SHEET_LIMITED')) throw error;
      const waitMs = backoffMs(waits, attempt, random());
      log.warn('sheet.limited', { waitMs });
      await clock.sleep(waitMs);
    }
  }
}
