import { expect, test } from 'vitest';
import { listWaiting } from '../../src/sync/status.ts';
import { undo } from '../../src/sync/undo.ts';
import { openScenario } from '../support/scenario.ts';

const sheet = {
  tabs: {
    leads: { columns: { record_url: {}, updated_at: {} } },
    tasks: { columns: { record_url: {} } },
  },
};

const openWithLinks = () => openScenario({ crm: { recordUrl: 'https://crm.example/{entity}s/{id}' }, sheet });

test('rows show the address of their record and when the CRM changed it, where the configuration names these columns', async () => {
  const scene = await openWithLinks();
  const id = await scene.crm.create('lead', { title: 'Acme' });
  const row = await scene.told('lead', id, /^Synced/);
  expect(row).toMatchObject({ Link: `https://crm.example/leads/${id}` });
  expect(row?.['Updated']).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
  expect(await scene.row('opportunity', 3001)).not.toHaveProperty('Link');
});

test('S4: what is typed over an address goes nowhere, and the address comes back', async () => {
  const scene = await openWithLinks();
  const id = await scene.crm.create('task', { title: 'Call' });
  await scene.told('task', id, /^Synced/);
  const row = await scene.position('task', id);
  await scene.act({ kind: 'edit', sheet: 'Tasks', row, column: 'Link', text: 'https://elsewhere.example' });
  const shown = async () => (await scene.row('task', id))?.['Link'];
  expect(await shown()).toBe('https://elsewhere.example');
  await expect.poll(shown).toBe(`https://crm.example/tasks/${id}`);
  expect(scene.requests('PUT', /./)).toEqual([]);
});

test('a row that a user adds gets its address with its record', async () => {
  const scene = await openWithLinks();
  await scene.act({ kind: 'edit', sheet: 'Tasks', row: 30, column: 'Title', text: 'Write' });
  const row = await scene.told('task', { Title: 'Write' }, /^Synced/);
  expect(row?.['Link']).toBe(`https://crm.example/tasks/${row?.['ID']}`);
});

test('a lead shows its contacts, and others once they are others', async () => {
  const contacts = { enabled: true };
  const scene = await openScenario({
    crm: { contactsPauseMs: 1 },
    sheet: { tabs: { leads: { columns: { contacts: {} } }, contacts } },
    counts: { leads: 2, opportunities: 0, tasks: 0 },
  });
  const { id } = await scene.crm.take('lead');
  const shown = async () => (await scene.row('lead', id))?.['Contacts'];
  expect(await shown()).toBe('');
  await scene.act(
    { kind: 'edit', sheet: 'Contacts', row: 5, column: 'Name', text: 'Ann Lee' },
    { kind: 'edit', sheet: 'Contacts', row: 5, column: 'E-mail', text: 'ann@lee.example' },
    { kind: 'edit', sheet: 'Contacts', row: 5, column: 'Lead', text: `#${id}` },
  );
  await expect.poll(shown).toBe('Ann Lee (ann@lee.example)');
});

test('a row shows on which side its record was changed last', async () => {
  const scene = await openScenario({ sheet: { tabs: { leads: { columns: { changed_by: {} } } } } });
  const id = await scene.crm.create('lead', { title: 'Acme' });
  await scene.told('lead', id, /^Synced/);
  const shown = async () => (await scene.row('lead', id))?.['Changed by'];
  expect(await shown()).toBe('CRM');
  const row = await scene.position('lead', id);
  await scene.act({ kind: 'edit', sheet: 'Leads', row, column: 'Title', text: 'Acme AG' });
  await expect.poll(shown).toBe('Sheet');
  await undo(scene.engine.link, { key: { entity: 'lead', id: String(id) }, field: 'title' });
  await expect.poll(shown).toBe('Undo');
  await scene.crm.update('lead', id, { title: 'Of sales' });
  await expect.poll(shown).toBe('CRM');
});

test('what waits for a user leads to its record', async () => {
  const scene = await openWithLinks();
  const { id } = await scene.crm.take('lead');
  const row = await scene.position('lead', id);
  await scene.act({ kind: 'deleteRows', sheet: 'Leads', row, count: 1 });
  await expect
    .poll(() => listWaiting(scene.engine).map(({ url }) => url))
    .toEqual([`https://crm.example/leads/${id}`]);
});
