import type { Column, TabLayout } from '../port/layout.ts';

/** A column that only the daemon writes. */
const shown = (field: string, header: string): Column => ({
  field,
  header,
  kind: 'text',
  direction: 'toTable',
  conflict: 'crm',
});

/** The columns that say what a question is about: in their order, and together they are the question. */
const saying = [
  shown('what', 'What'),
  shown('title', 'Title'),
  shown('field', 'Field'),
  shown('crm', 'CRM has'),
  shown('table', 'Sheet has'),
  shown('agreed', 'Agreed before'),
  shown('tab', 'Tab'),
  shown('record', 'Record'),
] as const;

/** The column in which people answer; the daemon never writes it. Each row offers its own answers. */
export const chooseField = 'choose';
/** The column that says since when the question is asked in these words. */
export const sinceField = 'since';

/**
 * The tab in which people answer what waits for them. A row carries one question; its ID is the question's scope, and its Sync cell says
 * what became of the answer.
 */
export const questionTab = (title: string): TabLayout<'question'> => ({
  entity: 'question',
  title,
  columns: [
    { field: chooseField, header: 'Choose', kind: 'text', direction: 'both', conflict: 'table' },
    ...saying,
    { ...shown(sinceField, 'Since'), kind: 'instant' },
  ],
  naming: 'title',
  // What tells where to look further comes behind it.
  syncAfter: 'agreed',
});
