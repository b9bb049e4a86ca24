import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startSandboxSheets } from '../../src/sandbox/sheets/server.ts';
import { spawnCommand } from '../support/daemon-process.ts';
import { findFreePort } from '../support/free-port.ts';
import { accountAddress, openGoogleFront } from '../support/google-front.ts';
import { configFile, moveIn, writeKey } from '../support/new-home.ts';
import { hasTerminal, openTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const limit = { timeout: 240_000 };

describe.skipIf(!hasTerminal)('init at a terminal, where the machine has script(1)', limit, () => {
  test('asks from nothing to a running sync, checks each answer, and never shows the key', async () => {
    const home = await moveIn();
    const google = await openGoogleFront(home.sheetsUrl);
    google.setShared(false);
    const environment = { ...home.port, ...google.environment };
    const terminal = openTerminal(['init'], environment, home.directory);
    await terminal.shows('Address of the CRM');
    terminal.type('crm.example.com');
    await terminal.shows('(CRM_BASE_URL): must be an address');
    await terminal.shows('Address of the CRM');
    terminal.type('http://127.0.0.1:1/api/v1/external');
    await terminal.shows('127.0.0.1:1 did not answer');
    await terminal.shows('Address of the CRM');
    terminal.type(`${home.sheetsUrl}/api/v1/external`);
    await terminal.shows('✗ CRM envelope');
    await terminal.shows('Address of the CRM');
    expect(terminal.screen()).not.toContain('Key of the CRM');
    terminal.type(home.crm.baseUrl);
    await terminal.shows('A CRM answers there.');
    await terminal.shows('Key of the CRM');
    terminal.type(home.crm.apiKey);
    await terminal.shows('The CRM answers and accepts the key.');
    await terminal.shows('gcloud auth application-default login --impersonate-service-account=ADDRESS');
    await terminal.shows('Credentials file of Google');
    terminal.type(
      'Key creation is not allowed on this service account (iam.disableServiceAccountKeyCreation)',
    );
    await terminal.shows('Your organisation forbids keys. Log in without a key');
    await terminal.shows('Credentials file of Google');
    terminal.type('~/not-there.json');
    await terminal.shows('the credentials file does not exist');
    await terminal.shows('Credentials file of Google');
    terminal.type(google.keyFile);
    await terminal.shows(`Share the spreadsheet, as editor, with  ${accountAddress}`);
    terminal.type(`https://docs.google.com/spreadsheets/d/${home.spreadsheetId}/edit#gid=0`);
    await terminal.shows('The caller does not have permission');
    google.setShared(true);
    await terminal.shows(`[${home.spreadsheetId}]`);
    terminal.type('');
    await terminal.shows('Google lets the daemon in to the spreadsheet.');
    await terminal.shows('in the tab Leads: 7 rows to be added');
    await terminal.shows('in the CRM: nothing');
    await terminal.shows('Next: start the daemon');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).not.toContain(home.crm.apiKey);
    // A line break that print took for one of somebody who forges lines.
    expect(terminal.screen()).not.toContain('\\n');
    expect(await home.rowsOf('Leads')).toEqual([]);
    expect(parse(await home.read(configFile))).toEqual({
      crm: { baseUrl: home.crm.baseUrl, apiKeyFile: 'secrets/crm-api-key' },
      sheet: { spreadsheetId: home.spreadsheetId, credentialsFile: google.keyFile },
      http: { controlTokenFile: 'secrets/control-token' },
    });
    expect((await stat(join(home.directory, 'secrets/crm-api-key'))).mode & 0o777).toBe(0o600);

    const daemon = spawnCommand(['start'], environment, home.directory);
    onTestFinished(async () => void (await daemon.kill()));
    await until('the sheet is filled', async () => (await home.rowsOf('Leads'))?.length === 7);
    const status = await spawnCommand(['answer', 'brake:lead:none', 'approve'], environment, home.directory)
      .ended;
    expect(status.stderr).not.toContain('CONTROL_TOKEN');
  });

  test('asks for a key again that the CRM refuses, and ends with what was checked when nobody answers', async () => {
    const home = await moveIn();
    const terminal = openTerminal(['init'], home.environment, home.directory);
    await terminal.shows('Address of the CRM');
    terminal.type(home.crm.baseUrl);
    await terminal.shows('Key of the CRM');
    terminal.type(`svc_live_${'0'.repeat(64)}`);
    await terminal.shows('The CRM refuses the key.');
    await terminal.shows('Key of the CRM');
    terminal.type(home.crm.apiKey);
    await terminal.shows('Address or id of the spreadsheet');
    terminal.pressControl('C');
    await terminal.shows('Stopped. What was checked already is kept');
    expect(await terminal.ended).toBe(1);
    expect(await home.read('secrets/crm-api-key')).toBe(home.crm.apiKey);
    expect(parse(await home.read(configFile))).toEqual({
      crm: { baseUrl: home.crm.baseUrl, apiKeyFile: 'secrets/crm-api-key' },
    });
  });

  test('goes on where it stopped without a question about the file that it began itself', async () => {
    const home = await moveIn();
    const stopped = openTerminal(['init'], home.environment, home.directory);
    await stopped.shows('Address of the CRM');
    stopped.type(home.crm.baseUrl);
    await stopped.shows('Key of the CRM');
    stopped.pressControl('C');
    expect(await stopped.ended).toBe(1);

    const resumed = openTerminal(['init'], home.environment, home.directory);
    await resumed.shows('Goes on with what config/crm-sheet-sync.yaml has already.');
    await resumed.shows('Key of the CRM');
    resumed.type(home.crm.apiKey);
    await resumed.shows('Address or id of the spreadsheet');
    resumed.type(home.spreadsheetId);
    await resumed.shows('Reading the CRM, at most 100 requests in 60 s (crm.budget.requests).');
    await resumed.shows('Next: start the daemon');
    expect(await resumed.ended).toBe(0);
    expect(resumed.screen()).not.toContain('[y/N]');
    expect(resumed.screen()).not.toContain('Address of the CRM');
  });

  test('says what to check where Google cannot be reached, and tries the same answers again on Enter', async () => {
    const home = await moveIn();
    const port = await findFreePort();
    const flags = (await writeKey(home)).slice(0, -2);
    const away = { ...home.port, GOOGLE_API_ROOT_URL: `http://127.0.0.1:${port}` };
    const terminal = openTerminal(['init', ...flags], away, home.directory);
    await terminal.shows('Address or id of the spreadsheet');
    terminal.type(home.spreadsheetId);
    await terminal.shows('Check that this machine reaches sheets.googleapis.com');
    await terminal.shows('Enter tries again');
    const sheets = await startSandboxSheets({ port });
    onTestFinished(() => sheets.close());
    terminal.type('');
    await terminal.shows('Google lets the daemon in to the spreadsheet.');
    expect(await terminal.ended).toBe(0);
    expect(parse(await home.read(configFile)).sheet).toEqual({ spreadsheetId: home.spreadsheetId });
  });

  test('adds to a configuration file that is there when it may, and else leaves it as it is', async () => {
    const home = await moveIn();
    const text = '# Ours.\nsheet:\ncrm:\n  sweepMs: 20000 # slowly\n';
    await home.configure(text);
    const refused = openTerminal(['init'], home.environment, home.directory);
    await refused.shows('config/crm-sheet-sync.yaml is there already. Add to it what it lacks? [y/N]');
    refused.type('');
    expect(await refused.ended).toBe(2);
    expect(await home.read(configFile)).toBe(text);

    const flags = await writeKey(home);
    const agreed = openTerminal(['init', ...flags], home.environment, home.directory);
    await agreed.shows('[y/N]');
    agreed.type('yes');
    await agreed.shows('Next: start the daemon');
    expect(await agreed.ended).toBe(0);
    const after = await home.read(configFile);
    expect(after).toContain('# Ours.');
    expect(after).toContain('sweepMs: 20000 # slowly');
    expect(parse(after).sheet).toEqual({ spreadsheetId: home.spreadsheetId });
  });
});

