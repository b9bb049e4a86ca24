import { expect, test } from 'vitest';
import { expectTitle } from '../support/fault-table.ts';

/* What can happen to the process, its disk, its queue and its clock, and where it is seen that nothing is lost or doubled by it. */

/** They go on after those of the CRM and of the sheet. */
const [first, last] = [56, 77];

/** Files are below `test/`; a title stands there word for word. */
const faults: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  'fault 56: the process is killed at a request or a write': [
    ['process/crash.test.ts', 'while pages are read'],
    ['process/crash.test.ts', 'when the first batch has reached the sheet and its reply has not come back'],
    ['process/crash.test.ts', 'when the first batch was sent and never reached the sheet'],
    ['process/crash.test.ts', 'before the CRM has carried out updates that were sent'],
    ['process/crash.test.ts', 'after the CRM has carried out updates whose answers were cut off'],
    ['process/crash.test.ts', 'while updates are under way that the CRM carries out after it'],
    ['process/crash.test.ts', 'when a row is claimed and nothing was sent yet'],
    ['process/crash.test.ts', 'when the CRM has created a record and its answer was cut off'],
    ['process/crash.test.ts', 'when a create was sent that never reached the CRM'],
    ['process/crash.test.ts', 'when a later batch has reached the sheet and its reply has not come back'],
    ['process/crash.test.ts', 'when a later batch was sent and never reached the sheet'],
    ['process/crash.test.ts', 'when the CRM has done it and its answer was cut off'],
    ['process/crash.test.ts', 'when it was sent and never reached the CRM'],
    ['process/crash.test.ts', 'while it is under way and the CRM does it after the kill'],
  ],
  'fault 57: the power goes after an intent was committed': [
    [
      'contract/mirror-file.test.ts',
      'commits survive a power cut: the log is synced on every open, although the library would not',
    ],
    [
      'contract/power-cut.test.ts',
      'a mirror whose power goes at any moment opens whole and has every commit that was told of',
    ],
    [
      'contract/mirror.test.ts',
      'a writer that is killed keeps every commit it has told of, and no half of one',
    ],
  ],
  'fault 58: the disk is full': [
    [
      'process/full-disk.test.ts',
      'stops the daemon before its next request, which says so and goes on by itself when there is room',
    ],
    ['process/full-disk.test.ts', 'does not keep the answer to a create from being written down'],
    ['process/full-disk.test.ts', 'does not keep a daemon from starting and saying so'],
  ],
  'fault 59: a second process wants the mirror': [
    ['process/lifecycle.test.ts', 'is refused while another daemon uses the state directory, which goes on'],
    [
      'process/second-daemon.test.ts',
      'a second daemon with a state of its own writes nothing, says who keeps the sheet, and begins when that one stops',
    ],
  ],
  'faults 60 and 61: the mirror is lost or from yesterday': [
    [
      'process/backup.test.ts',
      'because it %s writes nothing before a person agrees, and then overwrites nothing',
    ],
  ],
  'fault 62: the file of the mirror is damaged': [
    ['contract/mirror-file.test.ts', 'a file with a damaged page is refused and left as it is'],
    ['contract/mirror-file.test.ts', 'a file that is not a database is refused and left as it is'],
  ],
  'fault 63: a migration breaks off, or the version is older than the file': [
    [
      'contract/mirror-upgrade.test.ts',
      'a migration that fails half-way leaves the file as it was before all of its steps',
    ],
    ['contract/mirror-upgrade.test.ts', 'a file of a later version is refused and left as it is'],
  ],
  'fault 64: Redis forgets, fills up or can only be read': [
    ['process/queue-loss.test.ts', 'arrive once when Redis forgets everything'],
    ['process/queue-loss.test.ts', 'has no memory left and forgets nothing'],
    ['process/queue-loss.test.ts', 'has become a replica that can only be read'],
  ],
  'fault 65: Redis restarts, or its connection falls silent': [
    ['process/queue-loss.test.ts', 'arrive once when Redis dies and comes back empty'],
    [
      'process/queue-loss.test.ts',
      'arrive once when the connection to Redis falls silent without being closed',
    ],
    ['contract/queue-trouble.test.ts', 'says so when Redis is silent, and works again when it speaks'],
  ],
  'fault 66: a job runs twice at once, because the process stood still': [
    [
      'process/queue-loss.test.ts',
      'arrive once when the daemon stands still for longer than the locks of its jobs last',
    ],
  ],
  'fault 67: nothing wakes the worker, or no cycle begins any more': [
    ['scenario/engine-watch.test.ts', 'takes jobs and wakes nobody'],
    [
      'scenario/engine-watch.test.ts',
      'a cycle whose timer never comes is made up for, and the daemon says so',
    ],
  ],
  'fault 68: a stop comes in the middle of a create while Redis is gone': [
    ['process/queue-loss.test.ts', 'do not keep a stop waiting when Redis is gone and a create is under way'],
  ],
  'fault 69: the process crashes again and again': [
    ['process/lifecycle.test.ts', 'repeated twenty times within one window of the CRM never overspends it'],
    [
      'process/lifecycle.test.ts',
      'waits twice as long after each crash, asks nobody meanwhile, and not after a clean stop',
    ],
  ],
  'fault 70: the wall clock jumps, or the machine sleeps': [
    [
      'process/disturbed-time.test.ts',
      'goes on where the clock of its machine is set back and ahead by an hour, and after it slept for eight',
    ],
    ['app/clock.test.ts', 'goes on when the machine is set back an hour, and meets it again later'],
    ['app/clock.test.ts', 'follows when the machine slept for eight hours: everything is as old as it says'],
    [
      'contract/mirror-file.test.ts',
      'times from before the clock was set back are taken for now, and what was past stays as it was',
    ],
  ],
  'fault 71: summer time begins or ends, or a month has a day more': [
    ['core/dates.test.ts', '%s in %s shows as %s'],
  ],
  'fault 72: a timer is asked for more than 24 days': [
    ['app/clock.test.ts', 'a sleep of more than 24 days does not end at once, as a timer of Node would'],
  ],
  'fault 73: the process is too busy for its timers': [
    [
      'scenario/health.test.ts',
      'tells timers that are late all the time, until one comes in time, and no single gap',
    ],
    [
      'process/disturbed-time.test.ts',
      'that is busy for too long for its timers says so, sends every edit once, and recovers',
    ],
  ],
  'fault 74: memory leaks, or the process is killed for it': [
    ['simulation/memory.test.ts', 'hours of cycles and edits leave nothing behind in memory'],
    ['process/crash.test.ts', 'while pages are read'],
  ],
  'fault 75: the settings name another spreadsheet or CRM than the mirror': [
    [
      'process/lifecycle.test.ts',
      'with the state directory of %s is refused, asks nobody, and spoils nothing',
    ],
    [
      'process/doctor.test.ts',
      'names a spreadsheet that is not there, and one that the state does not belong to',
    ],
  ],
  'fault 75: the key is one for another account of the CRM': [
    [
      'scenario/other-account.test.ts',
      'S5: writes nothing on either side and takes over nothing, although the ids are the same',
    ],
    [
      'scenario/other-account.test.ts',
      'shows by record and field what differs once a person takes the account, and writes when that is approved too',
    ],
    ['scenario/other-account.test.ts', 'is let go by itself when the old key is back'],
    ['scenario/other-account.test.ts', 'is found among several keys, of which the others are known'],
    [
      'scenario/other-account.test.ts',
      'S5: nothing of it is asked for in the rest of the sweep, and then the brake holds',
    ],
    ['contract/crm-keys.test.ts', 'when it waited for the budget, and its slot is given back'],
  ],
  'fault 75: the settings put columns elsewhere': [
    [
      'scenario/changed-columns.test.ts',
      'S5: writes nothing on either side before a person agrees, and shows what it found there',
    ],
    ['scenario/changed-columns.test.ts', 'goes on where it was as soon as the configuration is as before'],
    [
      'scenario/changed-columns.test.ts',
      'is filled without asking, and what somebody has there already waits where it differs',
    ],
  ],
  'fault 76: both sides are full when they first meet': [
    [
      'scenario/adopt.test.ts',
      'gets the IDs of its records in one write, and both sides are then the same without a new record',
    ],
  ],
  'fault 77: a line of the journal can not be written': [
    [
      'scenario/failing-journal.test.ts',
      'the daemon says so, and explains afterwards what it had written to the sheet',
    ],
    [
      'scenario/failing-journal.test.ts',
      'an update that the CRM has carried out is neither lost nor sent twice',
    ],
    [
      'scenario/failing-journal.test.ts',
      'a record that the CRM has created is found again, and not created twice',
    ],
    ['contract/mirror.test.ts', 'a transaction that throws leaves nothing behind and hands its error on'],
  ],
};

const cases = Object.entries(faults).flatMap(([fault, tests]) =>
  tests.map(([file, title]) => [fault, file, title] as const),
);

test('every fault of the engine has a test', () => {
  const numbers = new Set(Object.keys(faults).flatMap((fault) => fault.split(':')[0]?.match(/\d+/g) ?? []));
  for (let number = first; number <= last; number += 1) expect(numbers).toContain(String(number));
});

test.each(cases)('%s: %s, “%s”', (_, file, title) => expectTitle(file, title));
