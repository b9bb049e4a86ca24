import { listTokens } from '../../core/network/access.ts';
import { listedEntities } from '../../core/record.ts';
import { createHider } from '../../core/text/hide-secret.ts';
import { type Environment, hideKeys, loadSettings } from '../config.ts';
import { nameSources, type Sources } from '../settings/sources.ts';
import { hideLogins } from '../settings/urls.ts';
import { type Settings, sheetEntities } from '../settings.ts';
import { type Check, type Examination, type Finding, findingOf, good, skipped } from './check.ts';
import { type DoctorContext, type DoctorWishes, openContext } from './context.ts';
import { crmExaminations } from './crm.ts';
import { examineNode, machineExaminations } from './machine.ts';
import { queueExaminations } from './queue.ts';
import { sheetExaminations } from './sheet.ts';
import { warehouseExaminations } from './warehouse.ts';

export interface Diagnosis {
  readonly checks: readonly Check[];
  /** `unreachable`: all that failed is that something does not answer; `failed`: somebody has to mend something. */
  readonly outcome: 'well' | 'settings' | 'failed' | 'unreachable';
}

/** What can be looked at by itself. */
const parts = ['machine', 'crm', 'sheet', 'warehouse', 'queue'] as const;
export type Part = (typeof parts)[number];

/** What is examined of a link: of its sides, those that the settings name. */
function listExaminations(wanted: readonly Part[], settings?: Settings): Examination[] {
  const { sheet, warehouse } = settings ?? {};
  const tabs = settings ? sheet && sheetEntities(sheet) : listedEntities;
  const examinations: Readonly<Record<Part, readonly Examination[]>> = {
    machine: machineExaminations,
    crm: crmExaminations,
    sheet: tabs ? sheetExaminations(tabs) : [],
    warehouse: warehouse ? warehouseExaminations : [],
    queue: queueExaminations,
  };
  return wanted.flatMap((part) => examinations[part]);
}

/** Findings by the name of their examination, in the order in which they were made. */
type Findings = Map<string, Finding>;

/**
 * Looks at everything the daemon needs, or at some parts of it, one thing after the other, whatever fails. Nothing is changed in the CRM
 * or at a side, but for the scratch tab of probes that are wished for; a state directory that is missing is made. No finding carries a secret.
 */
export async function diagnose(
  environment: Environment,
  wanted: readonly Part[] = parts,
  wishes: DoctorWishes = {},
): Promise<Diagnosis> {
  const findings: Findings = new Map([['Node', examineNode()]]);
  let settings: Settings;
  try {
    settings = loadSettings(environment);
  } catch (error) {
    findings.set('settings', findingOf(error));
    for (const { name } of listExaminations(wanted)) findings.set(name, lacking('settings'));
    return conclude(findings, []);
  }
  findings.set('settings', good("valid, and the key has the CRM's form"));
  const { context, close } = openContext(settings, wishes);
  try {
    for (const examination of listExaminations(wanted, settings))
      findings.set(examination.name, await examine(examination, context, findings));
  } finally {
    await close();
  }
  return conclude(findings, secretsOf(settings), settings.sources);
}

async function examine(
  { needs = [], examine }: Examination,
  context: DoctorContext,
  findings: Findings,
): Promise<Finding> {
  const isGood = (name: string) => ['ok', 'warning'].includes(findings.get(name)?.state ?? '');
  const unmet = needs.find((need) => !isGood(need));
  if (unmet !== undefined) return lacking(unmet, findings.get(unmet));
  try {
    return await examine(context, isGood);
  } catch (error) {
    return findingOf(error);
  }
}

/** What was skipped itself passes its reason on. */
const lacking = (need: string, unmet?: Finding): Finding =>
  unmet?.state === 'skipped' ? unmet : skipped(`It needs “${need}”.`);

function conclude(findings: Findings, secrets: readonly string[], sources: Sources = {}): Diagnosis {
  const hide = (text: string) => nameSources(hideSecrets(text, secrets), sources);
  const checks = [...findings].map(([name, { state, found, advice }]) => ({
    name,
    state,
    found: hide(found),
    ...(advice === undefined ? {} : { advice: hide(advice) }),
  }));
  return { checks, outcome: outcomeOf([...findings.values()]) };
}

function outcomeOf(findings: readonly Finding[]): Diagnosis['outcome'] {
  const failed = findings.filter(({ state }) => state === 'failed');
  if (failed.some(({ fault }) => fault === 'settings')) return 'settings';
  if (failed.some(({ fault }) => fault === undefined)) return 'failed';
  return failed.length > 0 ? 'unreachable' : 'well';
}

const secretsOf = ({ queue, http, warehouse }: Settings): string[] =>
  [queue.redisUrl, warehouse?.url, ...listTokens(http).map(({ token }) => token)].filter(
    (secret) => secret !== undefined,
  );

/** What another side says may quote a secret, and a key may stand in the setting of something else, which is shown. */
const hideSecrets = (text: string, secrets: readonly string[]): string =>
  hideLogins(hideKeys(secrets.reduce((shown, secret) => createHider(secret, '(a secret)')(shown), text)));
