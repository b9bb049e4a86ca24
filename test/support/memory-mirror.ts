import { markCopy } from '../../src/sqlite/backup.ts';
import { noBallast } from '../../src/sqlite/ballast.ts';
import { openBudgetLog } from '../../src/sqlite/budget-log.ts';
import { type Connection, connect } from '../../src/sqlite/connection.ts';
import { migrate } from '../../src/sqlite/migrations.ts';
import type { OpenMirror } from '../../src/sqlite/open.ts';
import { endFuture } from '../../src/sqlite/past.ts';
import { openTables } from '../../src/sqlite/tables.ts';

/** A mirror that is gone when it is closed. */
export interface MirrorInMemory extends Pick<OpenMirror, 'mirror' | 'budgetLog'> {
  /** The same content as another process finds it that opens it at that time, epoch ms. */
  reopen(now: number): MirrorInMemory;
  /** Copies it as it is at that time, epoch ms. Returns what opens the copy. */
  backUp(at: number): () => MirrorInMemory;
}

/** A mirror that knows nothing yet. */
let newMirror: Buffer | undefined;

/** For whoever needs the real one many times a second: the tables are made once. */
export function openMirrorInMemory(): MirrorInMemory {
  newMirror ??= makeNewMirror();
  return openInMemory(connect(newMirror));
}

function makeNewMirror(): Buffer {
  const connection = connect(':memory:');
  migrate(connection);
  const content = connection.content();
  connection.close();
  return content;
}

const openInMemory = (connection: Connection): MirrorInMemory => ({
  mirror: openTables(connection, noBallast),
  budgetLog: openBudgetLog(connection, noBallast),
  reopen(now) {
    endFuture(connection, now);
    return openInMemory(connection);
  },
  backUp(at) {
    const content = connection.content();
    return () => {
      const copy = connect(content);
      markCopy(copy, new Date(at).toISOString());
      return openInMemory(copy);
    };
  },
});
