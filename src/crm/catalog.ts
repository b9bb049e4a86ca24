import { SyncError } from '../core/errors.ts';
import { isObject } from '../core/facts.ts';
import type { CustomField, LeadStatus, Pipeline, Stage } from '../core/fields/catalog.ts';
import type { FieldKind } from '../core/fields/field-kind.ts';
import type { ListedCatalog, Oddity } from '../core/fields/listed-catalog.ts';
import type { Lane, Log } from '../core/ports.ts';
import { type CustomFieldType, customFieldTypes, describeEndpoint, endpoints } from './contract.ts';
import type { CrmHttp } from './http.ts';
import { readListAnswer } from './listing.ts';
import { toId, toText, toTruth, toWhole } from './read-value.ts';
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

/** Reads pipelines, lead statuses and custom fields, three requests. Each of their elements is understood by itself. */
export async function readCatalog(http: CrmHttp, lane: Lane, log: Log): Promise<ListedCatalog> {
  const readList = async (endpoint: CatalogEndpoint, name: string) => {
    const { envelope } = await http({ endpoint, lane }).catch((error: unknown) => {
      throw failureOfList(error);
    });
    const items = readListAnswer(envelope, name)?.items;
    if (items) return items;
    throw new SyncError(
      'CRM_UNREADABLE',
      `${describeEndpoint(endpoints[endpoint])} cannot be understood: no list is in the answer.`,
    );
  };
  const reading = new CatalogReading();
  const pipelines = await readList('listPipelines', 'pipelines');
  const statuses = await readList('listLeadStatuses', 'lead_statuses');
  const definitions = await readList('listCustomFields', 'custom_fields');
  const catalog = {
    pipelines: pipelines.flatMap((json, index) => reading.readPipeline(json, index)),
    leadStatuses: inOrder(statuses, 'sort_order', (json, index) => reading.readStatus(json, index)),
    customFields: inOrder(definitions, 'order', (json, index) => reading.readDefinition(json, index)),
  };
  const { oddities, unknownTypes, unusable } = reading;
  // Its values would be guesses, in both directions.
  for (const [key, type] of unknownTypes) log.warn('crm.custom-field.left-out', { key, type });
  return {
    ...catalog,
    ...(oddities.length > 0 ? { oddities } : {}),
    ...(unusable.size > 0 ? { unusable: Object.fromEntries(unusable) } : {}),
  };
}

/** Sorts what has no order that can be understood last; between equals the CRM's order stays. */
function inOrder<Item>(
  list: readonly unknown[],
  name: string,
  read: (json: unknown, index: number) => readonly Item[],
): Item[] {
  const orderOf = (json: unknown) =>
    (isObject(json) ? toWhole(json[name]) : undefined) ?? Number.MAX_SAFE_INTEGER;
  return list
    .map((json, index) => ({ order: orderOf(json), items: read(json, index) }))
    .toSorted((left, right) => left.order - right.order)
    .flatMap(({ items }) => items);
}

type Json = Readonly<Record<string, unknown>>;

const empty: Json = {};

/** Reads the elements of the CRM's lists one by one, and keeps what could not be understood. */
class CatalogReading {
  readonly oddities: Oddity[] = [];
  /** Custom fields that cannot be used, by key, with the reason. */
  readonly unusable = new Map<string, string>();
  readonly unknownTypes = new Map<string, unknown>();

