import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setInterval } from 'node:timers';

/*
 * Node loads this into a process before the process's own code, where `NODE_OPTIONS` says so. Whoever started it writes into a file what
 * the process has to suffer: somebody sets the clock of its machine, or it is busy for so long that its timers come late.
 */

/** What a process suffers. */
export interface Disturbance {
  /** How far the wall clock is off. */
  readonly clockOffMs: number;
  /** For how long it is busy, again and again, with a breath between. */
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
    // To its timers it is the same whether it computes or waits here, and others on the machine go on.
    if (suffered.busyMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, suffered.busyMs);
  }, breathMs).unref();
}
