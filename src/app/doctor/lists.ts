import type { ListedEntity } from '../../core/record.ts';
import { pageLimit } from '../../crm/page-end.ts';
import { type ListDialect, readListDialect, readSinglePlace } from '../../crm/probe-dialect.ts';
import { tabNames } from '../settings.ts';
import { bad, doubtful, type Examination, type Finding, good, skipped } from './check.ts';
import type { DoctorContext } from './context.ts';

/** How the CRM speaks about the records of an entity: its specification does not show it. */
export function listExaminations(entity: ListedEntity): Examination<DoctorContext>[] {
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
  const told = Object.keys(facts).map((name) => factNames[name] ?? name);
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
