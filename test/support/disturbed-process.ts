import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setInterval } from 'node:timers';

/*
 * Node loads this into a process before the process's own code, where `NODE_OPTIONS` says so. Whoever started it writes into a file what
 * the process has to suffer: somebody sets the clock of its machine, or it computes so long that its timers come late.
 */

/** What a process suffers. */
export interface Disturbance {
  /** How far the wall clock is off. */
  readonly clockOffMs: number;
  /** For how long it computes, again and again, with a breath between. */
  readonly busyMs: number;
}

/** The environment variable that names the file. */
export const disturbanceVariable = 'TEST_DISTURBANCE_FILE';

const breathMs = 60;

let suffered: Disturbance = { clockOffMs: 0, busyMs: 0 };
const file = process.env[disturbanceVariable];

if (file !== undefined) {
  const MachineDate = Date;
  const now = () => MachineDate.now() + suffered.clockOffMs;
  globalThis.Date = new Proxy(MachineDate, {
    construct: (target, given, asked) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, asked),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  setInterval(() => {
    suffered = JSON.parse(readFileSync(file, 'utf8'));
    const until = performance.now() + suffered.busyMs;
    while (performance.now() < until);
  }, breathMs).unref();
}
