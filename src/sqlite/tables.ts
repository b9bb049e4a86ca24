import { isObject, isText, namedOf } from '../core/facts.ts';
import type { Catalog } from '../core/fields/catalog.ts';
import { firstSide, type Mirror, type SideStores } from '../core/mirror.ts';
import type { Suspect } from '../core/open-write.ts';
import { isSeenAgain } from '../core/reading/observe.ts';
import type { Entity, Unread } from '../core/record.ts';
import type {
  Agreement,
  ContactRead,
  Decision,
  Leave,
  Noticed,
  OutboxItem,
  Shown,
  StoredRecord,
  Sweep,
  Written,
} from '../core/state.ts';
import type { Fields } from '../core/value.ts';
import { scopeName } from '../core/waiting/scopes.ts';
import type { Ballast } from './ballast.ts';
import type { Connection } from './connection.ts';
import { openFeed } from './feed.ts';
import { openFollowers } from './followers.ts';
import { openJournal } from './journal.ts';
import { openKeyedTable, type Property, plain } from './keyed-table.ts';
import { fields, hasLists, isFields, isLeave, json, openWrite, readJson, recordKey } from './stored-json.ts';
import { openTakenEdits } from './taken-edits.ts';
import { openVersions } from './versions.ts';

/** Opens all tables of a mirror, with the stores of its first side. */
export function openTables(connection: Connection, ballast: Ballast): Mirror {
  const mirrors = new Map<string, Mirror>();
  const kept = connection.prepare<{ side: string }>(
    `SELECT side FROM agreement UNION SELECT side FROM outbox UNION SELECT side FROM decision
     UNION SELECT side FROM follower`,
  );
  const changes = connection.prepare<{ count: number }>('SELECT total_changes() AS count');
  const watchers = new Map<string, Watchers>();
  const watchersOf = (side: string) => {
    const own = watchers.get(side) ?? createWatchers();
    watchers.set(side, own);
    return own;
  };
  const records = openRecords(connection, (name) => {
    for (const { note } of watchers.values()) note(name);
  });
  const followers = openFollowers(connection);
  const versions = openVersions(connection, followers, records);
  const shared = {
    readAllSteps: () => [...mirrors.values()].flatMap((mirror) => mirror.readOutbox()),
    allSides: () => kept.all().map(({ side }) => of(side)),
    expectRoom: ballast.expect,
    transaction: connection.transaction,
    countChanges: () => changes.all()[0]?.count ?? 0,
    setFollowers: followers.set,
    findVersion: versions.findVersion,
    readRecords: (entity?: Entity) => {
      const all = records.readAll();
      return entity === undefined ? all : all.filter(({ key }) => key.entity === entity);
    },
    findRecord: records.find,
    dropRecord: versions.dropRecord,
    ...openReadings(connection),
    ...openJournal(connection),
    ...openFacts(connection),
    // SQLite writes the log back into the file when its last connection closes.
    close: connection.close,
  };
  const of = (side: string): Mirror => {
    const { note, watch } = watchersOf(side);
    const mirror = mirrors.get(side) ?? {
      ...shared,
      of,
      side,
      watch,
      saveRecord: (record, how) => versions.saveRecord(record, side, how),
      feed: openFeed(connection, side, followers.isFollower),
      edits: openTakenEdits(connection, side, note),
      ...openSideStores(connection, side, note),
    };
    mirrors.set(side, mirror);
    return mirror;
  };
  return of(firstSide);
}

type Note = (name: string) => void;
type Watchers = ReturnType<typeof createWatchers>;

function createWatchers() {
  const watching: Note[] = [];
  return {
    watch: (note: Note) => void watching.push(note),
    note(name: string) {
      for (const note of watching) note(name);
    },
  };
}

const isReplaced = (content: unknown): content is Fields | Fields[] =>
  Array.isArray(content) ? content.every(isFields) : isFields(content);

const written: Property<Written | undefined> = {
  columns: ['writtenAt', 'writtenBefore'],
  // What was replaced stands alone where there is nothing else, and in old mirrors.
  write(last) {
    if (!last) return [null, null];
    const { answered, at, before, earlier } = last;
    return [at, JSON.stringify(answered || earlier ? [before, answered ?? {}, earlier ?? {}] : before)];
  },
  read(at, text) {
    if (at === null) return undefined;
    const content = readJson('fields of a record', isReplaced, String(text));
    if (!Array.isArray(content)) return { at: Number(at), before: content };
    const [before = {}, answered = {}, earlier = {}] = content;
    return { at: Number(at), before, answered, earlier };
  },
};

/** The records as the CRM last said them. What is kept of their versions is in columns beside. */
const openRecords = (connection: Connection, onChange: Note) =>
  openKeyedTable<StoredRecord, 'key'>(
    connection,
    'record',
    {
      key: {
        ...recordKey,
        columns: ['key', 'entity'],
        write: (key) => [...recordKey.write(key), key.entity],
      },
      fields,
      unread: json<Unread | undefined>('fields of a record', namedOf(isText)),
      ...plain('observedAt', 'heardAt', 'firstSeenAt', 'lastSeenAt', 'missedSweeps', 'presence', 'madeBy'),
      written,
    },
    { mayWait: isSeenAgain, onChange },
  );

