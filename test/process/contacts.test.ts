import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { type Row, readCrm, readTab } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

const counts = { leads: 8, opportunities: 2, tasks: 2 };
const contactsPauseMs = 150;

const contactShape = z.object({
  id: z.string(),
  full_name: z.string(),
  email: z.string().nullable(),
  phone_number: z.string().nullable(),
  whatsapp_number: z.string().nullable(),
});
type Contact = z.output<typeof contactShape>;
const contactsShape = z.object({ contacts: z.record(z.string(), z.array(contactShape)) });

/** The contacts of a lead as the CRM holds them. */
async function contactsOf({ addresses }: ProcessStage, leadId: number): Promise<readonly Contact[]> {
  const answer = await fetch(`${addresses.crmUrl}__sandbox/records`);
  return contactsShape.parse(await answer.json()).contacts[leadId] ?? [];
}

const statusShape = z.object({
  tabs: z.array(z.object({ title: z.string() })),
  holds: z.array(z.object({ reason: z.string(), decision: z.string().optional() })),
});
const readStatus = async ({ url }: DaemonProcess) =>
  statusShape.parse(await (await fetch(`${url}/api/status`)).json());

const contactRequests = (stage: ProcessStage) =>
  stage.crmRequests().filter(({ path }) => path.includes('/contacts'));

const ada = { full_name: 'Ada Lovelace', email: 'ada@example.com', phone_number: '+49 30 1' };

/** Both sides and two leads of the CRM, the first with the contact Ada. */
async function openContacts() {
  const stage = await openStage({ counts, contactsPauseMs });
  const [first, second] = (await readCrm(stage.addresses.crmUrl)).leads;
  if (!first || !second) throw new Error('The CRM has no two leads.');
  await stage.addToCrm(`/leads/${first.id}/contacts`, ada);
  const rowsWhere = async (fits: (row: Row) => boolean) =>
    (await readTab(stage.addresses, 'Contacts')).filter(fits);
  const untilRow = (what: string, fits: (row: Row) => boolean) =>
    until(what, async () => (await rowsWhere(fits))[0], {
      describe: async () => JSON.stringify(await readTab(stage.addresses, 'Contacts')),
    });
  /** Types below the last row, or into the row with the name. */
  const type = async (name: string, texts: Readonly<Record<string, string>>) => {
    const rows = await readTab(stage.addresses, 'Contacts');
    const index = rows.findIndex((row) => row['Name'] === name);
    const row = (index < 0 ? rows.length : index) + 1;
    const edits = Object.entries(texts).map(
      ([column, text]) => ({ kind: 'edit', sheet: 'Contacts', row, column, text }) as const,
    );
    await stage.editSheet(...edits);
  };
  return { stage, first, second, untilRow, rowsWhere, type };
}

const isSynced = (row: Row) => String(row['Sync']).startsWith('Synced');
const named = (name: string) => (row: Row) => row['Name'] === name;

describe('contacts that nobody enabled', { timeout: 90_000 }, () => {
  test('cost no request, have no tab and do not show in the status', async () => {
    const stage = await openStage({ counts });
    const [lead] = (await readCrm(stage.addresses.crmUrl)).leads;
    await stage.addToCrm(`/leads/${lead?.id}/contacts`, ada);
    const daemon = await stage.startDaemon();
    await daemon.answers('/readyz');
    await stage.agreed();
    await stage.expectAtRest();
    expect(contactRequests(stage)).toEqual([]);
    const { tabs } = await readStatus(daemon);
    expect(tabs.map(({ title }) => title)).toEqual(['Leads', 'Opportunities', 'Tasks']);
    await expect(readTab(stage.addresses, 'Contacts')).rejects.toThrow();
  });
});

