import { type ErrorCode, hintOf, SyncError, type SyncErrorDetails } from '../../core/errors.ts';

export type SheetCode = Extract<ErrorCode, `SHEET_${string}`>;

/** What to do about the errors of this side. */
export const sheetHints: Readonly<Record<SheetCode, string>> = {
  SHEET_UNAUTHORIZED: 'Google refuses the login. Check GOOGLE_APPLICATION_CREDENTIALS.',
  SHEET_FORBIDDEN:
    'Share the spreadsheet with the service account as an editor, and enable the Google Sheets API.',
  SHEET_NOT_FOUND:
    'There is no such spreadsheet for this login. Check GOOGLE_SPREADSHEET_ID, and whether it was deleted or is no longer shared.',
  SHEET_LIMITED: 'Google limits requests. The daemon waits by itself.',
  SHEET_FULL: 'Blank cells count as well: delete tabs, columns or blank rows that are not needed.',
  SHEET_REFUSED: 'Google does not accept the request; its words say why.',
  SHEET_UNREACHABLE: 'Google did not answer. The daemon reads again before it writes again.',
  SHEET_UNREADABLE: 'The answer is not a spreadsheet. Check GOOGLE_API_ROOT_URL.',
  SHEET_KEPT: 'Two daemons with states of their own must not write to one spreadsheet: stop one of them.',
  SHEET_AWAITED: 'That one writes nothing as long as this one runs: stop one of them.',
};

/** An error of this side, with what to do. */
export const newSheetError = (
  code: SheetCode,
  message: string,
  details: Omit<SyncErrorDetails, 'hint'> = {},
): SyncError => new SyncError(code, message, { ...details, hint: sheetHints[code] });

const isSheetCode = (code: ErrorCode): code is SheetCode => code in sheetHints;

/** What to do about any error. */
export const hintFor = (code: ErrorCode): string => (isSheetCode(code) ? sheetHints[code] : hintOf(code));
