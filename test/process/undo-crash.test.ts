import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { viewDaemon } from '../../src/cli/check/daemon-view.ts';
import { lateLandingMs } from '../../src/core/open-write.ts';
import type { PersonActionInput } from '../../src/sandbox/sheets/people/person-shapes.ts';
import { pendingReason } from '../../src/sheet/decide/damage/damaged.ts';
import { openCrmLine } from '../support/crm-line.ts';
import { spawnDaemon } from '../support/daemon-process.ts';
import { openDisturbance } from '../support/disturbance.ts';
import { typeInLeads } from '../support/person-acts.ts';
import { openStage, type ProcessStage } from '../support/process-stage.ts';
import { describeDifference, readCrm, readSides, readTab, type Snapshot } from '../support/two-sides.ts';
import { until } from '../support/until.ts';

/** S8: a kill in any state of a write ends like a run without it. Every test kills a real daemon and starts another one on what it left. */
const limit = { timeout: 120_000 };

/** The request at which the daemon is killed: the write, the first look after it, or its inverse. */
type Stop = 'write' | 'look' | 'inverse';

interface Moment {
  readonly stop: Stop;
  /** Whether that request takes effect. */
  readonly lands: boolean;
  /** Whether a user sorts the rows right before the write. */
  readonly moves: boolean;
}

const moments: Readonly<Record<string, Moment>> = {
  'before the request takes effect': { stop: 'write', lands: false, moves: false },
  'after the request has reached its row and before the reply': { stop: 'write', lands: true, moves: false },
  'after the request has met moved rows and before the reply': { stop: 'write', lands: true, moves: true },
  'after the reply has shown moved rows and before the inverse': { stop: 'look', lands: true, moves: true },
  'before the inverse takes effect': { stop: 'inverse', lands: false, moves: true },
  'after the inverse has landed and before its reply': { stop: 'inverse', lands: true, moves: true },
};

type Leads = Snapshot['leads'];

/** What makes the daemon write to the sheet. */
interface Cause {
  /** Only the body of this write has it. */
  readonly sign: RegExp;
  act(stage: ProcessStage, id: number): Promise<void>;
  /** What the CRM has at the end of the leads that there were before. */
  after(before: Leads, id: number): Leads;
  /** Titles of the leads that are new at the end. */
  readonly created: readonly string[];
  /** Why rows are held while the inverse may still land: what is deleted has no row. */
  readonly held: readonly string[];
}

const count = 6;
const [renamed, typed] = ['Renamed in the CRM', 'Typed as a new row'];

const causes: Readonly<Record<string, Cause>> = {
  'an update of a row': {
    sign: new RegExp(renamed),
    act: (stage, id) => stage.editCrm(`/leads/${id}`, { title: renamed }),
    after: (before, id) => before.map((lead) => (lead.id === id ? { ...lead, title: renamed } : lead)),
    created: [],
    held: [pendingReason],
  },
  'the claim of a new row': {
    sign: /"new-/,
    act: (stage) => stage.editSheet(typeInLeads(count + 1, 'Title', typed), ...ownCells(count + 1)),
    after: (before) => before,
    created: [typed],
    held: [pendingReason],
  },
  'a delete of a row': {
    sign: /"deleteDimension"/,
    act: (stage, id) => stage.deleteFromCrm(`/leads/${id}`),
    after: (before, id) => before.filter((lead) => lead.id !== id),
    created: [],
    held: [],
  },
};

/** The same in every row, where it shows the ID beside it. */
const formula = '=INDEX($A:$A,ROW())&"!"';

/** A note and a formula that are a user's own. */
const ownCells = (row: number) => [typeInLeads(row, 'Note', `Note ${row}`), typeInLeads(row, 'Own', formula)];

/** No row stays where it is, but for one in the middle. */
const sort: PersonActionInput = { kind: 'sort', sheet: 'Leads', column: 'Note', descending: true };

/** The user's own cells by the IDs beside them. */
async function readOwn({ addresses }: ProcessStage) {
  const rows = await readTab(addresses, 'Leads');
  return new Map(rows.map(({ ID, Note, Own }) => [Number(ID), { Note, Own }]));
}

/** How often a formula is in the tab. */
async function countFormulas({ addresses: { sheetsUrl, spreadsheetId } }: ProcessStage): Promise<number> {
  const tab = `${sheetsUrl}/v4/spreadsheets/${spreadsheetId}/values/Leads?valueRenderOption=FORMULA`;
  return (await (await fetch(tab)).text()).split(JSON.stringify(formula).slice(1, -1)).length - 1;
}

