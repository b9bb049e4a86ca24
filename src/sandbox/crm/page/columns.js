// The columns of each tab: what a field is called, how it reads, how it is edited, and what is sent to change it.

const taskStatuses = new Map([
  [1, 'Todo'],
  [2, 'In progress'],
  [3, 'Completed'],
  [4, 'In review'],
]);
const taskStatusColors = new Map([
  [1, '#9aa0a6'],
  [2, '#5b8def'],
  [3, '#3fa66b'],
  [4, '#c9a227'],
]);
const priorities = new Map([
  [1, 'Low'],
  [2, 'Medium'],
  [3, 'High'],
]);

const column = (key, label, kind = 'text', extra = {}) => ({
  key,
  label,
  kind,
  read: (record) => record[key],
  write: (value) => ({ [key]: value }),
  ...extra,
});

const aboutColumn = (key, label, kind) =>
  column(`about.${key}`, label, kind, {
    read: (lead) => lead.meta_data?.about?.[key],
    write: (value) => ({ meta_data: { about: { [key]: value } } }),
  });

const memberNames = (records) => new Map(records.members.map((member) => [member.id, member.name]));
const optionNames = (definition) => new Map(definition.options?.map(({ name }) => [name, name]));
const customFieldKinds = {
  number: () => ({ kind: 'number' }),
  date: () => ({ kind: 'date' }),
  boolean: () => ({
    kind: 'choice',
    names: new Map([
      [true, 'Yes'],
      [false, 'No'],
    ]),
  }),
  select: (definition) => ({ kind: 'choice', names: optionNames(definition) }),
  'multi-select': (definition) => ({ kind: 'choices', names: optionNames(definition) }),
  'user-select': (_definition, records) => ({ kind: 'choice', names: memberNames(records) }),
  'user-multi-select': (_definition, records) => ({ kind: 'choices', names: memberNames(records) }),
};

const customColumn = (definition, records) =>
  column(`custom.${definition.field_key}`, definition.name, 'text', {
    ...customFieldKinds[definition.type]?.(definition, records),
    read: (lead) => lead.custom_fields[definition.field_key],
    write: (value) => ({ custom_fields: { [definition.field_key]: value } }),
  });

const leadColumn = (records, extra) =>
  column('lead_id', 'Lead', 'choice', {
    names: new Map(records.leads.map((lead) => [lead.id, `${lead.title} (${lead.id})`])),
    inCreate: true,
    ...extra,
  });

const stageNames = (records) =>
  new Map(
    records.pipelines.flatMap((pipeline) =>
      pipeline.stages.map((stage) => [stage.id, `${pipeline.name} / ${stage.name}`]),
    ),
  );

export const tabs = {
  leads: {
    label: 'Leads',
    noun: 'lead',
    columns: (records) => [
      column('title', 'Title', 'text', { inCreate: true }),
      column('status_name', 'Status', 'suggested', {
        inCreate: true,
        names: new Map(records.leadStatuses.map((status) => [status.name, status.label])),
        color: (name) => records.leadStatuses.find((status) => status.name === name)?.color,
      }),
      ...records.customFields
        .filter((definition) => definition.is_active)
        .map((definition) => customColumn(definition, records)),
      aboutColumn('description', 'Description', 'paragraph'),
      aboutColumn('url', 'Website'),
    ],
  },
  opportunities: {
    label: 'Opportunities',
    noun: 'opportunity',
    columns: (records) => [
      leadColumn(records, { isRequired: true }),
      column('stage_id', 'Stage', 'choice', { names: stageNames(records), inCreate: true, isRequired: true }),
      column('value', 'Value', 'number', { inCreate: true, isRequired: true }),
      column('confidence', 'Confidence %', 'number', { inCreate: true, isRequired: true }),
      column('expected_close_date', 'Expected close', 'date', { inCreate: true, isRequired: true }),
      column('note', 'Note', 'paragraph', { inCreate: true }),
    ],
  },
  tasks: {
    label: 'Tasks',
    noun: 'task',
    columns: (records) => [
      column('title', 'Title', 'text', { inCreate: true }),
      column('status', 'Status', 'choice', {
        names: taskStatuses,
        isRequired: true,
        inCreate: true,
        color: (status) => taskStatusColors.get(status),
      }),
      column('priority', 'Priority', 'choice', { names: priorities, isRequired: true, inCreate: true }),
      column('due_date', 'Due', 'date', { inCreate: true }),
      column('start_date', 'Start', 'date'),
      leadColumn(records),
      column('parent_task_id', 'Subtask of', 'choice', {
        names: new Map(records.tasks.map((task) => [task.id, `${task.title} (${task.id})`])),
      }),
      column('description', 'Description', 'paragraph'),
    ],
  },
};

/** How a field's value reads in a cell. */
export function textOf({ names }, value) {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((member) => names?.get(member) ?? member).join(', ');
  return String(names?.get(value) ?? value);
}
