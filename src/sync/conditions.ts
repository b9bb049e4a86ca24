import { type ErrorCode, errorKinds } from '../core/errors.ts';
import { isListed, listedEntities } from '../core/record.ts';
import type { Sweep } from '../core/state.ts';
import { isOfWhole } from '../core/waiting/waiting.ts';
import type { Engine } from './engine.ts';
import type { Problem } from './problems.ts';
import { readUnderWay } from './pushing/under-way.ts';

/**
 * What a condition makes of the daemon. `notAlive`: waiting alone will not help. `notReady`: it does not do all of its work. `degraded`: it
 * does, but somebody should know.
 */
export type Consequence = 'notAlive' | 'notReady' | 'degraded';

/** Conditions besides the codes of the errors that may lie behind one. */
export const ownConditions = [
  'STUCK',
  'STOPPING',
  'NOT_READ_YET',
  'SWEEP_LATE',
  'EDIT_LATE',
  'CRM_PAUSE',
  'TIMERS_LATE',
  'HELD',
  'BRAKE',
  'QUESTIONS',
] as const;

export type ConditionName = (typeof ownConditions)[number] | ErrorCode | 'UNEXPECTED';

/** Something that is not as it should be. */
export interface Condition {
  readonly name: ConditionName;
  /** Since when, epoch ms. */
  readonly since: number;
  /** What is wrong and what to do, for people; never values of records. */
  readonly words: string;
  readonly makes: Consequence;
}

/** A condition as found; without `since` it holds since it was first found. */
export type Finding = Omit<Condition, 'since'> & { readonly since?: number | undefined };

/** How much is still well, in milliseconds. */
export interface HealthLimits {
  /** How long trouble that can pass by itself may last. */
  readonly graceMs: number;
  /** How long an edit may wait until it is sent. */
  readonly editAgeMs: number;
  /** How old the last complete read of an entity may be. */
  readonly sweepAgeMs: number;
}

/** By so much timers may be late all the time: people hardly notice it, and it is far from what locks and timeouts last. */
const timerLagMaxMs = 250;

/** `steadyMs` is by how much timers are late all the time. */
export function findLateTimers(steadyMs: number): Finding[] {
  if (steadyMs <= timerLagMaxMs) return [];
  const words =
    `Every timer comes at least ${Math.round(steadyMs)} ms late: the process is too busy, or gets too little of its machine. ` +
    'Give it more; until then everything takes longer.';
  return [{ name: 'TIMERS_LATE', words, makes: 'degraded' }];
}

/** Longest time from the planned end of a pause to the end of the next cycle: some requests that time out fit into it. */
const stuckAfterMs = 240_000;

/** What is wrong with the engine and what it works with. What the mirror has to be asked for is in {@link findInMirror}. */
export function findInEngine(engine: Engine, { graceMs }: HealthLimits, pauseMs: number): Finding[] {
  return [
    ...findStuck(engine),
    ...(engine.isStopping
      ? [{ name: 'STOPPING', words: 'The daemon is stopping.', makes: 'notReady' } as const]
      : []),
    ...findProblems(engine, graceMs),
    ...findNotices(engine),
    ...findHolds(engine),
    ...findQuestions(engine),
    ...(pauseMs > 0 ? [describePause(pauseMs)] : []),
  ];
}

/** What is late or not there yet by what the mirror knows. Throws what reading it throws. */
export function findInMirror(engine: Engine, limits: HealthLimits): Finding[] {
  const { mirror } = engine.link;
  const sweeps = mirror.readSweeps().filter(({ isComplete }) => isComplete);
  return [
    ...findUnread(engine, sweeps),
    ...findLateSweeps(engine, sweeps, limits.sweepAgeMs),
    ...findLateEdits(engine, limits.editAgeMs),
  ];
}

function findStuck({ link, runners }: Engine): Finding[] {
  const lateMs = link.clock.monotonicMs() - Math.min(...runners.map(({ expectedBy }) => expectedBy));
  if (lateMs <= stuckAfterMs) return [];
  const words = `The cycle that was to come ${describeDuration(lateMs)} ago has not ended. Restart the daemon.`;
  return [{ name: 'STUCK', since: link.clock.now() - lateMs, words, makes: 'notAlive' }];
}

/** One condition for each code: a side that is cut off lets all work with it fail. */
function findProblems(engine: Engine, graceMs: number): Finding[] {
  const { link } = engine;
  const lasting = engine
    .listProblems()
    .filter(({ code, since }) => !mayPass(code) || link.clock.now() - since >= graceMs);
  return [...Map.groupBy(lasting, ({ code }) => code)].map(([code, alike]) => describeProblems(code, alike));
}

function describeProblems(code: Problem['code'], alike: readonly Problem[]): Finding {
  const [first] = alike.toSorted((left, right) => left.since - right.since);
  const sources = alike.map(({ source }) => source).join(', ');
  const words =
    code === 'UNEXPECTED' ? 'An error that nobody foresaw; the log says more.' : (first?.message ?? '');
  return { name: code, since: first?.since ?? 0, words: `${sources}: ${words}`, makes: consequenceOf(code) };
}

/** In these nothing is done, which is said at once. */
const workless: ReadonlySet<Problem['code']> = new Set(['STATE_FULL', 'DAEMON_CRASHED', 'SHEET_KEPT']);

const mayPass = (code: Problem['code']) =>
  code !== 'UNEXPECTED' && !workless.has(code) && errorKinds[code].retry === 'later';

function consequenceOf(code: Problem['code']): Consequence {
  // A login that is refused stays refused, and a daemon that starts anew takes up a new one from its environment.
  if (code === 'CRM_UNAUTHORIZED' || code === 'SHEET_UNAUTHORIZED') return 'notAlive';
  return harmless.has(code) ? 'degraded' : 'notReady';
}

