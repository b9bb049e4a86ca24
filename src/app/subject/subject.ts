import { SyncError } from '../../core/errors.ts';
import { firstSide, type Mirror } from '../../core/mirror.ts';
import { type RecordKey, recordKeyText } from '../../core/record.ts';
import { emailsOf, mentionsOf, readEmail, type Subject } from '../../core/subject.ts';
import { listFew, quoteText } from '../../core/text/cut-text.ts';
import { createSheetsClient } from '../../google/client.ts';
import { openHiddenTabs } from '../../google/hidden-tabs.ts';
import { openSubjectTables, rowIdOf, type SubjectTableRow } from '../../postgres/subject.ts';
import { sheetFacts } from '../../sheet/facts.ts';
import { type OpenMirror, openMirror } from '../../sqlite/open.ts';
import { namesOf } from '../../sqlite/subject.ts';
import type { SubjectRow } from '../../sqlite/subject-rows.ts';
import { findRecords } from '../../sync/labels.ts';
import { warehouseFacts } from '../../warehouse/facts.ts';
import { systemClock } from '../clock.ts';
import { expectMirror, wordsOf } from '../link.ts';
import { createLog } from '../logger.ts';
import { accountOf } from '../owner.ts';
import { warehouseStores } from '../settings/warehouse.ts';
import { type Settings, sheetEntities } from '../settings.ts';
import { sheetOptions } from '../sheet-side.ts';
import { placeOf } from '../warehouse-side.ts';
import { type ErasedCopies, eraseFromCopies, foreignFilesSaying } from './copies.ts';
import { findObstacles, isKept } from './obstacles.ts';

/** All that is kept of a person. */
export interface Kept {
  readonly subject: Subject;
  readonly rows: readonly SubjectRow[];
  readonly tableRows: readonly SubjectTableRow[];
  /** Rows of the hidden tabs, each as the texts of its cells. */
  readonly hiddenRows: readonly (readonly string[])[];
}

export interface Erased extends ErasedCopies {
  readonly rows: number;
  readonly tableRows: number;
  readonly hiddenTabs: number;
  /** Where the person may still be: rows of other records, as `journal task-7`, files of others in the state directory, sides without settings. */
  readonly left: readonly string[];
}

/**
 * Opens what a link that is stopped keeps of a person, who is named by a record or an e-mail address. Fails with STATE_LOCKED while a daemon
 * runs, and with COMMAND_UNCLEAR where no record, or more than one, is called so.
 */
export function openSubject(settings: Settings, who: string) {
  const { sheet, state, warehouse } = settings;
  expectMirror(state.directory);
  const { mirror, subjects } = openMirror({ directory: state.directory });
  try {
    const person = meetPerson(settings, { mirror, subjects }, who);
    const sides = openSides(settings, mirror);
    const { isCurrent, isPresent, isPresentRow, rows, said, subject } = person;
    return {
      read: async (): Promise<Kept> => ({
        subject,
        rows,
        tableRows: (await sides.tables?.read(subject, isPresentRow)) ?? [],
        hiddenRows: (await sides.hidden?.rowsSaying(mentionsOf(said).isIn)) ?? [],
      }),
      /** Why nothing can be erased now, in sentences; empty where it can. */
      obstacles: ({ tableRows }: Kept, isPastOnly: boolean) =>
        findObstacles({
          subject,
          rows,
          tableRows,
          isWriting: subjects.isWriting(sideNames(settings)),
          due: warehouse ? subjects.dueAmong(new Set(rows.map(({ key }) => key))) : [],
          isPresent,
          isCurrent,
          tabs: sheet ? sheetEntities(sheet) : [],
          isPastOnly,
        }),
      erase: () => erase(settings, { mirror, subjects }, person, sides),
      async close(): Promise<void> {
        mirror.close();
        await sides.tables?.close();
      },
    };
  } catch (error) {
    mirror.close();
    throw error;
  }
}

type State = Pick<OpenMirror, 'mirror' | 'subjects'>;
type Person = ReturnType<typeof meetPerson>;
type Sides = ReturnType<typeof openSides>;

