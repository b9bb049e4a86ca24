import type { BudgetLog } from '../../core/ports.ts';
import type { RequestBudget } from '../../crm/budget.ts';
import { createCrmClient } from '../../crm/client.ts';
import { type CrmProbe, createCrmProbe, probeRequestsMax } from '../../crm/probe.ts';
import { createSheetProbe } from '../../google/probe.ts';
import { openMirror } from '../../sqlite/open.ts';
import type { LinkKey } from '../../sync/link.ts';
import { warehouseFacts } from '../../warehouse/facts.ts';
import { systemClock } from '../clock.ts';
import { createKeyBudget, keysOf, openSlots } from '../link.ts';
import { createLog } from '../logger.ts';
import { accountOf } from '../owner.ts';
import { carry } from '../proxies.ts';
import type { Settings } from '../settings.ts';
import { sheetOptions } from '../sheet-side.ts';
import { shortHash } from '../short-hash.ts';
import { openDatabase } from '../warehouse-side.ts';

/** What the examinations look at. */
export type DoctorContext = ReturnType<typeof openContext>['context'];

/** What is done beside looking. */
export interface DoctorWishes {
  /** To try on a scratch tab what no document says of Google. */
  readonly probes?: boolean;
}

/** Opens what is to be looked at. Requests count in the daemon's own budget, unless its mirror can not be opened. */
export function openContext(settings: Settings, wishes: DoctorWishes = {}) {
  const opened = new AsyncDisposableStack();
  const log = createLog('silent');
  const state = openState(settings);
  if (state.kind === 'open') opened.defer(state.close);
  const budgetOf = (crm: Settings['crm']): RequestBudget =>
    opened.adopt(openBudget({ ...settings, crm }, state), (budget) => budget.close());
  const probe = (crm: Settings['crm']): CrmProbe =>
    createCrmProbe({ ...crm, budget: budgetOf(crm), clock: systemClock, carry });
  const openKey = (apiKey: string): LinkKey => {
    const crm = { ...settings.crm, apiKey, apiKeys: [] };
    const surroundings = { clock: systemClock, random: Math.random, log, carry };
    return {
      name: shortHash(apiKey),
      crm: createCrmClient({ ...crm, budget: budgetOf(crm), ...surroundings }),
    };
  };
  const word = state.kind === 'open' ? state.mirror.readFact(warehouseFacts.word) : undefined;
  const context = {
    settings,
    state,
    /** With all keys, as the daemon uses them. */
    crm: probe(settings.crm),
    /** Looks at the CRM with one key alone. To be used last: `crm` does not count what it spends. */
    probeKey: (apiKey: string) => probe({ ...settings.crm, apiKey, apiKeys: [] }),
    /** The daemon's own reader with each key alone. To be used last as well. */
    openKeys: () => keysOf(settings).map(openKey),
    sheet:
      settings.sheet &&
      createSheetProbe({ ...sheetOptions(settings.sheet, log), account: accountOf(settings) }),
    isProbing: wishes.probes === true,
    database: openDatabase(settings, { word: word ?? '', token: 0, log }),
  };
  opened.defer(() => context.database?.close());
  return { context, close: () => opened.disposeAsync() };
}

/** The state directory: its mirror, or why there is none to be had. */
type StateDirectory = ReturnType<typeof openState>;

function openState(settings: Settings) {
  try {
    const own = openMirror({ directory: settings.state.directory });
    const slots = openSlots(settings, own);
    const close = () => {
      slots.close();
      own.mirror.close();
    };
    const { mirror, openToOthers } = own;
    return { kind: 'open' as const, mirror, openToOthers, budgetLog: slots.log, close };
  } catch (problem) {
    return { kind: 'closed' as const, problem };
  }
}

/** A budget that knows what the log holds, or a small one where there is no log. */
function openBudget(settings: Settings, state: StateDirectory): RequestBudget {
  if (state.kind === 'open') return createKeyBudget(settings, state.budgetLog);
  const { crm } = settings;
  const requests = Math.min(probeRequestsMax, crm.budget.requests);
  const budget = { ...crm.budget, requests };
  return createKeyBudget({ ...settings, crm: { ...crm, budget } }, createForgetfulLog());
}

/** A log for a budget that ends with this process. */
function createForgetfulLog(): BudgetLog {
  let lastId = 0;
  return {
    readSlots: () => [],
    addSlot: () => {
      lastId += 1;
      return lastId;
    },
    moveSlot: () => undefined,
    forgetSlots: () => undefined,
  };
}
