import { listedEntities } from '../../core/record.ts';
import { readCatalog } from '../../crm/catalog.ts';
import { probeRequestsMax } from '../../crm/probe.ts';
import { readClockLead, readLimitHeaders } from '../../crm/probe-headers.ts';
import { createLog } from '../logger.ts';
import { accessExaminations, account, connection, key, singleKeys } from './access.ts';
import { bad, doubtful, type Examination, good, skipped } from './check.ts';
import type { DoctorContext } from './context.ts';
import { listExaminations } from './lists.ts';

type CrmExamination = Examination<DoctorContext>;

export const catalogExamination: CrmExamination = {
  name: 'CRM catalog',
  needs: ['scope read:pipelines', 'scope read:lead_statuses', 'scope read:custom_fields'],
  async examine({ crm }) {
    const { pipelines, leadStatuses, customFields } = await readCatalog(
      crm.read,
      'edit',
      createLog('silent'),
    );
    const stages = pipelines.reduce((sum, pipeline) => sum + pipeline.stages.length, 0);
    return good(
      `${pipelines.length} pipelines with ${stages} stages, ${leadStatuses.length} lead statuses, ` +
        `${customFields.length} custom fields`,
    );
  },
};

const rateLimit: CrmExamination = {
  name: 'CRM rate limit',
  // Without a good key the limit that is told is that of the address.
  needs: [key.name],
  examine({ settings, crm }) {
    const { requests, windowMs } = settings.crm.budget;
    const budget = `the budget is ${requests} requests in ${windowMs / 1000} s`;
    const last = crm.answers().at(-1);
    const { limit, remaining, resetForm } = last ? readLimitHeaders(last) : {};
    if (limit === undefined)
      return doubtful(
        `answers have no X-RateLimit-Limit; ${budget}`,
        'Compare crm.budget with what the CRM allows.',
      );
    const found = `X-RateLimit-Limit ${limit}, -Remaining ${remaining ?? 'absent'}, -Reset ${resetForm ?? 'absent'}; ${budget}`;
    return requests <= limit ? good(found) : bad(found, `Set crm.budget.requests to ${limit} or less.`);
  },
};

/** Far less than what a login at Google tolerates. */
const clockLeadMaxMs = 30_000;

const clock: CrmExamination = {
  name: 'clock',
  needs: [connection.name],
  examine({ crm }) {
    const leads = crm.answers().flatMap((answer) => readClockLead(answer) ?? []);
    const [lead] = leads.toSorted((left, right) => Math.abs(right) - Math.abs(left));
    if (lead === undefined) return skipped('Answers of the CRM have no Date.');
    if (lead === 0) return good("agrees with the CRM's");
    const found = `${Math.abs(lead) / 1000} s ${lead > 0 ? 'ahead of' : 'behind'} the CRM's`;
    return Math.abs(lead) <= clockLeadMaxMs
      ? good(found)
      : doubtful(found, 'Let the system set its clock by NTP.');
  },
};

const requests: CrmExamination = {
  name: 'requests to the CRM',
  needs: [connection.name],
  examine({ crm, state }) {
    const spent = `${crm.spent()} of at most ${probeRequestsMax}`;
    return good(
      state.kind === 'open'
        ? `${spent}, counted in the daemon's budget`
        : `${spent}, in a budget of its own, because the mirror with the daemon's budget can not be opened`,
    );
  },
};

/** Everything about the CRM. */
export const crmExaminations: readonly CrmExamination[] = [
  ...accessExaminations,
  catalogExamination,
  ...listedEntities.flatMap(listExaminations),
  rateLimit,
  clock,
  requests,
  singleKeys,
  account,
];