/** In these the daemon helps itself, or one record alone waits for a person. */
const harmless: ReadonlySet<Problem['code']> = new Set([
  'CRM_LIMITED',
  'SHEET_LIMITED',
  'ENGINE_STALLED',
  'RECORD_CONTESTED',
]);

/** What a side tells of itself keeps none of its work from being done. */
const findNotices = ({ sides }: Engine): Finding[] =>
  sides
    .flatMap((side) => side.notices())
    .map(({ code, words }) => ({ name: code, words, makes: 'degraded' }));

/** The CRM may ask for any pause; then all is well as long as nothing becomes late. */
const describePause = (pauseMs: number): Finding => ({
  name: 'CRM_PAUSE',
  words: `The CRM asked to wait for another ${describeDuration(pauseMs)}. The daemon goes on by itself.`,
  makes: 'degraded',
});

/** So many records with something that cannot be understood are named; the status has all of them. */
const unreadToldMax = 3;

/**
 * Kinds of record and fields that are left alone, and records with something in the CRM that cannot be understood. Any other row that is held
 * says so itself, and what a person can answer is a question.
 */
function findHolds({ found: { holds } }: Engine): Finding[] {
  const whole = holds.filter(isOfWhole).map(({ reason }) => reason);
  const unread = holds.filter(({ isUnread }) => isUnread);
  const told = unread.slice(0, unreadToldMax).map(({ entity, id, reason }) => `${entity} ${id}: ${reason}`);
  if (whole.length + unread.length === 0) return [];
  const more =
    unread.length > told.length ? [`And ${unread.length - told.length} more records like these.`] : [];
  const words = [...new Set(whole), ...told, ...more].join(' ');
  return [{ name: 'HELD', words, makes: 'degraded' }];
}

function findQuestions({ found: { brakes, questions }, runners, sides }: Engine): Finding[] {
  const where = [...new Set(sides.map(({ askedAt }) => askedAt))].join(' ');
  const braked = new Set(brakes.map(({ scope }) => scope));
  const others = questions.filter(({ scope }) => !braked.has(scope));
  const oldest = (asked: readonly { readonly scope: string }[]) => {
    const since = runners.flatMap(({ askedSince }) =>
      asked.flatMap(({ scope }) => askedSince.get(scope) ?? []),
    );
    return since.length > 0 ? Math.min(...since) : undefined;
  };
  const found: Finding[] = [];
  if (brakes.length > 0) {
    // One reason may stop several kinds.
    const reasons = new Set(brakes.map(({ reason }) => reason));
    // Of what is still being found out nobody is asked.
    const isAsked = questions.some(({ answers, scope }) => braked.has(scope) && answers.length > 0);
    const words = [...reasons, ...(isAsked ? [where] : [])].join(' ');
    found.push({ name: 'BRAKE', since: oldest(brakes), words, makes: 'degraded' });
  }
  if (others.length > 0) {
    const words = `Questions that wait for a person: ${others.length}. ${where}`;
    found.push({ name: 'QUESTIONS', since: oldest(others), words, makes: 'degraded' });
  }
  return found;
}

function findUnread({ link, runners, startedAt }: Engine, sweeps: readonly Sweep[]): Finding[] {
  const { titles } = link;
  const unread = listedEntities.filter((entity) => !sweeps.some((sweep) => sweep.entity === entity));
  const missing = [
    ...unread.map((entity) => `the CRM's ${titles[entity]}`),
    ...runners.flatMap(({ lastCycleAt, side }) => (lastCycleAt === undefined ? [side.title] : [])),
  ];
  if (missing.length === 0) return [];
  const words = `Not read completely yet: ${missing.join(', ')}.`;
  return [{ name: 'NOT_READ_YET', since: startedAt, words, makes: 'notReady' }];
}

/** A sweep can not be late while the daemon that would have done it was not there. */
function findLateSweeps({ link, startedAt }: Engine, sweeps: readonly Sweep[], ageMaxMs: number): Finding[] {
  const late = sweeps
    .filter(({ entity }) => isListed(entity))
    .map((sweep) => ({ ...sweep, since: Math.max(sweep.startedAt, startedAt) + ageMaxMs }))
    .filter(({ since }) => since <= link.clock.now());
  if (late.length === 0) return [];
  const reads = late.map(
    ({ entity, startedAt: at }) => `${link.titles[entity]} since ${new Date(at).toISOString()}`,
  );
  const words = `Not read completely from the CRM: ${reads.join(', ')}. The limit is ${describeDuration(ageMaxMs)}.`;
  return [
    { name: 'SWEEP_LATE', since: Math.min(...late.map(({ since }) => since)), words, makes: 'notReady' },
  ];
}

function findLateEdits({ link }: Engine, editAgeMs: number): Finding[] {
  const late = readUnderWay(link)
    .filter(({ createdAt }) => createdAt + editAgeMs <= link.clock.now())
    .toSorted((left, right) => left.createdAt - right.createdAt);
  const [oldest] = late;
  if (!oldest) return [];
  const { createdAt, error, key } = oldest;
  const reason = error ? `; the last error was ${error.code}` : '';
  const words = `Edits that wait for longer than ${describeDuration(editAgeMs)} to be sent to the CRM: ${late.length}. The oldest is of ${new Date(createdAt).toISOString()}, at ${key.entity} ${key.id}${reason}.`;
  return [{ name: 'EDIT_LATE', since: createdAt + editAgeMs, words, makes: 'notReady' }];
}

function describeDuration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
