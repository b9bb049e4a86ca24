import type { CrmUsage } from '../../sandbox/crm/access.ts';
import type { Check } from './check.ts';
import { demand, waitUntil } from './expect.ts';
import { waitUntilSidesAgree } from './expected-rows.ts';

export const firstFill: Check = {
  name: 'an empty sheet is filled: three tabs, every record, every cell right',
  run: waitUntilSidesAgree,
};

export const sameAgain: Check = {
  name: 'after all of it both sides are the same, cell by cell',
  async run(sides) {
    await waitUntilSidesAgree(sides);
    await waitUntil(async () => {
      const { tabs, problems } = await sides.daemon.status();
      const pending = tabs.reduce((sum, tab) => sum + tab.pending, 0);
      if (problems[0]) return `The daemon has a problem: ${problems[0].message}`;
      return pending === 0 ? undefined : `${pending} changes are still pending`;
    });
  },
};

export const quietResync: Check = {
  name: 'a second resync reads everything again and writes nothing',
  async run({ daemon }) {
    const first = await daemon.resync();
    demand('the first resync', first.problem ?? first.state, 'done');
    const { state, tableSteps, crmWrites, problem } = await daemon.resync();
    demand('the second resync', problem ?? state, 'done');
    demand('what it wrote', { tableSteps, crmWrites }, { tableSteps: 0, crmWrites: 0 });
  },
};

export const requestLimit: Check = {
  name: 'the CRM never counted more than 100 requests in any minute, and refused none',
  async run({ crmOrigin }) {
    const response = await fetch(`${crmOrigin}/__sandbox/usage`);
    const { requestsPerWindow, keys } = (await response.json()) as CrmUsage;
    const [usage] = Object.values(keys);
    demand('the limit', requestsPerWindow, 100);
    demand('refused requests', usage?.refused, 0);
    if (usage === undefined || usage.largestWindow > requestsPerWindow)
      throw new Error(`The largest window had ${usage?.largestWindow} requests.`);
  },
};