  readPipeline(json: unknown, index: number): Pipeline[] {
    const pipeline = isObject(json) ? json : empty;
    const [id, name] = [toId(pipeline['id']), readName(pipeline['name'])];
    const place = `${describeEndpoint(endpoints.listPipelines)}, ${id === undefined ? `element ${index + 1}` : `pipeline ${id}`}`;
    if (id === undefined || name === undefined)
      return this.#note({ list: 'pipelines', id }, place, id === undefined ? 'id' : 'name');
    const { stages } = pipeline;
    if (!Array.isArray(stages)) this.#note({ list: 'stages', of: id }, place, 'list of stages');
    const list: readonly unknown[] = Array.isArray(stages) ? stages : [];
    return [{ id, name, stages: list.flatMap((stage, at) => this.#readStage(stage, at, { of: id, place })) }];
  }

  #readStage(
    json: unknown,
    index: number,
    { of, place }: { readonly of: number; readonly place: string },
  ): Stage[] {
    const stage = isObject(json) ? json : empty;
    const [id, name] = [toId(stage['id']), readName(stage['name'])];
    if (id !== undefined && name !== undefined) {
      const tag = readName(stage['tag_name']);
      const order = toWhole(stage['order_index']) ?? index;
      return [{ id, name, order, ...(tag === undefined ? {} : { tag }) }];
    }
    const which = `${place}, ${id === undefined ? `element ${index + 1} of its stages` : `stage ${id}`}`;
    return this.#note({ list: 'stages', of, id }, which, id === undefined ? 'id' : 'name');
  }

  readStatus(json: unknown, index: number): LeadStatus[] {
    const status = isObject(json) ? json : empty;
    const [name, label = null] = [readName(status['name']), status['label']];
    const place = `${describeEndpoint(endpoints.listLeadStatuses)}, ${name === undefined ? `element ${index + 1}` : `status ${name}`}`;
    const shown = label === null ? name : toText(label);
    const { color } = status;
    const isColor = typeof color === 'string' && /^#[\da-f]{6}$/i.test(color);
    if (name !== undefined && shown !== undefined)
      return [{ name, label: shown, ...(isColor ? { color } : {}) }];
    return this.#note({ list: 'leadStatuses', id: name }, place, name === undefined ? 'name' : 'label');
  }

  readDefinition(json: unknown, index: number): CustomField[] {
    const definition = isObject(json) ? json : empty;
    const { type } = definition;
    const [key, name] = [readName(definition['field_key']), readName(definition['name'])];
    const isActive = definition['is_active'] == null || toTruth(definition['is_active']);
    const place = `${describeEndpoint(endpoints.listCustomFields)}, ${key === undefined ? `element ${index + 1}` : `field ${key}`}`;
    const known = customFieldTypes.find((candidate) => candidate === type);
    if (key === undefined) return this.#note({ list: 'customFields' }, place, 'field_key');
    if (isActive === true && name !== undefined && known)
      return [{ key, name, kind: kinds[known], ...this.#readOptions(definition['options'], key, place) }];
    if (isActive === false) this.unusable.set(key, 'it is switched off in the CRM');
    else if (typeof type === 'string' && !known) {
      this.unknownTypes.set(key, type);
      this.unusable.set(key, 'its kind in the CRM is not known here');
    } else {
      const part = isActive === undefined ? 'is_active' : name === undefined ? 'name' : 'type';
      this.#note({ list: 'customFields', id: key }, place, part);
      this.unusable.set(key, `its ${part} in the CRM cannot be understood`);
    }
    return [];
  }

  /** An option without an id that can be used has its name all the same; then the ids of all are not known. */
  #readOptions(json: unknown, key: string, place: string): Pick<CustomField, 'options' | 'optionIds'> {
    if (json === undefined || json === null) return { options: [] };
    if (!Array.isArray(json)) {
      this.#note({ list: 'options', of: key }, place, 'list of options');
      return { options: [] };
    }
    const read = json.flatMap((each: unknown, index) => {
      const option = isObject(each) ? each : empty;
      const [id, name] = [toId(option['id']), readName(option['name'])];
      const which = `${place}, ${id === undefined ? `element ${index + 1} of its options` : `option ${id}`}`;
      if (id === undefined || name === undefined)
        this.#note({ list: 'options', of: key, id }, which, name === undefined ? 'name' : 'id');
      return name === undefined ? [] : [{ id, name }];
    });
    const ids = read.flatMap(({ id }) => id ?? []);
    const options = read.map(({ name }) => name);
    return { options, ...(ids.length === options.length ? { optionIds: ids } : {}) };
  }

  /** Keeps what could not be understood. Returns what stands for it: nothing. */
  #note(
    { id, ...of }: Omit<Oddity, 'words' | 'id'> & { readonly id?: Oddity['id'] | undefined },
    place: string,
    part: string,
  ): [] {
    const words = `${place}: its ${part} cannot be understood`;
    this.oddities.push({ ...of, ...(id === undefined ? {} : { id }), words });
    return [];
  }
}

/** A name; `undefined` where there is none. */
function readName(json: unknown): string | undefined {
  const name = toText(json);
  return name === '' ? undefined : name;
}
