import { expect } from 'vitest';
import { eachRow, expectRefused, leadId, openAgency, type Section, show, stageId } from './section.ts';

/** Where a field is written: the create and the update that take it. */
const places = {
  lead: { path: '/leads', collection: 'leads', id: leadId, create: { title: 'Anna' } },
  task: { path: '/tasks', collection: 'tasks', id: 5001, create: { title: 'Call' } },
  opportunity: {
    path: '/opportunities',
    collection: 'opportunities',
    id: 3001,
    create: { stage_id: stageId, lead_id: leadId },
  },
} as const;
type Place = keyof typeof places;

const long = (length: number) => 'x'.repeat(length);
const about = (part: object) => ({ about: part });

/** Lengths, ranges and types of "Resources and their fields" and "Limits": the last that fits, the first that does not. */
const ranges: readonly (readonly [
  Place,
  string,
  accepted: readonly unknown[],
  refused: readonly unknown[],
])[] = [
  ['lead', 'title', ['x', long(200)], ['', long(201), null, 5]],
  ['lead', 'status_name', [long(100), null], [long(101), 5]],
  [
    'lead',
    'meta_data',
    [null, about({ description: long(500), url: null }), about({ description: null, url: 'https://a.io/' })],
    [
      'text',
      about({ description: long(501) }),
      about({ url: 'no url' }),
      about({ description: 'd', color: 'red' }),
    ],
  ],
  ['lead', 'custom_fields', [{}], [[], 'text', null]],
  ['task', 'title', ['x', long(500)], ['', long(501), null]],
  ['task', 'description', ['', null, long(5000)], [5]],
  ['task', 'status', [1, 2, 3, 4, '1', '4'], [0, 5, '0', '5', 'todo', 1.5, null]],
  ['task', 'priority', [1, 2, 3, '1', '3'], [0, 4, '4', 'high', 1.5, null]],
  ['task', 'lead_id', [leadId, null], [99, '1001', 1.5]],
  ['task', 'parent_task_id', [null], [99, 'x']],
  ['opportunity', 'stage_id', [stageId], [99, '11', null]],
  ['opportunity', 'lead_id', [leadId], [99, '1001', null]],
  ['opportunity', 'value', [0, 0.01, 1e9], [-0.01, '12', null]],
  ['opportunity', 'confidence', [0, 100], [-1, 101, 50.5, '50']],
  ['opportunity', 'note', ['', null], [5]],
];

const rangeCases = ranges.flatMap(([place, field, accepted, refused]) => [
  ...accepted.map((value) => [place, field, value, true] as const),
  ...refused.map((value) => [place, field, value, false] as const),
]);

export const fieldRanges: Section = eachRow(
  rangeCases,
  ([place, field, value, isAccepted]) =>
    `${place} ${field} ${isAccepted ? 'takes' : 'refuses'} ${show(value)}`,
  ([place, field, value, isAccepted]) => {
    const { path, collection, id, create } = places[place];
    const { outcome, model } = openAgency();
    const count = () => model.records[collection].live().length;
    const before = count();
    const created = outcome('POST', path, { ...create, [field]: value });
    const updated = outcome('PUT', `${path}/${id}`, { [field]: value });
    expect([created.status, updated.status]).toEqual(isAccepted ? [201, 200] : [400, 400]);
    if (!isAccepted) expect(created.message).toMatch(new RegExp(`^${field}(\\.[\\w.]+)?: .`));
    expect(count() - before).toBe(isAccepted ? 1 : 0);
  },
);

const writeCustom = (key: string, value: unknown) => {
  const custom_fields = { [key]: value };
  return openAgency().call('PUT', `/leads/${leadId}`, { custom_fields });
};

/** "Custom field definition", the table of accepted input: the definitions of the seed by their type. */
const coercions: readonly (readonly [type: string, key: string, value: unknown, stored: unknown])[] = [
  ['text', 'city', '007', '007'],
  ['text', 'city', '', ''],
  ['number', 'yearly_budget', 12.5, 12.5],
  ['number', 'yearly_budget', '12.50', 12.5],
  ['number', 'yearly_budget', '-1e3', -1000],
  ['boolean', 'newsletter', true, true],
  ['boolean', 'newsletter', false, false],
  ['boolean', 'newsletter', 'yes', true],
  ['boolean', 'newsletter', 'no', false],
  ['boolean', 'newsletter', 1, true],
  ['boolean', 'newsletter', 0, false],
  ['date', 'first_contact', '2024-02-29', '2024-02-29'],
  ['date', 'first_contact', '31/12/2025', '2025-12-31'],
  ['date', 'first_contact', '12/31/2025', '2025-12-31'],
  ['date', 'first_contact', '2026-01-05T23:30:00-11:00', '2026-01-05'],
  ['select', 'source', 'Referral', 'Referral'],
  ['select', 'source', 'rEFERRAL', 'Referral'],
  ['multi-select', 'services', ['seo', 'Print, Packaging'], ['SEO', 'Print, packaging']],
  ['multi-select', 'services', [], []],
  ['user-select', 'account_manager', '9002', '9002'],
  ['user-select', 'account_manager', 9001, '9001'],
  ['user-multi-select', 'team', [9001, '9003'], ['9001', '9003']],
];

