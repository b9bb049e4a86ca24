import { isSyncError } from '../core/errors.ts';
import { cutText } from '../core/text/cut-text.ts';
import { newWarehouseError, type WarehouseCode } from '../warehouse/port/errors.ts';

/** What PostgreSQL, the library or the system say of what went wrong. */
interface Trouble {
  /** A SQLSTATE or a system code; empty where neither is known, as when the connection ended. */
  readonly code: string;
  readonly words: string;
  /** In which function of the database it happened; empty for none. */
  readonly where: string;
}

/**
 * SQLSTATEs by their beginning, the longest first that fits, and codes of the system. What is in none of them comes from something that
 * speaks to the daemon in a way that PostgreSQL does not.
 */
const codes: readonly (readonly [beginning: string, code: WarehouseCode])[] = [
  ['08', 'WAREHOUSE_UNREACHABLE'],
  ['0A', 'WAREHOUSE_UNREADABLE'],
  ['21', 'WAREHOUSE_REFUSED'],
  ['22', 'WAREHOUSE_REFUSED'],
  ['23', 'WAREHOUSE_REFUSED'],
  ['25006', 'WAREHOUSE_READ_ONLY'],
  // The server ended the transaction or the connection, because it waited too long for the daemon.
  ['25P03', 'WAREHOUSE_UNREACHABLE'],
  ['25P04', 'WAREHOUSE_UNREACHABLE'],
  ['28', 'WAREHOUSE_UNAUTHORIZED'],
  ['3D000', 'WAREHOUSE_NOT_FOUND'],
  ['3F000', 'WAREHOUSE_NOT_FOUND'],
  ['40', 'WAREHOUSE_BUSY'],
  ['42', 'WAREHOUSE_CHANGED'],
  ['42501', 'WAREHOUSE_FORBIDDEN'],
  ['44', 'WAREHOUSE_REFUSED'],
  ['53', 'WAREHOUSE_FULL'],
  ['53300', 'WAREHOUSE_BUSY'],
  ['54', 'WAREHOUSE_REFUSED'],
  ['55', 'WAREHOUSE_CHANGED'],
  ['55006', 'WAREHOUSE_BUSY'],
  ['55P03', 'WAREHOUSE_BUSY'],
  ['57', 'WAREHOUSE_UNREACHABLE'],
  ['57014', 'WAREHOUSE_BUSY'],
  ['57P04', 'WAREHOUSE_NOT_FOUND'],
  ['58', 'WAREHOUSE_UNREACHABLE'],
  ['P0', 'WAREHOUSE_REFUSED'],
  ['XX', 'WAREHOUSE_UNREADABLE'],
];

const bySpecificity = codes.toSorted(([one], [other]) => other.length - one.length);
const sqlState = /^[0-9A-Z]{5}$/;

export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error)) return { code: '', words: String(error), where: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const where = 'where' in error && typeof error.where === 'string' ? error.where : '';
  // A name with several addresses that all refuse has no message, only a code.
  return { code, words: cutText(error.message || code, wordsLengthMax), where };
}

/** A value that the database quotes may have any length. */
const wordsLengthMax = 300;

/** The code of an error; without a SQLSTATE it comes from the line to the database. */
function warehouseCodeOf({ code, words }: Trouble): WarehouseCode {
  // The library itself says so of a password that is missing.
  if (words.startsWith('SASL')) return 'WAREHOUSE_UNAUTHORIZED';
  if (!sqlState.test(code)) return 'WAREHOUSE_UNREACHABLE';
  return bySpecificity.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'WAREHOUSE_UNREADABLE';
}

/** What no database and no line can bring about. */
const isBug = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;

/** Whether the connection may be gone, so that it is not known what the server did with what it was sent last. */
export const isLineTrouble = (error: unknown): boolean =>
  !isSyncError(error) && !isBug(error) && warehouseCodeOf(troubleOf(error)) === 'WAREHOUSE_UNREACHABLE';

const certificateTrouble = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|does not support SSL/;

/**
 * The error of a call in the terms of this program; `action` says what was tried: `write to the database crm on db:5432`. The original is
 * not kept as a cause: its details quote whole rows.
 */
export function warehouseError(error: unknown, action: string): unknown {
  if (isSyncError(error) || isBug(error)) return error;
  const trouble = troubleOf(error);
  const code = warehouseCodeOf(trouble);
  const words = [trouble.words, certificateAdvice(trouble), sqlState.test(trouble.code) ? trouble.code : ''];
  return newWarehouseError(code, `Could not ${action}: ${words.filter((word) => word !== '').join('; ')}.`);
}

const certificateAdvice = ({ code, words }: Trouble): string =>
  certificateTrouble.test(code) || certificateTrouble.test(words)
    ? 'the settings warehouse.tls and warehouse.caFile say what is trusted'
    : '';

/**
 * Whether the database refuses one of the rows, by its type, by a constraint, or by a trigger of its users; all others can be written.
 * What the guards in the daemon's own schema refuse is no matter of a row.
 */
export function isRowRefusal(error: unknown, syncSchema: string): boolean {
  const trouble = troubleOf(error);
  if (!sqlState.test(trouble.code)) return false;
  if (trouble.where.includes(`function ${syncSchema}.`) || trouble.where.includes(`function "${syncSchema}"`))
    return false;
  const code = warehouseCodeOf(trouble);
  if (code === 'WAREHOUSE_REFUSED') return true;
  return /\bfunction\b/.test(trouble.where) && ['WAREHOUSE_CHANGED', 'WAREHOUSE_FORBIDDEN'].includes(code);
}

/** Why a row was refused, in the words of the database, with its constraint where they do not name it. */
export function refusalWords(error: unknown): string {
  const { words } = troubleOf(error);
  const constraint = error instanceof Error && 'constraint' in error ? error.constraint : undefined;
  return typeof constraint === 'string' && !words.includes(constraint)
    ? `${words} (constraint ${constraint})`
    : words;
}
