import type { FieldDefinition } from '../../core/fields/field.ts';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import type { Column } from '../port/layout.ts';

/** What a cell takes, by the kind of its field; limits come behind it. */
const accepted: Readonly<Record<FieldKind, string>> = {
  text: 'Text; what is typed stays as it is',
  number: 'A number',
  integer: 'A whole number',
  boolean: 'A checkbox',
  date: 'A date',
  instant: 'A date with a time',
  select: 'One of the options in the dropdown',
  'multi-select': 'Options of the CRM, separated by commas',
  user: 'A user of the CRM, by id',
  users: 'Users of the CRM by id, separated by commas',
  lead: 'A lead: its title where only one lead has it, its id, or both',
  task: 'A task: its id, or its title where only one task has it',
  stage: 'A stage as in the dropdown: Pipeline / Stage',
  'lead-status': 'A status of the dropdown',
  'task-status': 'A status of the dropdown',
  'task-priority': 'A priority of the dropdown',
};

/** What people read at the header of a column: what it takes, and what becomes of what they type. */
export function describeColumn(field: FieldDefinition, column: Omit<Column, 'note'>): string {
  if (field.held !== undefined)
    return `Held: ${field.held}. What is typed here is not sent until the field is back; then it goes on by itself.`;
  if (field.isReadOnly || column.direction === 'toTable') {
    return 'Shown from the CRM. What is typed here is replaced and does not reach the CRM.';
  }
  const { isFixed, isRequired, kind } = field;
  return [
    [accepted[kind], ...limitsOf(field)].join(', '),
    ...(isRequired ? ['A new row is not sent without it'] : []),
    isFixed ? 'It goes to the CRM with a new row and can not be changed later' : 'Edits go to the CRM',
    '',
  ]
    .join('. ')
    .trimEnd();
}

function limitsOf({ kind, lengthMax, max, min }: FieldDefinition): string[] {
  if (kind === 'task') return [];
  return [
    ...(lengthMax === undefined ? [] : [`${lengthMax} characters at most`]),
    ...(min === undefined ? [] : [max === undefined ? `at least ${min}` : `from ${min} to ${max}`]),
  ];
}
