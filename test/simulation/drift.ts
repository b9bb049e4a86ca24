import { workInCrm } from './crm-people.ts';
import type { Operation, OperationKind } from './operation.ts';
import { type People, pick } from './people.ts';

const stepsMax = 12;

const deeds: readonly OperationKind[] = ['create in the CRM', 'delete in the CRM', 'edit in the CRM'];

/** Between two pages of a list that is being read a record comes or goes, so that others move from page to page. */
export async function shiftPages(people: People, operation: Operation): Promise<string> {
  const { stage } = people;
  const isBetweenPages = () => stage.wire.labels.some((label) => label.includes(' page '));
  for (let step = 0; step < stepsMax && !isBetweenPages(); step += 1) await stage.proceed();
  if (!isBetweenPages()) return 'nothing';
  const kind = pick(deeds, operation.how) ?? 'create in the CRM';
  workInCrm(people, { ...operation, kind });
  return kind;
}
