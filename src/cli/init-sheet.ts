import { adoptRows, planAdoption, readCandidates, rowNumber, type TabAdoption } from '../sheet/adopt.ts';
import { extraFieldNames } from '../sheet/cells/extra-fields.ts';
import type { SheetLink } from '../sheet/link.ts';
import { describeInstance } from '../sheet/port/instance.ts';
import { recordTabs } from '../sheet/port/layout.ts';
import type { LayOutConsent } from '../sheet/port/port.ts';
import { isBlank, type ObservedTable } from '../sheet/port/table.ts';
import { noteColumns, tableLayout } from '../sheet/tab-columns.ts';
import { Engine } from '../sync/engine.ts';
import { print } from './command.ts';

export interface SheetOptions extends LayOutConsent {
  readonly matchBy?: string;
  readonly yes?: true;
}

/** Lays out the tabs and looks for what waits there for a person. Returns whether nothing does. */
export async function setUpSheet(link: SheetLink, options: SheetOptions): Promise<boolean> {
  const { addColumns = false, adopt = false, matchBy, yes } = options;
  const isLaidOut = await layOut(link, { addColumns, adopt });
  await showKeeper(link);
  await showCovered(link);
  const isClear =
    matchBy === undefined ? await showUnidentified(link) : await matchRows(link, matchBy, yes ?? false);
  return isLaidOut && isClear;
}

/** Returns whether every tab can be used. */
async function layOut(link: SheetLink, consent: LayOutConsent): Promise<boolean> {
  const layout = tableLayout(link);
  const { held, offered } = await link.table.layOut(layout, 'create', consent);
  print(...held, ...offered);
  if (offered.length > 0) print(nameAdvice);
  const tabs = layout.map(({ title, columns }) => `${title} (${columns.length} columns)`).join(', ');
  if (held.length === 0) print(`The spreadsheet has its tabs: ${tabs}.`);
  const isNamed = recordTabs(layout).some(({ columns, entity }) => {
    const more = extraFieldNames(entity);
    return columns.some(({ field }) => more.includes(field));
  });
  if (!isNamed) print(moreAdvice);
  return held.length === 0;
}

const moreAdvice =
  'A tab can show more: a link to each record, when and on which side it was last changed, and the contacts of a lead. See “More columns” in src/manual/operating.md.';

/** Columns beside those of a list from before would show the same values once more. */
const nameAdvice =
  'Where a column of the tab has these values under another header, name that header in the configuration instead: sheet.tabs.<tab>.columns.<field>.header.';

/** Says it where a daemon works on the spreadsheet: it is not one with this state directory, which would have kept this command out. */
async function showKeeper(link: SheetLink): Promise<void> {
  const { marks } = await link.table.read(tableLayout(link));
  const keeper = marks?.keeper?.instance;
  if (!keeper || link.own.isOver(keeper)) return;
  print(
    `Another daemon (${describeInstance(keeper)}) keeps this spreadsheet, or ended without a stop. Stop it before you start one here: a second one writes nothing.`,
  );
}

/** Says of lists from before what will give way to the CRM's values without a question. */
async function showCovered(link: SheetLink): Promise<void> {
  const { tabs } = await link.table.read(tableLayout(link));
  for (const { columns, rows, title } of listOlder(link, tabs)) {
    for (const { field, header } of columns.filter(({ direction }) => direction === 'toTable')) {
      const filled = rows.filter(({ cells }) => (cells[field]?.kind ?? 'empty') !== 'empty').length;
      if (filled > 0)
        print(
          `${title}: the column “${header}” will show what the CRM has, and ${filled} cells are filled there. To keep what they say, copy them into a column of another header first, or set the direction of ${field} to off.`,
        );
    }
  }
}

/** The tabs with lists from before, of which nothing is agreed yet, and their rows without an ID. */
function listOlder(link: SheetLink, tabs: ObservedTable['tabs']) {
  const agreed = new Set(link.mirror.readAgreements().map(({ key }) => key.entity));
  return recordTabs(tableLayout(link)).flatMap(({ columns, entity, title }) => {
    const tab = tabs[entity];
    if (tab.state === 'held' || agreed.has(entity)) return [];
    return [{ columns, title, rows: tab.rows.filter(({ id }) => id.kind === 'empty') }];
  });
}

/** Returns whether the daemon can start without a question about rows that are not matched. */
async function showUnidentified(link: SheetLink): Promise<boolean> {
  const table = await link.table.read(tableLayout(link));
  noteColumns(link.mirror, table);
  const unidentified = listOlder(link, table.tabs).flatMap(({ rows, title }) => {
    const { length } = rows.filter((row) => !isBlank(row));
    return length > 0 ? [`${title}: ${length} rows have no ID.`] : [];
  });
  print(...unidentified);
  if (unidentified.length === 0) return true;
  print(
    'Next: run init --match-by with a column that tells the rows apart, to find their records in the CRM.',
  );
  return false;
}

/** Reads the CRM, shows which row is which record, and writes it where that is wanted. Returns whether nothing is left for a user. */
async function matchRows(link: SheetLink, column: string, isApproved: boolean): Promise<boolean> {
  await readCandidates(new Engine(link, []), link, column, (entity, records, isWhole) => {
    if (isWhole) print(`Read ${records} ${entity} records.`);
  });
  const adoptions = isApproved ? await adoptRows(link, column) : await planAdoption(link, column);
  for (const adoption of adoptions) showAdoption(adoption, isApproved);
  const matches = adoptions.reduce((sum, each) => sum + each.matches.length, 0);
  const unclear = adoptions.reduce((sum, each) => sum + each.unclear.length, 0);
  if (!isApproved && matches > 0) print('Nothing was written. Run it again with --yes to write the IDs.');
  if (unclear > 0)
    print(
      'Put the right ID into the rows that are not clear, empty one that is not the ID of a record, or delete them; the daemon asks before it takes any of them.',
    );
  return unclear === 0 && (isApproved || matches === 0);
}

function showAdoption({ title, identified, matches, unclear }: TabAdoption, isWritten: boolean): void {
  const verb = isWritten ? 'have got' : 'would get';
  print(
    `${title}: ${identified} rows have the ID of a record, ${matches.length} ${verb} one, ${unclear.length} are not clear.`,
  );
  for (const { row, id } of isWritten ? [] : matches) print(`  row ${rowNumber(row)}: record ${id}`);
  for (const { row, reason } of unclear) print(`  row ${rowNumber(row)}: ${reason}`);
}
