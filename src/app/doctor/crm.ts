import { type ListedEntity, listedEntities } from '../../core/record.ts';
import { readCatalog } from '../../crm/catalog.ts';
import { pageLimit } from '../../crm/listing.ts';
import { type CrmProbe, probeRequestsMax, readClockLead, readLimitHeaders } from '../../crm/probe.ts';
import { type ListDialect, readListDialect, readSinglePlace } from '../../crm/probe-dialect.ts';
import { createLog } from '../logger.ts';
import { tabNames } from '../settings.ts';
import { accessExaminations, account, connection, key, singleKeys } from './access.ts';
import { bad, doubtful, type Examination, type Finding, good, skipped } from './check.ts';

/** The catalog as the CRM has it now. */
export const readCatalogNow = (crm: CrmProbe) => readCatalog(crm.read, 'edit', createLog('silent'));

export const catalogExamination: Examination = {
  name: 'CRM catalog',
  needs: ['scope read:pipelines', 'scope read:lead_statuses', 'scope read:custom_fields'],
  async examine({ crm }) {
    const { pipelines, leadStatuses, customFields } = await readCatalogNow(crm);
    const stages = pipelines.reduce((sum, pipeline) => sum + pipeline.stages.length, 0);
    return good(
      `${pipelines.length} pipelines with ${stages} stages, ${leadStatuses.length} lead statuses, ` +
        `${customFields.length} custom fields`,
    );
  },
};

/** How the CRM speaks about the records of an entity: its specification does not show it. */
function examineList(entity: ListedEntity): Examination[] {
  const plural = tabNames[entity];
  const list = `list of ${plural}`;
  return [
    {
      name: list,
      needs: [`scope read:${plural}`],
      examine: async ({ crm }) => judgeDialect(await readListDialect(crm, entity)),
    },
    {
      name: `single ${entity}`,
      needs: [list],
      async examine({ crm }) {
        const { sampleId } = await readListDialect(crm, entity);
        if (sampleId === undefined) return skipped('There is none to ask for.');
        const place = await readSinglePlace(crm, entity, sampleId);
        return good(place === 'data' ? 'stands in data itself' : `is wrapped: ${place}`);
      },
    },
  ];
}

function judgeDialect(dialect: ListDialect): Finding {
  const found = describeDialect(dialect);
  const mayHaveMore = dialect.hasMore ?? dialect.count === pageLimit;
  if (dialect.knowsPage === false && mayHaveMore) {
    return bad(found, 'It can not be read to its end: the CRM must follow the parameter page.');
  }
  if (dialect.order && dialect.order !== 'newest first') {
    return doubtful(
      found,
      'A create of unknown outcome is looked for among the newest and may not be found.',
    );
  }
  return good(found);
}

function describeDialect(dialect: ListDialect): string {
  const { place, facts, parameters, count, knowsLimit, knowsPage, hasMore, order, hasUpdatedAt } = dialect;
  const told = Object.entries(facts).flatMap(([name, fact]) =>
    fact === undefined ? [] : (factNames[name] ?? name),
  );
  const parts = [
    `elements in ${place}, beside them ${told.join(', ') || 'no totals'}`,
    parameters.includes('order') ? '' : `of page, limit and order it takes ${parameters.join(' and ')} alone`,
    count === 0 ? 'no records to see more by' : '',
    describeParameter('page', knowsPage),
    describeParameter('limit', knowsLimit),
    count === 0 ? '' : `${count} came where ${pageLimit} were asked for${describeRest(hasMore)}`,
    order ?? '',
    hasUpdatedAt === undefined ? '' : `${hasUpdatedAt ? 'with' : 'without'} updated_at`,
  ];
  return parts.filter((part) => part !== '').join('; ');
}

const factNames: Readonly<Record<string, string>> = {
  hasMore: 'whether more follows',
  total: 'the total',
  pages: 'the number of pages',
  pageSize: 'the page size',
};

const describeParameter = (name: string, isKnown: boolean | undefined): string =>
  isKnown === undefined ? '' : `${name} is ${isKnown ? 'followed' : 'ignored'}`;

const describeRest = (hasMore: boolean | undefined): string =>
  hasMore === undefined ? '' : hasMore ? ', and there are more' : ', which is all';

const rateLimit: Examination = {
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

const clock: Examination = {
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

const requests: Examination = {
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
export const crmExaminations: readonly Examination[] = [
  ...accessExaminations,
  catalogExamination,
  ...listedEntities.flatMap(examineList),
  rateLimit,
  clock,
  requests,
  singleKeys,
  account,
];
