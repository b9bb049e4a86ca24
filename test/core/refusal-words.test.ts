import { expect, test } from 'vitest';
import type { Column } from '../../src/core/layout.ts';
import { nameColumn } from '../../src/core/refusal-words.ts';

const column = (field: string, header: string): Column => ({
  field,
  header,
  kind: 'text',
  direction: 'both',
  conflict: 'crm',
});
const columns = [
  column('title', 'Name'),
  column('about.url', 'Website'),
  column('custom.size', 'Company size'),
  column('custom.lead-größe', 'Größe'),
];

test.each([
  ['title: Required', 'The CRM does not accept this Name: Required'],
  ['meta_data.about.url: Invalid URL', 'The CRM does not accept this Website: Invalid URL'],
  ['custom_fields.size: Expected a number', 'The CRM does not accept this Company size: Expected a number'],
  ['custom_fields.lead-größe: Not an option', 'The CRM does not accept this Größe: Not an option'],
])('the column is named by its header in %s', (words, told) => {
  expect(nameColumn(words, columns)).toBe(told);
});

test.each(['lead_id: Required', 'Resource not found', 'Sorry: no', ''])(
  'words about no column stay as they are: %s',
  (words) => {
    expect(nameColumn(words, columns)).toBe(words);
  },
);
