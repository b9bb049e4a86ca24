import type { ConditionName, Consequence, ownConditions } from '../../src/sync/conditions.ts';

type OwnCondition = (typeof ownConditions)[number];

/** What each condition makes of the daemon, and when it holds; a new one does not compile without a line here. */
const own: Readonly<Record<OwnCondition, readonly [makes: Consequence, when: string]>> = {
  STUCK: ['notAlive', 'A cycle has been on its way for more than four minutes'],
  STOPPING: ['notReady', 'The daemon ends what is on its way'],
  NOT_READ_YET: [
    'notReady',
    'Not everything was read once since the first start, or the sheet not since this one',
  ],
  SWEEP_LATE: ['notReady', 'The last complete read of a list is older than `health.sweepAgeMs`'],
  EDIT_LATE: ['notReady', 'An edit has not been sent to the CRM for `health.editAgeMs`'],
  CRM_PAUSE: ['degraded', 'The CRM asked for a long pause; the daemon waits by itself'],
  TIMERS_LATE: [
    'degraded',
    'The process has been too busy, or got too little of its machine, for a quarter of a minute',
  ],
  HELD: [
    'degraded',
    'A tab, a column of one, or a field of a record is left alone until what it says is mended',
  ],
  BRAKE: ['degraded', 'A tab is stopped until a person approves: [brakes](operating.md#brakes)'],
  QUESTIONS: ['degraded', 'Something waits for a person'],
};

const errors: Readonly<Partial<Record<ConditionName, readonly [makes: Consequence, when: string]>>> = {
  CRM_UNAUTHORIZED: ['notAlive', 'The CRM refuses the key'],
  SHEET_UNAUTHORIZED: ['notAlive', 'Google refuses the login'],
  DAEMON_CRASHED: [
    'notReady',
    'Several runs before this one ended badly soon after they began, so it waits for up to a minute before it works',
  ],
  CONFIG_INVALID: ['notReady', 'Of several links, one cannot be run with its settings'],
  SHEET_KEPT: [
    'notReady',
    'Another daemon [keeps this spreadsheet](operating.md#one-daemon-for-one-spreadsheet), so this one writes nothing; at once',
  ],
  UNEXPECTED: ['notReady', 'An error that was not foreseen; the log says more'],
  CRM_LIMITED: ['degraded', 'The CRM limits requests; the daemon waits by itself'],
  SHEET_LIMITED: ['degraded', 'Google limits requests; the daemon waits by itself'],
  ENGINE_STALLED: ['degraded', 'A timer of the machine did not come; the daemon helps itself'],
  SHEET_AWAITED: ['degraded', 'Another daemon waits until this one stops keeping the spreadsheet'],
  RECORD_CONTESTED: ['degraded', 'Both sides keep changing a record'],
};

const order = ['notAlive', 'notReady', 'degraded'] as const;
const shown = { notAlive: 'not alive', notReady: 'not ready', degraded: 'degraded' } as const;

/** The conditions of the health in Markdown. */
export function conditionsTable(): string {
  const all = [...Object.entries(own), ...Object.entries(errors)];
  const lines = order.flatMap((makes) =>
    all
      .filter(([, [consequence]]) => consequence === makes)
      .map(([name, [, when]]) => `| \`${name}\` | ${shown[makes]} | ${when} |`),
  );
  const others =
    '| any other [error](#errors) | not ready | What the error says. If it can pass by itself, only after `health.graceMs`; a full disk counts at once |';
  return ['| name | makes it | when |', '|---|---|---|', ...lines, others].join('\n');
}
