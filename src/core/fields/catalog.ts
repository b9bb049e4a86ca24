import type { Entity } from '../record.ts';
import { labelKey, labelWithId } from '../text/label-key.ts';
import type { FieldKind } from './field-kind.ts';

/** Reference data of the CRM that names things: pipelines and stages, lead statuses, custom fields. */
export interface Catalog {
  readonly pipelines: readonly Pipeline[];
  readonly leadStatuses: readonly LeadStatus[];
  readonly customFields: readonly CustomField[];
  /** Whom the configuration names; the CRM lists its users nowhere. Absent where it names nobody. */
  readonly users?: readonly User[];
  /** Elements that could not be understood in the last read: where they are, and whose fields name them. Absent where all were. */
  readonly odd?: readonly { readonly entity: Entity; readonly words: string }[];
  /** What stages, statuses and users were called before, as fields keep it of their options; absent in a catalog that was just read. */
  readonly formerLabels?: FormerLabels;
}

/** Labels that rows may still show, with the ids of what had them; what is gone from the CRM by now among them. */
export interface FormerLabels {
  readonly stages: readonly FormerLabel<number>[];
  readonly leadStatuses: readonly FormerLabel<string>[];
  /** Absent in what was kept before users had names. */
  readonly users?: readonly FormerLabel<string>[];
}

/** A label that was shown for an id before. */
export type FormerLabel<Id extends string | number> = Pick<Choice<Id>, 'id' | 'label'>;

export interface Pipeline {
  readonly id: number;
  readonly name: string;
  readonly stages: readonly Stage[];
}

export interface Stage {
  readonly id: number;
  readonly name: string;
  readonly order: number;
  /** What the CRM says that it comes to, such as `won`; absent where it says nothing. */
  readonly tag?: string;
}

export interface LeadStatus {
  /** The slug that a lead carries as `status_name`. */
  readonly name: string;
  readonly label: string;
  /** As `#rrggbb`; absent where the CRM says none that is understood. */
  readonly color?: string;
}

/** A user of the CRM. */
export interface User {
  readonly id: string;
  readonly name: string;
}

export interface CustomField {
  readonly key: string;
  readonly name: string;
  readonly kind: FieldKind;
  /** Option names of a select or multi-select, in the CRM's order; empty for other kinds. */
  readonly options: readonly string[];
  /** Ids of the options, in the same order; absent where they are not known. */
  readonly optionIds?: readonly number[];
  /** What options were called before, by their ids; absent in a catalog that the CRM has just told. */
  readonly formerOptions?: readonly FormerLabel<number>[];
  /** Why it cannot be used now, although it was before: its column is left alone. Absent for a field that is in use. */
  readonly held?: string;
}

/** One thing that can be named: its label, and the value behind it. */
export interface Choice<Id extends string | number> {
  readonly id: Id;
  readonly label: string;
  /** Other spellings that are understood when a person types them, unless two choices share them. What is suggested is found by the first. */
  readonly aliases: readonly string[];
  /** The label with its id; absent where the label has it or takes none. */
  readonly inFull?: string;
}

export const emptyCatalog: Catalog = { pipelines: [], leadStatuses: [], customFields: [] };

/** The custom fields that the CRM takes values for now. */
export const fieldsInUse = ({ customFields }: Catalog): CustomField[] =>
  customFields.filter(({ held }) => held === undefined);

/** Stages as `Pipeline / Stage`; the stage's own name is understood too where it is the only one. */
export function stageChoices(catalog: Catalog): Choice<number>[] {
  const choices = catalog.pipelines.flatMap((pipeline) =>
    pipeline.stages
      .toSorted((left, right) => left.order - right.order)
      .map((stage) => ({ id: stage.id, label: `${pipeline.name} / ${stage.name}`, aliases: [stage.name] })),
  );
  return tellApart(choices, catalog.formerLabels?.stages);
}

/** Lead statuses by label; the slug is understood too. */
export function leadStatusChoices(catalog: Catalog): Choice<string>[] {
  const choices = catalog.leadStatuses.map(({ name, label }) => ({
    id: name,
    label: label || name,
    aliases: [name],
  }));
  return tellApart(choices, catalog.formerLabels?.leadStatuses);
}

/** A user's name with the id, for two users of the same name. Without a `#`: columns of users show ids without one. */
export const userWithId = (name: string, id: string | number): string => `${name} (${id})`;

