import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { daemonOrigin, type Environment, loadSettings } from '../app/config.ts';
import { probeAndKeep } from '../app/doctor/probing.ts';
import { openLink } from '../app/link.ts';
import { createLog } from '../app/logger.ts';
import type { Settings, SheetSettings } from '../app/settings.ts';
import { readAnswers } from '../app/sheet-side.ts';
import { explainError, isSyncError, SyncError } from '../core/errors.ts';
import type { SheetLink } from '../sheet/link.ts';
import { pullCatalog } from '../sync/reading/pull.ts';
import { type CommandContext, type ExitCode, exitCodes, print, printError } from './command.ts';
import { type DockerProfile, dockerProfiles, keepForDocker } from './guide/docker.ts';
import { showFirstPlan } from './guide/first-plan.ts';
import { type GuideFlags, guide } from './guide/guide.ts';
import { findPerson, InputEnded } from './guide/person.ts';
import { describeUnit } from './guide/systemd.ts';
import { type SheetOptions, setUpSheet } from './init-sheet.ts';
import { setUpWarehouse } from './init-warehouse.ts';

interface InitOptions extends SheetOptions, GuideFlags {
  readonly plan?: true;
  readonly profile?: DockerProfile;
  readonly systemd?: true;
}

export function addInitCommand(program: Command, { environment, finish }: CommandContext): void {
  program
    .command('init')
    .description('set everything up: ask for what is not configured, check it, and lay out tabs and tables')
    .option('--crm-url <address>', 'address of the CRM, with the path prefix /api/v1/external')
    .option('--crm-key-file <file>', 'file with the key of the CRM')
    .option('--google-key-file <file>', 'credentials file of Google, of any kind')
    .option('--spreadsheet <address>', 'address or id of the spreadsheet')
    .option('--warehouse-url-file <file>', 'file with the address of the database, with its login')
    .option(
      '--match-by <column>',
      'find the records of rows without an ID by this column, given by its header or field',
    )
    .option('--yes', 'write the IDs of the records that were found; without it they are only shown')
    .option('--add-columns', 'add the columns that tabs with content lack, at their right end')
    .option(
      '--adopt',
      'take over a copied spreadsheet, or tables that another mirror kept, and make new tabs for those that are gone',
    )
    .option('--plan', 'read the CRM and show what the daemon would do first; in a terminal it always does')
    .option(
      '--docker',
      'ask and check, and write what compose.yaml needs; the tabs are laid out by init in Docker',
    )
    .addOption(
      new Option('--profile <name>', 'with --docker, switch this service of compose.yaml on').choices(
        dockerProfiles,
      ),
    )
    .option(
      '--systemd',
      'print a unit for systemd that runs the daemon with these settings, and do nothing else',
    )
    .addHelpText(
      'after',
      '\nIn a terminal it asks for what neither the configuration file nor the environment has, checks each answer live, and' +
        '\nkeeps it in the configuration file. Elsewhere the flags say it. Content of the spreadsheet is never changed.',
    )
    .action(async (options: InitOptions) => {
      if (options.systemd) return print(...describeUnit(environment));
      const person = findPerson();
      try {
        const guided = await guide(environment, options, person);
        const showsPlan = person !== undefined || options.plan === true;
        if (typeof guided === 'number') finish(guided);
        else if (options.docker) setUpDocker(guided, options.profile);
        else finish(await setUp(guided, options, showsPlan));
      } catch (error) {
        if (!(error instanceof InputEnded)) throw error;
        printError('Stopped. What was checked already is kept: run init again to go on.');
        finish(exitCodes.failed);
      }
    });
}

function setUpDocker(environment: Environment, profile?: DockerProfile): void {
  print(...keepForDocker(loadSettings(environment), profile));
  print(
    `✓ The files for Docker are in secrets/${existsSync('.env') ? ', and what is switched on in .env' : ''}.`,
    'Next: docker compose run --rm daemon init, and then docker compose up -d.',
  );
}

async function setUp(environment: Environment, options: InitOptions, showsPlan: boolean): Promise<ExitCode> {
  const settings = loadSettings(environment);
  if (options.matchBy !== undefined && !settings.sheet)
    throw new SyncError('COMMAND_UNCLEAR', 'There is no spreadsheet whose rows could be matched.');
  const { link, sheet, warehouse, close } = openLink(settings, createLog('warn'));
  try {
    await pullCatalog(link, 'newest');
    const isSheetClear = sheet === undefined || (await setUpSheet(sheet, options));
    const isWarehouseClear = warehouse === undefined || (await setUpWarehouse(warehouse, options));
    if (!isSheetClear || !isWarehouseClear) return exitCodes.needsPerson;
    if (sheet && settings.sheet) await probeOnce({ ...settings, sheet: settings.sheet }, sheet);
    if (showsPlan && sheet) await showFirstPlan(sheet, settings.crm.budget);
    print(describeNext(settings));
    return exitCodes.done;
  } finally {
    await close();
  }
}

/** Tries what no document says of Google, once for each spreadsheet. A set-up without it is whole: then the daemon takes the safest way. */
async function probeOnce(
  settings: Settings & { readonly sheet: SheetSettings },
  { log, mirror, own }: SheetLink,
): Promise<void> {
  if (readAnswers(mirror, settings.sheet)) return;
  try {
    const outcome = await probeAndKeep(settings, { isOver: own.isOver, log, mirror });
    print(
      outcome.state === 'asked'
        ? 'What no document says of Google was tried on a hidden tab: doctor shows what was found out.'
        : `What no document says of Google was not tried: ${outcome.reason}`,
    );
  } catch (error) {
    if (!isSyncError(error)) throw error;
    print(`What no document says of Google was not found out, and init tries again: ${explainError(error)}`);
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
