import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';

/** What a process has used. */
export interface Gauge {
  /** Processor time since its start, of all its threads. */
  readonly cpuMs: number;
  readonly residentMb: number;
  /** Longest time since it was last asked in which its event loop could do nothing else. */
  readonly blockedMs: number;
}

// Loaded into the process that is measured: answers its parent whatever the parent says. Looking more often would itself cost a tenth of what
// an idle daemon does. A standstill is measured too long, by some of these intervals: at 20 ms, one of 55 ms came out as 99 ms.
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const gauge: Gauge = {
    cpuMs: (user + system) / 1e3,
    residentMb: process.memoryUsage.rss() / 2 ** 20,
    blockedMs: delay.max / 1e6,
  };
  delay.reset();
  process.send?.(gauge);
});
// Being measured keeps nothing alive.
process.channel?.unref();
