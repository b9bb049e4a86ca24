import process from 'node:process';
import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { framesOf } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import { showControls, showMarks } from '../core/text/visible-text.ts';
import { hideLogins } from './settings/urls.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

interface LogTarget {
  /** Whether people read along: then lines are made for them instead of for machines. */
  readonly isTerminal?: boolean;
  /** Standard output, where absent. */
  readonly destination?: DestinationStream;
}

/** Fields that never hold anything but a secret, at the top of a line and one level below. */
const secretFields = [
  'apiKey',
  'apiKeys',
  'authorization',
  'x-api-key',
  'controlToken',
  'controlTokens',
  'redisUrl',
  'warehouseUrl',
  'password',
  'private_key',
  'access_token',
  'refresh_token',
];

const options: LoggerOptions = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  messageKey: 'event',
  redact: {
    paths: secretFields.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
    censor: '(a secret)',
  },
  formatters: {
    log: (fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutBaggage(value)])),
  },
};

/** Errors of libraries carry what was sent, with the keys in it. Only what says what happened is shown, and of an address no login. */
function withoutBaggage(value: unknown): unknown {
  if (typeof value === 'string') return hideLogins(value);
  if (!(value instanceof Error)) return value;
  const { name } = value;
  // A reader in a terminal sees the stack as it is: its message must not pass for lines of the log.
  const message = showControls(hideLogins(value.message));
  const stack = [`${name}: ${message}`, ...framesOf(value)].join('\n');
  return { name, message, ...('code' in value ? { code: value.code } : {}), stack };
}

/**
 * Standard output may be a file on a disk that is full. That ends no work: its lines wait, and each further one tries again. At the end of
 * the process they are not waited for: the library would try for ever, and nobody else could open the mirror meanwhile.
 */
function openStandardOutput(): DestinationStream {
  const output = pino.destination(1);
  const { flushSync } = output;
  output.on('error', () => {
    output.flushSync = () => undefined;
  });
  output.on('write', () => {
    output.flushSync = flushSync;
  });
  return output;
}

/** Makes the lines of a log for people. What JSON lets through could steer their terminal; what is left of controls are our own colours. */
function forPeople(destination: DestinationStream): DestinationStream {
  const prettify = prettyFactory({ messageKey: 'event', translateTime: 'SYS:HH:MM:ss', singleLine: true });
  return { write: (line) => destination.write(showMarks(prettify(line))) };
}

/** A log that writes one line per event. `fields` of a line never carry values of records or secrets. */
export function createLog(level: LogLevel, target: LogTarget = {}): Log {
  const { isTerminal = process.stdout.isTTY, destination = openStandardOutput() } = target;
  const logger = pino({ ...options, level }, isTerminal ? forPeople(destination) : destination);
  return toLog((write, event, fields) => logger[write](fields, event));
}

/** A log in which every line tells of which link it is. */
export const logOfLink = (log: Log, link: string): Log =>
  toLog((write, event, fields) => log[write](event, { link, ...fields }));

function toLog(write: (level: keyof Log, event: string, fields: object) => void): Log {
  const line =
    (level: keyof Log) =>
    (event: string, fields: object = {}) =>
      write(level, event, fields);
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
