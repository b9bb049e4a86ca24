import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { configFileOf, type Environment, hasNamedLinks, listMissing } from '../../app/config.ts';
import { isBegunByInit, keepSecret, keepSettings } from '../../app/config-keeper.ts';
import { readConfigFile } from '../../app/config-sources.ts';
import { SyncError } from '../../core/errors.ts';
import { type ExitCode, print } from '../command.ts';
import type { Person } from './person.ts';
import {
  addressStep,
  crmStep,
  machineStep,
  readSpreadsheetId,
  sheetStep,
  warehouseStep,
} from './questions.ts';
import { takeStep } from './step.ts';

/** What may be told on the command line instead of being asked for. A key stands in a file: others can read a command line. */
export interface GuideFlags {
  readonly crmUrl?: string;
  readonly crmKeyFile?: string;
  readonly googleKeyFile?: string;
  readonly spreadsheet?: string;
  readonly warehouseUrlFile?: string;
  /** The daemon is to run in a container: what this machine has says nothing of it. */
  readonly docker?: true;
}

const neededOfCrm = ['CRM_BASE_URL', 'CRM_API_KEY'];
const crmKeyFile = 'secrets/crm-api-key';
const tokenFile = 'secrets/control-token';

const welcome = [
  'It takes the address and a key of the CRM, a login for Google, and a spreadsheet; README.md says where',
  'they come from. Each answer is checked at once. Ctrl-C stops, and what was checked is kept.',
  '',
];

/**
 * Brings the settings together: what the environment and the configuration file lack comes from the flags, or from the person at the
 * terminal. Each step is checked live, and what is new is kept in the configuration file. Returns the environment with what was found, or
 * the exit code where a check stays bad. Fails with CONFIG_INVALID where something is given twice or cannot be kept.
 */
export async function guide(
  environment: Environment,
  flags: GuideFlags,
  person: Person | undefined,
): Promise<Environment | ExitCode> {
  const told = readFlags(flags);
  const toldNames = Object.keys(told).filter((name) => told[name] !== undefined);
  const isTold = toldNames.length > 0;
  // As scripts know it: the settings are complete, or they are refused where they are read.
  if (!person && !isTold) return environment;
  if (hasNamedLinks(environment)) {
    if (isTold)
      throw new SyncError(
        'CONFIG_INVALID',
        'The configuration has several links: flags can not say which they are for.',
      );
    return environment;
  }
  const missing = new Set(listMissing(environment).map(({ name }) => name));
  refuseTwice(told, missing);
  const hasWarehouse = !missing.has('WAREHOUSE_URL') || told['WAREHOUSE_URL_FILE'] !== undefined;
  // A link with a database needs no spreadsheet.
  const hasSheet =
    !hasWarehouse || !missing.has('GOOGLE_SPREADSHEET_ID') || told['GOOGLE_SPREADSHEET_ID'] !== undefined;
  const needed = hasSheet ? [...neededOfCrm, 'GOOGLE_SPREADSHEET_ID'] : neededOfCrm;
  const lacking = needed.filter((name) => missing.has(name));
  // Only where the spreadsheet is asked for: a machine may have a login of its own, and an emulator needs none.
  if (!lacking.includes('GOOGLE_SPREADSHEET_ID') || !missing.has('GOOGLE_API_ROOT_URL'))
    missing.delete('GOOGLE_APPLICATION_CREDENTIALS');
  const file = configFileOf(environment);
  if (lacking.length > 0 || isTold) await openFile(file, lacking.length > 0 ? lacking : toldNames, person);
  if (lacking.length > 0) person?.tell(...welcome);
  let known = environment;
  const steps = [
    ...(person && lacking.includes('CRM_BASE_URL') && told['CRM_BASE_URL'] === undefined
      ? [addressStep]
      : []),
    crmStep,
    ...(hasSheet ? [sheetStep] : []),
    ...(hasWarehouse ? [warehouseStep] : []),
    ...(flags.docker ? [] : [machineStep]),
  ];
  for (const step of steps) {
    const answers = await takeStep(step, { environment: known, told, missing, person });
    if (typeof answers === 'number') return answers;
    const isComplete = step.questions.some(({ variable }) => variable === lacking.at(-1));
    // With the last answer: whoever runs init again after a later step failed lacks nothing any more.
    const token = isComplete && missing.has('CONTROL_TOKEN') ? keepToken() : {};
    const kept = { ...(await keepKey(answers, person)), ...token };
    if (Object.keys(kept).length > 0) keepSettings(file, kept);
    known = { ...known, ...kept };
  }
  if (lacking.length > 0) print(`✓ The settings stand in ${file}, and secrets in files of their own.`);
  return known;
}

const readFlags = (flags: GuideFlags): Environment => ({
  CRM_BASE_URL: flags.crmUrl,
  CRM_API_KEY_FILE: flags.crmKeyFile,
  GOOGLE_APPLICATION_CREDENTIALS: flags.googleKeyFile,
  WAREHOUSE_URL_FILE: flags.warehouseUrlFile,
  GOOGLE_SPREADSHEET_ID: flags.spreadsheet === undefined ? undefined : readSpreadsheetId(flags.spreadsheet),
});

function refuseTwice(told: Environment, missing: ReadonlySet<string>): void {
  const twice = Object.keys(told).filter(
    (name) => told[name] !== undefined && !missing.has(name.replace(/_FILE$/, '')),
  );
  if (twice.length === 0) return;
  const message = `The settings say already what a flag of init says as well: ${twice.join(', ')}.`;
  throw new SyncError('CONFIG_INVALID', message);
}

/** Begins the configuration file. One that says something already, and that init did not begin, is only added to when a person agrees. */
async function openFile(file: string, lacking: readonly string[], person: Person | undefined): Promise<void> {
  const isBegun = Object.keys(readConfigFile(file, false)).length > 0;
  const isOwn = isBegun && isBegunByInit(file);
  if (isOwn) person?.tell(`Goes on with what ${file} has already.`, '');
  const isTaken = isBegun && !isOwn;
  if (isTaken && !(await person?.agrees(`${file} is there already. Add to it what it lacks?`))) {
    const message = `${file} is there already and stays as it is. It lacks ${lacking.join(', ')}.`;
    throw new SyncError('CONFIG_INVALID', message);
  }
  try {
    keepSettings(file, {});
  } catch (cause) {
    const message = `The settings lack ${lacking.join(', ')}, and ${file} can not be written.`;
    throw new SyncError('CONFIG_INVALID', message, { cause });
  }
}

/** Makes a token for commands where there is none yet; answers what to keep of it. */
function keepToken(): Environment {
  if (!existsSync(tokenFile)) keepSecret(tokenFile, randomBytes(24).toString('hex'));
  return { CONTROL_TOKEN_FILE: tokenFile };
}

/** Puts a key that was typed into a file; answers what to keep instead of it. */
async function keepKey(answers: Environment, person: Person | undefined): Promise<Environment> {
  const { CRM_API_KEY: key, ...others } = answers;
  if (key === undefined) return others;
  const isTaken = existsSync(crmKeyFile) && readFileSync(crmKeyFile, 'utf8').trim() !== key;
  if (isTaken && !(await person?.agrees(`${crmKeyFile} has another key. Replace it?`)))
    throw new SyncError('CONFIG_INVALID', `${crmKeyFile} has another key, and it was not replaced.`);
  keepSecret(crmKeyFile, key);
  return { ...others, CRM_API_KEY_FILE: crmKeyFile };
}
