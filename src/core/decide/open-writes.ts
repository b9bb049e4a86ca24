import { lateLandingMs, type OpenWrite, type SentSet } from '../open-write.ts';
import type { DeleteStep, SetStep, WriteReceipt } from '../table.ts';
import type { Plan } from './plan.ts';

/** What is to be known of a plan's write should no reply come: all that may have reached another row. */
export function unansweredWrite({ at, before, run, table }: Plan): OpenWrite {
  const sets = table.flatMap(({ isRepair, journal, write }) =>
    write.kind === 'set' ? sentSet(write, { isRepair, journal }) : [],
  );
  const deletes = table.flatMap(({ write }) => (write.kind === 'delete' ? [write] : [])).filter(isOfRecord);
  return { id: run, at, outcome: 'unknown', settlesAt: at + lateLandingMs, sets, deletes, before };
}

/** What is left of it once the reply has come: the steps that went astray, or over what somebody typed. */
export function answeredWrite(plan: Plan, { astray, misplaced, overtyped }: WriteReceipt): OpenWrite {
  const sets = [
    ...misplaced.flatMap(({ step, idFound, replaced }) => sentSet(step, { idFound, replaced })),
    ...overtyped.flatMap(({ step, replaced }) => {
      const { id, ...own } = step;
      const idFound = id ?? step.idSeen;
      const cells = Object.fromEntries(Object.entries(step.cells).filter(([name]) => name in replaced));
      return sentSet({ ...own, idSeen: idFound, cells }, { idFound, replaced });
    }),
  ];
  return { ...unansweredWrite(plan), outcome: 'answered', sets, deletes: astray.filter(isOfRecord) };
}

/** A question whose row was taken is asked again. */
const isOfRecord = ({ entity }: DeleteStep): boolean => entity !== 'question';

type Circumstances = {
  [Name in 'idFound' | 'replaced' | 'isRepair' | 'journal']?: SentSet[Name] | undefined;
};

/** A Sync cell alone is left out: wherever it went, it is written again. */
function sentSet(
  { entity, position, idSeen, id, cells }: SetStep,
  { idFound, replaced, isRepair, journal }: Circumstances,
): SentSet[] {
  if (id === undefined && Object.keys(cells).length === 0) return [];
  return [
    {
      entity,
      position,
      idSeen,
      cells,
      ...(id ? { id } : {}),
      ...(idFound ? { idFound } : {}),
      ...(replaced ? { replaced } : {}),
      ...(isRepair ? { isRepair } : {}),
      ...(journal ? { journal } : {}),
    },
  ];
}
