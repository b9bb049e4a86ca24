import { parseArgs } from 'node:util';
import { describeFailure } from './failure.ts';
import { run } from './run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});
const [runs, first] = [Number(values.runs), Number(values.seed)];
const startedAt = performance.now();
let [done, failed] = [0, 0];

function progress(): string {
  const minutes = (performance.now() - startedAt) / 60_000;
  return `${done} of ${runs} runs, ${failed} failed, ${Math.round(done / minutes)} runs a minute`;
}

for (let seed = first; seed < first + runs; seed += 1) {
  const report = await run({ seed });
  done += 1;
  if (report.violation) {
    failed += 1;
    console.error(
      values.keep
        ? `${seed} ${report.violation.message.slice(0, 150).replaceAll('\n', ' ')}`
        : await describeFailure(report),
    );
    if (!values.keep) break;
  }
  if (done % 250 === 0) console.error(progress());
}
console.log(progress());
process.exitCode = failed > 0 ? 1 : 0;
