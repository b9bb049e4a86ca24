// The path matters: the whole package costs a second and 110 MB at start.
import { sheets, type sheets_v4 } from 'googleapis/build/src/apis/sheets/index.js';
import { isSyncError } from '../core/errors.ts';
import { writeTimeMs } from '../core/fence.ts';
import type { Clock, Fence, Log } from '../core/ports.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import { isUnknownRange, sheetError, withAccount } from './errors.ts';
import { createLogin, type Login } from './login/login.ts';
import { createQuota, repeatLimited, type Spend } from './quota.ts';

export type Spreadsheet = sheets_v4.Schema$Spreadsheet;
export type Request = sheets_v4.Schema$Request;
/** A part of the spreadsheet: in A1 notation, or by the numeric id of its tab, which outlives that the tab is renamed. */
export type Range = string | sheets_v4.Schema$GridRange;

export interface SheetsClientOptions {
  readonly spreadsheetId: string;
  /** Origin (and path prefix) of an emulator; given, nobody logs in to Google. */
  readonly rootUrl?: string;
  /** Credentials file of any kind that Google makes; without it, application default credentials are used. */
  readonly credentialsFile?: string;
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  /** How long one request may take at most. */
  readonly timeoutMs: number;
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
  /** The same, for what is asked again and again: while the answer stays the same, so does the object that `make` made of it. */
  watch<Made>(
    make: (spreadsheet: Spreadsheet) => Made,
  ): (fields: string, ranges?: readonly Range[]) => Promise<Made | undefined>;
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
  const { spreadsheetId, rootUrl, timeoutMs, clock, fence } = options;
  const login = rootUrl === undefined ? createLogin(options) : undefined;
  const perCall = callOptions(options);
  const { readsPerMinute, writesPerMinute } = options;
  const spendRead = createQuota({ requestsPerMinute: readsPerMinute, timeoutMs, whenFull: 'wait', clock });
  const spendWrite = createQuota({
    requestsPerMinute: writesPerMinute,
    timeoutMs,
    whenFull: 'refuse',
    clock,
  });

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

  const fetchAnswer: FetchAnswer = (fields, ranges) => {
    const read = async (signer: Signer) => {
      try {
        return await fetchBytes({ ...signer, ...compact, spreadsheetId, fields }, ranges, perCall);
      } catch (error) {
        if (ranges.length > 0 && isUnknownRange(error)) return undefined;
        throw error;
      }
    };
    return repeatLimited(() => send(spendRead, 'read the spreadsheet', read), options);
  };

  return {
    async get(fields, ranges = []) {
      const answer = await fetchAnswer(fields, ranges);
      return answer && parseSpreadsheet(answer);
    },
    watch: (make) => watchAnswer(fetchAnswer, make),
    batchUpdate: (requests, fields, ranges) =>
      send(spendWrite, 'write to the spreadsheet', async (signer) => {
        const requestBody = {
          requests: [...requests],
          includeSpreadsheetInResponse: true,
          responseRanges: [...ranges],
          responseIncludeGridData: true,
        };
        const masked = { ...compact, fields: `updatedSpreadsheet(${fields})` };
        const params = { ...signer, ...masked, spreadsheetId, requestBody };
        const timeout = writeTimeMs(timeoutMs, fence);
        const answer = await api.spreadsheets.batchUpdate(params, { ...perCall, timeout });
        return checkedSpreadsheet(answer.data?.updatedSpreadsheet);
      }),
  };
}

/** Google indents its answers unless it is asked not to, which makes two and a half times the bytes of a read. */
const compact = { prettyPrint: false };

/**
 * The library repeats reads three times within two seconds, which only wastes quota, and follows redirects, which could carry what is
 * sent elsewhere. Given per call, the root keeps its path.
 */
const callOptions = ({ rootUrl, timeoutMs }: SheetsClientOptions) => ({
  retry: false,
  redirect: 'manual' as const,
  timeout: timeoutMs,
  ...(rootUrl !== undefined && { rootUrl }),
});

/** Ranges by ids of tabs go in the body of a request that only reads. */
async function fetchBytes(
  params: Signer & { readonly spreadsheetId: string; readonly fields: string },
  ranges: readonly Range[],
  perCall: ReturnType<typeof callOptions>,
): Promise<Buffer> {
  const asked = { ...perCall, responseType: 'arraybuffer' } as const;
  const names = ranges.filter((range) => typeof range === 'string');
  const { data } = await (names.length === ranges.length
    ? api.spreadsheets.get({ ...params, ranges: names }, asked)
    : api.spreadsheets.getByDataFilter({ ...params, requestBody: filtersOf(ranges) }, asked));
  if (!isBytes(data)) throw new Error('The library was asked for bytes.');
  return Buffer.from(data);
}

const filtersOf = (ranges: readonly Range[]): sheets_v4.Schema$GetSpreadsheetByDataFilterRequest => ({
  dataFilters: ranges.map((range) => (typeof range === 'string' ? { a1Range: range } : { gridRange: range })),
});

/** Returns the bytes, or `undefined` when one of the ranges names no tab. */
type FetchAnswer = (fields: string, ranges: readonly Range[]) => Promise<Buffer | undefined>;

/** Most answers are the last one again: to compare bytes is little work beside reading what they say. */
function watchAnswer<Made>(
  fetchAnswer: FetchAnswer,
  make: (spreadsheet: Spreadsheet) => Made,
): (fields: string, ranges?: readonly Range[]) => Promise<Made | undefined> {
  let last: { readonly answer: Buffer; readonly made: Made } | undefined;
  return async (fields, ranges = []) => {
    const answer = await fetchAnswer(fields, ranges);
    if (!answer) return undefined;
    if (!last?.answer.equals(answer)) last = { answer, made: make(parseSpreadsheet(answer)) };
    return last.made;
  };
}

const isBytes = (data: unknown): data is ArrayBuffer => data instanceof ArrayBuffer;

function parseSpreadsheet(answer: Buffer): Spreadsheet {
  let content: Spreadsheet | undefined;
  try {
    content = JSON.parse(answer.toString());
  } catch {
    // It was cut off, or is something else: then it is no spreadsheet either.
  }
  return checkedSpreadsheet(content);
}

function checkedSpreadsheet(spreadsheet: Spreadsheet | undefined): Spreadsheet {
  if (Array.isArray(spreadsheet?.sheets)) return spreadsheet;
  throw newSheetError('SHEET_UNREADABLE', 'The answer to a request for the spreadsheet is not one.');
}
