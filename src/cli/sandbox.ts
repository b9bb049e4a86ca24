import process from 'node:process';
import { type Command, InvalidArgumentError } from 'commander';
import { startSandboxCrm } from '../sandbox/crm/server.ts';
import { startSandboxSheets } from '../sandbox/sheets/server.ts';
import { print } from './command.ts';
import { stopRequested } from './signals.ts';

/** Reads an option that is a whole number of at least `min`. */
const wholeNumber =
  (min: number) =>
  (text: string): number => {
    const number = Number(text);
    if (Number.isInteger(number) && number >= min) return number;
    throw new InvalidArgumentError(`Give a whole number of at least ${min}.`);
  };

type SandboxNumber =
  | ('crmPort' | 'sheetsPort' | 'seed' | 'requestsPerWindow' | 'windowMs')
  | ('leads' | 'opportunities' | 'tasks');

type SandboxFlags = Readonly<Record<SandboxNumber, number>> & { readonly host: string };

/** One to a line: a terminal breaks longer lines in the middle of a key. */
const describePlaces = (places: Readonly<Record<string, string>>): string[] => [
  `Address of the CRM:   ${places['crmBaseUrl']}`,
  `Key of the CRM:       ${places['crmApiKey']}`,
  `Spreadsheet:          ${places['spreadsheetId']}`,
  `Google:               export GOOGLE_API_ROOT_URL=${places['sheetsRootUrl']}`,
  `Look at the CRM:      ${places['crmPageUrl']}`,
  `Look at the sheet:    ${places['gridUrl']}`,
  '',
  'Ctrl-C ends the sandbox.',
];

export function addSandboxCommand(program: Command): void {
  program
    .command('sandbox')
    .description('serve a CRM and a Google Sheet to try things on, until stopped')
    .option('--host <address>', 'address to serve on', '127.0.0.1')
    .option('--crm-port <port>', 'port of the CRM (0 takes a free one)', wholeNumber(0), 4010)
    .option('--sheets-port <port>', 'port of the sheet (0 takes a free one)', wholeNumber(0), 4020)
    .option('--seed <number>', 'the records follow from it', wholeNumber(0), 7)
    .option('--leads <count>', 'leads to begin with', wholeNumber(0), 200)
    .option('--opportunities <count>', 'opportunities to begin with', wholeNumber(0), 150)
    .option('--tasks <count>', 'tasks to begin with', wholeNumber(0), 200)
    .option('--requests-per-window <count>', 'requests per key in the rolling window', wholeNumber(1), 100)
    .option('--window-ms <ms>', 'length of that window', wholeNumber(1), 60_000)
    .action(async (flags: SandboxFlags) => {
      const { host, seed, leads, opportunities, tasks, windowMs, requestsPerWindow } = flags;
      const crm = await startSandboxCrm({
        host,
        port: flags.crmPort,
        seed,
        counts: { leads, opportunities, tasks },
        limits: { requestsPerWindow, windowMs },
      });
      const sheets = await startSandboxSheets({ host, port: flags.sheetsPort, seed });
      const { rootUrl: sheetsRootUrl, spreadsheetId, gridUrl } = sheets;
      const { baseUrl: crmBaseUrl, apiKey: crmApiKey, pageUrl: crmPageUrl } = crm;
      const places = { crmBaseUrl, crmApiKey, crmPageUrl, sheetsRootUrl, spreadsheetId, gridUrl };
      if (process.stdout.isTTY) print(...describePlaces(places));
      else console.log(JSON.stringify(places));
      await stopRequested();
      await Promise.all([crm.close(), sheets.close()]);
    });
}
