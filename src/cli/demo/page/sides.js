// What the sides hold, read as their own pages read it.

/** What each side calls the records of a kind, and their fields: header in the sheet, path in the CRM, column in the warehouse. */
const kinds = [
  {
    ...{ entity: 'lead', crm: 'leads', tab: 'Leads' },
    fields: [
      ['Title', 'title', 'title'],
      ['Status', 'status_name', 'status_name'],
      ['About', 'meta_data.about.description', 'about_description'],
      ['Website', 'meta_data.about.url', 'about_url'],
    ],
  },
  {
    ...{ entity: 'opportunity', crm: 'opportunities', tab: 'Opportunities' },
    fields: [
      ['Lead', 'lead_id', 'lead_id'],
      ['Stage', 'stage_id', 'stage_id'],
      ['Value', 'value', 'value'],
      ['Confidence', 'confidence', 'confidence'],
      ['Expected close', 'expected_close_date', 'expected_close_date'],
      ['Note', 'note', 'note'],
    ],
  },
  {
    ...{ entity: 'task', crm: 'tasks', tab: 'Tasks' },
    fields: [
      ['Title', 'title', 'title'],
      ['Description', 'description', 'description'],
      ['Status', 'status', 'status'],
      ['Priority', 'priority', 'priority'],
      ['Start', 'start_date', 'start_date'],
      ['Due', 'due_date', 'due_date'],
      ['Lead', 'lead_id', 'lead_id'],
      ['Parent task', 'parent_task_id', 'parent_task_id'],
    ],
  },
];

/** Fields that read the same on all sides; the others have names on one and numbers on another. */
const texts = new Set(['Title', 'About', 'Website', 'Note', 'Description']);

/** Custom fields of leads, from the CRM's catalog. */
let customFields = [];

const fieldsOf = ({ entity, fields }) =>
  entity === 'lead'
    ? [
        ...fields,
        ...customFields.map(({ name, field_key: key }) => [name, `custom_fields.${key}`, `cf_${key}`]),
      ]
    : fields;

export const isText = (field) =>
  texts.has(field) || customFields.some(({ name, type }) => name === field && type === 'text');

const keyOf = (entity, id) => `${entity} ${id}`;
const plain = (value) =>
  String(value ?? '')
    .trim()
    .replace(/\s+/g, ' ');

/** Reads from a side once it has something else than the last time; until then returns the same again. */
function readerOf(path, shape) {
  let tag = '';
  let read;
  return async () => {
    const response = await fetch(path(read), { headers: { 'if-none-match': tag }, cache: 'no-store' });
    if (response.status === 204 || response.status === 304) return read;
    if (!response.ok) throw new Error(`${response.url} returned ${response.status}.`);
    tag = response.headers.get('etag') ?? '';
    read = shape(await response.json());
    return read;
  };
}

const readCrm = readerOf(
  () => '/sides/crm/__sandbox/records',
  (contents) => {
    customFields = contents.customFields.filter((field) => field.is_active);
    const valueAt = (record, path) => path.split('.').reduce((value, name) => value?.[name], record);
    const records = kinds.flatMap((kind) =>
      contents[kind.crm].map((record) => [
        keyOf(kind.entity, record.id),
        new Map(fieldsOf(kind).map(([field, path]) => [field, plain(valueAt(record, path))])),
      ]),
    );
    return { records: new Map(records), contents };
  },
);

/** Of a cell that names a record, its number: it names the same one with another title, or before the daemon knows the title. */
const cellText = (field, text) =>
  field === 'Lead' || field === 'Parent task' ? (/#?(\d+)\)?$/.exec(text)?.[1] ?? text) : plain(text);

const readSheet = readerOf(
  (read) => `/sides/sheet/__sandbox/grid?since=${read?.grid.revision ?? ''}`,
  (grid) => {
    const [records, notes, drafts] = [new Map(), new Map(), new Set()];
    for (const kind of kinds) {
      for (const row of rowsOf(grid, kind.tab)) {
        const fields = fieldsOf(kind).map(([field]) => [field, cellText(field, row[field] ?? '')]);
        const key = keyOf(kind.entity, row['ID']);
        if (/^\d+$/.test(row['ID'] ?? '')) records.set(key, new Map(fields));
        else if (fields.some(([, text]) => text !== '')) drafts.add(kind.entity);
        notes.set(key, row['Sync'] ?? '');
      }
    }
    const asked = rowsOf(grid, 'Conflicts').map(({ Tab, Record }) =>
      keyOf(kinds.find(({ tab }) => tab === Tab)?.entity, Record),
    );
    return { records, notes, drafts, asked: new Set(asked), grid };
  },
);

/** The rows of a tab, each by the texts of their headers. */
export function rowsOf(grid, title) {
  const [header = [], ...rows] = grid.sheets.find((sheet) => sheet.title === title)?.rows ?? [];
  return rows.map((cells) =>
    Object.fromEntries(header.map((cell, column) => [cell?.text, cells[column]?.text ?? ''])),
  );
}

const tableReaders = kinds.map((kind) =>
  readerOf(
    () => `/sides/warehouse/tables/${kind.entity}`,
    ({ columns, rows }) => {
      const place = new Map(columns.map(({ name }, index) => [name, index]));
      const fields = fieldsOf(kind).map(([field, , column]) => [field, place.get(column)]);
      return rows.map((values) => [
        Number(values[place.get('id')]),
        new Map(fields.map(([field, index]) => [field, plain(values[index])])),
      ]);
    },
  ),
);

/** The newest edit by SQL of each record. */
const readEdits = readerOf(
  () => '/sides/warehouse/tables/edit',
  ({ columns, rows }) => {
    const [seq, entity, id] = ['seq', 'entity', 'id'].map((name) =>
      columns.findIndex((column) => column.name === name),
    );
    return new Map(rows.toReversed().map((values) => [keyOf(values[entity], values[id]), values[seq]]));
  },
);

let tables;
let warehouse;
async function readWarehouse() {
  const read = await Promise.all(tableReaders.map((reader) => reader()));
  // After the rows: an edit is in the log once its row shows it.
  const edits = await readEdits();
  if (edits === warehouse?.edits && tables.every((rows, index) => rows === read[index])) return warehouse;
  tables = read;
  const [records, drafts] = [new Map(), new Set()];
  for (const [index, rows] of read.entries()) {
    const { entity } = kinds[index];
    for (const [id, fields] of rows) {
      if (id > 0) records.set(keyOf(entity, id), fields);
      // An inserted row has a number below zero until its record has one.
      else drafts.add(entity);
    }
  }
  warehouse = { records, drafts, edits };
  return warehouse;
}

/** Reads what each side holds; the CRM once before the others, because it knows the custom fields. */
export const readers = { crm: readCrm, sheet: readSheet, warehouse: readWarehouse };