/** What else is read from the CRM. */
function openReadings(connection: Connection) {
  const sweeps = openKeyedTable<Sweep, 'entity'>(connection, 'sweep', {
    ...plain('entity', 'startedAt', 'finishedAt', 'pages', 'records'),
    isComplete: { write: (isComplete) => [Number(isComplete)], read: (isComplete) => isComplete === 1 },
  });
  const contactReads = openKeyedTable<ContactRead, 'leadId'>(
    connection,
    'contactRead',
    plain('leadId', 'at', 'leadVersion'),
  );
  return {
    readSweeps: sweeps.readAll,
    saveSweep: sweeps.save,
    readContactReads: contactReads.readAll,
    saveContactRead: contactReads.save,
    dropContactRead: contactReads.drop,
  };
}

/** What there is one of: named facts, and the catalog. */
function openFacts(
  connection: Connection,
): Pick<Mirror, 'readFact' | 'saveFact' | 'dropFact' | 'readCatalog' | 'saveCatalog'> {
  const facts = openKeyedTable<{ name: string; content: string }, 'name'>(
    connection,
    'fact',
    plain('name', 'content'),
  );
  const catalogs = openKeyedTable<{ id: number; content: Catalog }, 'id'>(connection, 'catalog', {
    ...plain('id'),
    content: json('a catalog', hasLists('pipelines', 'leadStatuses', 'customFields')),
  });
  return {
    readFact({ fits, name }) {
      const stored = facts.find(name);
      return stored && readJson(`the fact ${name}`, fits, stored.content);
    },
    saveFact({ name }, value) {
      const content = JSON.stringify(value);
      if (facts.find(name)?.content !== content) facts.save({ name, content });
    },
    dropFact: ({ name }) => facts.drop(name),
    readCatalog: () => catalogs.find(onlyId)?.content,
    saveCatalog(content) {
      // It is read again and again, and what follows from it is kept as long as it is the same object.
      const known = catalogs.find(onlyId)?.content;
      if (JSON.stringify(known) !== JSON.stringify(content)) catalogs.save({ id: onlyId, content });
    },
  };
}

/** There is one catalog. */
const onlyId = 1;

const isSuspect = (content: unknown): content is Suspect =>
  isObject(content) && isText(content['state']) && isObject(content['damage']);

/** What is kept of one side. */
function openSideStores(
  connection: Connection,
  side: string,
  onChange: Note,
): Omit<SideStores, 'edits' | 'feed' | 'side' | 'watch'> {
  const agreements = openKeyedTable<Agreement, 'key'>(
    connection,
    'agreement',
    {
      key: recordKey,
      fields,
      offered: fields,
      shown: json<Shown | undefined>('what cells showed', namedOf(Array.isArray)),
      ...plain('changedAt', 'notice'),
      noticed: json<Noticed | undefined>('a notice', hasLists('fields')),
      leave: json<Leave | undefined>('a leave', isLeave),
    },
    { side, onChange },
  );
  const outbox = openKeyedTable<OutboxItem, 'key'>(
    connection,
    'outbox',
    {
      key: recordKey,
      fields,
      base: fields,
      ...plain('kind', 'state', 'notice', 'run', 'attempts', 'looks', 'recordId'),
      ...plain('createdAt', 'shownUntil', 'dueAt', 'sentAt'),
      error: {
        columns: ['errorCode', 'errorMessage'],
        write: (error) => [error?.code ?? null, error?.message ?? null],
        read: (code, message) => (code === null ? undefined : ({ code, message } as OutboxItem['error'])),
      },
      isUndo: { write: (isUndo) => [isUndo ? 1 : 0], read: (isUndo) => isUndo === 1 || undefined },
    },
    { side, onChange },
  );
  const decisions = openKeyedTable<Decision, 'scope'>(
    connection,
    'decision',
    plain('scope', 'choice', 'at'),
    { side, onChange: (scope) => onChange(scopeName(scope)) },
  );
  const writes = openDocuments(connection, 'openWrite', openWrite, side);
  const suspects = openDocuments(connection, 'suspect', json('what a write did to a row', isSuspect), side);
  return {
    readAgreements: agreements.readAll,
    findAgreement: agreements.find,
    saveAgreement: agreements.save,
    dropAgreement: agreements.drop,
    readOutbox: outbox.readAll,
    findOutboxItem: outbox.find,
    saveOutboxItem: outbox.save,
    dropOutboxItem: outbox.drop,
    readDecisions: decisions.readAll,
    saveDecision: decisions.save,
    dropDecision: decisions.drop,
    readOpenWrites: writes.readAll,
    saveOpenWrite: writes.save,
    dropOpenWrite: writes.drop,
    readSuspects: suspects.readAll,
    saveSuspect: suspects.save,
    dropSuspect: suspects.drop,
  };
}

/** Items each of which is kept whole, as JSON. */
function openDocuments<Item extends { readonly id: string }>(
  connection: Connection,
  table: string,
  content: Property<Item>,
  side: string,
) {
  const documents = openKeyedTable<{ id: string; content: Item }, 'id'>(
    connection,
    table,
    { ...plain('id'), content },
    { side },
  );
  return {
    readAll: () => documents.readAll().map((document) => document.content),
    save: (item: Item) => documents.save({ id: item.id, content: item }),
    drop: documents.drop,
  };
}
