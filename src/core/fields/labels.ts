import { once } from '../once.ts';
import { type Entity, isClaimToken, type RecordKey } from '../record.ts';
import { cutText } from '../text/cut-text.ts';
import { formatInstant } from '../text/dates.ts';
import { labelWithId } from '../text/label-key.ts';
import type { FieldName, Fields, Value } from '../value.ts';
import {
  type Catalog,
  type Choice,
  leadStatusChoices,
  stageChoices,
  taskPriorityChoices,
  taskStatusChoices,
  userChoices,
} from './catalog.ts';
import { describeEntity, type FieldDefinition } from './field.ts';
import type { FieldKind } from './field-kind.ts';

/** What names things to people. */
export interface LabelSources {
  readonly catalog: Catalog;
  /** The values of a record that is known, or of a row that waits to become one. */
  readonly findFields: (key: RecordKey) => Fields | undefined;
  /** What the records of each kind are called. */
  readonly titles: Readonly<Record<Entity, string>>;
  /** What users read above a field. */
  readonly headerOf: (entity: Entity, field: FieldDefinition) => string;
  /** In which instants are shown. */
  readonly timeZone: string;
}

/** A change of one field, in the words of the sheet. */
export interface LabelledChange {
  readonly header: string;
  readonly before: string;
  readonly after: string;
  /** Absent where nothing was lost. */
  readonly lost?: string;
}

export type Labels = ReturnType<typeof createLabels>;

/** What a value that is not there is called, whether it is empty or was never known. */
export const emptyLabel = 'empty';

/** More of a value than this only fills the screen. */
const shownLengthMax = 300;

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const broken = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

const formatNumber = (value: number): string => (Number.isInteger(value) ? whole : broken).format(value);

/** The fields that name a record: the first of them that has a value does. */
export const namingFields = ['title', 'full_name', 'lead_id'] as const;

/** Writes records, fields and values as people know them: names for ids, headers for names of fields. */
export function createLabels(sources: LabelSources) {
  const { catalog, headerOf, timeZone, titles } = sources;
  const nameOf = createNamer(sources);
  const indexes = indexLabels(catalog);
  const fieldsOf = once(() => indexFields(catalog));
  const labelOf = ({ kind }: FieldDefinition, value: string | number): string => {
    const label = indexes[kind]?.().get(value);
    if (label !== undefined) return label;
    if (kind === 'lead' || kind === 'task') return nameOf({ entity: kind, id: String(value) });
    if (indexes[kind]) return typeof value === 'number' ? `#${value}` : value;
    if (typeof value === 'number') return formatNumber(value);
    const at = kind === 'instant' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(at) ? value : formatInstant(at, timeZone);
  };
  const show = (entity: Entity, name: FieldName, value: Value | undefined): string => {
    if (value === undefined || value === null || value === '') return emptyLabel;
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    const field = fieldsOf()[entity].get(name);
    if (typeof value === 'object') {
      const labels = value.map((each) => (field ? labelOf(field, each) : each));
      return cutText(labels.join(', '), shownLengthMax) || emptyLabel;
    }
    return cutText(field ? labelOf(field, value) : String(value), shownLengthMax);
  };
  const header = (entity: Entity, name: FieldName): string => {
    const field = fieldsOf()[entity].get(name);
    return field ? headerOf(entity, field) : name;
  };
  return {
    titles,
    nameOf,
    headerOf: header,
    show,
    /** What was changed from what to what, a line for each field; none for one that was and is empty. */
    listChanges(
      { entity }: RecordKey,
      {
        before,
        after,
        lost = {},
      }: { readonly before: Fields; readonly after: Fields; readonly lost?: Fields },
    ): LabelledChange[] {
      return Object.keys({ ...before, ...after, ...lost }).flatMap((name) => {
        if ((before[name] ?? after[name] ?? lost[name] ?? null) === null) return [];
        return {
          header: header(entity, name),
          before: show(entity, name, before[name]),
          after: show(entity, name, after[name]),
          ...(name in lost ? { lost: show(entity, name, lost[name]) } : {}),
        };
      });
    },
    /** The fields of the kinds of record that a person means by a name or a header. */
    findFieldNames(kinds: readonly Entity[], isMeant: (text: string) => boolean): FieldName[] {
      const meant = kinds.flatMap((entity) =>
        [...fieldsOf()[entity].values()].filter((field) =>
          [field.name, field.header, headerOf(entity, field)].some(isMeant),
        ),
      );
      return [...new Set(meant.map(({ name }) => name))];
    },
  };
}

/** Names records by what they are called and their id. */
function createNamer({ findFields }: LabelSources) {
  /** What a record is called, without its id; empty where nothing names it. */
  const titleOf = (key: RecordKey, otherwise: Fields = {}): string => {
    const fields = findFields(key) ?? otherwise;
    const naming = namingFields.find((name) => fields[name] != null && fields[name] !== '');
    if (naming === undefined) return '';
    const value = String(fields[naming]);
    return naming === 'lead_id' ? titleOf({ entity: 'lead', id: value }) : value;
  };
  /** `Oak & Ember GmbH (#1018)`; the id alone where nothing names the record. `otherwise` is for one that is not known any more. */
  const nameOf = (key: RecordKey, otherwise?: Fields): string => {
    const title = cutText(titleOf(key, otherwise), shownLengthMax);
    if (isClaimToken(key.id)) return title === '' ? 'a new row' : `${title} (new)`;
    return title === '' ? `#${key.id}` : labelWithId(title, key.id);
  };
  return nameOf;
}

type LabelIndex = ReadonlyMap<Value, string>;

const indexLabels = (catalog: Catalog): Partial<Record<FieldKind, () => LabelIndex>> => ({
  stage: once(() => indexOf(stageChoices(catalog))),
  'lead-status': once(() => indexOf(leadStatusChoices(catalog))),
  'task-status': once(() => indexOf(taskStatusChoices)),
  'task-priority': once(() => indexOf(taskPriorityChoices)),
  user: once(() => indexOf(userChoices(catalog))),
  users: once(() => indexOf(userChoices(catalog))),
});

const indexOf = (choices: readonly Choice<string | number>[]): LabelIndex =>
  new Map(choices.map(({ id, label }) => [id, label]));

const indexFields = (catalog: Catalog) => {
  const of = (entity: Entity) =>
    new Map(describeEntity(entity, catalog).map((field) => [field.name, field] as const));
  return { lead: of('lead'), opportunity: of('opportunity'), task: of('task'), contact: of('contact') };
};
