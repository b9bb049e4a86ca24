import { type DestinationStream, pino } from 'pino';
import type { Log } from '../core/ports.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A log that writes one JSON line per event. `fields` of a line never carry values of records or secrets. */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'event' };
  const logger = destination ? pino(options, destination) : pino(options);
  const line =
    (write: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      logger[write](fields, event);
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
