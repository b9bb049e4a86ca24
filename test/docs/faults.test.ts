import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';

/* What can go wrong. The title of each test that shows that nothing is lost, doubled or put elsewhere by it names its number. */

const faults = {
  // With a CRM behind a network.
  1: 'there is no connection',
  2: 'the answer to a create is lost, and it was done',
  3: 'the answer to a create is lost, and it is done late',
  4: 'the answer to a create is lost, and it was not done',
  5: 'a record is edited before its lost create is looked for',
  6: 'a colleague creates the same record meanwhile',
  7: 'the answer to an update is lost',
  8: 'a record changes between our read and our write',
  9: 'a list comes empty where records were known',
  10: 'an answer is a page, breaks off, or has another form',
  11: 'one page of a sweep fails',
  12: 'a delete between two pages moves a live record past us',
  13: 'new records between two pages show a record twice',
  14: 'pages repeat for ever, or there is only the first',
  15: 'a list lags behind our own write',
  16: 'a rate refusal does not say how long to wait',
  17: 'somebody else uses the key',
  18: 'the key is revoked',
  19: 'the key lacks the scope for one kind of record',
  20: 'the record of an edited row was deleted',
  21: 'a value is refused',
  22: 'the CRM is away for hours',
  23: 'two records were merged',
  24: 'the CRM puts our value in another form',
  25: 'a status is misspelt, and the CRM would create it',
  26: 'a status, stage or custom field is new or renamed',
  27: 'records gain or lose a field',
  28: 'the clock of the CRM is wrong',
  29: 'an answer never ends, or is huge',
  30: 'a kept connection is reset under a create',
  // With a spreadsheet that people work in.
  31: 'rows are sorted between our read and our write',
  32: 'a row is inserted, moved or deleted between our read and our write',
  33: 'a row is copied, with its ID',
  34: 'an ID is blanked or overwritten',
  35: 'an ID is pasted from another row',
  36: 'a new row is typed half',
  37: 'a person edits the cell that we write',
  38: 'a header is rewritten, or a column moved',
  39: 'a column is deleted',
  40: 'a tab is deleted, renamed or duplicated',
  41: 'the spreadsheet is deleted, not shared any more, or out of requests',
  42: 'all rows are deleted by accident',
  43: 'a column is filled down by accident',
  44: 'a person takes an edit back after it was sent',
  45: 'rows end early, and empty ones are left out',
  46: 'a read brings a part of the rows only',
  47: 'a cell holds a formula or an error',
  48: 'a text is too long for a cell',
  49: 'cells are hidden, filtered or merged, or there are too many',
  50: 'the spreadsheet has another locale or time zone',
  51: 'a text looks like a number, a date or a formula',
  52: 'a text can be written in several forms of Unicode',
  53: 'an append lands and its answer is lost',
  54: 'a collaborator alters what we write',
  55: 'a second daemon is started, or an automation writes to the same sheet',
  // With the process, its disk, its queue and its clock.
  56: 'the process is killed at a request or a write',
  57: 'the power goes after an intent was committed',
  58: 'the disk is full',
  59: 'a second process wants the mirror',
  60: 'the mirror is lost or from yesterday',
  61: 'the mirror is lost or from yesterday',
  62: 'the file of the mirror is damaged',
  63: 'a migration breaks off, or the version is older than the file',
  64: 'Redis forgets, fills up or can only be read',
  65: 'Redis restarts, or its connection falls silent',
  66: 'a job runs twice at once, because the process stood still',
  67: 'nothing wakes the worker, or no cycle begins any more',
  68: 'a stop comes in the middle of a create while Redis is gone',
  69: 'the process crashes again and again',
  70: 'the wall clock jumps, or the machine sleeps',
  71: 'summer time begins or ends, or a month has a day more',
  72: 'a timer is asked for more than 24 days',
  73: 'the process is too busy for its timers',
  74: 'memory leaks, or the process is killed for it',
  75: 'the settings name another spreadsheet, CRM or columns than the mirror, or the key opens another account',
  76: 'both sides are full when they first meet',
  77: 'a line of the journal can not be written',
};