describe('init without a terminal', limit, () => {
  test('takes the settings by flags, keeps them, and shows the first plan when asked to', async () => {
    const home = await moveIn();
    const flags = await writeKey(home);
    const run = (...words: string[]) =>
      spawnCommand(['init', ...words], home.environment, home.directory).ended;
    const first = await run(...flags, '--plan');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain('in the tab Tasks: 3 rows to be added');
    const kept = await home.read(configFile);
    expect(parse(kept)).toMatchObject({ crm: { baseUrl: home.crm.baseUrl, apiKeyFile: 'key' } });
    expect(await run()).toMatchObject({ code: 0, stderr: '' });
    expect(await run('--spreadsheet', 'another')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('GOOGLE_SPREADSHEET_ID'),
    });
    expect(await home.read(configFile)).toBe(kept);
  });

  test('shows all that the first fill comes to, however few rows are written at once', async () => {
    const home = await moveIn();
    await home.configure('sheet: { appendsMax: 2 }\n');
    const sides = {
      CRM_BASE_URL: home.crm.baseUrl,
      CRM_API_KEY: home.crm.apiKey,
      GOOGLE_SPREADSHEET_ID: home.spreadsheetId,
    };
    const environment = { ...home.environment, ...sides };
    expect(await spawnCommand(['init', '--plan'], environment, home.directory).ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('in the tab Leads: 7 rows to be added'),
    });
  });

  test('says of lists that were there before how else than by columns beside theirs they are met', async () => {
    const home = await moveIn();
    const lists = { Leads: ['Customer', 'ID'], Tasks: ['What', 'Who'] };
    const actions = Object.entries(lists).flatMap(([title, headers]) => [
      { kind: 'addTab', title },
      { kind: 'paste', sheet: title, row: 0, column: 0, rows: [headers, ['Acme', '1']] },
    ]);
    await fetch(`${home.sheetsUrl}/__sandbox/person`, { method: 'POST', body: JSON.stringify(actions) });
    const words = ['init', ...(await writeKey(home))];
    const { code, stdout } = await spawnCommand(words, home.environment, home.directory).ended;
    expect(code).toBe(3);
    expect(stdout).toContain('“Leads” has no column “Title”.');
    expect(stdout).toContain('sheet.tabs.<tab>.columns.<field>.header');
    // Most lists from before have no ID either.
    const ofTasks = stdout.split('\n').find((line) => line.startsWith('“Tasks” has no column “ID”'));
    expect(ofTasks).toContain('sheet.tabs.<tab>.columns.<field>.header');
    expect(ofTasks).toContain('rename it, and run init for a tab beside it.');
  });

  test('says what a file that is there lacks, also where that is the key file of Google alone', async () => {
    const home = await moveIn();
    const sides = `crm: { baseUrl: "${home.crm.baseUrl}", apiKey: ${home.crm.apiKey} }`;
    await home.configure(`${sides}\nsheet: { spreadsheetId: ${home.spreadsheetId} }\n`);
    const words = ['init', '--google-key-file', 'google.json'];
    expect(await spawnCommand(words, home.environment, home.directory).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It lacks GOOGLE_APPLICATION_CREDENTIALS.'),
    });
  });

  test('has a token for commands in the end, also where the machine lacked something at first', async () => {
    const home = await moveIn();
    const flags = await writeKey(home);
    const inUse = { ...home.environment, STATE_DIR: configFile };
    const first = await spawnCommand(['init', ...flags], inUse, home.directory).ended;
    expect(first).toMatchObject({ code: 2, stdout: expect.stringContaining('is not writable') });
    expect(await spawnCommand(['init'], home.environment, home.directory).ended).toMatchObject({ code: 0 });
    expect(parse(await home.read(configFile)).http).toEqual({ controlTokenFile: 'secrets/control-token' });
  });

  test('says which answers do not do and asks nobody', async () => {
    const home = await moveIn();
    await writeFile(join(home.directory, 'key'), `svc_live_${'0'.repeat(64)}`);
    const words = ['init', '--crm-url', home.crm.baseUrl, '--crm-key-file', 'key', '--spreadsheet', 'x'];
    expect(await spawnCommand(words, home.environment, home.directory).ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('The CRM refuses the key.'),
    });
  });

  test('names the settings that are missing, as every command does', async () => {
    const home = await moveIn();
    expect(await spawnCommand(['init'], home.environment, home.directory).ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('(CRM_BASE_URL): is missing'),
    });
  });
});
