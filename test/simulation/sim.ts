import { parseArgs } from 'node:util';
import { ProgressLine } from '../../src/cli/fill/progress-line.ts';
import { endAtPace } from '../../src/core/reading/progress.ts';
import type { AccidentCounts } from './accidents.ts';
import { describeFailure } from './failure.ts';
import { run } from './run.ts';

const usage = `npm run sim -- [--runs N] [--seed S] [--calm] [--sql] [--only] [--keep]

Runs N simulations (1000), with the seeds from S (1) on, and stops at the first that breaks a promise.
  --calm  no request gets lost, nothing crashes, nor anything else of the kind: people alone are at work
  --sql   users also edit the tables of a database by SQL
  --only  the tab of the leads has some of them alone, by a rule
  --keep  goes on after a failure, and tells each in one line`;

function readArguments() {
  try {
    return parseArgs({
      options: {
        runs: { type: 'string', default: '1000' },
        seed: { type: 'string', default: '1' },
        calm: { type: 'boolean', default: false },
        sql: { type: 'boolean', default: false },
        only: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    return process.exit(2);
  }
}

const values = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const [runs, first] = [Number(values.runs), Number(values.seed)];
const startedAt = Date.now();
let [done, failed] = [0, 0];
const misdirected: AccidentCounts = { oneUndone: 0, oneAsked: 0, moreUndone: 0, moreAsked: 0 };

const line = new ProgressLine();

function showProgress(): void {
  const work = { done, total: runs };
  const endsAt = endAtPace(work, startedAt, Date.now());
  line.show({ ...work, unit: `runs (${failed} failed)`, startedAt, endsAt });
}

for (let seed = first; seed < first + runs; seed += 1) {
  const report = await run({ seed, hasMishaps: !values.calm, hasSql: values.sql, hasRule: values.only });
  done += 1;
  for (const [name, count] of Object.entries(report.accidents))
    misdirected[name as keyof typeof misdirected] += count;
  if (report.violation) {
    failed += 1;
    const failure = values.keep
      ? `${seed} ${report.violation.message.slice(0, 150).replaceAll('\n', ' ')}`
      : await describeFailure(report);
    line.above(() => console.error(failure));
    if (!values.keep) break;
  }
  showProgress();
}
line.end();
const minutes = (Date.now() - startedAt) / 60_000;
console.log(`${done} of ${runs} runs, ${failed} failed, ${Math.round(done / minutes)} runs a minute`);
const { moreAsked, moreUndone, oneAsked, oneUndone } = misdirected;
console.log(
  `rows that misdirected writes reached: with one accident ${oneUndone + oneAsked}, ${oneAsked} asked about; with more ${moreUndone + moreAsked}, ${moreAsked} asked about`,
);
process.exitCode = failed > 0 ? 1 : 0;
