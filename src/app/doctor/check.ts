import { isSyncError, type SyncError } from '../../core/errors.ts';
import type { DoctorContext } from './context.ts';

/** What one check found, as it is shown to people and machines. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** A check without its name. A `fault` says what kind of failure it is, where it is one of these. */
export interface Finding extends Omit<Check, 'name'> {
  readonly fault?: 'settings' | 'unreachable';
}

export const good = (found: string): Finding => ({ state: 'ok', found });
export const doubtful = (found: string, advice: string): Finding => ({ state: 'warning', found, advice });
export const bad = (found: string, advice: string): Finding => ({ state: 'failed', found, advice });
export const skipped = (found: string): Finding => ({ state: 'skipped', found });

/** One thing to look at. What it throws is its finding too. */
export interface Examination {
  readonly name: string;
  /** Names of examinations before it that it makes no sense without. */
  readonly needs?: readonly string[];
  /** `isGood` tells whether an examination before it has found nothing that failed. */
  readonly examine: (context: DoctorContext, isGood: (name: string) => boolean) => Finding | Promise<Finding>;
}

/** What an examination that could not be carried out has found. */
export function findingOf(error: unknown): Finding {
  if (!isSyncError(error)) return bad(String(error), 'Nobody foresaw this: please report it.');
  const fault = faultOf(error);
  return { ...bad(error.message, error.hint), ...(fault ? { fault } : {}) };
}

function faultOf({ code }: SyncError): Finding['fault'] {
  if (code === 'CONFIG_INVALID') return 'settings';
  return code.endsWith('_UNREACHABLE') ? 'unreachable' : undefined;
}
