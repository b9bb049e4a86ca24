import { type Catalog, type Stage, taskPriorityChoices, taskStatusChoices } from '../core/fields/catalog.ts';
import type { CustomColumn } from './facts.ts';
import type { References } from './port/port.ts';
import { storableText } from './rows.ts';

export interface ReferenceTerms {
  readonly custom: readonly CustomColumn[];
  /** Names of stages in which an opportunity is lost, whatever the CRM says of them. */
  readonly lostStages: readonly string[];
  /** Epoch ms. */
  readonly at: number;
}

/** The reference data of the CRM as rows. */
export function referencesOf(catalog: Catalog, { at, custom, lostStages }: ReferenceTerms): References {
  const outcomeOf = ({ name, tag = 'active' }: Stage) => {
    if (lostStages.includes(name)) return 'lost';
    if (tag === 'active') return 'open';
    return tag === 'won' ? 'won' : 'lost';
  };
  return {
    pipelines: catalog.pipelines.map(({ id, name }) => ({ id, name: storableText(name) })),
    stages: catalog.pipelines.flatMap(({ id: pipelineId, stages }) =>
      stages.map((stage) => ({
        id: stage.id,
        pipelineId,
        name: storableText(stage.name),
        position: stage.order,
        outcome: outcomeOf(stage),
      })),
    ),
    leadStatuses: catalog.leadStatuses.map(({ label, name }) => ({
      name: storableText(name),
      label: storableText(label),
    })),
    taskStatuses: taskStatusChoices.map(({ id, label }) => ({ id, name: label })),
    taskPriorities: taskPriorityChoices.map(({ id, label }) => ({ id, name: label })),
    userNames: (catalog.users ?? []).map(({ id, name }) => ({
      id: storableText(id),
      name: storableText(name),
    })),
    customFields: custom.map(({ key, name: columnName, retiredAt }) => {
      const field = catalog.customFields.find((candidate) => candidate.key === key);
      return {
        key: storableText(key),
        columnName,
        name: storableText(field?.name ?? key),
        kind: field?.kind ?? '',
        retiredAt,
      };
    }),
    at,
  };
}