/* What can go wrong with a database, counted by itself: the titles are in files whose names begin with `warehouse`. */

const warehouseFaults = {
  1: 'the server is killed while it works on a write',
  2: 'a backend ends between two statements of a write',
  3: 'the reply to a commit is lost, or the commit never arrives',
  4: 'a commit takes longer than its connection lives',
  5: 'the daemon is killed between its own transaction and that of the database',
  6: 'the default isolation is SERIALIZABLE',
  7: 'a user holds rows for long',
  8: 'users lock rows in the other order',
  9: 'a user locks or alters a table',
  10: 'a column is dropped',
  11: 'a column is renamed',
  12: 'a column gets another type',
  13: 'a column of a user must not be empty',
  14: 'a constraint of a user refuses a value of the CRM',
  15: 'a trigger of a user makes another value of it',
  16: 'the trigger that notes edits is dropped',
  17: 'it is switched off',
  18: 'its function is replaced',
  19: 'a session plays a replica, for which triggers do not fire',
  20: 'a table is truncated',
  21: 'a table, a schema or the database is dropped',
  22: 'the database is restored from an old copy',
  23: 'a standby is promoted that lacks the last writes',
  24: 'the address leads to a standby',
  25: 'a second daemon is started on the same database, or on a clone of it',
  26: 'the mirror is lost or from yesterday',
  27: 'a right is taken away',
  28: 'the login is refused, or all connections are taken',
  29: 'the disk of the database is full',
  30: 'a transaction is idle for a day',
  31: 'an edit is committed after a later one',
  32: 'one statement changes all rows',
  33: 'texts are long, odd or not storable',
  34: 'numbers are beyond what a program holds',
  35: 'dates and settings are of another world',
  36: 'a row is inserted with an id, or its id changes',
  37: 'one statement inserts, updates and deletes',
  38: 'a row is deleted and inserted again in one transaction',
  39: 'an edit is rolled back to a savepoint',
  40: 'a lead and what belongs to it are inserted in one transaction',
  41: 'a row is changed while its create is on its way',
  42: 'a foreign key of a user refers to a row that is gone',
  43: 'a notification is lost',
  44: 'a pooler gives each transaction another connection',
  45: 'row level security hides rows',
  46: 'the clock of the database is wrong',
  47: 'an editor forges a run of the daemon',
  48: 'sheet and SQL change one field at once',
  49: 'custom fields are renamed, removed, added, changed, or there are 250',
  50: 'the database is moved to another major version by dump and restore',
};

const directory = new URL('..', import.meta.url);
const files = globSync('**/*.ts', { cwd: directory });

/** The numbers of faults that titles of these files begin with. */
const numbersIn = (paths: readonly string[]) =>
  paths.flatMap((path) =>
    [
      ...readFileSync(new URL(path, directory), 'utf8').matchAll(/'(?:[SW\d ]+: )?faults? ([\d and]+): /g),
    ].flatMap(([, numbers]) => numbers?.match(/\d+/g) ?? []),
  );

const isOfWarehouse = (path: string) => basename(path).startsWith('warehouse');
const named = numbersIn(files.filter((path) => !isOfWarehouse(path)));
const namedOfWarehouse = numbersIn(files.filter(isOfWarehouse));

test.each(Object.entries(faults))('fault %s, “%s”, has a test', (number) => {
  expect(named).toContain(number);
});

test.each(Object.entries(warehouseFaults))('fault %s of the warehouse, “%s”, has a test', (number) => {
  expect(namedOfWarehouse).toContain(number);
});

test('no test names a fault of the warehouse that is not in the table', () => {
  expect(namedOfWarehouse.filter((number) => !(number in warehouseFaults))).toEqual([]);
});
