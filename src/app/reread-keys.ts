import { explainError, isSyncError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import { type Environment, linkVariable, loadSettings } from './config.ts';
import { keysOf, type RereadKeys } from './link.ts';

/**
 * Looks the CRM's keys of a link up again where the settings come from: a key in a secret file can be exchanged without a restart.
 */
export const createRereadKeys =
  (environment: Environment, log: Log, link?: string): RereadKeys =>
  () => {
    try {
      return keysOf(loadSettings({ ...environment, [linkVariable]: link }));
    } catch (error) {
      if (!isSyncError(error, 'CONFIG_INVALID')) throw error;
      log.warn('settings.not_read_again', { message: explainError(error) });
      return [];
    }
  };
