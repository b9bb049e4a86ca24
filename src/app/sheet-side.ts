import type { Mirror } from '../core/mirror.ts';
import type { Fence, Log } from '../core/ports.ts';
import { type Entity, entities } from '../core/record.ts';
import type { SheetsClientOptions } from '../google/client.ts';
import { answersBy, type KeptAnswers, readKept } from '../google/probes/answers.ts';
import { createGoogleSheetTable } from '../google/table.ts';
import { sheetFacts } from '../sheet/facts.ts';
import type { SheetLink } from '../sheet/link.ts';
import { type ColumnPolicy, headerOf, type Policy, type TabPolicy, titlesOf } from '../sheet/policy.ts';
import type { OwnInstance } from '../sheet/port/instance.ts';
import { SheetSide } from '../sheet/side.ts';
import type { Link } from '../sync/link.ts';
import { systemClock } from './clock.ts';
import { accountOf } from './owner.ts';
import { agentFor } from './proxies.ts';
import { type Settings, type SheetSettings, sheetEntities, tabSettings } from './settings.ts';

export interface SheetSurroundings {
  readonly fence?: Fence;
  /** What this process signs the spreadsheet with. */
  readonly own: OwnInstance;
}

/** Joins the spreadsheet to a link; `undefined` where the settings name none. */
export function openSheetSide(settings: Settings, link: Link, { fence, own }: SheetSurroundings) {
  const { sheet } = settings;
  if (!sheet) return undefined;
  const table = createGoogleSheetTable({
    ...sheetOptions(sheet, link.log),
    account: accountOf(settings),
    fullReadMs: sheet.fullReadMs,
    answers: answersBy(readAnswers(link.mirror, sheet)?.found),
    ...(fence ? { fence } : {}),
  });
  const rules = readRules(sheet, settings.crm.recordUrl);
  // Users who apply plans want all of a change in one.
  const limits = link.isManual ? { updatesMax: Number.POSITIVE_INFINITY } : {};
  const policy = { ...rules.policy, ...limits };
  const sheetLink: SheetLink = { ...link, ...rules, policy, table, own, url: addressOf(sheet) };
  return { link: sheetLink, side: new SheetSide(sheetLink) };
}

/** What was found out about how Google behaves with the spreadsheet. */
export const readAnswers = (
  mirror: Pick<Mirror, 'readFact'>,
  { spreadsheetId }: Pick<SheetSettings, 'spreadsheetId'>,
): KeptAnswers | undefined => readKept(mirror.readFact(sheetFacts.found), spreadsheetId);

/** Where people open the spreadsheet; the page of an emulator is at its root. */
const addressOf = ({ apiRootUrl, spreadsheetId }: SheetSettings): string =>
  apiRootUrl ?? `https://docs.google.com/spreadsheets/d/${encodeURIComponent(spreadsheetId)}`;

/** How the settings' spreadsheet is reached. */
export const sheetOptions = (sheet: SheetSettings, log: Log): SheetsClientOptions => ({
  ...sheet,
  rootUrl: sheet.apiRootUrl,
  clock: systemClock,
  random: Math.random,
  log,
  agentFor,
});

/** What the settings say of what is kept the same, and how. */
export function readRules(
  sheet: SheetSettings,
  recordUrl?: string,
): Pick<SheetLink, 'entities' | 'policy' | 'titles' | 'headerOf'> {
  const policy = readPolicy(sheet, recordUrl);
  return {
    entities: sheetEntities(sheet),
    policy,
    titles: titlesOf(policy),
    headerOf: (entity, field) => headerOf(field, policy.tabs[entity]),
  };
}

/** Deciding so many rows, preparing their write or making it durable takes some ten milliseconds each, in which nothing else runs. */
const updatesMax = 500;

/** The configuration speaks of the sheet; deciding knows it as the table. */
export function readPolicy(sheet: SheetSettings, recordUrl?: string): Policy {
  const { appendsMax, brakes, conflicts: questions, vanishedRows } = sheet;
  const tabs = Object.fromEntries(entities.map((entity) => [entity, readTab(sheet, entity)]));
  const questionsTitle = questions.enabled ? questions.title : undefined;
  return {
    tabs: tabs as Record<Entity, TabPolicy>,
    questionsTitle,
    recordUrl,
    vanishedRows,
    brakes,
    appendsMax,
    updatesMax,
  };
}

const conflicts = { crm: 'crm', sheet: 'table', ask: 'ask' } as const;
const directions = { both: 'both', toSheet: 'toTable', off: 'off' } as const;

function readTab(sheet: SheetSettings, entity: Entity): TabPolicy {
  const { title, conflict, columns, only, order, pauseColumn, vanishedRows } = tabSettings(sheet, entity);
  const rules = Object.entries(columns).map(([name, column]): [string, ColumnPolicy] => [
    name,
    {
      header: column.header,
      direction: column.direction && directions[column.direction],
      conflict: column.conflict && conflicts[column.conflict],
      blank: column.blank,
    },
  ]);
  return {
    title,
    conflict: conflicts[conflict],
    columns: Object.fromEntries(rules),
    order,
    pauseHeader: pauseColumn,
    vanishedRows,
    only,
  };
}