const notAccepted: readonly (readonly [type: string, key: string, value: unknown])[] = [
  ['text', 'city', 5],
  ['number', 'yearly_budget', 'many'],
  ['number', 'yearly_budget', ''],
  ['number', 'yearly_budget', true],
  ['boolean', 'newsletter', 'maybe'],
  ['boolean', 'newsletter', 2],
  ['date', 'first_contact', '2025-02-29'],
  ['date', 'first_contact', '31/31/2025'],
  ['date', 'first_contact', 45000],
  ['select', 'source', 'Billboard'],
  ['select', 'source', ['Referral']],
  ['multi-select', 'services', 'SEO'],
  ['multi-select', 'services', ['SEO', 'Magic']],
  ['user-select', 'account_manager', '1'],
  ['user-multi-select', 'team', '9001'],
  ['user-multi-select', 'team', ['1']],
  ['unknown key', 'nowhere', 'x'],
];

export const customFieldInput: Section = {
  ...eachRow(
    coercions,
    ([type, _key, value, stored]) => `${type} ${show(value)} is stored as ${show(stored)}`,
    ([_type, key, value, stored]) => {
      expect(writeCustom(key, value).body).toMatchObject({ data: { custom_fields: { [key]: stored } } });
    },
  ),
  ...eachRow(
    notAccepted,
    ([type, _key, value]) => `${type} ${show(value)} is refused`,
    ([_type, key, value]) => {
      const body = { custom_fields: { [key]: value } };
      expectRefused('PUT', `/leads/${leadId}`, body, `custom_fields.${key}`);
    },
  ),
  'null clears a field and leaves the others': () => {
    const { create, take } = openAgency();
    const id = create('/leads', { title: 'x', custom_fields: { city: 'Bonn', newsletter: true } });
    const after = take('PUT', `/leads/${id}`, { custom_fields: { newsletter: null } });
    expect(after).toHaveProperty('custom_fields', { city: 'Bonn' });
  },
};

const dateFields = [
  ['/tasks', 5001, { title: 'x' }, 'due_date'],
  ['/tasks', 5001, { title: 'x' }, 'start_date'],
  ['/opportunities', 3001, { stage_id: stageId, lead_id: leadId }, 'expected_close_date'],
] as const;

const dateInput = [
  ['1', '2026-03-01', '2026-03-01'],
  ['2', '2026-03-01T10:00:00.123Z', '2026-03-01'],
  ['2', '2026-03-01T23:59:59-08:00', '2026-03-01'],
  ['2', '2026-03-01T00:30:00+09:00', '2026-03-01'],
  ['3', '2026-02-30', undefined],
  ['3', '2026-13-01', undefined],
  ['3', '2025-02-29', undefined],
  ['3', '2026-02-30T10:00:00Z', undefined],
  ['3', '2026-03-01T25:00:00Z', undefined],
  ['3', '01/03/2026', undefined],
  ['3', '2026-3-1', undefined],
  ['3', '20260301', undefined],
  ['3', 'tomorrow', undefined],
  ['3', '', undefined],
] as const;

const dateCases = dateFields.flatMap((place) => dateInput.map((input) => [...place, ...input] as const));

const filterCases = ['expected_close_after', 'expected_close_before'].flatMap((name) =>
  ['2026-03-01T00:00:00Z', '2026-02-30', '01/03/2026', ''].map((value) => [name, value] as const),
);

export const dateRules: Section = {
  ...eachRow(
    dateCases,
    ([_path, _id, _body, field, rule, written, kept]) =>
      `${rule}: ${field} ${show(written)} is ${kept ? `kept as ${kept}` : 'refused with the formats named'}`,
    ([path, id, body, field, _rule, written, kept]) => {
      const { call, outcome, take } = openAgency();
      const created = outcome('POST', path, { ...body, [field]: written });
      const updated = call('PUT', `${path}/${id}`, { [field]: written });
      if (kept) {
        expect(take('GET', `${path}/${id}`)).toMatchObject({ [field]: kept });
        expect(take('GET', `${path}/${id + 1}`)).toMatchObject({ [field]: kept });
      } else {
        expect([created.status, updated.status]).toEqual([400, 400]);
        expect(created.message).toMatch(new RegExp(`^${field}: .*YYYY-MM-DD.*ISO 8601`));
      }
    },
  ),
  ...eachRow(
    [['due_date'], ['start_date']] as const,
    ([field]) => `4: null clears ${field}`,
    ([field]) => {
      const { create, call, take } = openAgency();
      const id = create('/tasks', { title: 'x', due_date: '2026-01-01', start_date: '2026-01-01' });
      call('PUT', `/tasks/${id}`, { [field]: null });
      const both = { due_date: '2026-01-01', start_date: '2026-01-01' };
      expect(take('GET', `/tasks/${id}`)).toMatchObject({ ...both, [field]: null });
      expect(take('GET', `/tasks/${create('/tasks', { title: 'x', [field]: null })}`)).toMatchObject({
        [field]: null,
      });
    },
  ),
  '4: an opportunity has no way to clear its date': () =>
    expectRefused('PUT', '/opportunities/3001', { expected_close_date: null }, 'expected_close_date'),
  ...eachRow(
    filterCases,
    ([name, value]) => `5: ${name} refuses ${show(value)}`,
    ([name, value]) => {
      const answer = openAgency().outcome('GET', '/opportunities', undefined, { query: { [name]: value } });
      expect(answer).toEqual({ status: 400, message: expect.stringMatching(`^${name}: .`) });
    },
  ),
};
