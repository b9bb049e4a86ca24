import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CustomField, emptyCatalog } from '../../src/core/fields/catalog.ts';
import { describeEntity } from '../../src/core/fields/field.ts';
import { idHeader, syncHeader } from '../../src/core/fields/headers.ts';
import { type Entity, listedEntities } from '../../src/core/record.ts';
import { labelKey } from '../../src/core/text/label-key.ts';
import { buildLayout, type ColumnPolicy } from '../../src/sheet/policy.ts';
import { sampleCatalog } from '../support/fields.ts';
import { policyWith } from '../support/policy.ts';

const customText = (key: string, name: string): CustomField => ({ key, name, kind: 'text', options: [] });
const leadHeaders = (customFields: readonly CustomField[]) =>
  describeEntity('lead', { ...emptyCatalog, customFields }).map(({ header }) => header);

describe('the headers of a lead’s columns', () => {
  it.each<[name: string, custom: [key: string, name: string][], headers: string[]]>([
    ['a custom field has its own name', [['size', 'Size']], ['Size']],
    ['one that is called like a standard field has its key behind it', [['t2', 'title ']], ['title  (t2)']],
    ['one that is called like the ID column as well', [['x', 'id']], ['id (x)']],
    ['one that is called like the Sync column as well', [['y', 'SYNC']], ['SYNC (y)']],
    [
      'of two of one name the second',
      [
        ['a', 'Size'],
        ['b', 'size'],
      ],
      ['Size', 'size (b)'],
    ],
    [
      'a third may be called like the second now is',
      [
        ['a', 'Size'],
        ['b', 'Size'],
        ['c', 'Size (b)'],
      ],
      ['Size', 'Size (b)', 'Size (b) (c)'],
    ],
  ])('%s', (_name, custom, headers) => {
    const fields = custom.map(([key, name]) => customText(key, name));
    expect(leadHeaders(fields).slice(4, -1)).toEqual(headers);
  });

  it('are different, whatever the custom fields are called', () => {
    const name = fc.constantFrom(
      'Title',
      'Size',
      'size',
      'Size (a)',
      'Size (b)',
      'ID',
      'Sync',
      'Size (a) (b)',
    );
    const fields = fc.uniqueArray(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), name }), {
      selector: ({ key }) => key,
    });
    fc.assert(
      fc.property(fields, (custom) => {
        const headers = [
          idHeader,
          syncHeader,
          ...leadHeaders(custom.map((each) => customText(each.key, each.name))),
        ];
        expect(new Set(headers.map(labelKey)).size).toBe(headers.length);
      }),
    );
  });
});

/** The columns of the Opportunities tab under some rules, as field → column. */
const columnsUnder = (columns: Readonly<Record<string, ColumnPolicy>>, order: readonly string[] = []) =>
  columnsOf('opportunity', columns, order);

function columnsOf(
  entity: Entity,
  columns: Readonly<Record<string, ColumnPolicy>>,
  order: readonly string[] = [],
) {
  const layout = buildLayout(listedEntities, policyWith({ columns, order }), sampleCatalog).find(
    (candidate) => candidate.entity === entity,
  );
  return new Map(layout?.columns.map((column) => [column.field, column]));
}

describe('the columns of a tab', () => {
  it('go both ways, except what the CRM sets itself', () => {
    const directions = [...columnsUnder({}).values()].map(({ field, direction }) => `${field} ${direction}`);
    expect(directions).toEqual([
      'lead_id both',
      'stage_id both',
      'value both',
      'confidence both',
      'expected_close_date both',
      'note both',
      'created_at toTable',
    ]);
  });

  it.each<[name: string, rules: Record<string, ColumnPolicy>, field: string, column: object | undefined]>([
    ['takes its header from the rules', { value: { header: 'Amount' } }, 'value', { header: 'Amount' }],
    [
      'takes its direction from the rules',
      { value: { direction: 'toTable' } },
      'value',
      { direction: 'toTable' },
    ],
    ['takes its conflict rule from the tab', {}, 'value', { conflict: 'crm' }],
    ['may have a conflict rule of its own', { value: { conflict: 'ask' } }, 'value', { conflict: 'ask' }],
    ['that is off is not there', { value: { direction: 'off' } }, 'value', undefined],
    [
      'that the CRM sets never goes both ways',
      { created_at: { direction: 'both' } },
      'created_at',
      { direction: 'toTable' },
    ],
    ['that the CRM sets may be off', { created_at: { direction: 'off' } }, 'created_at', undefined],
  ])('a column %s', (_name, rules, field, column) => {
    const found = columnsUnder(rules).get(field);
    if (column) expect(found).toMatchObject(column);
    else expect(found).toBeUndefined();
  });

  it('have a dropdown where the catalog names all choices, in the order of the pipeline', () => {
    expect(columnsUnder({}).get('stage_id')?.labels?.slice(0, 3)).toEqual([
      'Sales / New',
      'Sales / Won',
      'Partners / New',
    ]);
    expect(columnsUnder({}).get('lead_id')?.labels).toBeUndefined();
  });

  it('stand in the order of the rules, and the others behind them in their own', () => {
    expect([...columnsUnder({}, ['note', 'value']).keys()].slice(0, 4)).toEqual([
      'note',
      'value',
      'lead_id',
      'stage_id',
    ]);
  });

  it('keep the header of the rules, and a field that the CRM calls like it has its own name behind it', () => {
    const [custom] = sampleCatalog.customFields;
    const columns = columnsOf('lead', { title: { header: custom?.name } });
    expect(columns.get('title')?.header).toBe(custom?.name);
    expect(columns.get(`custom.${custom?.key}`)?.header).toBe(`${custom?.name} (custom.${custom?.key})`);
  });

  it('are none that pauses rows: a field that the CRM calls like it has its own name behind it', () => {
    const customFields = [customText('hold', 'on  hold')];
    const [lead] = buildLayout(listedEntities, policyWith({ pauseHeader: 'On hold' }), {
      ...emptyCatalog,
      customFields,
    });
    expect(lead?.columns.find(({ field }) => field === 'custom.hold')).toMatchObject({
      header: 'on  hold (custom.hold)',
      fieldHeader: 'on  hold',
    });
  });

  it('say at their headers what they take and where edits go', () => {
    expect(columnsUnder({}).get('confidence')?.note).toBe(
      'A whole number, from 0 to 100. Edits go to the CRM.',
    );
    expect(columnsUnder({}).get('lead_id')?.note).toContain('A new row is not sent without it.');
    expect(columnsUnder({ note: { direction: 'toTable' } }).get('note')?.note).toContain(
      'does not reach the CRM',
    );
  });
});
