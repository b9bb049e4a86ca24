import type { FieldKind } from './field-kind.ts';
import { labelKey } from './label-key.ts';

/** Reference data of the CRM that names things: pipelines and stages, lead statuses, custom fields. */
export interface Catalog {
  readonly pipelines: readonly Pipeline[];
  readonly leadStatuses: readonly LeadStatus[];
  readonly customFields: readonly CustomField[];
}

export interface Pipeline {
  readonly id: number;
  readonly name: string;
  readonly stages: readonly Stage[];
}

export interface Stage {
  readonly id: number;
  readonly name: string;
  readonly order: number;
}

export interface LeadStatus {
  /** The slug that a lead carries as `status_name`. */
  readonly name: string;
  readonly label: string;
}

export interface CustomField {
  readonly key: string;
  readonly name: string;
  readonly kind: FieldKind;
  /** Option names of a select or multi-select, in the CRM's order; empty for other kinds. */
  readonly options: readonly string[];
}

/** One thing that a cell can name: what people read, and the value that stands for it. */
export interface Choice<Id extends string | number> {
  readonly id: Id;
  readonly label: string;
  /** Other spellings that are understood when a person types them, unless two choices share them. */
  readonly aliases: readonly string[];
}

export const emptyCatalog: Catalog = { pipelines: [], leadStatuses: [], customFields: [] };

/** Stages as `Pipeline / Stage`; the stage's own name is understood too where it is the only one. */
export function stageChoices(catalog: Catalog): Choice<number>[] {
  const choices = catalog.pipelines.flatMap((pipeline) =>
    pipeline.stages
      .toSorted((left, right) => left.order - right.order)
      .map((stage) => ({ id: stage.id, label: `${pipeline.name} / ${stage.name}`, aliases: [stage.name] })),
  );
  return tellApart(choices);
}

/** Lead statuses by label; the slug is understood too. */
export function leadStatusChoices(catalog: Catalog): Choice<string>[] {
  return tellApart(
    catalog.leadStatuses.map(({ name, label }) => ({ id: name, label: label || name, aliases: [name] })),
  );
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

/** Gives choices of equal label their id behind it, because a label must name exactly one thing. */
export function tellApart<Id extends string | number>(choices: readonly Choice<Id>[]): Choice<Id>[] {
  const counts = Map.groupBy(choices, (choice) => labelKey(choice.label));
  return choices.map((choice) => {
    const isShared = (counts.get(labelKey(choice.label))?.length ?? 0) > 1;
    return isShared ? { ...choice, label: `${choice.label} (#${choice.id})` } : choice;
  });
}
