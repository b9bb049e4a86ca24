import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { typeInLeads } from '../support/person-acts.ts';
import { openDatabase, type TestDatabase } from '../support/postgres.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { readCrm, readTab } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const email = 'zoe.quastenflosser@persona.example';
/** Nothing else says any of it. */
const traces = ['quastenflosser', 'Zoë Q.', '+49 30 777 888 999', 'Wolpertinger'];

/** All three sides, and a lead Wolpertinger with a contact, an opportunity and a task, edited on each side. */
async function openPerson() {
  const database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const stage = await openStage({
    counts: { leads: 3, opportunities: 1, tasks: 1 },
    contactsPauseMs: 150,
    warehouse: { edits: { enabled: true }, tables: { contacts: { enabled: true } } },
    environment: { WAREHOUSE_URL: database.url },
  });
  expect(await stage.runCommand('init')).toMatchObject({ code: 0 });
  return { database, stage };
}

async function allFiles(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
  return texts.join('\n');
}

async function allRows(database: TestDatabase): Promise<string> {
  const tables = await database.query(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname LIKE 'crm%'",
  );
  const rows = await Promise.all(
    tables.map(({ name }) => database.query(`SELECT t::text AS row FROM ${name} t`)),
  );
  return JSON.stringify(rows);
}

async function allCells({ addresses }: ProcessStage): Promise<string> {
  const url = `${addresses.sheetsUrl}/v4/spreadsheets/${addresses.spreadsheetId}?includeGridData=true`;
  return (await fetch(url)).text();
}

const tracesIn = (text: string) => traces.filter((trace) => text.includes(trace));

test('a person is in no file, table or cell once erased', { timeout: 180_000 }, async () => {
  const { database, stage } = await openPerson();
  const directory = stage.environment['STATE_DIR'] ?? '';
  const everything = async () =>
    [await allFiles(directory), await allRows(database), await allCells(stage)].map(tracesIn);
  const first = await stage.startDaemon();
  const { leads } = await readCrm(stage.addresses.crmUrl);
  const other = leads[0]!;
  await stage.addToCrm('/leads', { title: 'Wolpertinger AG' });
  const lead = (await readCrm(stage.addresses.crmUrl)).leads.find(
    ({ title }) => title === 'Wolpertinger AG',
  )!;
  await stage.addToCrm(`/leads/${lead.id}/contacts`, {
    full_name: 'Zoë Q.',
    email,
    phone_number: '+49 30 777 888 999',
  });
  await stage.addToCrm('/tasks', { title: `Call quastenflosser`, lead_id: lead.id, status: 1, priority: 1 });
  await stage.editCrm(`/leads/${other.id}`, { meta_data: { about: { description: `Ask ${email}.` } } });
  const titleInTable = async (title: string) =>
    (await database.query(`SELECT id FROM crm.lead WHERE title = '${title}'`)).length > 0;
  await until('all sides have the lead', () => titleInTable('Wolpertinger AG'));
  await until('the contact has a row', async () =>
    (await readTab(stage.addresses, 'Contacts')).some((row) => row['Name'] === 'Zoë Q.'),
  );
  const rowOf = async (title: string) =>
    (await readTab(stage.addresses, 'Leads')).findIndex((row) => row['Title'] === title) + 1;
  await stage.editSheet(typeInLeads(await rowOf('Wolpertinger AG'), 'Title', 'Wolpertinger KG'));
  await until('the edit is in the table', () => titleInTable('Wolpertinger KG'));
  await database.query(`UPDATE crm.lead SET title = 'Wolpertinger OHG' WHERE id = ${lead.id}`);
  await stage.agreed();
  await stage.editCrm(`/leads/${other.id}`, { meta_data: { about: { description: 'Ask others.' } } });
  await stage.agreed();
  await stage.runCommand('backup');

  expect(await stage.runCommand('erase', email)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another daemon uses this state directory. Stop it'),
  });
  await first.terminate();
  expect(await everything()).toEqual([traces, traces, traces]);
  const refused = await stage.runCommand('erase', email, '--yes');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('The CRM still has contact-') });

  const second = await stage.startDaemon();
  await stage.deleteFromCrm(`/leads/${lead.id}`);
  await until(
    'the rows are gone',
    async () => tracesIn(JSON.stringify(await readTab(stage.addresses, 'Leads'))).length === 0,
  );
  await stage.runCommand('resync');
  await stage.runCommand('backup');
  await second.terminate();
  const planned = await stage.runCommand('erase', email);
  expect(planned).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Nothing was erased: give --yes'),
  });
  expect(await everything()).toEqual([traces, traces, traces]);
  const report = JSON.parse((await stage.runCommand('export', email)).stdout) as Record<string, unknown[]>;
  const [own, company] = [traces.slice(0, 3), traces.slice(3)];
  expect(Object.values(report).map((part) => tracesIn(JSON.stringify(part)))).toEqual([[], own, own, traces]);

  const erased = await stage.runCommand('erase', email, '--yes');
  expect(erased).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erased: \d+ rows of the mirror/) });
  // The lead is another record: its task says a part of the name, and its tabs were emptied with the others.
  const left = ['quastenflosser', ...company];
  expect(await everything()).toEqual([left, left, []]);
  expect(JSON.stringify(await Promise.all([allFiles(directory), allRows(database)]))).not.toContain(email);
  expect(await stage.runCommand('erase', `lead-${lead.id}`, '--yes')).toMatchObject({ code: 0 });
  expect(await everything()).toEqual([[], [], []]);

  const third = await stage.startDaemon();
  await stage.expectAtRest();
  expect((await stage.runCommand('history', '--commands')).stdout).toMatch(/operator {2}erase$/m);
  await third.terminate();
  expect(await everything()).toEqual([[], [], []]);
});