/** Resolves when both sides are the same, the user's own columns apart. */
async function agreed({ addresses }: ProcessStage): Promise<void> {
  const look = async () => {
    const { expected, shown } = await readSides(addresses);
    const leads = shown['Leads']?.map(({ Note: _note, Own: _own, ...managed }) => managed) ?? [];
    return { expected, shown: { ...shown, Leads: leads } };
  };
  const areSame = async () => {
    const { expected, shown } = await look();
    return isDeepStrictEqual(shown, expected);
  };
  await until('both sides are the same', areSame, { describe: async () => describeDifference(await look()) });
}

/** Starts a daemon that gets no further than the moment, because a request has no reply. `reached` resolves when the moment has come. */
async function startStopped(stage: ProcessStage, { lands, moves, stop }: Moment, sign: RegExp) {
  const line = await openCrmLine({ target: `${stage.addresses.sheetsUrl}/`, now: Date.now });
  const daemon = spawnDaemon({ ...stage.environment, GOOGLE_API_ROOT_URL: line.baseUrl });
  onTestFinished(async () => {
    await daemon.kill();
    await line[Symbol.asyncDispose]();
  });
  const reached = Promise.withResolvers<void>();
  let isWritten = false;
  line.intercept(/./, async ({ body, url }, passOn) => {
    const isBatch = url.includes(':batchUpdate');
    const isWrite = !isWritten && isBatch && sign.test(body);
    if (!isWritten && !isWrite) return passOn();
    const here: Stop = isWrite ? 'write' : isBatch ? 'inverse' : 'look';
    if (isWrite && moves) await stage.editSheet(sort);
    const answer = here === stop && !lands ? undefined : await passOn();
    isWritten = true;
    if (here !== stop) return answer;
    reached.resolve();
    return new Promise(() => undefined);
  });
  await daemon.answers('/healthz');
  return { daemon, reached: reached.promise };
}

const crmWrites = (stage: ProcessStage) =>
  stage.crmRequests().flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]));

const runs = Object.entries(causes).flatMap(([write, cause], index) =>
  Object.entries(moments)
    .filter(([, { lands, moves }]) => index === 0 || (moves && !lands))
    .map(([when, moment]) => [write, when, cause, moment] as const),
);

test.each(runs)(
  'S2 S8 S13: %s ends right and without a question where the daemon is killed %s',
  limit,
  async (_write, _when, cause, moment) => {
    const { disturb, environment } = await openDisturbance();
    const stage = await openStage({ counts: { leads: count, opportunities: 0, tasks: 0 }, environment });
    const view = viewDaemon(stage.environment);
    const { daemon, reached } = await startStopped(stage, moment, cause.sign);
    await agreed(stage);
    await stage.editSheet(typeInLeads(0, 30, 'Note'), typeInLeads(0, 31, 'Own'));
    await stage.editSheet(...Array.from({ length: count }, (_, index) => ownCells(index + 1)).flat());
    const { leads: before } = await readCrm(stage.addresses.crmUrl);
    const own = await readOwn(stage);
    const [, target = 0] = own.keys();
    await cause.act(stage, target);
    await reached;
    // Its request may be here before its line of the log is.
    const hasSeenDamage = async () => daemon.said().includes('sheet.rows_moved');
    if (moment.stop !== 'write') await until('the daemon has said that rows moved', hasSeenDamage);
    const first = await daemon.kill();
    expect(first.stdout.includes('sheet.rows_moved')).toBe(moment.stop !== 'write');
    const second = await stage.startDaemon();
    const mayLand = moment.stop === 'inverse' && !moment.lands;
    if (mayLand) {
      await until('several cycles have met the damage', async () => (await view.status()).cycles >= 3);
      const { holds } = await view.status();
      expect(holds.map(({ reason }) => reason)).toEqual(cause.held);
      expect(second.said()).not.toContain('sheet.rows_moved');
      await disturb({ clockOffMs: lateLandingMs + 1_000 });
    }
    await agreed(stage);
    await stage.expectAtRest();
    expect((await view.status()).holds).toEqual([]);
    const isUndoneBySecond = moment.moves && (moment.stop !== 'inverse' || mayLand);
    expect(second.said().includes('sheet.rows_moved')).toBe(isUndoneBySecond);
    expect(second.said()).not.toContain('sheet.escalated');
    expect(crmWrites(stage)).toEqual(cause.created.map(() => 'POST /leads'));
    const { leads: after } = await readCrm(stage.addresses.crmUrl);
    const isNew = (lead: Leads[number]) => before.every((known) => known.id !== lead.id);
    expect(after.filter((lead) => !isNew(lead))).toEqual(cause.after(before, target));
    expect(after.filter(isNew).map(({ title }) => title)).toEqual(cause.created);
    const ownOfNew = (id: number) => ({ Note: `Note ${count + 1}`, Own: `${id}!` });
    const kept = after.map((lead) => [lead.id, own.get(lead.id) ?? ownOfNew(lead.id)] as const);
    expect(await readOwn(stage)).toEqual(new Map(kept));
    expect(await countFormulas(stage)).toBe(after.length);
  },
);
