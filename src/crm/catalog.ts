import { z } from 'zod';
import type { Catalog, CustomField, LeadStatus, Pipeline } from '../core/catalog.ts';
import { SyncError } from '../core/errors.ts';
import type { FieldKind } from '../core/field-kind.ts';
import type { Lane, Log } from '../core/ports.ts';
import { type Endpoint, endpoints } from './contract.ts';
import {
  type CustomFieldDefinition,
  type CustomFieldType,
  customFieldDefinitionRecord,
  customFieldTypes,
  leadStatusRecord,
  pipelineRecord,
} from './contract-records.ts';
import type { CrmHttp } from './http.ts';
import { readListAnswer } from './list-answer.ts';
import { failureOfList } from './verdict.ts';

const kinds: Readonly<Record<CustomFieldType, FieldKind>> = {
  text: 'text',
  number: 'number',
  boolean: 'boolean',
  date: 'date',
  select: 'select',
  'multi-select': 'multi-select',
  'user-select': 'user',
  'user-multi-select': 'users',
};

type CatalogEndpoint = 'listPipelines' | 'listLeadStatuses' | 'listCustomFields';

/** Reads pipelines, lead statuses and custom fields, three requests. */
export async function readCatalog(http: CrmHttp, lane: Lane, log: Log): Promise<Catalog> {
  const readList = async <Item extends z.ZodType>(endpoint: CatalogEndpoint, name: string, item: Item) => {
    const { envelope } = await http({ endpoint, lane }).catch((error: unknown) => {
      throw failureOfList(error);
    });
    const parsed = z.array(item).safeParse(readListAnswer(envelope, name)?.items);
    if (parsed.success) return parsed.data;
    const { method, path }: Endpoint = endpoints[endpoint];
    const [issue] = parsed.error.issues;
    const problem = `${issue?.path.join('.') || 'the list'}: ${issue?.message}`;
    throw new SyncError('CRM_UNREADABLE', `${method} ${path} can not be understood: ${problem}.`);
  };
  const pipelines = await readList('listPipelines', 'pipelines', pipelineRecord);
  const statuses = await readList('listLeadStatuses', 'lead_statuses', leadStatusRecord);
  const definitions = await readList('listCustomFields', 'custom_fields', customFieldDefinitionRecord);
  const customFields = definitions
    .filter((definition) => definition.is_active !== false)
    .toSorted(byOrder((definition) => definition.order))
    .flatMap((definition) => readDefinition(definition, log));
  return {
    pipelines: pipelines.map(
      ({ id, name, stages }): Pipeline => ({
        id,
        name,
        stages: stages.map((stage, index) => ({
          id: stage.id,
          name: stage.name,
          order: stage.order_index ?? index,
        })),
      }),
    ),
    leadStatuses: statuses
      .toSorted(byOrder((status) => status.sort_order))
      .map(({ name, label }): LeadStatus => ({ name, label: label ?? name })),
    customFields,
    ...(definitions.length > 0 && customFields.length === 0 ? { hasOnlyUnusedFields: true } : {}),
  };
}

function readDefinition(definition: CustomFieldDefinition, log: Log): CustomField[] {
  const { field_key: key, name, type, options } = definition;
  const known = customFieldTypes.find((candidate) => candidate === type);
  if (!known) {
    // Its values would be guesses, in both directions.
    log.warn('crm.custom-field.left-out', { key, type });
    return [];
  }
  const field = { key, name, kind: kinds[known], options: options?.map((option) => option.name) ?? [] };
  return [options ? { ...field, optionIds: options.map(({ id }) => id) } : field];
}

/** What has no order stands last; between equals the CRM's order stays. */
const byOrder =
  <Item>(read: (item: Item) => number | null | undefined) =>
  (left: Item, right: Item): number =>
    (read(left) ?? Number.MAX_SAFE_INTEGER) - (read(right) ?? Number.MAX_SAFE_INTEGER);
