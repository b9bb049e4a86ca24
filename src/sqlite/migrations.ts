import { SyncError } from '../core/errors.ts';
import type { Connection } from './connection.ts';

/**
 * A table once more, in which the key of a row is one of its side alone; `side` says of which the rows are that are there. A primary key
 * cannot be altered. The table keeps the order in which its rows came.
 */
const keyedBySide = (
  table: string,
  key: string,
  columns: string,
  names: string,
  side = "'sheet'",
): string => `
  CREATE TABLE ${table}OfSide (
    side TEXT NOT NULL, ${key} TEXT NOT NULL, ${columns},
    PRIMARY KEY (side, ${key})
  ) STRICT;
  INSERT INTO ${table}OfSide (side, ${key}, ${names}) SELECT ${side}, ${key}, ${names} FROM ${table} ORDER BY rowid;
  DROP TABLE ${table};
  ALTER TABLE ${table}OfSide RENAME TO ${table};
`;

/**
 * The steps that lead from an empty file to the current schema. The file remembers in `user_version` how many it has
 * taken. Steps are only ever added at the end: a file out there has taken the earlier ones as they were.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE record (
    key TEXT PRIMARY KEY,
    entity TEXT NOT NULL,
    fields TEXT NOT NULL,
    observedAt INTEGER NOT NULL,
    firstSeenAt INTEGER NOT NULL,
    lastSeenAt INTEGER NOT NULL,
    missedSweeps INTEGER NOT NULL,
    presence TEXT NOT NULL CHECK (presence IN ('present', 'gone')),
    writtenAt INTEGER,
    writtenBefore TEXT,
    CHECK ((writtenAt IS NULL) = (writtenBefore IS NULL))
  ) STRICT;

  CREATE TABLE agreement (
    key TEXT PRIMARY KEY,
    fields TEXT NOT NULL,
    offered TEXT NOT NULL,
    changedAt INTEGER NOT NULL,
    notice TEXT NOT NULL
  ) STRICT;

  CREATE TABLE outbox (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'unknown', 'refused', 'review', 'done')),
    fields TEXT NOT NULL,
    base TEXT NOT NULL,
    notice TEXT NOT NULL,
    run TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    dueAt INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    sentAt INTEGER,
    looks INTEGER NOT NULL,
    errorCode TEXT,
    errorMessage TEXT,
    recordId TEXT,
    CHECK ((errorCode IS NULL) = (errorMessage IS NULL))
  ) STRICT;

  CREATE TABLE journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    run TEXT NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'update', 'delete', 'adopt', 'repair')),
    side TEXT NOT NULL CHECK (side IN ('crm', 'table', 'both')),
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    lost TEXT NOT NULL,
    cause TEXT NOT NULL
  ) STRICT;

  CREATE TABLE decision (
    scope TEXT PRIMARY KEY,
    choice TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sweep (
    entity TEXT PRIMARY KEY,
    startedAt INTEGER NOT NULL,
    finishedAt INTEGER,
    isComplete INTEGER NOT NULL CHECK (isComplete IN (0, 1)),
    pages INTEGER NOT NULL,
    records INTEGER NOT NULL,
    problem TEXT
  ) STRICT;

  CREATE TABLE fact (
    name TEXT PRIMARY KEY,
    content TEXT NOT NULL
  ) STRICT;

  CREATE TABLE catalog (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    content TEXT NOT NULL
  ) STRICT;

  CREATE TABLE budgetSlot (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    budgetKey TEXT NOT NULL,
    freeAt INTEGER NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE contactRead (
    leadId TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    leadVersion TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE openWrite (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE outbox ADD COLUMN isUndo INTEGER NOT NULL DEFAULT 0 CHECK (isUndo IN (0, 1));
  CREATE INDEX journalByKey ON journal (key);
  CREATE INDEX journalByRun ON journal (run);
  CREATE INDEX journalByTime ON journal (at);
  `,
  `
  ALTER TABLE sweep DROP COLUMN problem;
  `,
  `
  DELETE FROM openWrite;
  `,
  `
  ALTER TABLE outbox ADD COLUMN shownUntil INTEGER;
  `,
  // 500,000 lines take some ten seconds once, and no more memory than ten.
  `
  CREATE TABLE journalField (
    field TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (field, entry)
  ) STRICT, WITHOUT ROWID;
  INSERT OR IGNORE INTO journalField SELECT part.key, journal.id FROM journal, json_each(journal.after) AS part;
  INSERT OR IGNORE INTO journalField SELECT part.key, journal.id FROM journal, json_each(journal.before) AS part;
  INSERT OR IGNORE INTO journalField SELECT part.key, journal.id FROM journal, json_each(journal.lost) AS part;
  `,
  `
  ALTER TABLE agreement ADD COLUMN shown TEXT;
  `,
  `
  ALTER TABLE agreement ADD COLUMN noticed TEXT;
  `,
  `
  ALTER TABLE record ADD COLUMN unread TEXT;
  `,
  `
  CREATE TABLE suspect (
    id TEXT PRIMARY KEY,
    content TEXT NOT NULL
  ) STRICT;
  `,
  // An empty text was none, but for a rebase that a person agreed to. JSON leaves the character 127, which no field has, as it is.
  `
  DELETE FROM fact WHERE content = '' AND name NOT GLOB 'rebase.*';
  UPDATE fact SET content = CASE
    WHEN name IN ('lease.token', 'account.lastLineOfOther', 'table.lost', 'claims.void')
      OR name GLOB 'columns.*' OR name GLOB 'crm.nameless.*' OR name GLOB 'crm.empty-sweeps.*' THEN content
    WHEN name IN ('account.catalog', 'crm.empty-custom-fields') THEN 'true'
    WHEN name = 'run' THEN '[' || replace(content, ' ', ',') || ']'
    WHEN name IN ('account.keys', 'account.otherKeys', 'table.writes')
      THEN '[' || replace(json_quote(content), ' ', '","') || ']'
    WHEN name GLOB 'table.fields.*' OR name GLOB 'table.boxes.*'
      THEN '[' || replace(json_quote(replace(content, char(10), char(127))), char(127), '","') || ']'
    ELSE json_quote(content)
  END;
  `,
  // Each side has its own; what there was is the spreadsheet's.
  [
    keyedBySide(
      'agreement',
      'key',
      `fields TEXT NOT NULL,
      offered TEXT NOT NULL,
      shown TEXT,
      changedAt INTEGER NOT NULL,
      notice TEXT NOT NULL,
      noticed TEXT`,
      'fields, offered, shown, changedAt, notice, noticed',
    ),
    keyedBySide(
      'outbox',
      'key',
      `kind TEXT NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
      state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'unknown', 'refused', 'review', 'done')),
      fields TEXT NOT NULL,
      base TEXT NOT NULL,
      notice TEXT NOT NULL,
      run TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      shownUntil INTEGER,
      dueAt INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      sentAt INTEGER,
      looks INTEGER NOT NULL,
      errorCode TEXT,
      errorMessage TEXT,
      recordId TEXT,
      isUndo INTEGER NOT NULL CHECK (isUndo IN (0, 1)),
      CHECK ((errorCode IS NULL) = (errorMessage IS NULL))`,
      `kind, state, fields, base, notice, run, createdAt, shownUntil, dueAt, attempts, sentAt, looks, errorCode,
      errorMessage, recordId, isUndo`,
    ),
    keyedBySide('decision', 'scope', 'choice TEXT NOT NULL, at INTEGER NOT NULL', 'choice, at'),
    "ALTER TABLE openWrite ADD COLUMN side TEXT NOT NULL DEFAULT 'sheet';",
    "ALTER TABLE suspect ADD COLUMN side TEXT NOT NULL DEFAULT 'sheet';",
  ].join('\n'),
  // The same id may be one of several sides.
  ['openWrite', 'suspect']
    .map((table) => keyedBySide(table, 'id', 'content TEXT NOT NULL', 'content', 'side'))
    .join('\n'),
  // Rows of `due` are counted where they come and go: a million of them would have to be counted for each look.
  `
  ALTER TABLE record ADD COLUMN heardAt INTEGER;
  ALTER TABLE record ADD COLUMN validFrom INTEGER;
  ALTER TABLE record ADD COLUMN validAfter INTEGER;
  ALTER TABLE record ADD COLUMN madeBy TEXT;

  CREATE TABLE follower (
    side TEXT PRIMARY KEY,
    isCopied INTEGER NOT NULL DEFAULT 0 CHECK (isCopied IN (0, 1)),
    lastRun INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE dueCount (
    side TEXT NOT NULL,
    entity TEXT NOT NULL,
    due INTEGER NOT NULL DEFAULT 0,
    gone INTEGER NOT NULL DEFAULT 0,
    stuck INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (side, entity)
  ) STRICT;

  CREATE TABLE due (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    side TEXT NOT NULL,
    key TEXT NOT NULL,
    entity TEXT NOT NULL,
    isGone INTEGER NOT NULL CHECK (isGone IN (0, 1)),
    dueAt INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL,
    isDuringRun INTEGER NOT NULL CHECK (isDuringRun IN (0, 1)),
    UNIQUE (side, key)
  ) STRICT;
  CREATE INDEX dueByTime ON due (side, entity, dueAt);
  CREATE INDEX dueDuringRun ON due (side) WHERE isDuringRun = 1;
  CREATE INDEX dueStuck ON due (side) WHERE attempts > 0;
  CREATE TRIGGER dueCame AFTER INSERT ON due BEGIN
    UPDATE dueCount SET due = due + 1, gone = gone + NEW.isGone, stuck = stuck + (NEW.attempts > 0)
    WHERE side = NEW.side AND entity = NEW.entity;
  END;
  CREATE TRIGGER dueWent AFTER DELETE ON due BEGIN
    UPDATE dueCount SET due = due - 1, gone = gone - OLD.isGone, stuck = stuck - (OLD.attempts > 0)
    WHERE side = OLD.side AND entity = OLD.entity;
  END;
  CREATE TRIGGER dueChanged AFTER UPDATE OF isGone, attempts ON due
  WHEN (NEW.attempts > 0) <> (OLD.attempts > 0) OR NEW.isGone <> OLD.isGone BEGIN
    UPDATE dueCount
    SET gone = gone + NEW.isGone - OLD.isGone, stuck = stuck + (NEW.attempts > 0) - (OLD.attempts > 0)
    WHERE side = NEW.side AND entity = NEW.entity;
  END;

  CREATE TABLE version (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    side TEXT NOT NULL,
    key TEXT NOT NULL,
    fields TEXT NOT NULL,
    validFrom INTEGER NOT NULL,
    validAfter INTEGER,
    validUntil INTEGER NOT NULL,
    ended TEXT NOT NULL CHECK (ended IN ('changed', 'trashed', 'left_out')),
    madeBy TEXT NOT NULL,
    isDuringRun INTEGER NOT NULL CHECK (isDuringRun IN (0, 1))
  ) STRICT;
  CREATE INDEX versionByKey ON version (side, key);
  CREATE INDEX versionDuringRun ON version (side) WHERE isDuringRun = 1;

  CREATE TABLE feedRun (
    side TEXT NOT NULL,
    run TEXT NOT NULL,
    no INTEGER,
    at INTEGER NOT NULL,
    keys TEXT,
    PRIMARY KEY (side, run),
    CHECK (no IS NOT NULL OR keys IS NOT NULL)
  ) STRICT;
  CREATE UNIQUE INDEX feedRunByNumber ON feedRun (side, no);
  CREATE UNIQUE INDEX feedRunPending ON feedRun (side) WHERE no IS NULL;
  CREATE INDEX feedRunByTime ON feedRun (side, at);
  `,
  `
  CREATE TABLE takenEdit (
    number INTEGER PRIMARY KEY,
    side TEXT NOT NULL,
    editId TEXT NOT NULL,
    entity TEXT NOT NULL,
    insertedRow TEXT,
    at INTEGER NOT NULL,
    isOpen INTEGER NOT NULL,
    isTold INTEGER NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (side, editId)
  ) STRICT;
  CREATE INDEX takenEditOpen ON takenEdit (side, number) WHERE isOpen = 1;
  CREATE INDEX takenEditUntold ON takenEdit (side, number) WHERE isTold = 0;
  CREATE INDEX takenEditInserted ON takenEdit (side, entity, insertedRow) WHERE insertedRow IS NOT NULL;
  `,
  `
  ALTER TABLE agreement ADD COLUMN leave TEXT;
  `,
  `
  CREATE TABLE command (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    name TEXT NOT NULL,
    about TEXT NOT NULL
  ) STRICT;
  `,
  // A megabyte of JSON within other JSON is escaped each time it is written.
  `
  ALTER TABLE openWrite ADD COLUMN receipt TEXT;
  UPDATE openWrite SET receipt = content ->> '$.receipt', content = json_remove(content, '$.receipt')
  WHERE CASE WHEN json_valid(content) THEN content ->> '$.receipt' IS NOT NULL END;
  `,
];

/** The schema from which on facts are JSON. */
export const jsonFactsSchema = 13;

