interface ErrorKind {
  /** Whether trying the same again can help: never, later by itself, or only after somebody acted. */
  readonly retry: 'never' | 'later' | 'after-action';
  /** Who can mend it: the person who runs the daemon, a person at the sheet, time alone, or a programmer. */
  readonly mender: 'operator' | 'editor' | 'time' | 'bug';
  /** What to do; absent where the side says it that the error comes from. */
  readonly hint?: string;
}

const operatorActs = { retry: 'after-action', mender: 'operator' } as const;
const operatorHelps = { retry: 'later', mender: 'operator' } as const;
const editorActs = { retry: 'never', mender: 'editor' } as const;
const timeHelps = { retry: 'later', mender: 'time' } as const;

/** Every error this program raises on purpose. A conflict, a hold and a brake are not errors but results. */
export const errorKinds = {
  CONFIG_INVALID: { ...operatorActs, hint: 'Correct the setting that is named and start again.' },
  STATE_LOCKED: {
    ...operatorActs,
    hint: 'Another daemon uses this state directory. Stop it first; only another link gets a STATE_DIR of its own.',
  },
  STATE_NEWER: {
    ...operatorActs,
    hint: 'The mirror was written by a newer version. Run that version, or restore a backup.',
  },
  STATE_BROKEN: {
    ...operatorActs,
    hint: 'The mirror is damaged. Keep the file and start with an empty STATE_DIR or a backup.',
  },
  STATE_FULL: {
    ...operatorHelps,
    hint: 'The disk of STATE_DIR is full. Free some space, or raise its quota; work goes on by itself.',
  },
  CRM_UNAUTHORIZED: { ...operatorActs, hint: 'The CRM refuses the key. Check CRM_API_KEY.' },
  CRM_FORBIDDEN: { ...operatorActs, hint: 'The key lacks a scope. Create a key that has it.' },
  CRM_NOT_FOUND: { ...editorActs, hint: 'The record is not in the CRM any more.' },
  CRM_REFUSED: { ...editorActs, hint: 'The CRM does not accept the value. Correct the row.' },
  CRM_LIMITED: { ...timeHelps, hint: 'The CRM limits requests. The daemon waits by itself.' },
  CRM_UNREACHABLE: { ...timeHelps, hint: 'The CRM did not answer. The daemon tries again by itself.' },
  CRM_UNKNOWN_OUTCOME: {
    ...timeHelps,
    hint: 'It is not known yet whether the CRM did it. The daemon looks before it tries again.',
  },
  CRM_UNREADABLE: {
    ...operatorHelps,
    hint: 'The CRM answered something that is not its documented form. If all its answers are like that, check CRM_BASE_URL.',
  },
  SHEET_UNAUTHORIZED: operatorActs,
  SHEET_FORBIDDEN: operatorActs,
  SHEET_NOT_FOUND: operatorActs,
  SHEET_LIMITED: timeHelps,
  SHEET_FULL: { retry: 'after-action', mender: 'editor' },
  SHEET_REFUSED: operatorActs,
  SHEET_UNREACHABLE: timeHelps,
  SHEET_UNREADABLE: operatorHelps,
  SHEET_KEPT: operatorHelps,
  SHEET_AWAITED: operatorHelps,
  WAREHOUSE_UNREACHABLE: timeHelps,
  WAREHOUSE_UNAUTHORIZED: operatorActs,
  WAREHOUSE_FORBIDDEN: operatorHelps,
  WAREHOUSE_NOT_FOUND: operatorHelps,
  WAREHOUSE_READ_ONLY: operatorHelps,
  WAREHOUSE_FULL: operatorHelps,
  WAREHOUSE_BUSY: timeHelps,
  WAREHOUSE_CHANGED: operatorHelps,
  WAREHOUSE_REFUSED: operatorHelps,
  WAREHOUSE_UNKNOWN_OUTCOME: timeHelps,
  WAREHOUSE_WENT_BACK: timeHelps,
  WAREHOUSE_KEPT: operatorHelps,
  WAREHOUSE_UNREADABLE: operatorHelps,
  RECORD_CONTESTED: {
    ...operatorActs,
    hint: 'Something on a side changes it back each time: an automation of the CRM, or a script in the sheet. Switch it off, or approve it.',
  },
  QUEUE_UNREACHABLE: {
    ...operatorHelps,
    hint: 'Check REDIS_URL and Redis. Nothing is lost meanwhile: the daemon sends without it, one record at a time.',
  },
  LEASE_ENDED: {
    ...timeHelps,
    hint: 'Another process may run this link by now, so nothing is written. It goes on by itself, here or there.',
  },
  ENGINE_STALLED: {
    retry: 'later',
    mender: 'bug',
    hint: 'The daemon helps itself and goes on. Please report it with the log.',
  },
  DAEMON_CRASHED: {
    retry: 'later',
    mender: 'bug',
    hint: 'It goes on by itself, and waits twice as long after each crash. Look into the log for why it ended.',
  },
  DAEMON_UNREACHABLE: { ...operatorActs, hint: 'Is the daemon running? Check HTTP_HOST and HTTP_PORT.' },
  DAEMON_REFUSED: {
    ...operatorActs,
    hint: 'The daemon runs but did not do it, or not all of it; status says more.',
  },
  COMMAND_UNCLEAR: {
    ...operatorActs,
    hint: 'Nothing was done. The help of each command says what it takes.',
  },
  ERASE_REFUSED: {
    ...operatorActs,
    hint: 'Do what it says, start the daemon until its status shows nothing of it, stop it, and give the command again.',
  },
  ALERT_UNSENT: { ...operatorHelps, hint: 'Check ALERT_WEBHOOK_URL. The daemon tries again by itself.' },
  CONTROL_REFUSED: {
    ...operatorActs,
    hint: 'Check CONTROL_TOKEN: it must be one that the daemon was started with, and that may do this.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** What to do about an error; empty where the side says it that the error comes from. */
export const hintOf = (code: ErrorCode): string => (errorKinds[code] as ErrorKind).hint ?? '';

/** A code whose hint is in the table; an error of any other code says its hint itself. */
export type OwnCode = Exclude<ErrorCode, `SHEET_${string}` | `WAREHOUSE_${string}`>;

export interface SyncErrorDetails {
  readonly cause?: unknown;
  /** What to do, for a code whose hint comes from a side. */
  readonly hint?: string;
  /** Milliseconds to wait before another try, where the other side said so. */
  readonly retryAfterMs?: number;
  /** The message line by line, where it has several. */
  readonly lines?: readonly string[];
}

/** An error of the closed table: the message says what was tried, on what, and what came back. Never a secret. */
export class SyncError extends Error {
  override readonly name = 'SyncError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly retryAfterMs: number | undefined;
  readonly lines: readonly string[];

  constructor(code: OwnCode, message: string, details?: SyncErrorDetails);
  constructor(code: ErrorCode, message: string, details: SyncErrorDetails & { readonly hint: string });
  constructor(code: ErrorCode, message: string, details: SyncErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint ?? hintOf(code);
    this.retryAfterMs = details.retryAfterMs;
    this.lines = details.lines ?? [message];
  }

  /** The same error in other words. */
  reworded(message: string, details: Pick<SyncErrorDetails, 'cause'> = {}): SyncError {
    return new SyncError(this.code, message, { ...details, hint: this.hint });
  }

  get kind(): ErrorKind {
    return errorKinds[this.code];
  }
}

export const isSyncError = (error: unknown, ...codes: ErrorCode[]): error is SyncError =>
  error instanceof SyncError && (codes.length === 0 || codes.includes(error.code));

/** What went wrong in one sentence with what to do; for people. */
export function explainError(error: unknown): string {
  if (isSyncError(error)) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

/** Where in the code an error comes from, a line each; without its message, which may hold lines of its own. */
export const framesOf = ({ message, stack = '' }: Error): string[] =>
  stack.slice(stack.indexOf(message) + message.length).match(/^ +at .*$/gm) ?? [];
