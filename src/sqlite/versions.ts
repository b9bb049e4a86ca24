import type { EndedVersion } from '../core/feed.ts';
import type { HowSaved, Mirror } from '../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../core/record.ts';
import type { StoredRecord } from '../core/state.ts';
import { differingFields, equalFields } from '../core/value.ts';
import type { Connection } from './connection.ts';
import { type Followers, isDuringRunNow, prepareDue } from './followers.ts';

/** The records without a look at who follows them. */
interface Records {
  find(key: RecordKey): StoredRecord | undefined;
  save(record: StoredRecord): void;
  drop(key: RecordKey): void;
}

/**
 * What is kept of the version that a record has now, beside its fields. Of a record that is gone `validFrom` is when that was heard. NULL
 * where that is not known.
 */
interface Bounds {
  readonly validFrom: number | null;
  readonly validAfter: number | null;
}

const unbounded: Bounds = { validFrom: null, validAfter: null };

type Ended = EndedVersion['ended'];

/** What is noted of a change, for each side that follows the records. */
function openNotes(connection: Connection, followers: Followers) {
  const readBounds = connection.prepare<Bounds>('SELECT validFrom, validAfter FROM record WHERE key = ?');
  const setBounds = connection.prepare('UPDATE record SET validFrom = ?, validAfter = ? WHERE key = ?');
  const addDue = prepareDue(connection);
  const addVersion = connection.prepare(
    `INSERT INTO version (side, key, fields, validFrom, validAfter, validUntil, ended, madeBy, isDuringRun)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${isDuringRunNow})`,
  );
  return {
    boundsOf: (key: RecordKey) => readBounds.all(recordKeyText(key))[0] ?? unbounded,
    setBounds(key: RecordKey, { validAfter, validFrom }: Bounds) {
      setBounds.run(validFrom, validAfter, recordKeyText(key));
    },
    makeDue(key: RecordKey) {
      for (const side of followers.of(key.entity)) addDue(side, key);
    },
    endVersion(record: StoredRecord, bounds: Bounds, validUntil: number, ended: Ended) {
      const { validAfter, validFrom } = bounds;
      const [key, fields] = [recordKeyText(record.key), JSON.stringify(record.fields)];
      const from = validFrom ?? record.observedAt;
      for (const side of followers.of(record.key.entity))
        addVersion.run(side, key, fields, from, validAfter, validUntil, ended, record.madeBy ?? 'crm', side);
    },
  };
}

/** Saves records and, where sides follow them, notes what becomes of their versions in the same transaction. */
export function openVersions(connection: Connection, followers: Followers, records: Records) {
  const { boundsOf, endVersion, makeDue, setBounds } = openNotes(connection, followers);
  const note = (before: StoredRecord | undefined, after: StoredRecord) => {
    if (!isOtherVersion(before, after)) {
      if (before && isOtherKnown(before, after)) makeDue(after.key);
      return;
    }
    const bounds = before ? boundsOf(after.key) : unbounded;
    const validFrom = beginAfter(bounds, after);
    if (before?.presence === 'present') endVersion(before, bounds, validFrom, endOf(after));
    const validAfter = after.presence === 'gone' ? null : lastWithout(before, bounds);
    setBounds(after.key, { validFrom, validAfter });
    makeDue(after.key);
  };

  return {
    /** Saves the record by way of the stores of a side. */
    saveRecord(record: StoredRecord, side: string, how?: HowSaved): void {
      const before = records.find(record.key);
      const { madeBy: _, ...rest } = record;
      const madeBy = makerOf(before, record, side, how);
      const after = madeBy === undefined ? rest : { ...rest, madeBy };
      if (!followers.hasAny()) return records.save(after);
      connection.atomically(() => {
        records.save(after);
        note(before, after);
      });
    },
    dropRecord(key: RecordKey): void {
      if (!followers.hasAny()) return records.drop(key);
      connection.atomically(() => {
        const before = records.find(key);
        if (before?.presence === 'present') {
          const bounds = boundsOf(key);
          endVersion(before, bounds, beginAfter(bounds, before), 'left_out');
        }
        records.drop(key);
        if (before?.presence === 'present') makeDue(key);
      });
    },
    findVersion: ((key) => {
      const record = records.find(key);
      if (record?.presence !== 'present') return undefined;
      const { validAfter, validFrom } = boundsOf(key);
      return {
        key,
        fields: record.fields,
        validFrom: validFrom ?? record.observedAt,
        ...(validAfter === null ? {} : { validAfter }),
        madeBy: record.madeBy ?? 'crm',
      };
    }) satisfies Mirror['findVersion'],
  };
}

function isOtherVersion(before: StoredRecord | undefined, after: StoredRecord): boolean {
  if (before?.presence !== 'present') return after.presence === 'present';
  if (after.presence === 'gone') return true;
  return before.fields !== after.fields && differingFields(before.fields, after.fields).length > 0;
}

/** Whether a field became known, or is no longer: the CRM may have had it all the time. */
const isOtherKnown = (before: StoredRecord, after: StoredRecord): boolean =>
  after.presence === 'present' && before.fields !== after.fields && !equalFields(before.fields, after.fields);

/** When the next version begins, epoch ms. No two of a record begin at once, nor in another order than they were seen, whatever the clock says. */
const beginAfter = ({ validFrom }: Bounds, { heardAt, observedAt }: StoredRecord): number =>
  Math.max(heardAt ?? observedAt, (validFrom ?? 0) + 1);

/** Without fields it is a record of another account. */
function endOf({ fields, presence }: StoredRecord): Ended {
  if (presence === 'present') return 'changed';
  return Object.keys(fields).length === 0 ? 'left_out' : 'trashed';
}

/** When the CRM was last known not to have the version that follows, epoch ms. */
function lastWithout(before: StoredRecord | undefined, { validFrom }: Bounds): number | null {
  if (before?.presence === 'present') return before.observedAt;
  // That a record of another account was left out says nothing about the one of this account.
  return before && Object.keys(before.fields).length > 0 ? validFrom : null;
}

/** Who made what a record is now; `undefined` where that was somebody in the CRM, and of one that is gone. */
function makerOf(
  before: StoredRecord | undefined,
  after: StoredRecord,
  side: string,
  how: HowSaved | undefined,
): string | undefined {
  if (!isOtherVersion(before, after)) return before?.madeBy;
  if (after.presence === 'gone') return undefined;
  if (how === 'takenBack') return 'undo';
  return how === 'created' || isWritten(before, after) ? side : undefined;
}

/** Whether a write of a side is saved with it that was not known before. */
const isWritten = (before: StoredRecord | undefined, { written }: StoredRecord): boolean =>
  written !== undefined && written.at !== before?.written?.at;
