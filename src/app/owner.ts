import { SyncError } from '../core/errors.ts';
import { type Fact, facts } from '../core/facts.ts';
import type { Mirror } from '../core/mirror.ts';
import { sheetFacts } from '../sheet/facts.ts';
import { readWrites } from '../sheet/rebase.ts';
import { hasMetColumns } from '../sheet/tab-columns.ts';
import type { Settings } from './settings.ts';
import { shortHash } from './short-hash.ts';

/** Names the CRM account at the sides: by its address, because the specification has no other name of it. */
export const accountOf = ({ crm }: Settings): string => shortHash(withoutSlash(crm.baseUrl));

/** With a slash at its end an address is the same. */
const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

type Owner = readonly [fact: Fact<string>, value: string, isKnown: (mirror: Mirror) => boolean];

/** A database says itself whose it is, and whether it is as it was left: it may move to another address. */
function ownersOf({ crm, sheet }: Settings): Owner[] {
  const owners: Owner[] = [[facts.crmAddress, withoutSlash(crm.baseUrl), knowsCrm]];
  if (sheet) owners.push([sheetFacts.spreadsheet, sheet.spreadsheetId, knowsTable]);
  return owners;
}

/** Whether the mirror holds anything that the CRM said. */
const knowsCrm = (mirror: Mirror): boolean =>
  mirror.readCatalog() !== undefined ||
  mirror.readSweeps().length > 0 ||
  mirror.readRecords().length > 0 ||
  knowsBoth(mirror);

/** Whether the mirror holds anything that the table said. */
const knowsTable = (mirror: Mirror): boolean =>
  hasMetColumns(mirror) || readWrites(mirror).length > 0 || knowsBoth(mirror);

/** What is agreed, or on its way from one side to the other, is of both. */
const knowsBoth = (mirror: Mirror): boolean =>
  [
    mirror.readAgreements(),
    mirror.readOutbox(),
    mirror.readOpenWrites(),
    mirror.searchJournal({ limit: 1 }),
  ].some(({ length }) => length > 0);

/**
 * A mirror belongs to one CRM and one spreadsheet: with another it would take everything for deleted and new. Fails with CONFIG_INVALID when
 * the mirror belongs to others than the settings name; one that has no owner yet is good. So is one that was only opened with another
 * name and has heard nothing from there: a mistyped address is mended in the settings alone.
 */
export function checkOwner(mirror: Mirror, settings: Settings): void {
  for (const [fact, value, isKnown] of ownersOf(settings)) {
    const before = mirror.readFact(fact);
    if (before === undefined || withoutSlash(before) === value || !isKnown(mirror)) continue;
    const message = `The state directory belongs to ${fact.name} ${before}, but the settings say ${value}. Use another STATE_DIR for it.`;
    throw new SyncError('CONFIG_INVALID', message);
  }
}

/** Makes the mirror belong to what the settings name. Fails with CONFIG_INVALID when it belongs to others. */
export function takeOwnership(mirror: Mirror, settings: Settings): void {
  checkOwner(mirror, settings);
  for (const [fact, value] of ownersOf(settings)) mirror.saveFact(fact, value);
}
