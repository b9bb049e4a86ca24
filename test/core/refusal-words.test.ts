import { expect, test } from 'vitest';
import { nameField } from '../../src/core/fields/refusal-words.ts';

const labels = new Map([
  ['title', 'Name'],
  ['about.url', 'Website'],
  ['custom.size', 'Company size'],
  ['custom.lead-größe', 'Größe'],
]);
const labelOf = (field: string) => labels.get(field);

test.each([
  ['title: Required', 'The CRM does not accept this Name: Required'],
  ['meta_data.about.url: Invalid URL', 'The CRM does not accept this Website: Invalid URL'],
  ['custom_fields.size: Expected a number', 'The CRM does not accept this Company size: Expected a number'],
  ['custom_fields.lead-größe: Not an option', 'The CRM does not accept this Größe: Not an option'],
])('a field is named by its label in %s', (words, told) => {
  expect(nameField(words, labelOf)).toBe(told);
});

test.each(['lead_id: Required', 'Resource not found', 'Sorry: no', ''])(
  'words about no field stay as they are: %s',
  (words) => {
    expect(nameField(words, labelOf)).toBe(words);
  },
);
