import { expect, onTestFinished, test } from 'vitest';
import { accessExaminations } from '../../src/app/doctor/access.ts';
import type { DoctorContext } from '../../src/app/doctor/context.ts';
import { listedEntities } from '../../src/core/record.ts';
import { createRequestBudget } from '../../src/crm/budget.ts';
import { readCatalog } from '../../src/crm/catalog.ts';
import { type CrmProbe, createCrmProbe } from '../../src/crm/probe.ts';
import { readListDialect, readSinglePlace } from '../../src/crm/probe-dialect.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createMemoryBudgetLog } from '../support/memory-budget-log.ts';
import { createRecordingLog } from '../support/recording-log.ts';
import {
  answerFailure,
  answerSuccess,
  type Script,
  startScriptedServer,
} from '../support/scripted-server.ts';

/** Each list is long, tells no total, and takes only the parameters that are named here. */
const answerWith =
  (takes: readonly string[]): Script =>
  (response, { url }) => {
    const { pathname, searchParams } = new URL(url, 'http://crm.example');
    const [, list, id] = pathname.split('/');
    if (list === 'pipelines' || list === 'lead-statuses' || list === 'custom-fields')
      return answerSuccess(response, []);
    if (id) return answerSuccess(response, pathname.endsWith('/contacts') ? [] : { id: Number(id) });
    const unknown = [...searchParams.keys()].find((name) => !takes.includes(name));
    if (unknown) return answerFailure(response, 400, `${unknown}: Unrecognized key`);
    const [page, limit] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('limit') ?? 25)];
    const ids = Array.from({ length: 250 }, (_, index) => 250 - index);
    answerSuccess(
      response,
      ids.slice((page - 1) * limit, page * limit).map((each) => ({ id: each })),
    );
  };

async function openProbe(script: Script): Promise<CrmProbe> {
  const server = await startScriptedServer(script);
  onTestFinished(() => server.close());
  const clock = createManualClock();
  const budget = createRequestBudget({
    keys: [{ name: 'key', secret: 'secret' }],
    requests: 100,
    ipRequests: 200,
    windowMs: 60_000,
    holdMs: 60_000,
    clock,
    log: createMemoryBudgetLog(),
  });
  return createCrmProbe({ baseUrl: server.baseUrl, timeoutMs: 30_000, budget, clock });
}

// Only the list of opportunities is documented to take any.
test.each([[['page', 'limit', 'order']], [['page', 'limit']], [['page', 'order']], [['page']], [[]]])(
  'a probe sees all of a CRM whose long lists tell no total and take the parameters %j alone',
  async (takes) => {
    const crm = await openProbe(answerWith(takes));
    await readCatalog(crm.read, 'edit', createRecordingLog());
    for (const entity of listedEntities) {
      const { sampleId = '' } = await readListDialect(crm, entity);
      expect(await readSinglePlace(crm, entity, sampleId)).toBe('data');
    }
    const contacts = crm.read({ endpoint: 'listContacts', path: { leadId: '250' } });
    await expect(contacts).resolves.toMatchObject({ envelope: { data: [] } });
  },
);

test('doctor says of a list that the CRM does not have that the address is that of something else, and of no record', async () => {
  const crm = await openProbe((response) => answerFailure(response, 404, 'Resource not found'));
  for (const name of ['CRM envelope', 'scope read:opportunities', 'scope read:pipelines']) {
    const examination = accessExaminations.find((each) => each.name === name);
    const found = examination?.examine({ crm } as DoctorContext, () => true);
    await expect(found).rejects.toMatchObject({ code: 'CRM_UNREADABLE' });
  }
});
