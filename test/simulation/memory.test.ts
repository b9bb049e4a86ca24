import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { areAllWanted } from '../support/variants.ts';
import { createRecord, workInCrm } from './crm-people.ts';
import { People } from './people.ts';
import { Races } from './races.ts';
import { settle } from './rest.ts';
import { Stage } from './stage.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const hours = areAllWanted ? 3 : 1;
/** Less than a kilobyte of each of the five thousand cycles of three hours; what grows once weighs more in one. */
const growthMaxMegabytes = areAllWanted ? 5 : 3;

function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1_000_000;
}

/** Two people at work for an hour of the simulated clock: an edit a minute on each side. */
async function workAnHour({ people, stage }: { people: People; stage: Stage }): Promise<void> {
  for (let minute = 0; minute < 60; minute += 1) {
    const endsAt = stage.clock.monotonicMs() + 60_000;
    const { cycles } = stage.engine.tally;
    workInCrm(people, { kind: 'edit in the CRM', which: cycles, what: minute, how: minute });
    const tab = people.tab('lead');
    const row = tab?.rows[minute % tab.rows.length];
    if (!tab || !row) throw new Error('The sheet shows no lead.');
    const column = tab.headers.indexOf('City');
    people.act({ kind: 'edit', sheet: tab.sheetId, row: row.position, column, text: `City ${cycles}` });
    while (stage.clock.monotonicMs() < endsAt) await stage.proceed();
  }
  // The trace is the simulation's own.
  stage.trace.length = 0;
}

test('fault 74: hours of cycles and edits leave nothing behind in memory', { timeout: 240_000 }, async () => {
  const people = new People();
  const stage = new Stage({ seed: 5, hasMishaps: false, onSuspect: () => undefined, ...new Races(people) });
  people.stage = stage;
  for (let count = 30; count > 0; count -= 1) createRecord(people, 'lead');
  await stage.layOut();
  await stage.start();
  await settle(people, { sweepsMin: 1, cyclesMin: 0 });
  await workAnHour({ people, stage });
  const [before, cyclesBefore] = [heapMegabytes(), stage.engine.tally.cycles];
  for (let hour = 0; hour < hours; hour += 1) await workAnHour({ people, stage });
  const grown = heapMegabytes() - before;
  const { cycles } = stage.engine.tally;
  stage.close();
  expect(cycles - cyclesBefore).toBeGreaterThan(1_200 * hours);
  expect(grown).toBeLessThan(growthMaxMegabytes);
});
