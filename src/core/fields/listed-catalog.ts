import type { Entity } from '../record.ts';
import type { Catalog, CustomField, Pipeline } from './catalog.ts';

/** An element of one of the CRM's lists, or of a list in one, that cannot be understood. */
export interface Oddity {
  readonly list: 'pipelines' | 'stages' | 'leadStatuses' | 'customFields' | 'options';
  /** Of the pipeline or the custom field in whose list it is; absent where it is in a list of its own. */
  readonly of?: number | string;
  /** Its own id, slug or key; absent where it has none that can be used: then it may be any of the list. */
  readonly id?: number | string;
  /** Where it is and what is wrong with it, never a value. */
  readonly words: string;
}

/** What the CRM lists now, as it was just read. */
export interface ListedCatalog extends Catalog {
  /** Custom fields that it lists and that cannot be used now, by key, with the reason: `it is switched off in the CRM`. */
  readonly unusable?: Readonly<Record<string, string>>;
  readonly oddities?: readonly Oddity[];
}

/** The kind of record whose fields name the elements of a list. */
const entityOf: Readonly<Record<Oddity['list'], Entity>> = {
  pipelines: 'opportunity',
  stages: 'opportunity',
  leadStatuses: 'lead',
  customFields: 'lead',
  options: 'lead',
};

/**
 * Adds to what the CRM lists now what is still known from before. A list that was not empty before and is now stays as it was: such an
 * answer is a fault of the reading, unless the list of custom fields is empty again and again (`isSurelyEmpty`). Whatever an element that
 * cannot be understood may be stays as it was known. A custom field that is no longer listed, or cannot be used, keeps its column, which is
 * left alone until the field is back.
 */
export function keepKnown(
  { oddities = [], unusable = {}, ...listed }: ListedCatalog,
  known: Catalog,
  isSurelyEmpty = false,
): Catalog {
  const search = (list: Oddity['list'], of?: Oddity['of']) =>
    oddities.filter((oddity) => oddity.list === list && oddity.of === of);
  const keep = <Item>(
    items: readonly Item[],
    before: readonly Item[],
    idOf: (item: Item) => Oddity['id'],
    odd: readonly Oddity[],
  ) => (items.length + odd.length > 0 ? [...items, ...findDoubtful(items, before, idOf, odd)] : before);
  const pipelines = keep(listed.pipelines, known.pipelines, ({ id }) => id, search('pipelines'));
  const stagesOf = (pipeline: Pipeline) => known.pipelines.find(({ id }) => id === pipeline.id)?.stages ?? [];
  const odd = oddities.map(({ list, words }) => ({ entity: entityOf[list], words }));
  return {
    ...listed,
    pipelines: pipelines.map((pipeline) => {
      const odd = search('stages', pipeline.id);
      const doubtful = findDoubtful(pipeline.stages, stagesOf(pipeline), ({ id }) => id, odd);
      return { ...pipeline, stages: [...pipeline.stages, ...doubtful] };
    }),
    leadStatuses: keep(listed.leadStatuses, known.leadStatuses, ({ name }) => name, search('leadStatuses')),
    customFields: keepFields(),
    ...(odd.length > 0 ? { odd } : {}),
  };

  function keepFields(): readonly CustomField[] {
    const isEmpty =
      listed.customFields.length + search('customFields').length + Object.keys(unusable).length === 0;
    if (isEmpty && !isSurelyEmpty) return known.customFields;
    const keys = new Set(listed.customFields.map(({ key }) => key));
    const isDoubtful = search('customFields').some(({ id }) => id === undefined);
    const absent = isDoubtful
      ? 'the CRM no longer lists it, or not in a form that can be understood'
      : 'the CRM no longer lists it';
    const missing = known.customFields.filter(({ key }) => !keys.has(key));
    const held = missing.map((field) => ({ ...field, held: unusable[field.key] ?? absent }));
    return [...listed.customFields.map(keepOptions), ...held];
  }

  function keepOptions(field: CustomField): CustomField {
    const odd = search('options', field.key);
    const before = known.customFields.find(({ key }) => key === field.key);
    return odd.length > 0 && before ? withOptions(field, before, odd) : field;
  }
}

const optionsOf = ({ optionIds = [], options }: CustomField) =>
  options.map((name, index) => ({ id: optionIds[index], name }));

/** The field with the options that were known `before`, as far as they may be the `odd` ones. */
function withOptions(field: CustomField, before: CustomField, odd: readonly Oddity[]): CustomField {
  const known = optionsOf(before);
  const listed = optionsOf(field).map(({ id, name }) => ({
    id: id ?? known.find((option) => option.name === name)?.id,
    name,
  }));
  const isListed = (option: (typeof known)[number]) =>
    listed.some(({ id, name }) => name === option.name || (id !== undefined && id === option.id));
  const isDoubtful = (option: (typeof known)[number]) =>
    !isListed(option) && odd.some(({ id }) => id === undefined || id === option.id);
  const all = [...listed, ...known.filter(isDoubtful)];
  const optionIds = all.flatMap(({ id }) => id ?? []);
  const options = all.map(({ name }) => name);
  const { optionIds: _listed, ...rest } = field;
  return { ...rest, options, ...(optionIds.length === options.length ? { optionIds } : {}) };
}

/** What was known and is not listed, and may be an element that cannot be understood. */
const findDoubtful = <Item>(
  listed: readonly Item[],
  known: readonly Item[],
  idOf: (item: Item) => Oddity['id'],
  oddities: readonly Oddity[],
): readonly Item[] => {
  const ids = new Set(listed.map(idOf));
  return known.filter(
    (item) => !ids.has(idOf(item)) && oddities.some(({ id }) => id === undefined || id === idOf(item)),
  );
};