/** The schema from which on sides follow the records. */
export const feedSchema = 16;

/** The copies of a file from before its schema changed. */
export interface SchemaCopies {
  /** Called with the schema of a file that is about to change. */
  keep(schema: number): void;
  /** The newest copy that has this schema at most; `undefined` where there is none. */
  find(schemaMax: number): string | undefined;
}

/**
 * Brings the file to the current schema, all steps in one transaction: a file is as the earlier version left it, or as this one needs it.
 * Fails with STATE_NEWER for a file of a later version, and names the copy that this one can read.
 */
export function migrate(
  connection: Connection,
  steps: readonly string[] = migrations,
  copies?: SchemaCopies,
): void {
  const readTaken = () => Number(connection.readSetting('user_version'));
  const taken = readTaken();
  if (taken > steps.length) {
    const copy = copies?.find(steps.length);
    const advice = copy === undefined ? '' : ` The copy from before the upgrade is ${copy}.`;
    throw new SyncError(
      'STATE_NEWER',
      `The mirror has schema ${taken}; this version knows up to ${steps.length}.${advice}`,
    );
  }
  if (taken === steps.length) return;
  if (taken > 0) copies?.keep(taken);
  connection.transaction(() => {
    // Another process may have taken steps of a file that several share until this one had the lock.
    const left = steps.slice(readTaken());
    for (const step of left) connection.execute(step);
    if (left.length > 0) connection.setSetting('user_version', steps.length);
  });
}
