import { expect, test } from 'vitest';
import { addressOf } from '../../src/core/fields/record-url.ts';

test('the address of a record follows from its kind and id, and what is no part of them stays', () => {
  const form = 'https://crm.example/{entity}s/{id}?view={view}';
  expect(addressOf(form, { entity: 'task', id: '7' })).toBe('https://crm.example/tasks/7?view={view}');
  const ofContacts = 'https://crm.example/leads/{lead}/{entity}/{id}';
  expect(addressOf(ofContacts, { entity: 'contact', id: '42.0198/…' })).toBe(
    'https://crm.example/leads/42/contact/0198%2F%E2%80%A6',
  );
});
