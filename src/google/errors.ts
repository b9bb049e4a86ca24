import { isSyncError, type SyncError } from '../core/errors.ts';
import { parseJson } from '../core/text/parse-json.ts';
import { newSheetError } from '../sheet/port/errors.ts';
import { type LoginLook, personalLogin, saysKeysForbidden, withoutKey } from './login/credentials.ts';

/** What an error of Google's client tells, as far as it may be shown. */
interface Refusal {
  /** HTTP status; absent when no answer came. */
  readonly status: number | undefined;
  /** Google's own words; absent when the answer is not in Google's form. */
  readonly words: string | undefined;
  /** Reasons from `error.details[]` and, in the older form, `error.errors[]`. */
  readonly reasons: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An access token, and a signed login: words of Google that quote one are shown without it. */
const tokenPattern = /\bya29\.[\w.-]+|\beyJ[\w-]+\.[\w-]+\.[\w-]+/g;

const wordsOf = (value: unknown): string | undefined => textOf(value)?.replace(tokenPattern, '(a token)');

const systemCodeOf = (error: unknown): string | undefined =>
  isJson(error) ? textOf(error['code']) : undefined;

/** Whether the error comes from a request; anything else is thrown by code and is no business of Google's. */
const isRequestError = (error: unknown): error is Json => isJson(error) && 'config' in error;

/** The body of an answer, which is in bytes where bytes were asked for, and a text where a stream was. */
function bodyOf({ response }: Json): Json {
  const data = isJson(response) ? response['data'] : undefined;
  const text = data instanceof ArrayBuffer ? Buffer.from(data).toString() : textOf(data);
  const body = text === undefined ? data : parseJson(text);
  return isJson(body) ? body : {};
}

function refusalOf(error: Json): Refusal {
  const response = isJson(error['response']) ? error['response'] : undefined;
  const { error: body } = bodyOf(error);
  const status = typeof response?.['status'] === 'number' ? response['status'] : undefined;
  if (!isJson(body)) return { status, words: undefined, reasons: [] };
  const entries = [body['details'], body['errors']].flatMap((list) => (Array.isArray(list) ? list : []));
  const reasons = entries.flatMap((entry: unknown) => (isJson(entry) ? (textOf(entry['reason']) ?? []) : []));
  return { status, words: wordsOf(body['message']), reasons };
}

/** A 400 because the tab or the grid is not any more as it was read. */
const movedPattern =
  /Unable to parse range|No (?:grid|sheet) with id|exceeds grid limits|beyond the last requested|after last (?:row|column) in grid|less than the grid size|(?:row|column) that doesn't exist/;

const fullPattern = /above the limit of \d+ cells/i;

/** Whether Google refused a write because the spreadsheet would have too many cells. */
export const isFullRefusal = (error: SyncError): boolean =>
  error.code === 'SHEET_REFUSED' && fullPattern.test(error.message);

/** Whether Google says that a range names no tab. */
export const isUnknownRange = (error: unknown): boolean =>
  isRequestError(error) && /Unable to parse range|No grid with id/.test(refusalOf(error).words ?? '');

/** Whether Google could not answer, or not in time: it says the same where it is down and where that was too much for one request. */
export const isTooMuch = (error: unknown): boolean =>
  isSyncError(error, 'SHEET_UNREACHABLE') && tooMuchPattern.test(error.message);

/** To log in is no question of how much is asked for. */
const tooMuchPattern = /^Could not (?!log in).*: (?:HTTP 50[0234]|TimeoutError)\.$/;

/**
 * The error of a request in the terms of this program. `action` says what was tried: `read the spreadsheet`.
 * The original is not kept as a cause, because it carries the request's headers and so the access token.
 */
export function sheetError(error: unknown, action: string): unknown {
  if (!isRequestError(error)) return error;
  if (isTokenRefusal(error)) return loginError(error);
  const refusal = refusalOf(error);
  if (refusal.words === undefined && isTooLong(error)) return tooLong(action);
  const failed = `Could not ${action}`;
  if (refusal.status === undefined)
    return newSheetError('SHEET_UNREACHABLE', `${failed}: ${systemCodeOf(error) ?? 'no answer'}.`);
  return errorOfStatus(refusal.status, refusal, failed);
}

/** What the library throws of an answer that is a refusal, for one that was asked for as a stream: of that it would keep no word. */
export const refusedAnswer = (status: number, body: Buffer): Error =>
  Object.assign(new Error(`HTTP ${status}`), { config: {}, response: { status, data: body.toString() } });

/** Whether the library stopped reading because the answer is longer than the limit. Nothing but its message says so. */
const isTooLong = ({ message }: Json): boolean => /\bover (?:the )?limit\b/.test(textOf(message) ?? '');

/** The error of an answer that has more bytes than any that is expected. */
export const tooLong = (action: string): SyncError =>
  newSheetError('SHEET_UNREADABLE', `Could not ${action}: the answer is too long.`);

/** The error of an answer that broke off in the middle. */
export const brokenOff = (error: unknown, action: string): SyncError =>
  newSheetError(
    'SHEET_UNREACHABLE',
    `Could not ${action}: ${systemCodeOf(error) ?? 'the answer broke off'}.`,
  );

function errorOfStatus(status: number, { words, reasons }: Refusal, failed: string): SyncError {
  if (status >= 500 || status === 408)
    return newSheetError('SHEET_UNREACHABLE', `${failed}: HTTP ${status}.`);
  if (status === 429 || (status === 403 && reasons.some((reason) => /rate_?limit_?exceeded/i.test(reason))))
    return newSheetError('SHEET_LIMITED', `${failed}: too many requests.`);
  if (words === undefined)
    return newSheetError('SHEET_UNREADABLE', `${failed}: HTTP ${status} in a form that is not Google's.`);
  const said = `${failed}: Google says “${words}”.`;
  switch (status) {
    case 401:
      return newSheetError('SHEET_UNAUTHORIZED', said);
    case 403:
      if (reasons.includes('ACCESS_TOKEN_SCOPE_INSUFFICIENT'))
        return newSheetError('SHEET_UNAUTHORIZED', `${said}${scopeAdvice}`);
      return newSheetError('SHEET_FORBIDDEN', reasons.includes('SERVICE_DISABLED') ? disabled(failed) : said);
    case 404:
      return newSheetError('SHEET_NOT_FOUND', said);
    default:
      return movedPattern.test(words)
        ? newSheetError('SHEET_UNREACHABLE', `${failed}: a tab was renamed, removed or shortened meanwhile.`)
        : newSheetError('SHEET_REFUSED', `${said}${adviceOn(words)}`);
  }
}

/** Says with which address the spreadsheet must be shared, where that is known. */
export function withAccount(error: SyncError, login: LoginLook | undefined): SyncError {
  if (!login) return error;
  const { account, words } = login;
  const whose =
    account === undefined
      ? `The login is ${words}: share the spreadsheet with the address that logged in.`
      : `The address of the service account is ${account}.`;
  return error.reworded(`${error.message} ${whose}`);
}

const scopeAdvice = ` This login is not one for spreadsheets: log in as a service account, or run ${personalLogin}.`;

const disabled = (failed: string): string =>
  `${failed}: the Google Sheets API is not enabled in the project of the service account.`;

function adviceOn(words: string): string {
  if (/operation is not supported for this document/i.test(words))
    return ' It is an Excel file: choose File, Save as Google Sheets, and use the id of the new one.';
  if (/protected cell or object/i.test(words))
    return ' Allow the service account to edit the protected range, or make the protection a warning only.';
  if (fullPattern.test(words))
    return ' The spreadsheet is full: delete rows, columns and tabs that nobody uses.';
  return '';
}

/**
 * The error of a login with a credentials file of that type. The words of the library are not shown, because a complaint about the file may
 * quote it.
 */
export function loginError(error: unknown, type?: string): SyncError {
  const status = isRequestError(error) ? refusalOf(error).status : undefined;
  if (isRequestError(error) && (status === undefined || status >= 500)) {
    const reason = status === undefined ? (systemCodeOf(error) ?? 'no answer') : `HTTP ${status}`;
    return newSheetError('SHEET_UNREACHABLE', `Could not log in to Google: ${reason}.`);
  }
  const reason = loginReason(error, type);
  const advice = loginAdvice(reason, type);
  return newSheetError('SHEET_UNAUTHORIZED', `Could not log in to Google: ${reason}.${advice}`);
}

/**
 * What Google's words about a token mean: https://cloud.google.com/iam/docs/troubleshooting-service-accounts and
 * https://developers.google.com/identity/protocols/oauth2/service-account#error-codes
 */
function loginAdvice(reason: string, type: string | undefined): string {
  if (saysKeysForbidden(reason)) return withoutKey;
  if (/reasonable timeframe|iat and exp|short-lived/i.test(reason))
    return ' Set the clock of this machine right.';
  if (/has not been used in project|is disabled/i.test(reason) && /api/i.test(reason))
    return ' Enable that API in the project of the service account.';
  if (/serviceAccounts\.getAccessToken|unable to impersonate/i.test(reason))
    return ' Give the login the role Service Account Token Creator on the service account that it acts as.';
  if (
    isPersonal(type)
      ? /invalid_grant|invalid_rapt/.test(reason)
      : /expired or revoked|reauth|invalid_rapt/i.test(reason)
  ) {
    const testing =
      'One by an OAuth client whose consent screen is in “Testing” ends after 7 days: put it in production first.';
    return ` The personal login has ended: log in with gcloud again, as you did, or as a service account. ${testing}`;
  }
  if (/invalid jwt signature|account not found|disabled/i.test(reason))
    return ` The key was deleted, or its service account was: create a new key.${withoutKey}`;
  return '';
}

/** An impersonation begins with a personal login as well, where gcloud made it. */
const isPersonal = (type: string | undefined) =>
  type === 'authorized_user' || type === 'impersonated_service_account';

function loginReason(error: unknown, type: string | undefined): string {
  if (isRequestError(error)) return tokenRefusal(error);
  if (error instanceof Error && /default credentials/i.test(error.message))
    return 'there are no application default credentials';
  if (type === 'external_account')
    return 'what the credential_source of the credentials file leads to can not be read, or is no token';
  return 'the credentials file can not be used';
}

/** Whether it is the token endpoint that refused: the library renews a token in the middle of a request. */
const isTokenRefusal = (error: Json): boolean => textOf(bodyOf(error)['error']) !== undefined;

/** The token endpoint answers in the form of OAuth: https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function tokenRefusal(error: Json): string {
  const body = bodyOf(error);
  // An impersonation is refused in the form of Google's other answers.
  const words = [
    wordsOf(isJson(body['error']) ? body['error']['message'] : body['error']),
    wordsOf(body['error_description']),
  ];
  return words.flatMap((word) => word?.replace(/\.$/, '') ?? []).join(', ') || 'refused';
}