describe('contacts', { timeout: 90_000 }, () => {
  test('fill their tab, and edits go both ways', async () => {
    const { stage, first, untilRow, type } = await openContacts();
    const daemon = await stage.startDaemon();
    const row = await untilRow('the contact has a row', named(ada.full_name));
    const [contact] = await contactsOf(stage, first.id);
    expect(row).toMatchObject({
      ID: `${first.id}.${contact?.id}`,
      Lead: `${first.title} (#${first.id})`,
      'E-mail': ada.email,
      Phone: ada.phone_number,
    });
    await stage.editCrm(`/leads/${first.id}/contacts/${contact?.id}`, { phone_number: '+49 30 2' });
    await untilRow('the edit in the CRM shows', (found) => found['Phone'] === '+49 30 2' && isSynced(found));
    await type(ada.full_name, { WhatsApp: '+49 170 3' });
    await until('the edit in the sheet arrives', async () => {
      const [found] = await contactsOf(stage, first.id);
      return found?.whatsapp_number === '+49 170 3';
    });
    const [whole] = await contactsOf(stage, first.id);
    expect(whole).toEqual({
      ...ada,
      id: contact?.id,
      phone_number: '+49 30 2',
      whatsapp_number: '+49 170 3',
    });
    const [update, ...others] = contactRequests(stage).filter(({ method }) => method === 'PUT');
    expect([update?.status, others]).toEqual([200, []]);
    await daemon.answers('/readyz');
    await stage.expectAtRest();
  });

  test('are created below the lead that the row names, and a refusal stands beside it until it is mended', async () => {
    const { stage, first, untilRow, type } = await openContacts();
    await stage.startDaemon();
    await untilRow('the contact has a row', named(ada.full_name));
    await type('Grace', { Lead: first.title, Name: 'Grace', 'E-mail': ada.email });
    const refused = await untilRow('the refusal shows', (row) => String(row['Sync']).startsWith('Error'));
    expect(refused).toMatchObject({
      Name: 'Grace',
      Sync: 'Error: Contact with this email already exists for this lead',
    });
    expect(await contactsOf(stage, first.id)).toHaveLength(1);
    await type('Grace', { 'E-mail': 'grace@example.com' });
    const created = await untilRow('the row is mended', (row) => row['Name'] === 'Grace' && isSynced(row));
    const [, grace] = await contactsOf(stage, first.id);
    expect(grace).toMatchObject({ full_name: 'Grace', email: 'grace@example.com', phone_number: null });
    expect(created['ID']).toBe(`${first.id}.${grace?.id}`);
    // What the row left empty is known soon, and can be filled.
    await type('Grace', { Phone: '+1 202 5' });
    await until('the phone number arrives', async () => {
      const [, found] = await contactsOf(stage, first.id);
      return found?.phone_number === '+1 202 5';
    });
    expect(await contactsOf(stage, first.id)).toHaveLength(2);
  });

  test('are created once when nobody knows whether they were', async () => {
    const { stage, second, untilRow, type } = await openContacts();
    await stage.startDaemon();
    await untilRow('the contact has a row', named(ada.full_name));
    stage.setCrmFaults({ faults: [{ kind: 'dropAfter', method: 'POST', path: '/leads/*/contacts' }] });
    await type('Grace', { Lead: `#${second.id}`, Name: 'Grace' });
    const row = await untilRow('the row is synced', (found) => found['Name'] === 'Grace' && isSynced(found));
    const contacts = await contactsOf(stage, second.id);
    expect(contacts.map(({ full_name: name }) => name)).toEqual(['Grace']);
    expect(row['ID']).toBe(`${second.id}.${contacts[0]?.id}`);
    expect(contactRequests(stage).filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('stay when their row goes, until a person deletes them for good', async () => {
    const { stage, first, untilRow, rowsWhere } = await openContacts();
    const daemon = await stage.startDaemon();
    await untilRow('the contact is synced', (row) => row['Name'] === ada.full_name && isSynced(row));
    await stage.editSheet({ kind: 'deleteRows', sheet: 'Contacts', row: 1 });
    const hold = await until('the row is held', async () => (await readStatus(daemon)).holds[0]);
    expect(hold.reason).toContain('deletes the contact for good');
    expect(await contactsOf(stage, first.id)).toHaveLength(1);
    const scope = hold.decision ?? '';
    expect(await stage.runCommand('answer', scope, 'trash')).toMatchObject({ code: 0 });
    await until('the contact is deleted', async () => (await contactsOf(stage, first.id)).length === 0);
    await stage.expectAtRest();
    expect(await rowsWhere(named(ada.full_name))).toEqual([]);
  });
});