/** Users by name; the name with the id is understood too, and the id alone. */
export function userChoices({ formerLabels, users = [] }: Catalog): Choice<string>[] {
  const choices = users.map(({ id, name }) => ({
    id,
    label: name,
    aliases: [name, userWithId(name, id), id],
    inFull: userWithId(name, id),
  }));
  return tellApart(choices, formerLabels?.users, userWithId);
}

/**
 * The catalog as the CRM has it now, with the labels that its stages, statuses and options, and its users, had before. A row that still shows one goes on
 * meaning the same, and gets the new label; without, everybody's rows would hold a name that nobody knows.
 */
export function keepFormerLabels(now: Catalog, before: Catalog): Catalog {
  const kept: FormerLabels = before.formerLabels ?? { stages: [], leadStatuses: [] };
  const next: Catalog = { ...now, formerLabels: kept };
  const formerLabels: FormerLabels = {
    stages: addRenamed(kept.stages, stageChoices(before), stageChoices(next)),
    leadStatuses: addRenamed(kept.leadStatuses, leadStatusChoices(before), leadStatusChoices(next)),
    users: addRenamed(kept.users ?? [], userChoices(before), userChoices(next)),
  };
  const customFields = next.customFields.map((field) => keepFormerOptions(field, before));
  return { ...next, customFields, formerLabels };
}

/** The field with the names that its options had before; the same object where they never had others. */
function keepFormerOptions(field: CustomField, { customFields }: Catalog): CustomField {
  const before = customFields.find(({ key }) => key === field.key);
  if (!before) return field;
  const formerOptions = addRenamed(before.formerOptions ?? [], optionChoices(before), optionChoices(field));
  return formerOptions.length > 0 ? { ...field, formerOptions } : field;
}

/** The options of a field by their ids, where these are known. */
const optionChoices = ({ optionIds = [], options }: CustomField): Choice<number>[] =>
  optionIds.flatMap((id, index) => {
    const label = options[index];
    return label === undefined ? [] : [{ id, label, aliases: [] }];
  });

/** What the options of a field were called before, by what each is called now. */
export const formerOptionNames = (field: CustomField): FormerLabel<string>[] => {
  const names = new Map(optionChoices(field).map(({ id, label }) => [id, label]));
  return (field.formerOptions ?? []).flatMap(({ id, label }) => {
    const name = names.get(id);
    return name === undefined || name === label ? [] : [{ id: name, label }];
  });
};

/** The kept labels, and those of what has another label by now, or is gone: its rows show the label from before until they are written. */
function addRenamed<Id extends string | number>(
  kept: readonly FormerLabel<Id>[],
  before: readonly Choice<Id>[],
  now: readonly Choice<Id>[],
): FormerLabel<Id>[] {
  const labels = new Map(now.map(({ id, label }) => [id, label]));
  const isKept = ({ id, label }: Choice<Id>) => kept.some((each) => each.id === id && each.label === label);
  const renamed = before.filter((choice) => labels.get(choice.id) !== choice.label && !isKept(choice));
  return [...kept, ...renamed.map(({ id, label }) => ({ id, label }))];
}

export const taskStatusChoices: readonly Choice<number>[] = [
  { id: 1, label: 'Todo', aliases: ['to do'] },
  { id: 2, label: 'In progress', aliases: [] },
  { id: 3, label: 'Completed', aliases: ['done'] },
  { id: 4, label: 'In review', aliases: [] },
];

export const taskPriorityChoices: readonly Choice<number>[] = [
  { id: 1, label: 'Low', aliases: [] },
  { id: 2, label: 'Medium', aliases: [] },
  { id: 3, label: 'High', aliases: [] },
];

/**
 * Gives choices their id behind their label where another one is called the same, because a label must name exactly one thing, or was
 * called so before: what was written for that one must never read as this one. The bare label then is one of several.
 */
function tellApart<Id extends string | number>(
  choices: readonly Choice<Id>[],
  former: readonly FormerLabel<Id>[] = [],
  withId: typeof labelWithId = labelWithId,
): Choice<Id>[] {
  const bearers = Map.groupBy([...choices, ...former], ({ label }) => labelKey(label));
  return choices.map((choice) => {
    const { id, label, aliases } = choice;
    const isShared = (bearers.get(labelKey(label)) ?? []).some((other) => other.id !== id);
    return isShared ? { id, label: withId(label, id), aliases: [...aliases, label] } : choice;
  });
}
