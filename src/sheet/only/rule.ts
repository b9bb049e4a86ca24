import { type Catalog, type CustomField, leadStatusChoices } from '../../core/fields/catalog.ts';
import { customFieldName, describeEntity, type FieldDefinition } from '../../core/fields/field.ts';
import type { FieldKind } from '../../core/fields/field-kind.ts';
import type { Entity } from '../../core/record.ts';
import { listFew, quoteText } from '../../core/text/cut-text.ts';
import { labelKey } from '../../core/text/label-key.ts';
import { listOr } from '../../core/text/list-words.ts';
import { equalValues, type FieldName, type Value } from '../../core/value.ts';
import { choicesOf, createNames, type Names } from '../cells/codec.ts';
import { decodeTyped } from '../cells/read-cell.ts';
import { booleanCell, textCell } from '../port/cell.ts';

/** One value that a rule names, as people write it; `null` for an empty field. */
export type Said = string | number | boolean | null;
type Wanted = Said | readonly Said[];

/** Which records a tab has, as the configuration says it: by field, or `lead` for what is said of the lead. */
export type OnlyRule = Readonly<Record<string, Wanted | Readonly<Record<string, Wanted>>>>;

/** One condition of a rule, with ids in place of names. */
export type Condition =
  /** The field has one of the values, or names one of them. */
  | { readonly kind: 'values'; readonly field: FieldName; readonly values: readonly Value[] }
  | { readonly kind: 'pipeline'; readonly pipelines: readonly number[]; readonly stages: readonly number[] }
  | { readonly kind: 'updated'; readonly days: number }
  | { readonly kind: 'lead'; readonly conditions: readonly Condition[] };

/** A rule as it is followed: all conditions have to be met. */
export interface Rule {
  readonly conditions: readonly Condition[];
  /** What each name in it meant when it was understood first: so the rule follows a rename. */
  readonly named: Readonly<Record<string, string | number>>;
}

/** A rule that was understood, or why it cannot be. */
export type Resolved =
  | { readonly kind: 'rule'; readonly rule: Rule }
  | { readonly kind: 'fault'; readonly fault: string };

/** The rule of a tab: what it goes by since a plan was applied, and what the configuration wants by what the CRM has now. */
export interface TabRule {
  /** Absent where the tab never had a rule: then it has all records. */
  readonly applied?: Rule;
  readonly wanted: Resolved;
}

/** The rule of a tab that has all records. */
export const everything: Rule = { conditions: [], named: {} };

/** What a rule calls differently than the fields are called. */
const shortNames: Readonly<Partial<Record<Entity, Readonly<Record<string, FieldName>>>>> = {
  lead: { status: 'status_name' },
  opportunity: { stage: 'stage_id' },
};

const updatedCondition = 'updatedWithinDays';
const pipelineCondition = 'stage.pipeline';
const leadCondition = 'lead';
/** The custom field of leads that says whose they are. */
const ownerCondition = 'owner';

/** A rule names single things, so only fields that take their values from a list can be in one. */
const kindsInRules: ReadonlySet<FieldKind> = new Set<FieldKind>([
  'boolean',
  'select',
  'multi-select',
  'user',
  'users',
  'stage',
  'lead-status',
  'task-status',
  'task-priority',
]);

/** What a rule for such records may say, whatever custom fields there are. */
export function conditionNames(entity: Entity): string[] {
  const { [entity]: short = {} } = shortNames;
  const fields = describeEntity(entity, { pipelines: [], leadStatuses: [], customFields: [] });
  const nameOf = ({ name }: FieldDefinition) =>
    Object.keys(short).find((each) => short[each] === name) ?? name;
  return [
    ...fields.filter(({ kind }) => kindsInRules.has(kind)).map(nameOf),
    ...(entity === 'lead' ? [ownerCondition, updatedCondition, 'custom.<key>'] : []),
    ...(entity === 'opportunity' ? [pipelineCondition] : []),
    ...(fields.some(({ name }) => name === 'lead_id') ? [leadCondition] : []),
  ];
}

/** Why a rule is wrong whatever the CRM has, each with the place in it. */
export function findRuleFaults(entity: Entity, rule: OnlyRule): string[] {
  const known = conditionNames(entity);
  return Object.entries(rule).flatMap(([name, wanted]) => {
    if (name === leadCondition && known.includes(name))
      return isSection(wanted)
        ? findRuleFaults('lead', wanted).map((fault) => `${leadCondition}.${fault}`)
        : [`${name}: must be a section with what the lead has to be, such as { status: [new] }`];
    if (isSection(wanted)) return [`${name}: must be a value or a list of values`];
    if (name === updatedCondition && known.includes(name))
      return typeof wanted === 'number' && wanted > 0 ? [] : [`${name}: must be a number of days above 0`];
    const isKnown =
      known.includes(name) ||
      findStandard(entity, name) !== undefined ||
      (entity === 'lead' && name.startsWith('custom.'));
    if (!isKnown) return [`${name}: there is no such condition; there are ${listOr(known)}`];
    return listOf(wanted).length === 0 ? [`${name}: must name one value at least`] : [];
  });
}

