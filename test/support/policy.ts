import type { BrakeLimits } from '../../src/core/waiting/brakes.ts';
import type { Policy, TabPolicy } from '../../src/sheet/policy.ts';

/** The limits that hold where the settings name none. */
export const defaultBrakes: BrakeLimits = {
  deletesMin: 5,
  deletesShare: 0.1,
  changesMin: 50,
  changesShare: 0.2,
  columnMin: 20,
  columnShare: 0.3,
};

/** The same rules for every tab, and a person who is asked about rows that vanished. */
export function policyWith(rules: Partial<Omit<TabPolicy, 'title'>> = {}): Policy {
  const tab = (title: string): TabPolicy => ({ title, conflict: 'crm', columns: {}, ...rules });
  return {
    tabs: {
      lead: tab('Leads'),
      opportunity: tab('Opportunities'),
      task: tab('Tasks'),
      contact: tab('Contacts'),
    },
    vanishedRows: 'ask',
    brakes: defaultBrakes,
    appendsMax: 100,
    updatesMax: 100,
  };
}