/** Finds what the mirror keeps of the person who is named. */
function meetPerson(settings: Settings, { mirror, subjects }: State, who: string) {
  const email = readEmail(who);
  const named = email === undefined ? [findOne({ mirror, ...wordsOf(settings) }, who)] : [];
  const subject = subjects.meet(named.map(recordKeyText), email);
  const rows = subjects.rows(subject);
  const records = mirror.readRecords();
  const present = records.filter(({ presence }) => presence === 'present').map(({ key }) => key);
  const presentKeys = new Set(present.map(recordKeyText));
  // The tables name contacts by other ids.
  const presentRows = new Set(present.map((key) => `${key.entity}-${rowIdOf(key)}`));
  const isPresentRow = (key: RecordKey) => presentRows.has(recordKeyText(key));
  return {
    subject,
    rows,
    /** By which the person may be mentioned elsewhere. */
    said: [...emailsOf(subject), ...namesOf(rows)],
    isPresent: (key: string) => presentKeys.has(key),
    isPresentRow,
    /** Whether a row shows what the CRM has now. */
    isCurrent: ({ entity, row, table }: SubjectTableRow) =>
      table.endsWith(`."${entity}"`) && isPresentRow({ entity, id: String(row['id']) }),
  };
}

/** The sides that the settings name, as the mirror calls them. */
const sideNames = ({ sheet, warehouse }: Settings): readonly string[] => [
  ...(sheet ? [firstSide] : []),
  ...(warehouse ? [warehouseStores] : []),
];

function openSides(settings: Settings, mirror: Mirror) {
  const { sheet, warehouse } = settings;
  const log = createLog('silent');
  const word = mirror.readFact(warehouseFacts.word);
  return {
    /** What the mirror knows of and the settings do not: nothing is erased there. */
    unknown: [
      ...(!warehouse && word !== undefined ? ['the warehouse, which the settings no longer name'] : []),
      ...(!sheet && mirror.readFact(sheetFacts.spreadsheet) !== undefined
        ? ['the spreadsheet, which the settings no longer name']
        : []),
    ],
    // Without a word the daemon has never written there.
    tables:
      warehouse && word !== undefined
        ? openSubjectTables({ ...placeOf(settings, warehouse, { word, token: 0 }), clock: systemClock, log })
        : undefined,
    hidden:
      sheet &&
      openHiddenTabs(createSheetsClient(sheetOptions(sheet, log)), {
        spreadsheetId: sheet.spreadsheetId,
        account: accountOf(settings),
      }),
  };
}

/** The mirror comes last: what fails before can be done again. */
async function erase(
  settings: Settings,
  { mirror, subjects }: State,
  { isCurrent, isPresent, isPresentRow, rows, said, subject }: Person,
  { hidden, tables, unknown }: Sides,
): Promise<Erased> {
  const { directory } = settings.state;
  const tableRows = await tables?.erase(subject, isPresentRow, (row) => !isCurrent(row));
  // The list of leads is emptied with the others, so the daemon has to write it again.
  mirror.dropFact(sheetFacts.offeredLeads);
  const hiddenTabs = await hidden?.clear();
  const copies = eraseFromCopies(directory, subject, isPresent);
  const erased = rows.filter((row) => !isKept(row, { isPresent }));
  subjects.erase(subject, erased, sideNames(settings));
  mirror.appendCommand({ at: systemClock.now(), by: 'operator', name: 'erase', about: '' });
  return {
    ...copies,
    rows: erased.length,
    tableRows: tableRows?.length ?? 0,
    hiddenTabs: hiddenTabs ?? 0,
    left: [...subjects.saying(subject, said), ...foreignFilesSaying(directory, said), ...unknown],
  };
}

/** The one record that is called so. */
function findOne(named: Parameters<typeof findRecords>[0], who: string): RecordKey {
  const [only, ...others] = findRecords(named, who);
  if (!only)
    throw new SyncError(
      'COMMAND_UNCLEAR',
      `No record is called ${quoteText(who)}. Name one by its id, its key like lead-42, its title, or a person by an e-mail address.`,
    );
  if (others.length === 0) return only;
  const keys = listFew([only, ...others].map(recordKeyText));
  throw new SyncError(
    'COMMAND_UNCLEAR',
    `${quoteText(who)} may be several records; name one by its key: ${keys}.`,
  );
}
