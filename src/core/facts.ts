import type { Entity } from './record.ts';

/** Something small of which the mirror keeps one value, as JSON. */
export interface Fact<Value> {
  /** The name in the file: mirrors of earlier versions have it. */
  readonly name: string;
  /** Whether what the file holds has the shape of the value. */
  readonly fits: (content: unknown) => content is Value;
}

export type Fits<Value> = Fact<Value>['fits'];

export const fact = <Value>(name: string, fits: Fits<Value>): Fact<Value> => ({ name, fits });

/** Facts of which each entity has its own. */
export const entityFact =
  <Value>(name: string, fits: Fits<Value>) =>
  (entity: Entity): Fact<Value> => ({ name: `${name}.${entity}`, fits });

export const isText = (content: unknown): content is string => typeof content === 'string';
export const isNumber = (content: unknown): content is number => typeof content === 'number';
const isTruth = (content: unknown): content is boolean => typeof content === 'boolean';

export const listOf =
  <Member>(fits: Fits<Member>): Fits<readonly Member[]> =>
  (content): content is readonly Member[] =>
    Array.isArray(content) && content.every(fits);

export const pairOf =
  <One, Other>(fitsOne: Fits<One>, fitsOther: Fits<Other>): Fits<readonly [One, Other]> =>
  (content): content is readonly [One, Other] =>
    Array.isArray(content) && content.length === 2 && fitsOne(content[0]) && fitsOther(content[1]);

export const isObject = (content: unknown): content is Record<string, unknown> =>
  typeof content === 'object' && content !== null && !Array.isArray(content);

export const namedOf =
  <Member>(fits: Fits<Member>): Fits<Readonly<Record<string, Member>>> =>
  (content): content is Readonly<Record<string, Member>> =>
    isObject(content) && Object.values(content).every(fits);

/** What was forgotten of the history, and when last. */
interface Forgotten {
  readonly at: number;
  readonly lines: number;
  readonly historyMs: number;
}

const isForgotten: Fits<Forgotten> = (content): content is Forgotten =>
  isObject(content) && ['at', 'lines', 'historyMs'].every((name) => isNumber(content[name]));

/** The facts of a mirror that no side owns: what each is, and who writes it. */
export const facts = {
  /** The address of the CRM that the mirror belongs to; app/link. */
  crmAddress: fact('crm.baseUrl', isText),
  /** When this copy of a mirror was made, in words: what starts from it starts from another time; sqlite/backup, ended by sheet/rebase. */
  copiedAt: fact('copiedAt', isText),
  /** How many runs in a row had crashed when this one began, and when it did (epoch ms); app/daemon, which drops it at a good end. */
  run: fact('run', pairOf(isNumber, isNumber)),
  /** When something was last forgotten (epoch ms), how many lines of the history were so far, and how long it was to be kept; sync/forget. */
  forgotten: fact('history.forgotten', isForgotten),
  /** The greatest token of a lease under which the mirror was opened; sync/lease. */
  leaseToken: fact('lease.token', isNumber),
  /** Names of the keys that are known to open the account whose records the mirror holds; sync/reading/account. */
  knownKeys: fact('account.keys', listOf(isText)),
  /** Names of keys one of which was found to open another account; sync/reading/account. */
  otherKeys: fact('account.otherKeys', listOf(isText)),
  /** Whether the catalog is of another account: from when one is taken until its own is read; sync/reading/account. */
  isOtherCatalog: fact('account.catalog', isTruth),
  /** The number of the last line of the journal that is about records of another account; sync/reading/account. */
  lastLineOfOther: fact('account.lastLineOfOther', isNumber),
  /** Whether the last list of custom fields was empty although some were in use: a second one like it is no slip; sync/reading/pull. */
  areFieldsEmpty: fact('crm.empty-custom-fields', isTruth),
  /** Fields that leads were read as empty of while they were held, until that is forgotten of each lead; sync/reading/pull. */
  emptiedFields: fact('crm.emptied-fields', listOf(isText)),
  /** How many complete sweeps in a row showed nothing; sync/reading/lists. */
  emptySweeps: entityFact('crm.empty-sweeps', isNumber),
  /** Elements of the CRM's lists without an id that can be used, in words, by the lead below which a list is, or by nothing; sync/reading/lists. */
  nameless: entityFact('crm.nameless', namedOf(listOf(isText))),
};