const findStandard = (entity: Entity, name: string): FieldDefinition | undefined =>
  describeEntity(entity, { pipelines: [], leadStatuses: [], customFields: [] }).find(
    (field) => field.name === (shortNames[entity]?.[name] ?? name) && kindsInRules.has(field.kind),
  );

export const isSection = (wanted: OnlyRule[string]): wanted is Readonly<Record<string, Wanted>> =>
  typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted);

export const listOf = (wanted: OnlyRule[string]): readonly Said[] =>
  isSection(wanted) ? [] : Array.isArray(wanted) ? (wanted as readonly Said[]) : [wanted as Said];

/** What a name is looked up in. */
interface Lookup {
  readonly catalog: Catalog;
  readonly names: Names;
  /** What names meant before. */
  readonly before: Rule['named'];
  /** What they stand for now, filled in while the rule is read. */
  readonly named: Record<string, string | number>;
  readonly faults: string[];
}

/** What a rule is understood by. */
export interface RuleGround {
  readonly catalog: Catalog;
  /** The ids of users that are known to be some; one that no record names is known by its form alone. */
  readonly userIds?: (() => readonly string[]) | undefined;
  /** What the names in the rule meant when it was understood last. */
  readonly before?: Rule['named'] | undefined;
}

/** Understands a rule by what the CRM has now. */
export function resolveRule(
  entity: Entity,
  rule: OnlyRule,
  { before = {}, catalog, userIds }: RuleGround,
): Resolved {
  const lookup: Lookup = {
    catalog,
    names: { ...createNames(catalog, [], 'UTC'), ...(userIds ? { userIds } : {}) },
    before,
    named: {},
    faults: [],
  };
  const conditions = readConditions(entity, rule, lookup, '');
  const { faults, named } = lookup;
  return faults.length > 0
    ? { kind: 'fault', fault: faults.join(' ') }
    : { kind: 'rule', rule: { conditions, named } };
}

function readConditions(entity: Entity, rule: OnlyRule, lookup: Lookup, path: string): Condition[] {
  return Object.entries(rule).flatMap(([name, wanted]): Condition[] => {
    const place = `${path}${name}`;
    if (name === leadCondition && isSection(wanted))
      return [{ kind: 'lead', conditions: readConditions('lead', wanted, lookup, `${place}.`) }];
    if (name === updatedCondition) return [{ kind: 'updated', days: Number(wanted) }];
    if (name === pipelineCondition) return [readPipelines(listOf(wanted), lookup, place)];
    const field = findRuleField(entity, name, lookup.catalog);
    if (!field) {
      lookup.faults.push(`${place}: the CRM has no such field.`);
      return [];
    }
    if (field.held !== undefined)
      lookup.faults.push(`${place}: it cannot be compared now, because ${field.held}.`);
    else if (!kindsInRules.has(field.kind))
      lookup.faults.push(
        `${place}: ${field.header} is no list to choose from, so that no rule can name its values.`,
      );
    const values = listOf(wanted).flatMap((said) => readSaid(field, said, lookup, place));
    return [{ kind: 'values', field: field.name, values }];
  });
}

/** The field that a condition is about; of custom fields also by the name that people read, and `owner` where only one says it. */
function findRuleField(entity: Entity, name: string, catalog: Catalog): FieldDefinition | undefined {
  const fields = describeEntity(entity, catalog);
  const own = fields.find((field) => field.name === (shortNames[entity]?.[name] ?? name));
  if (own || name !== ownerCondition) return own;
  const ofUsers = fields.filter(({ kind }) => kind === 'user' || kind === 'users');
  const called = ofUsers.filter(
    (field) => field.name === `custom.${name}` || labelKey(field.header) === labelKey(name),
  );
  const [only, other] = called.length > 0 ? called : ofUsers;
  return other ? undefined : only;
}

