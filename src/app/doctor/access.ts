import { lookup } from 'node:dns/promises';
import { performance } from 'node:perf_hooks';
import { isSyncError, SyncError } from '../../core/errors.ts';
import { basePath, scopes } from '../../crm/contract.ts';
import type { CrmProbe, ProbeCall } from '../../crm/probe.ts';
import { firstRecordCall, readListDialect } from '../../crm/probe-dialect.ts';
import { failureOfList } from '../../crm/verdict.ts';
import { askAccount, findAccountDoubt } from '../../sync/reading/account.ts';
import { enabledEntities } from '../settings.ts';
import { bad, doubtful, type Examination, type Finding, good, skipped } from './check.ts';

/** Any endpoint will do to see how the CRM answers; this one is asked anyway. */
const anyCall = firstRecordCall('lead');

const address: Examination = {
  name: 'CRM address',
  examine({ settings }) {
    const { origin, pathname } = new URL(settings.crm.baseUrl);
    const found = `${origin}${pathname}`;
    if (pathname.replace(/\/+$/, '').endsWith(basePath)) return good(found);
    return doubtful(found, `It usually ends in ${basePath}: check CRM_BASE_URL if the CRM does not answer.`);
  },
};

export const connection: Examination = {
  name: 'CRM connection',
  async examine({ settings, crm }) {
    const { hostname, host } = new URL(settings.crm.baseUrl);
    const advice = 'Check CRM_BASE_URL, and whether this machine may reach it.';
    const unreachable = (found: string): Finding => ({ ...bad(found, advice), fault: 'unreachable' });
    // An IPv6 address stands in brackets.
    const resolved = await lookup(hostname.replace(/^\[|\]$/g, '')).catch((error: Error) => error);
    if (resolved instanceof Error)
      return unreachable(`The name ${hostname} can not be resolved: ${resolved.message}.`);
    const startedAt = performance.now();
    const ended = await crm.ask(anyCall);
    const tookMs = Math.round(performance.now() - startedAt);
    const place = host.startsWith(resolved.address) ? host : `${host} (${resolved.address})`;
    if (ended.kind === 'reply') return good(`${place} answered ${ended.status} in ${tookMs} ms`);
    return unreachable(`${place} did not answer: ${ended.reason}.`);
  },
};

const envelope: Examination = {
  name: 'CRM envelope',
  needs: [connection.name],
  async examine({ crm }) {
    try {
      await crm.read(anyCall);
    } catch (error) {
      const isOwnWord = isSyncError(error, 'CRM_UNAUTHORIZED', 'CRM_FORBIDDEN', 'CRM_REFUSED');
      if (!isOwnWord) throw failureOfList(error);
    }
    return good("answers have the specification's envelope");
  },
};

export const key: Examination = {
  name: 'CRM key',
  needs: [envelope.name],
  async examine({ crm }) {
    await isAllowed(crm, anyCall);
    return good('the CRM accepts it');
  },
};

/** Whether a key may make the call. That the CRM does not like its parameters comes after the scope. */
async function isAllowed(crm: CrmProbe, call: ProbeCall): Promise<boolean> {
  try {
    await crm.read(call);
  } catch (error) {
    if (isSyncError(error, 'CRM_FORBIDDEN')) return false;
    if (!isSyncError(error, 'CRM_REFUSED')) throw call.path ? error : failureOfList(error);
  }
  return true;
}

const notGranted = bad('not granted', 'Create a key that has it. Until then what needs it is left alone.');

const scopeOf = (name: string, call: ProbeCall): Examination => ({
  name: `scope ${name}`,
  needs: [key.name],
  examine: async ({ crm }) => ((await isAllowed(crm, call)) ? good('granted') : notGranted),
});

const contactScope: Examination = {
  name: 'scope read:contacts',
  needs: ['scope read:leads'],
  async examine({ settings, crm }) {
    const { sampleId } = await readListDialect(crm, 'lead');
    if (sampleId === undefined) return skipped('There is no lead whose contacts could be asked for.');
    if (await isAllowed(crm, { endpoint: 'listContacts', path: { leadId: sampleId } }))
      return good('granted');
    return enabledEntities(settings).includes('contact')
      ? notGranted
      : good('not granted, and nothing needs it');
  },
};

const writeScopes: Examination = {
  name: 'scopes for writing',
  examine() {
    const untried = scopes.filter((scope) => !scope.startsWith('read:')).join(', ');
    return skipped(`Not tried, because trying them would write: ${untried}.`);
  },
};

/** With several keys, any may do the work of another, and nobody would see that one is refused. */
export const singleKeys: Examination = {
  name: 'each CRM key',
  needs: [key.name],
  async examine({ settings, probeKey }) {
    const { apiKey, apiKeys } = settings.crm;
    const keys = [apiKey, ...apiKeys];
    if (keys.length === 1) return skipped('There is only one.');
    const refused: number[] = [];
    for (const [index, single] of keys.entries()) {
      await isAllowed(probeKey(single), anyCall).catch((error: unknown) => {
        if (!isSyncError(error, 'CRM_UNAUTHORIZED')) throw error;
        refused.push(index + 1);
      });
    }
    if (refused.length === 0) return good(`the CRM accepts all ${keys.length}, asked once each`);
    const found = `The CRM refuses key ${refused.join(' and ')} of ${keys.length}, CRM_API_KEY being the first.`;
    return bad(found, 'Check CRM_API_KEY and CRM_API_KEYS. Until then the other keys do the work.');
  },
};

/** A key tells no account; that its records are others than those of the mirror does. */
export const account: Examination = {
  name: 'account of the CRM',
  needs: [key.name],
  async examine({ openKeys, state }) {
    if (state.kind === 'closed') return skipped('The daemon has found it out itself: status says more.');
    const keys = openKeys();
    const link = { mirror: state.mirror, keys: () => keys };
    const doubt = findAccountDoubt(link);
    if (!doubt) return good('the one whose records are known, or none is known yet');
    const found = doubt.isOther ? 'other' : await askAccount(link);
    if (found instanceof SyncError) throw found;
    if (found === 'known') return good('the one whose records are known: a key that is new opens it too');
    return bad(
      'A key opens another account than the one whose records are known: none that was asked for is there.',
      'Put the old key back, or let the daemon ask what to do: until then it writes nothing.',
    );
  },
};

/** Whether the CRM can be reached, and what its keys allow. */
export const accessExaminations: readonly Examination[] = [
  address,
  connection,
  envelope,
  key,
  scopeOf('read:leads', anyCall),
  scopeOf('read:opportunities', firstRecordCall('opportunity')),
  scopeOf('read:tasks', firstRecordCall('task')),
  scopeOf('read:pipelines', { endpoint: 'listPipelines' }),
  scopeOf('read:lead_statuses', { endpoint: 'listLeadStatuses' }),
  scopeOf('read:custom_fields', { endpoint: 'listCustomFields' }),
  contactScope,
  writeScopes,
];
