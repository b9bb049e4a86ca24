import type { Command } from 'commander';
import { daemonOrigin, type Environment, loadSettings } from '../app/config.ts';
import { openLink } from '../app/link.ts';
import { createLog } from '../app/logger.ts';
import type { Settings } from '../app/settings.ts';
import { adoptRows, planAdoption, readCandidates, rowNumber, type TabAdoption } from '../sheet/adopt.ts';
import type { SheetLink } from '../sheet/link.ts';
import { describeInstance } from '../sheet/port/instance.ts';
import { recordTabs } from '../sheet/port/layout.ts';
import type { LayOutConsent } from '../sheet/port/port.ts';
import { isBlank, type ObservedTable } from '../sheet/port/table.ts';
import { noteColumns, tableLayout } from '../sheet/tab-columns.ts';
import { Engine } from '../sync/engine.ts';
import { pullCatalog } from '../sync/reading/pull.ts';
import { type CommandContext, type ExitCode, exitCodes, print, printError } from './command.ts';
import { showFirstPlan } from './guide/first-plan.ts';
import { type GuideFlags, guide } from './guide/guide.ts';
import { findPerson, InputEnded } from './guide/person.ts';

interface InitOptions extends LayOutConsent, GuideFlags {
  readonly matchBy?: string;
  readonly yes?: true;
  readonly plan?: true;
}

export function addInitCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('init')
    .description('set everything up: ask for what is not configured, check it, and lay out the tabs')
    .option('--crm-url <address>', 'address of the CRM, with the path prefix /api/v1/external')
    .option('--crm-key-file <file>', 'file with the key of the CRM')
    .option('--google-key-file <file>', 'credentials file of Google, of any kind')
    .option('--spreadsheet <address>', 'address or id of the spreadsheet')
    .option(
      '--match-by <column>',
      'find the records of rows without an ID by this column, given by its header or field',
    )
    .option('--yes', 'write the IDs of the records that were found; without it they are only shown')
    .option('--add-columns', 'add the columns that tabs with content lack, at their right end')
    .option('--adopt', 'take over a copied spreadsheet, and make new tabs for those that are gone')
    .option('--plan', 'read the CRM and show what the daemon would do first; in a terminal it always does')
    .addHelpText(
      'after',
      '\nIn a terminal it asks for what neither the configuration file nor the environment has, checks each answer live, and' +
        '\nkeeps it in the configuration file. Elsewhere the flags say it. Content of the spreadsheet is never changed.',
    )
    .action(async (options: InitOptions) => {
      const person = findPerson();
      try {
        const guided = await guide(environment, options, person);
        const showsPlan = person !== undefined || options.plan === true;
        finish(typeof guided === 'number' ? guided : await setUp(guided, options, showsPlan));
      } catch (error) {
        if (!(error instanceof InputEnded)) throw error;
        printError('Stopped. What was checked already is kept: run init again to go on.');
        finish(exitCodes.failed);
      }
    });
}

async function setUp(
  environment: Environment,
  { addColumns = false, adopt = false, matchBy, yes }: InitOptions,
  showsPlan: boolean,
): Promise<ExitCode> {
  const settings = loadSettings(environment);
  const { link, close } = openLink(settings, createLog('warn'));
  try {
    const isLaidOut = await layOut(link, { addColumns, adopt });
    await showKeeper(link);
    await showCovered(link);
    const isClear =
      matchBy === undefined ? await showUnidentified(link) : await matchRows(link, matchBy, yes ?? false);
    if (!isLaidOut || !isClear) return exitCodes.needsPerson;
    if (showsPlan) await showFirstPlan(link);
    print(describeNext(settings));
    return exitCodes.done;
  } finally {
    close();
  }
}

function describeNext({ http, writes }: Settings): string {
  const page = http.port === 0 ? '' : ` Its page is then at ${daemonOrigin(http.host, http.port)}/.`;
  const byHand =
    writes === 'manual'
      ? ' It writes nothing by itself: see the first plan with plan, and do it with apply.'
      : '';
  return `Next: start the daemon (npm start, or docker compose up -d).${page}${byHand}`;
}

/** Answers whether every tab can be used. */
async function layOut(link: SheetLink, consent: LayOutConsent): Promise<boolean> {
  await pullCatalog(link, 'newest');
  const layout = tableLayout(link);
  const { held, offered } = await link.table.layOut(layout, 'create', consent);
  print(...held, ...offered);
  if (offered.length > 0) print(nameAdvice);
  const tabs = layout.map(({ title, columns }) => `${title} (${columns.length} columns)`).join(', ');
  if (held.length === 0) print(`The spreadsheet has its tabs: ${tabs}.`);
  return held.length === 0;
}

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

/** Answers whether the daemon can start without a question about rows that nobody has matched. */
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

/** Reads the CRM, shows which row is which record, and writes it where that is wanted. Answers whether nothing is left for a person. */
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