function readPipelines(wanted: readonly Said[], lookup: Lookup, place: string): Condition {
  const { pipelines } = lookup.catalog;
  const found = wanted.flatMap((said) => {
    const kept = lookup.before[keyOf(place, said)];
    const text = labelKey(String(said));
    const [one, other] = pipelines.some(({ id }) => id === kept)
      ? pipelines.filter(({ id }) => id === kept)
      : pipelines.filter(({ id, name }) => labelKey(name) === text || String(id) === text);
    if (!one || other) {
      const known = listFew(pipelines.map(({ id, name }) => `${name} (${id})`));
      const fault = other ? 'names several pipelines: write the id' : 'is no pipeline of the CRM';
      lookup.faults.push(`${place}: ${quoteText(String(said))} ${fault}. There are ${known}.`);
      return [];
    }
    lookup.named[keyOf(place, said)] = one.id;
    return [one];
  });
  const inOrder = found.toSorted((left, right) => left.id - right.id);
  const stages = inOrder.flatMap((pipeline) => pipeline.stages.map(({ id }) => id));
  return {
    kind: 'pipeline',
    pipelines: inOrder.map(({ id }) => id),
    stages: stages.toSorted((left, right) => left - right),
  };
}

const keyOf = (place: string, said: Said): string => `${place}: ${labelKey(String(said))}`;

/** The value that a name in a rule stands for; none and a fault where it stands for nothing that the CRM has. */
function readSaid(field: FieldDefinition, said: Said, lookup: Lookup, place: string): Value[] {
  const { before, faults, named, names } = lookup;
  if (said === null) return [null];
  const key = keyOf(place, said);
  const { [key]: known } = before;
  const kept = known === undefined ? undefined : valueNamed(field, known, lookup);
  if (known !== undefined && kept !== undefined) {
    named[key] = known;
    return [kept];
  }
  const cell = typeof said === 'boolean' ? booleanCell(said) : textCell(String(said));
  const read = decodeTyped(field, cell, names);
  const value =
    read.kind === 'value' && typeof read.value === 'object' ? (read.value?.[0] ?? null) : undefined;
  const single = value === undefined && read.kind === 'value' ? read.value : (value ?? null);
  if (read.kind === 'refused') faults.push(`${place}: ${read.reason}`);
  else if (single === null || typeof single === 'object')
    faults.push(`${place}: ${quoteText(String(said))} names nothing.`);
  else if (!isListed(field, single, lookup))
    faults.push(
      `${place}: the CRM no longer has ${quoteText(String(said))}. ${field.header} takes ${listFew(choicesOf(field, names)?.labels ?? [])}.`,
    );
  else {
    const id = idNamed(field, single, lookup);
    if (id !== undefined) named[key] = id;
    return [single];
  }
  return [];
}

/** What a name is kept by. The value of an option is its name, so it is kept by its id, where the CRM gives it one. */
function idNamed(
  field: FieldDefinition,
  value: string | number | boolean,
  { catalog }: Lookup,
): string | number | undefined {
  if (typeof value === 'boolean') return undefined;
  if (!isOption(field)) return value;
  const { optionIds = [], options } = findCustomField(field, catalog);
  return optionIds[options.indexOf(String(value))];
}

/** The value that a kept name means now; `undefined` where the CRM has it no longer. */
function valueNamed(field: FieldDefinition, id: string | number, lookup: Lookup) {
  if (!isOption(field)) return isListed(field, id, lookup) ? id : undefined;
  const { optionIds = [], options } = findCustomField(field, lookup.catalog);
  return options[optionIds.indexOf(Number(id))];
}

const isOption = ({ kind }: FieldDefinition): boolean => kind === 'select' || kind === 'multi-select';

const findCustomField = (
  { name }: FieldDefinition,
  { customFields }: Catalog,
): Pick<CustomField, 'optionIds' | 'options'> =>
  customFields.find(({ key }) => customFieldName(key) === name) ?? { options: [] };

/** Whether the CRM has the value now. It lists its users nowhere. */
function isListed(
  field: FieldDefinition,
  value: string | number | boolean,
  { catalog, names }: Lookup,
): boolean {
  if (field.kind === 'user' || field.kind === 'users' || field.kind === 'boolean') return true;
  if (field.kind === 'lead-status') return leadStatusChoices(catalog).some(({ id }) => id === value);
  return typeof value !== 'boolean' && choicesOf(field, names)?.label(value) !== undefined;
}

/** Whether two rules keep the same records in a tab. */
export const areRulesAlike = (one: Rule, other: Rule): boolean =>
  JSON.stringify(one.conditions) === JSON.stringify(other.conditions);

/** Whether a value is one of those, or a list that has one of them. */
export const isAnyOf = (value: Value, wanted: readonly Value[]): boolean =>
  wanted.some(
    (each) =>
      equalValues(value, each) ||
      (Array.isArray(value) && (each === null ? value.length === 0 : value.includes(String(each)))),
  );
