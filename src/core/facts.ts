import type { ColumnMap } from './column-map.ts';
import type { Entity } from './record.ts';
import type { FieldName } from './value.ts';

/** Something small of which the mirror keeps one value, as JSON. */
export interface Fact<Value> {
  /** The name in the file: mirrors of earlier versions have it. */
  readonly name: string;
  /** Whether what the file holds has the shape of the value. */
  readonly fits: (content: unknown) => content is Value;
}

type Fits<Value> = Fact<Value>['fits'];

const fact = <Value>(name: string, fits: Fits<Value>): Fact<Value> => ({ name, fits });

/** Facts of which each entity has its own. */
const entityFact =
  <Value>(name: string, fits: Fits<Value>) =>
  (entity: Entity): Fact<Value> => ({ name: `${name}.${entity}`, fits });

const isText = (content: unknown): content is string => typeof content === 'string';
const isNumber = (content: unknown): content is number => typeof content === 'number';
const isTruth = (content: unknown): content is boolean => typeof content === 'boolean';

const listOf =
  <Member>(fits: Fits<Member>): Fits<readonly Member[]> =>
  (content): content is readonly Member[] =>
    Array.isArray(content) && content.every(fits);

const pairOf =
  <One, Other>(fitsOne: Fits<One>, fitsOther: Fits<Other>): Fits<readonly [One, Other]> =>
  (content): content is readonly [One, Other] =>
    Array.isArray(content) && content.length === 2 && fitsOne(content[0]) && fitsOther(content[1]);

const isObject = (content: unknown): content is Record<string, unknown> =>
  typeof content === 'object' && content !== null && !Array.isArray(content);

const namedOf =
  <Member>(fits: Fits<Member>): Fits<Readonly<Record<string, Member>>> =>
  (content): content is Readonly<Record<string, Member>> =>
    isObject(content) && Object.values(content).every(fits);

const isColumnPlace = (content: unknown): content is ColumnMap[FieldName] =>
  isObject(content) && isText(content['direction']) && isText(content['header'] ?? '');

/** All facts of a mirror: what each is, and who writes it. */
export const facts = {
  /** The address of the CRM that the mirror belongs to; app/link. */
  crmAddress: fact('crm.baseUrl', isText),
  /** The spreadsheet that the mirror belongs to; app/link. */
  spreadsheet: fact('sheet.spreadsheetId', isText),
  /** When this copy of a mirror was made, in words: what starts from it starts from another time; sqlite/backup, ended by sheet/rebase. */
  copiedAt: fact('copiedAt', isText),
  /** How many runs in a row had crashed when this one began, and when it did (epoch ms); app/running-link, which drops it at a good end. */
  run: fact('run', pairOf(isNumber, isNumber)),
  /** The greatest token of a lease under which the mirror was opened; sync/lease. */
  leaseToken: fact('lease.token', isNumber),
  /** Names of the keys that are known to open the account whose records the mirror holds; sync/account. */
  knownKeys: fact('account.keys', listOf(isText)),
  /** Names of keys one of which was found to open another account; sync/account. */
  otherKeys: fact('account.otherKeys', listOf(isText)),
  /** Whether the catalog is of another account: from when one is taken until its own is read; sync/account. */
  isOtherCatalog: fact('account.catalog', isTruth),
  /** The number of the last line of the journal that is about records of another account; sync/account. */
  lastLineOfOther: fact('account.lastLineOfOther', isNumber),
  /** Whether the last list of custom fields was empty although some were in use: a second one like it is no slip; sync/pull. */
  areFieldsEmpty: fact('crm.empty-custom-fields', isTruth),
  /** How many complete sweeps in a row showed nothing; sync/lists. */
  emptySweeps: entityFact('crm.empty-sweeps', isNumber),
  /** Elements of the CRM's lists without an id that can be used, in words, by the lead below which a list is, or by nothing; sync/lists. */
  nameless: entityFact('crm.nameless', namedOf(listOf(isText))),
  /** Where the columns of a tab were when it was last decided; sheet/column-map. */
  columns: entityFact('columns', namedOf(isColumnPlace)),
  /** Why nothing that the mirror remembers of an entity may be trusted until a person agrees; empty once one did; sheet/rebase. */
  rebase: entityFact('rebase', isText),
  /** The word in all claim tokens of this mirror; sheet/rebase. */
  word: fact('word', isText),
  /** The last writes to the table, oldest first; sheet/rebase. */
  writes: fact('table.writes', listOf(isText)),
  /** The tab whose rows the mirror speaks of; sheet/rebase. */
  tab: entityFact('table.tab', isText),
  /** Fields that were found to have a column; sheet/tab-columns. */
  metFields: entityFact('table.fields', listOf(isText)),
  /** Fields whose columns were found with checkboxes; sheet/tab-columns. */
  boxedFields: entityFact('table.boxes', listOf(isText)),
  /** When each record without a row was last seen with one, and since when each tab is held (epoch ms); sheet/lost-rows. */
  lostRows: fact('table.lost', listOf(pairOf(isText, isNumber))),
  /** Claim tokens of which no write was confirmed, each with the time when that was known (epoch ms); sheet/void-claims. */
  voidClaims: fact('claims.void', listOf(pairOf(isText, isNumber))),
};
