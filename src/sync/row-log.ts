import type { Consequences } from '../core/open-write.ts';
import type { Log } from '../core/ports.ts';
import { recordKeyText } from '../core/record.ts';

/** More rows of one write are a fill or a tidying up: their lines would bury all others, and the history has each of them. */
const linesMax = 50;

/** Tells in the log of each row that was written and of how many there were, with the names of fields and never their values. */
export function logRows(log: Log, run: string, written: readonly Consequences[]): void {
  log.info('sheet.written', { run, rows: written.length });
  const entries = written.flatMap(({ journal }) => journal ?? []);
  if (entries.length > linesMax) return;
  for (const { after, before, key, kind } of entries)
    log.info('row.written', {
      run,
      record: recordKeyText(key),
      kind,
      fields: Object.keys({ ...before, ...after }),
    });
}
