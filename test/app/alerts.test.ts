import { expect, onTestFinished, test } from 'vitest';
import { Alerts } from '../../src/alerts/alerts.ts';
import type { Alert } from '../../src/alerts/webhook.ts';
import { SyncError } from '../../src/core/errors.ts';
import type { Condition, ConditionName } from '../../src/sync/conditions.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createRecordingLog } from '../support/recording-log.ts';

const conditionOf = (name: ConditionName): Condition => ({ name, since: 0, words: '', makes: 'degraded' });

test('a receiver that refuses one alert is told the others, and that one once it takes it', async () => {
  const clock = createManualClock();
  const told: string[] = [];
  let refused: ConditionName | undefined = 'HELD';
  const send = async ({ condition: { name }, event }: Alert) => {
    if (name === refused) throw new SyncError('ALERT_UNSENT', 'The receiver answered 413.');
    told.push(`${name} ${event}`);
  };
  const alerts = new Alerts({ link: 'north', send, clock, log: createRecordingLog(), random: () => 0 });
  const running = alerts.start();
  onTestFinished(async () => {
    void alerts.stop();
    await running;
  });
  alerts.note([conditionOf('HELD'), conditionOf('BRAKE')]);
  await clock.advance(5_000);
  alerts.note([conditionOf('HELD'), conditionOf('CRM_UNREACHABLE')]);
  await clock.advance(60_000);
  expect(told).toEqual(['BRAKE began', 'CRM_UNREACHABLE began', 'BRAKE ended']);
  refused = undefined;
  await clock.advance(60_000);
  expect(told.slice(3)).toEqual(['HELD began']);
});
