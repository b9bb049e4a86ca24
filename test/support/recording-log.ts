import type { Log } from '../../src/core/ports.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines, and tells when an event is in it. */
export interface RecordingLog extends Log {
  readonly lines: readonly LogLine[];
  /** Resolves with the first line of that event: at once when it is there. */
  told(event: string): Promise<LogLine>;
}

export function createRecordingLog(): RecordingLog {
  const lines: LogLine[] = [];
  const watchers = new Set<(line: LogLine) => void>();
  const write =
    (level: LogLine['level']) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) => {
      const line = { level, event, fields };
      lines.push(line);
      for (const watch of watchers) watch(line);
    };
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    told(event) {
      const { promise, resolve } = Promise.withResolvers<LogLine>();
      const watch = (line: LogLine) => {
        if (line.event !== event) return;
        watchers.delete(watch);
        resolve(line);
      };
      watchers.add(watch);
      const known = lines.find((line) => line.event === event);
      if (known) watch(known);
      return promise;
    },
  };
}
